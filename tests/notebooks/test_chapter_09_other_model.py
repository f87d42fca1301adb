"""Chapter 09 with another model gives that model's tables: 12 x 12 heads, random weights, and a vocabulary of both languages."""

import ast
import json
import sys
from pathlib import Path

import pytest
from IPython.display import Markdown

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit"))
from other_bert import save_random_bert  # noqa: E402

import multihead.heads.annotated  # noqa: E402
import multihead.models.bert  # noqa: E402

LOAD_BERT, LOAD_SENTENCES = multihead.models.bert.load_bert, multihead.heads.annotated.load_sentences


def some_sentences(language):
    """Every fifth, enough for a test, and the chapter's example."""
    return [s for i, s in enumerate(LOAD_SENTENCES(language)) if i % 5 == 0 or s.text.startswith("Mina")]


def run(code, names):
    """Runs a cell; its last expression is what a notebook would show."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What each cell of the chapter shows, by its id, when load_bert() gives the other model."""
    words = {word for language in ("en", "ko") for s in LOAD_SENTENCES(language) for word in s.words}
    folder = save_random_bert(tmp_path_factory.mktemp("other"), words)
    notebook = json.loads((ROOT / "chapters" / "09_measuring_heads.ipynb").read_text("utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multihead.models, "load_bert", lambda: LOAD_BERT(folder))
        patch.setattr(multihead.heads, "load_sentences", some_sentences)
        names = {}
        return {
            cell["id"]: run("".join(cell["source"]), names)
            for cell in notebook["cells"]
            if cell["cell_type"] == "code" and cell["id"] != "setup"
        }


def rows(table):
    assert isinstance(table, Markdown)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.data.splitlines()[2:]]


def test_the_table_names_heads_of_the_other_model(shown):
    heads = [tuple(map(int, row[2].split("-"))) for row in rows(shown["table"])]
    assert len(heads) == 6 and all(1 <= layer <= 12 and 1 <= head <= 12 for layer, head in heads)
    assert any(layer > 6 for layer, _ in heads), "the packaged model has 6 layers only"


def test_korean_sentences_are_measured_where_the_model_reads_korean(shown):
    table = rows(shown["korean"])
    assert len(table) >= 5 and all("%" in row[3] and "칸" not in row[0] for row in table)


def test_the_atlas_holds_the_heads_of_the_other_model(shown):
    assert (shown["atlas"]._atlas["layers"], shown["atlas"]._atlas["heads"]) == (12, 12)

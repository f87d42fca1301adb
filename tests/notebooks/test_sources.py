"""The notebooks as files: what Colab, GitHub and a reviewer of a diff see. Found by glob, none is listed by hand."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "chapters").glob("*.ipynb"))
MAX_CODE_LINES = 25


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return json.loads(path.read_text("utf-8"))


def source(cell):
    return "".join(cell["source"])


def of_type(notebook, cell_type):
    return [source(cell) for cell in notebook["cells"] if cell["cell_type"] == cell_type]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2


def test_outputs_are_stripped_and_cells_have_stable_ids(notebook):
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None, cell["id"]
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)


def test_kernel_is_the_one_that_everybody_has(notebook):
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_hangul_is_readable_in_the_file(path):
    assert r"\uc" not in path.read_text("utf-8").lower()


def test_markdown_renders_on_github_and_in_colab_too(notebook):
    for text in of_type(notebook, "markdown"):
        assert not re.search(r"^(:::|```)\{|\{(ref|doc|eq|numref|cite|term)[:}`]", text, re.M), "MyST only"
        assert not re.search(r"\[\^[^\]]+\]", text), "Colab shows footnotes raw"


def test_bold_never_ends_in_punctuation_before_a_particle(notebook):
    for text in of_type(notebook, "markdown"):
        without_code = re.sub(r"`[^`\n]*`", "`code`", text)
        for bold, after in re.findall(r"\*\*([^*\n]+)\*\*([가-힣]?)", without_code):
            assert not after or bold[-1].isalnum(), f"**{bold}**{after} prints its asterisks"


def test_one_sentence_a_line(notebook):
    for text in of_type(notebook, "markdown"):
        prose = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.S)
        for line in prose.splitlines():
            if not line.startswith(("|", "-", "#", ">")) and not re.match(r"\d+\.|\*\*연습", line):
                assert not re.search(r"(니다|십시오|까요|까)[.?] [가-힣]", line), line


def test_cells_are_short_and_show_one_idea(notebook):
    for code in of_type(notebook, "code"):
        assert len([line for line in code.splitlines() if line.strip()]) <= MAX_CODE_LINES


def test_starts_with_title_goals_and_the_same_first_code_cell(notebook):
    first, *_ = of_type(notebook, "markdown")
    assert first.startswith("# ") and "이 장을 마치면" in first and "걸리는 시간" in first
    reference = of_type(json.loads(NOTEBOOKS[0].read_text("utf-8")), "code")[0]
    assert of_type(notebook, "code")[0] == reference


def test_colab_installs_the_version_of_this_tree(notebook):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"@v{version}" in of_type(notebook, "code")[0]


def test_solutions_are_collapsed_in_the_book_and_in_colab(notebook):
    for cell in notebook["cells"]:
        if source(cell).startswith("# @title 해답"):
            assert "hide-cell" in cell["metadata"]["tags"] and cell["metadata"]["cellView"] == "form"


def test_every_picture_has_korean_alt_text(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and re.search(r"^\s*(plots\.\w+|attention_maps)\(|plt\.(subplots|figure)", source(cell), re.M):
            assert re.search("[가-힣]", cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")), cell["id"]

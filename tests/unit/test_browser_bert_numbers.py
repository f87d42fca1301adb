"""BERT in the browser: the JavaScript of site/bert/ against transformers and torch."""

import json
import random
from pathlib import Path

import numpy
import pytest
import torch
from bert_files import get_model_path, write_model
from run_node import node

from multihead.models.bert import load_bert
from multihead.models.text import normalize_text

ROOT = Path(__file__).parents[2]
BERT_JS = (ROOT / "site" / "bert" / "bert.js").as_uri()
TEXT_JS = (ROOT / "src" / "multihead" / "widgets" / "text.js").as_uri()
WORDS = (
    "the cat dog old woman who lived near river never told her children that ship had sunk because it was too heavy "
    "unbelievably antidisestablishmentarianism rethinking 42 3.14 , . ? ! ' - ( ) café naïve Seoul BERT attention"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    write_model(get_model_path(), folder)
    return folder


@pytest.fixture(scope="module")
def bert():
    return load_bert()


def run(script, *arguments):
    result = node("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module", "--eval", script, *arguments)
    assert result.returncode == 0, result.stderr


def odd_strings(seed, count):
    """Strings of every kind of character that a tokenizer treats in its own way."""
    draw = random.Random(seed)
    blocks = [
        (0x20, 0x7E), (0x00, 0x20), (0x7F, 0xA0), (0xA0, 0x17F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF),
        (0x590, 0x5FF), (0x900, 0x97F), (0x1100, 0x11FF), (0x2000, 0x206F), (0x20A0, 0x20BF), (0x3000, 0x30FF),
        (0x4E00, 0x4EFF), (0xAC00, 0xAFFF), (0xE000, 0xE010), (0xF900, 0xF950), (0xFE00, 0xFE0F), (0xFF00, 0xFF60),
        (0xFFF9, 0xFFFD), (0x1F300, 0x1F64F), (0x20000, 0x20020),
    ]  # fmt: skip
    special = ["[CLS]", "[MASK]", "[UNK]", "[mask]", "x" * 100, "x" * 101, "가" * 101]
    special += ["👩‍👩‍👧", "🇰🇷", "İstanbul", "ΣΑΣ", "ß"]
    for _ in range(count):
        parts = []
        for _ in range(draw.randint(1, 6)):
            kind = draw.random()
            if kind < 0.4:
                parts.append(draw.choice(WORDS))
            elif kind < 0.5:
                parts.append(draw.choice(special))
            else:
                low, high = draw.choice(blocks)
                parts.append("".join(chr(draw.randint(low, high)) for _ in range(draw.randint(1, 8))))
        yield draw.choice(["", " ", "  "]).join(parts)


def test_5000_strings_are_cut_into_the_tokens_that_transformers_cuts(bert, folder, tmp_path):
    texts = list(odd_strings(0, 5000))
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    run(
        f"""
        import {{ readFileSync, writeFileSync }} from "node:fs";
        import {{ readVocabulary, tokenize }} from "{BERT_JS}";
        const vocabulary = readVocabulary(readFileSync("{folder}/vocab.txt", "utf8"));
        const texts = JSON.parse(readFileSync("{tmp_path}/texts.json", "utf8"));
        writeFileSync("{tmp_path}/tokens.json", JSON.stringify(texts.map((text) => tokenize(text, vocabulary))));
        """
    )
    tokens = json.loads((tmp_path / "tokens.json").read_text("utf-8"))
    expected = bert.tokenizer(texts, truncation=False, padding=False, verbose=False)["input_ids"]
    different = [
        (text, ours, theirs)
        for text, ours, ids in zip(texts, tokens, expected, strict=True)
        if ours != (theirs := bert.tokenizer.convert_ids_to_tokens(ids))
    ]
    assert different == []


def test_whatever_a_reader_types_has_the_tokens_in_the_browser_that_attend_has(bert, folder, tmp_path):
    forms = ["\ud83d hi", "hi\udc4d", "\u200bA\u2003cat\u3164", "cafe\u0301 ca\u200dfe", "나\ufeff는 \u1112\u1161\u11ab", *odd_strings(3, 100)]
    readable = [text for text in forms if bert.tokenizer.tokenize(normalize_text(text))]
    (tmp_path / "texts.json").write_text(json.dumps(readable))
    run(
        f"""
        import {{ readFileSync, writeFileSync }} from "node:fs";
        import {{ readVocabulary, tokenize }} from "{BERT_JS}";
        import {{ normalizeText }} from "{TEXT_JS}";
        const vocabulary = readVocabulary(readFileSync("{folder}/vocab.txt", "utf8"));
        const texts = JSON.parse(readFileSync("{tmp_path}/texts.json", "utf8")).map(normalizeText);
        writeFileSync("{tmp_path}/tokens.json", JSON.stringify(texts.map((text) => tokenize(text, vocabulary))));
        """
    )
    assert json.loads((tmp_path / "tokens.json").read_text("utf-8")) == [bert.attend(text).tokens for text in readable]


def sentences(bert, count):
    """Sentences of 3 to 64 tokens, both among them."""
    draw = random.Random(1)
    lengths = [3, 64, *(draw.randint(3, 64) for _ in range(count - 2))]
    for length in lengths:
        pieces = bert.tokenizer.tokenize(" ".join(draw.choices(WORDS, k=length)))[: length - 2]
        yield ["[CLS]", *pieces, "[SEP]"]


@torch.no_grad()
def maps(model, ids):
    return torch.cat(model(input_ids=torch.tensor([ids]), output_attentions=True).attentions).numpy()


def rounded_to_half(bert):
    """The same model with every weight rounded to float16 and computed in float32, as the browser has it."""
    model = load_bert().model
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()
    return model


@pytest.fixture
def one_thread():
    """For short sentences more threads cost more than they bring, most of all beside other work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_maps_of_50_sentences_equal_those_of_torch(bert, folder, tmp_path, one_thread):
    token_lists = list(sentences(bert, 50))
    assert {3, 64} <= {len(tokens) for tokens in token_lists}
    (tmp_path / "tokens.json").write_text(json.dumps(token_lists))
    run(
        f"""
        import {{ readFileSync, writeFileSync }} from "node:fs";
        import {{ attend, embeddingRows, readModel, readVocabulary }} from "{BERT_JS}";
        const halves = (name) => new Uint16Array(new Uint8Array(readFileSync("{folder}/" + name)).buffer);
        const vocabulary = readVocabulary(readFileSync("{folder}/vocab.txt", "utf8"));
        const model = readModel(JSON.parse(readFileSync("{folder}/model.json", "utf8")), halves("encoder.bin"));
        JSON.parse(readFileSync("{tmp_path}/tokens.json", "utf8")).forEach((tokens, i) => {{
            const ids = tokens.map((token) => vocabulary.get(token));
            const files = new Map(ids.map((id) => Math.floor(id / model.rows)).map((file) =>
                [file, halves(`embeddings/${{String(file).padStart(3, "0")}}.bin`)]));
            const maps = attend(embeddingRows(ids, files, model), model);
            writeFileSync(`{tmp_path}/${{i}}.bin`, Buffer.concat(maps.map((map) => Buffer.from(map.buffer))));
        }});
        """
    )
    half = rounded_to_half(bert)
    against_full, against_half = 0, 0
    for i, tokens in enumerate(token_lists):
        ids = bert.tokenizer.convert_tokens_to_ids(tokens)
        ours = numpy.fromfile(tmp_path / f"{i}.bin", "<f4").reshape(6, 12, len(ids), len(ids))
        against_full = max(against_full, abs(ours - maps(bert.model, ids)).max())
        against_half = max(against_half, abs(ours - maps(half, ids)).max())
    assert against_full <= 2e-3
    assert against_half <= 1e-5


def test_the_files_are_what_one_sentence_may_cost(folder):
    fixed = sum((folder / name).stat().st_size for name in ("encoder.bin", "model.json", "vocab.txt"))
    largest = max(path.stat().st_size for path in (folder / "embeddings").iterdir())
    assert fixed + 31 * largest <= 25_000_000  # a sentence of 12 tokens needs at most 12 files, mostly far fewer
    assert "Apache License 2.0" in (folder / "README.txt").read_text("utf-8")


def test_model_json_knows_the_size_of_every_file_and_a_version_that_follows_the_content(folder, tmp_path):
    model = json.loads((folder / "model.json").read_text("utf-8"))
    loaded = [path for path in folder.rglob("*") if path.suffix == ".bin" or path.name == "vocab.txt"]
    assert model["files"] == {path.relative_to(folder).as_posix(): path.stat().st_size for path in loaded}

    source = tmp_path / "source"
    source.mkdir()
    for path in get_model_path().iterdir():
        if path.name in ("config.json", "model.safetensors"):
            (source / path.name).symlink_to(path)
    vocabulary = (get_model_path() / "vocab.txt").read_bytes()
    (source / "vocab.txt").write_bytes(vocabulary.replace(b"\ncat\n", b"\ntac\n"))
    write_model(source, tmp_path / "other")
    other = json.loads((tmp_path / "other" / "model.json").read_text("utf-8"))
    assert other["version"] != model["version"] and other["files"] == model["files"]

"""Chapters about BERT with another model than the packaged one, offline: a tiny one of 12 layers x 12 heads."""

import json
import re
from pathlib import Path

import pytest
from transformers import BertConfig, BertModel

import multihead.models.bert
from multihead.models.bert import Bert

CHAPTERS = Path(__file__).parents[2] / "chapters"
INSTALL = re.compile(r"^\s+%pip .*$", re.M)


@pytest.mark.parametrize("chapter", ["08_bert_heads"])
def test_the_chapter_runs_with_another_model_and_shows_its_numbers(chapter, monkeypatch, capsys):
    tokenizer = multihead.models.bert.load_bert().tokenizer
    config = BertConfig(
        hidden_size=48,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=11,
        vocab_size=tokenizer.vocab_size,
    )
    other = Bert(BertModel._from_config(config, attn_implementation="eager").eval(), tokenizer, "bert-base-uncased")
    monkeypatch.setattr(multihead.models, "load_bert", lambda name=None: other)
    capsys.readouterr()

    names = {}
    for cell in json.loads((CHAPTERS / f"{chapter}.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile(INSTALL.sub("    pass", "".join(cell["source"])), cell["id"], "exec"), names)
    said = capsys.readouterr().out
    assert "층 12개, 층마다 헤드 12개" in said and "헤드 144개 가운데" in said
    assert "bert-base-uncased" in said and "MiniLM" not in said

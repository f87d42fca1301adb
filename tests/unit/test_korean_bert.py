"""The Korean BERT: its tokens are morphemes, its weights are what was trained, and it fills a blank."""

import json
import re
import unicodedata

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from multihead import MultiHeadAttention
from multihead.models import korean_bert, load_bert
from multihead.models.korean_bert import FOLDER, load_model, load_tokenizer, read_weights, write_weights


@pytest.fixture(scope="module")
def bert():
    return load_bert("ko")


@pytest.mark.parametrize(("text", "tokens"), [
    ("할머니가 어제 편지를 읽으셨다.", "할머니 ##가 어제 편지 ##를 읽 ##으셨 ##다 ."),
    ("나는 시장에서 산 빨간 사과를 먹었다.", "나 ##는 시장 ##에서 산 빨간 사과 ##를 먹 ##었 ##다 ."),
    ("이 영화는 배우들의 연기가 정말 좋았다.", "이 영화 ##는 배우 ##들 ##의 연기 ##가 정말 좋 ##았 ##다 ."),
])  # fmt: skip
def test_tokens_are_morphemes(bert, text, tokens):
    assert bert.attend(text).tokens == ["[CLS]", *tokens.split(), "[SEP]"]
    assert bert.attend(unicodedata.normalize("NFD", text)).tokens == ["[CLS]", *tokens.split(), "[SEP]"]


def test_our_attention_with_its_weights_gives_the_same_maps(bert):
    attention = bert.attend("할머니가 어제 편지를 읽으셨다.")
    for layer, x in zip(range(bert.num_layers), attention.hidden_states):
        ours = MultiHeadAttention.from_bert_layer(bert.model.encoder.layer[layer])
        torch.testing.assert_close(ours(x[None], need_weights=True)[1][0], attention.weights[layer], atol=1e-5, rtol=0)


def test_a_blank_is_filled_and_the_chances_belong_to_it(bert):
    [[(first, chance), *others]] = bert.fill("나는 어제 친구[MASK] 만났다.")
    assert first == "##를" and chance > 0.5 and len(others) == 4 and chance + sum(c for _, c in others) <= 1
    assert [len(blank) for blank in bert.fill("[MASK]가 [MASK]에 갔다.", top=3)] == [3, 3]
    assert sum(c for _, c in bert.fill("[MASK]", top=len(bert.tokenizer))[0]) == pytest.approx(1, abs=1e-4)


def test_without_a_blank_or_without_the_layer_it_is_refused_in_korean(bert):
    with pytest.raises(ValueError, match=r"\[MASK\]가 없습니다"):
        bert.fill("나는 어제 친구를 만났다.")
    with pytest.raises(ValueError, match=r"load_bert\(.ko.\)"):
        load_bert("en").fill("The cat [MASK].")


def test_rounding_to_eight_bits_is_at_most_half_a_step_of_each_row(tmp_path):
    weights = {"a.weight": torch.randn(7, 5) * torch.logspace(-3, 1, 7)[:, None], "a.bias": torch.randn(7), "zero": torch.zeros(2, 3)}
    write_weights(weights, tmp_path / "w.safetensors")
    again = read_weights(tmp_path / "w.safetensors")
    step = weights["a.weight"].abs().amax(1, keepdim=True) / 127
    assert ((again["a.weight"] - weights["a.weight"]).abs() <= 0.51 * step).all()
    torch.testing.assert_close(again["a.bias"], weights["a.bias"].half().float())
    assert again.keys() == weights.keys() and not again["zero"].any()


def test_a_folder_of_another_model_is_refused(tmp_path, monkeypatch):
    config = BertConfig(vocab_size=8192, hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    config.save_pretrained(tmp_path)
    model = BertForMaskedLM(config)
    weights = {name: p.detach() for name, p in model.named_parameters()}
    write_weights(weights, tmp_path / "model.safetensors")
    again = dict(load_model(tmp_path).named_parameters())
    for name, weight in weights.items():
        torch.testing.assert_close(again[name], weight, atol=0.01, rtol=0)
    weights.pop("bert.encoder.layer.0.attention.self.query.weight")
    write_weights(weights, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="없는 것.*query.weight"):
        load_model(tmp_path)


def test_what_is_shipped_is_small_and_says_how_it_was_made():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 8_000_000
    assert (FOLDER / "model.safetensors").stat().st_size < 4_000_000
    record = json.loads((FOLDER / "run.json").read_text("utf-8"))
    assert record["settings"]["seed"] == 0 and record["counters"]["tokens"] > 10_000_000
    assert set(record["accuracy"]) == set(record["corpus"]) and min(record["accuracy"].values()) > 0.2
    losses = [loss for _, _, loss in record["curve"]]
    assert losses[0] > 7 and losses[-1] < 4
    vocabulary = (FOLDER / "vocab.txt").read_text("utf-8").splitlines()
    assert len(vocabulary) == len(set(vocabulary)) == load_model().config.vocab_size == len(load_tokenizer())
    assert tuple(vocabulary[: len(korean_bert.SPECIAL)]) == korean_bert.SPECIAL


def test_the_model_card_names_every_source_its_licence_and_the_figures_of_the_record():
    card, record = (FOLDER / "README.md").read_text("utf-8"), json.loads((FOLDER / "run.json").read_text("utf-8"))
    for facts in record["corpus"].values():
        assert facts["licence"] in card and facts["source"].split("github.com/")[-1] in card
        assert f"{facts['lines']:,}" in card
    for share in record["accuracy"].values():
        assert f"{100 * share:.1f} %" in card
    assert f"{round(record['counters']['tokens'] / 1e4):,}만 개" in card
    assert not re.search("http://|https://", card)

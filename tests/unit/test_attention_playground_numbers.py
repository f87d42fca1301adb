"""AttentionPlayground: its settings, its numbers against torch, and its JavaScript against its Python."""

import base64
import random

import pytest
import torch
from run_node import evaluate
from torch import nn
from traitlets import TraitError

from multihead import MultiHeadAttention, causal_mask, padding_mask
from multihead.widgets import AttentionPlayground
from multihead.widgets.attention_playground import projection_matrices, word_embeddings, words_of

REFUSED = [
    ("h", 0), ("h", 9), ("h", "4"), ("d_model", 7), ("d_model", 65), ("seed", -1), ("seed", 1000),
    ("padding", 0), ("padding", 13), ("mask", "인과"), ("mask", None), ("scaled", 1), ("sentence", None),
    ("sentence", ["나는"]), ("query", -1), ("query", 4),
]  # fmt: skip
WORDS = ["나는", "사과를", "먹었다", "빨간", "어제", "😀", "<b>", "&amp;", "👨‍👩‍👧", "self-attention", "그것은", "é"]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    playground = AttentionPlayground()
    before = getattr(playground, name)
    with pytest.raises(TraitError, match=rf"{name}.*받은 값"):
        setattr(playground, name, value)
    assert getattr(playground, name) == before
    with pytest.raises(TraitError, match=name):
        AttentionPlayground(**{name: value})


def test_an_unknown_setting_raises_and_names_the_known_ones_but_not_the_private_weights():
    with pytest.raises(TypeError, match="heads") as caught:
        AttentionPlayground(heads=4)
    assert "d_model" in str(caught.value) and "_weights" not in str(caught.value)


def test_a_shorter_sentence_takes_the_query_along():
    assert AttentionPlayground(sentence="나는 먹었다").query == 1
    playground = AttentionPlayground()
    playground.sentence = ""
    assert playground.query == 0
    playground.set_state({"sentence": "나는 사과를 먹었다", "query": 2})  # as the browser sends it
    assert playground.query == 2


def test_the_weights_in_the_state_take_less_than_60_kb():
    packed = AttentionPlayground().get_state()["_weights"]
    assert len(packed) == 22188
    assert len(base64.b64decode(packed)) == 4 * 64 * 64 + 256


@pytest.mark.parametrize("d_model", [8, 24, 64])
def test_projected_numbers_and_scaled_scores_have_a_variance_near_one(d_model):
    x = word_embeddings([f"단어{i}" for i in range(400)], d_model, seed=0)
    W = projection_matrices(d_model)
    assert x.mean().abs() < 0.05 and abs(x.var() - 1) < 0.05
    q, k = x @ W["W_Q"], x @ W["W_K"]
    assert 0.7 < q.var() < 1.4 and 0.5 < (q @ k.T / d_model**0.5).var() < 1.7


def test_a_word_has_one_embedding_wherever_it_stands_and_another_one_for_another_seed():
    first, again, other = word_embeddings(["나는", "나는", "나를"], 64, seed=0)
    assert torch.equal(first, again)
    for unlike in (other, word_embeddings(["나는"], 64, seed=1)[0]):
        assert torch.cosine_similarity(first, unlike, dim=0).abs() < 0.4


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_the_numbers_are_those_of_our_module_and_of_torch_with_the_same_weights(mask):
    playground = AttentionPlayground(sentence="나는 어제 빨간 사과를 먹었다", d_model=24, h=3, mask=mask, padding=2)
    _, _, weights, contributions, output = playground.attention()
    x, W = word_embeddings(words_of(playground.sentence), 24, 0)[None], projection_matrices(24)

    ours = MultiHeadAttention(24, 3, bias=False).double()
    theirs = nn.MultiheadAttention(24, 3, bias=False, batch_first=True).double()
    with torch.no_grad():
        for name in W:
            getattr(ours, name).weight.copy_(W[name].T)
        theirs.in_proj_weight.copy_(torch.cat([W[name].T for name in ("W_Q", "W_K", "W_V")]))
        theirs.out_proj.weight.copy_(W["W_O"].T)
    allowed = {"none": torch.ones(5, 5).bool(), "causal": causal_mask(5), "padding": padding_mask(torch.tensor([3]), 5)}
    allowed = allowed[mask].expand(5, 5) if mask != "padding" else allowed[mask][0, 0].expand(5, 5)

    for expected in (
        ours(x, mask=allowed, need_weights=True),
        theirs(x, x, x, attn_mask=~allowed, average_attn_weights=False),
    ):
        torch.testing.assert_close((output[None], weights[None]), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(contributions.sum(0), output, rtol=0, atol=1e-12)


def test_without_scaling_the_scores_are_dot_products():
    scaled, raw = AttentionPlayground().attention(), AttentionPlayground(scaled=False).attention()
    torch.testing.assert_close(scaled.scores * 8**0.5, raw.scores)


def test_only_padding_gives_zeros():
    _, _, weights, contributions, output = AttentionPlayground(mask="padding", padding=12).attention()
    assert not weights.any() and not contributions.any() and not output.any()


@pytest.mark.parametrize(("change", "named"), [({"sentence": "  "}, "단어"), ({"h": 3}, "d_model = 32, num_heads = 3")])
def test_no_numbers_without_words_or_with_heads_that_do_not_divide(change, named):
    with pytest.raises(ValueError, match=named):
        AttentionPlayground(**change).attention()


def random_playground(rng):
    words = rng.choices(WORDS, k=rng.choice([1, 2, 5, 11, 12, 40]))
    h = rng.randint(1, 8)
    return AttentionPlayground(
        sentence=rng.choice([" ", "  ", "\t", "\u3000"]).join(words), h=h, d_model=h * rng.randint(-(-8 // h), 64 // h),
        mask=rng.choice(["none", "causal", "padding"]), padding=rng.randint(1, 12), scaled=rng.random() < 0.5,
        seed=rng.randint(0, 999), query=rng.randrange(min(len(words), 12)),
    )  # fmt: skip


def printed(numbers, digits):
    """As the widget prints numbers: a real minus sign, and none in front of zero."""
    if isinstance(numbers, list):
        return [printed(number, digits) for number in numbers]
    text = f"{numbers:.{digits}f}"
    return text.replace("-", "") if float(text) == 0 else text.replace("-", "−")


def shown_by_python(playground):
    words, scores, weights, contributions, output = playground.attention()
    own, whole = contributions[:, playground.query], output[playground.query]
    shares = own @ whole / (whole @ whole)
    return {
        "words": words,
        "root": printed((playground.d_model // playground.h) ** 0.5, 3),
        "scores": printed(scores.tolist(), 3),
        "weights": printed(weights.tolist(), 3),
        "cells": printed(weights.tolist(), 2),
        "sums": printed(weights.sum(-1).tolist(), 2),
        "peak": printed(weights.amax(-1).mean().item(), 3),
        "contributions": printed(own.tolist(), 3),
        "output": printed(whole.tolist(), 3),
        "norms": printed([*own.norm(dim=-1).tolist(), whole.norm().item()], 3),
        "shares": ["–" if s.isnan() else f"{printed(s.item() * 100, 1)} %" for s in shares],
    }


SHOWN_BY_JAVASCRIPT = """
    const { attend, decimal, percent, unpack } = module;
    const tables = unpack(given.weights);
    const print = (numbers, digits) =>
        typeof numbers === "number" ? decimal(numbers, digits) : Array.from(numbers, (n) => print(n, digits));
    return given.settings.map((setting) => {
        const { words, d_k, heads, contributions, output, norms, norm, shares, difference, peak } =
            attend(setting, tables);
        const of = (name) => heads.map((head) => head[name]);
        if (!(difference < 1e-13)) throw new Error(`heads do not add up: ${difference}`);
        return {
            words, root: print(Math.sqrt(d_k), 3), scores: print(of("scores"), 3), weights: print(of("weights"), 3),
            cells: print(of("weights"), 2), sums: print(of("sums"), 2), peak: print(peak, 3),
            contributions: print(contributions, 3), output: print(output, 3), norms: print([...norms, norm], 3),
            shares: shares.map(percent),
        };
    });
"""


def test_every_number_in_javascript_equals_torch_in_200_random_settings():
    rng = random.Random(4)
    playgrounds = [random_playground(rng) for _ in range(200)]
    given = {
        "weights": playgrounds[0].get_state()["_weights"],
        "settings": [p.get_state(AttentionPlayground.settings()) for p in playgrounds],
    }
    shown = evaluate("attention_playground.js", SHOWN_BY_JAVASCRIPT, given)
    assert len(shown) == 200
    for playground, numbers in zip(playgrounds, shown):
        assert numbers == shown_by_python(playground)


def test_the_still_shows_every_map_and_no_setting_gives_nan_or_markup_from_words():
    rng = random.Random(5)
    playgrounds = [random_playground(rng) for _ in range(60)]
    states = [p.get_state() for p in [*playgrounds, AttentionPlayground(sentence=""), AttentionPlayground(h=3)]]
    states = [{k: v for k, v in s.items() if k not in ("_esm", "_css")} for s in states]
    *stills, empty, odd = evaluate("attention_playground.js", "return given.map(module.still);", states)
    for playground, html in zip(playgrounds, stills):
        T = min(len(words_of(playground.sentence)), 12)
        assert html.count('class="mh-cell"') == playground.h * T * T
        assert html.count("<svg") == html.count('role="img" aria-label="') == 2 * playground.h + 1
        assert not {"NaN", "undefined", "null", "Infinity"} & set(html.replace("<", " ").replace(">", " ").split())
        assert "NaN" not in html.replace("NaN이 되지 않습니다", "") and "<b>" not in html
    assert "단어가 없습니다" in empty and "나누어떨어지지 않습니다" in odd
    assert "mh-cell" not in empty + odd

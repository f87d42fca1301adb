"""KVCacheCalculator: its settings, and every number that its JavaScript shows against multihead.counting."""

import random
import re

import pytest
import torch
from run_node import evaluate
from shown_numbers import is_rounded, is_size
from traitlets import TraitError

from multihead.counting import PUBLISHED_MODELS, kv_cache_bytes
from multihead.widgets import KVCacheCalculator
from multihead.widgets.kv_cache_calculator import GPUS

SIZES = ("layers", "h", "g", "d_k")
NAMES = [model.name for model in PUBLISHED_MODELS]


def state_of(**settings):
    return KVCacheCalculator(**settings).get_state(["model", *SIZES, "T", "batch", "dtype", "_models", "_gpus"])


def random_settings(count):
    rng = random.Random(6)
    for _ in range(count):
        h = rng.randint(1, 128)
        yield {
            "layers": rng.randint(1, 128), "h": h, "g": rng.choice([d for d in range(1, h + 1) if h % d == 0]),
            "d_k": rng.randint(1, 256), "T": int(2 ** rng.uniform(0, 20)),
            "batch": rng.choice([1, rng.randint(1, 256)]),
            "dtype": rng.choice(["float32", "bfloat16", "int8"]),
        }  # fmt: skip


LARGEST = {"layers": 128, "h": 128, "g": 128, "d_k": 256, "T": 2**20, "batch": 256, "dtype": "float32"}
STATES = [
    *(state_of(**settings) for settings in random_settings(200)),
    *(state_of(model=name) for name in NAMES),
    *(state_of(model=name, T=T, batch=3) for name in NAMES for T in (1000, 4096, 4097, 32_768, 2**20)),
    state_of(**LARGEST),
]
MODELS = {model.name: model for model in PUBLISHED_MODELS}


def call(function, states):
    """What a function of the module returns for each of these states."""
    return evaluate("kv_cache_calculator.js", f"return given.map((state) => module.{function}(state));", states)


@pytest.fixture(scope="module")
def shown():
    return evaluate("kv_cache_calculator.js", "return given.map((state) => module.readouts(module.stateOf(state)));", STATES)


def window(state):
    return MODELS[state["model"]].window if state["model"] else None


def size(state, *, g=None, tokens=None, batch=None):
    return kv_cache_bytes(
        state["layers"], g or state["g"], state["d_k"], state["T"] if tokens is None else tokens, window=window(state),
        batch=batch or state["batch"], bytes_per_number=getattr(torch, state["dtype"]).itemsize,
    )  # fmt: skip


def test_bytes_of_a_token_and_of_all_tokens_equal_python(shown):
    for state, text in zip(STATES, shown, strict=True):
        token, total = size(state, tokens=1, batch=1), size(state)
        assert text["token_bytes"] == f"{token:,}바이트" and is_size(text["token_memory"], token)
        assert text["total_bytes"] == f"{total:,}바이트" and is_size(text["total_memory"], total)
        factors = [int(n.replace(",", "")) for n in text["formula"].split(" · ")]
        assert torch.tensor(factors).prod() == token
        factors = [int(n.replace(",", "")) for n in text["total_formula"].split(" · ")]
        assert torch.tensor(factors).prod() == total
        assert text["explanation"].endswith(f"캐시는 {text['total_memory']}입니다.")


def test_mistral_keeps_its_window_and_says_so(shown):
    state = state_of(model="Mistral-7B", T=32_768)
    [text] = evaluate("kv_cache_calculator.js", "return given.map((state) => module.readouts(module.stateOf(state)));", [state])
    assert size(state) == MODELS["Mistral-7B"].kv_cache_bytes(32_768) == 2**29
    assert text["total_memory"] == "512 MiB" and text["total_formula"] == "131,072 · 4,096"
    assert "토큰 32,768개 가운데 최근 4,096개만 남습니다(슬라이딩 윈도)" in text["explanation"]
    for state, text in zip(STATES, shown, strict=True):
        assert ("슬라이딩 윈도" in text["explanation"]) is (state["T"] > (window(state) or state["T"]))


def test_a_length_that_the_model_was_not_made_for_is_said_with_both_numbers(shown):
    said = set()
    for state, text, html in zip(STATES, shown, call("still", STATES), strict=True):
        model = MODELS.get(state["model"])
        if model and state["T"] > model.context:
            said.add(model.name)
            assert f"토큰 {model.context:,}개까지" in text["beyond"] and f"T = {state['T']:,}의" in text["beyond"]
            assert text["beyond"] in html
        else:
            assert text["beyond"] == "" and 'data-out="beyond"' not in html
    assert said == set(NAMES)


def test_the_same_model_as_mha_and_mqa_equals_python(shown):
    for state, text in zip(STATES, shown, strict=True):
        for g in {state["h"], state["g"], 1}:
            assert is_size(text[f"token_g{g}"], size(state, g=g, tokens=1, batch=1))
            assert is_size(text[f"total_g{g}"], size(state, g=g))
            if g != state["h"]:
                assert text[f"ratio_g{g}"] == f"MHA의 {state['h'] // g}분의 1"


def test_shares_of_gpu_memory_and_the_tokens_that_fit_equal_python(shown):
    outcomes = set()
    for state, text in zip(STATES, shown, strict=True):
        for i, (_, mib) in enumerate(GPUS):
            memory = mib * 2**20
            mebibytes, gibibytes = text[f"gpu{i}_memory"].split(" = ")
            assert mebibytes == f"{mib:,} MiB" and is_size(gibibytes, memory)
            if text[f"gpu{i}_tokens"] == "토큰이 몇 개든 들어갑니다":
                assert size(state, tokens=10**9) == size(state, tokens=window(state)) <= memory
            else:
                tokens = int(text[f"gpu{i}_tokens"].replace(",", "").removesuffix("토큰까지"))
                assert size(state, tokens=tokens) <= memory < size(state, tokens=tokens + 1)
            share, said = size(state) / memory, text[f"gpu{i}_share"]
            outcomes.add(kind := "배라" if share > 1 else "미만" if share < 0.0005 else "%")
            if kind == "배라":
                assert is_rounded(re.fullmatch(r"메모리의 (.*)배라 들어가지 않습니다", said)[1], share)
            elif kind == "미만":
                assert said == "메모리의 0.1 % 미만"
            else:
                assert is_rounded(said.removeprefix("메모리의 "), 100 * share)
    assert outcomes == {"배라", "미만", "%"}


def test_every_published_model_is_shown_with_its_numbers_its_source_and_its_note():
    for model, html in zip(PUBLISHED_MODELS, call("still", STATES[200:212]), strict=True):
        assert f"<b>{model.name}</b>" in html and f"출처: {model.source}" in html and model.note in html
        assert f'data-out="token_bytes">{model.kv_cache_bytes():,}바이트<' in html
    assert all(model.source not in KVCacheCalculator._esm for model in PUBLISHED_MODELS)


def test_bars_are_to_scale_and_heads_are_drawn_once():
    for state, html in zip(STATES, call("still", STATES), strict=True):
        assert "NaN" not in html and "undefined" not in html
        for panel in html.split('data-variant="')[1:]:
            kv = int(panel.partition('"')[0])
            [width] = re.findall(r'mh-bar mh-cache" style="width:([\d.]+)%', panel.partition("mh-gpus")[0])
            assert float(width) == pytest.approx(100 * size(state, g=kv) / size(state, g=state["h"]))
            drawing = panel.partition("mh-track")[0]
            if state["h"] <= 32:
                assert (drawing.count("<i"), drawing.count("mh-kv")) == (state["h"], kv)
            else:
                left_out = sum(map(int, re.findall(r"… (\d+)개 더 …", drawing)))
                assert drawing.count("mh-kv") + left_out == kv and drawing.count("mh-kv") <= 8
                n = state["h"] // kv
                assert drawing.count(f"×{n}<") == (drawing.count("mh-kv") if n > 1 else 0)
        for (_, mib), panel in zip(GPUS, html.split('data-gpu="')[1:], strict=True):
            frame, fill = (float(n) for n in re.findall(r"width:([\d.e-]+)%", panel)[:2])
            assert frame == pytest.approx(100 * mib / max(mib for _, mib in GPUS))
            assert fill == pytest.approx(min(100, 100 * size(state) / (mib * 2**20)))


@pytest.mark.parametrize(
    ("h", "g", "said"),
    [
        (32, 5, "h = 32는 KV 헤드 수 g = 5로 나누어떨어지지 않습니다(나머지 2)"),
        (32, 5, "g를 4나 8로 바꾸면 됩니다"),
        (8, 9, "g = 9가 헤드 수 h = 8보다 많습니다"),
        (8, 9, "g를 8로 바꾸면 됩니다"),
    ],
)
def test_the_still_of_heads_that_cannot_be_shared_evenly_is_the_explanation(h, g, said):
    [html] = call("still", [state_of(h=h, g=g)])
    assert said in html and "data-out" not in html


# ---- settings ----


@pytest.mark.parametrize("model", PUBLISHED_MODELS, ids=NAMES)
def test_a_model_brings_its_sizes(model):
    expected = (model.layers, model.num_heads, model.num_kv_heads, model.d_k)
    named, chosen = KVCacheCalculator(model=model.name), KVCacheCalculator()
    chosen.model = model.name
    for widget in (named, chosen):
        assert tuple(getattr(widget, name) for name in SIZES) == expected and widget.model == model.name


def test_the_default_sizes_are_those_of_the_default_model():
    widget = KVCacheCalculator()
    sizes = [getattr(widget, name) for name in SIZES]
    widget.model = ""
    widget.model = KVCacheCalculator().model
    assert sizes == [getattr(widget, name) for name in SIZES]


def test_another_size_makes_it_another_model():
    widget = KVCacheCalculator(model="Llama-3-8B")
    widget.T, widget.batch, widget.dtype = 100, 4, "int8"
    assert widget.model == "Llama-3-8B"
    widget.g = 32
    assert (widget.model, widget.layers, widget.g) == ("", 32, 32)


def test_a_size_given_beside_the_model_wins():
    widget = KVCacheCalculator(model="Llama-2-70B", g=1)
    assert (widget.model, widget.layers, widget.h, widget.g) == ("", 80, 64, 1)
    assert KVCacheCalculator(model="Llama-2-70B", g=8).model == "Llama-2-70B"
    assert KVCacheCalculator(layers=3).model == ""


def test_what_the_browser_sends_arrives_in_python():
    widget = KVCacheCalculator()
    widget.set_state({"layers": 12, "h": 12, "g": 12, "d_k": 64, "model": "GPT-2 small"})
    assert (widget.model, widget.layers, widget.d_k) == ("GPT-2 small", 12, 64)
    widget.set_state({"g": 1, "model": ""})
    assert (widget.model, widget.h, widget.g) == ("", 12, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "GPT-5"), ("model", None), ("layers", 0), ("layers", 129), ("h", 129), ("g", 0), ("g", None),
     ("d_k", 257), ("T", 0), ("T", 2**20 + 1), ("batch", 257), ("batch", 1.0), ("dtype", "float64"), ("dtype", 2)],
)  # fmt: skip
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    widget = KVCacheCalculator()
    before = widget.get_state()
    with pytest.raises(TraitError, match=rf"{name}.*입니다\. 받은 값|{name}에는 정수가 필요합니다"):
        setattr(widget, name, value)
    assert widget.get_state() == before
    with pytest.raises(TraitError, match=name):
        KVCacheCalculator(**{name: value})


def test_an_unknown_setting_raises():
    with pytest.raises(TypeError, match=r"heads.*쓸 수 있는 설정"):
        KVCacheCalculator(heads=4)

"""ParameterCounter: its settings, and every number that its JavaScript shows against multihead.counting."""

import math
import random
import re

import pytest
from run_node import evaluate
from shown_numbers import is_rounded, is_size
from traitlets import TraitError

from multihead.counting import attention_flops, attention_parameters, score_bytes
from multihead.widgets import ParameterCounter

STATE = {"h": 8, "d_model": 512, "bias": True, "T": 128, "g": None}


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def random_settings(count):
    rng = random.Random(5)
    for _ in range(count):
        h = rng.randint(1, 64)
        d_model = h * rng.randint(math.ceil(8 / h), 4096 // h)
        g = rng.choice([None, *divisors(h)])
        yield {"h": h, "d_model": d_model, "bias": rng.random() < 0.5, "T": int(2 ** rng.uniform(0, 14)), "g": g}


SETTINGS = [STATE, *random_settings(200)]


def call(function, states):
    """What a function of the module returns for each of these states."""
    return evaluate("parameter_counter.js", f"return given.map((state) => module.{function}(state));", states)


@pytest.fixture(scope="module")
def shown():
    return call("readouts", SETTINGS)


def flops(state, T=None):
    return attention_flops(state["d_model"], state["h"], T or state["T"], num_kv_heads=state["g"])


def test_parameters_by_matrix_and_in_all_equal_python(shown):
    for state, text in zip(SETTINGS, shown, strict=True):
        expected = attention_parameters(state["d_model"], state["h"], state["g"], bias=state["bias"])
        assert {name: text[name] for name in expected} == {name: f"{n:,}개" for name, n in expected.items()}
        assert text["total"] == f"{sum(expected.values()):,}개"
        for name, number in expected.items():
            rows, columns = (int(n.replace(",", "")) for n in text[f"shape_{name}"].split(" × "))
            bias = state["bias"] * (state["d_model"] if name == "W_O" else columns)
            assert rows * columns + bias == number
        assert text["d_k"] == f"{state['d_model'] // state['h']:,}"


def test_flops_by_part_and_their_shares_equal_python(shown):
    for state, text in zip(SETTINGS, shown, strict=True):
        expected = flops(state)
        assert {name: text[name] for name in expected} == {name: f"{n:,}" for name, n in expected.items()}
        assert text["total_flops"] == f"{sum(expected.values()):,}"
        for name, number in expected.items():
            assert is_rounded(text[f"{name}_share"], 100 * number / sum(expected.values()))


def test_score_memory_equals_python(shown):
    for state, text in zip(SETTINGS, shown, strict=True):
        size = score_bytes(state["h"], state["T"])
        assert text["score_bytes"] == f"{size:,}바이트" and is_size(text["score_memory"], size)


def test_at_the_crossover_both_parts_are_equal_and_the_sentence_names_the_larger_one(shown):
    sides = set()
    for state, text in zip(SETTINGS, shown, strict=True):
        at = flops(state, int(text["crossover"].replace(",", "")))
        assert at["projections"] == at["scores"] + at["weighted_sum"]
        now = flops(state)
        quadratic = now["scores"] + now["weighted_sum"]
        share = re.search(r"(투영이|점수와 가중합이) ([\d.]+ %)로 더 큽니다", text["about_T"])
        if share:
            sides.add(share[1])
            larger = max(now["projections"], quadratic)
            assert (share[1] == "투영이") is (now["projections"] > quadratic)
            assert is_rounded(share[2], 100 * larger / sum(now.values()))
        else:
            assert now["projections"] == quadratic and "바로 그 T" in text["about_T"]
        assert f"= {text['crossover']}에서" in text["about_T"]
        causal = flops(state, 2 * int(text["crossover"].replace(",", "")))  # a causal kernel does half of the pairs
        assert causal["projections"] == (causal["scores"] + causal["weighted_sum"]) / 2
        assert f"두 배인 {2 * int(text['crossover'].replace(',', '')):,}입니다" in text["about_T"]
    assert sides == {"투영이", "점수와 가중합이"}


def test_that_h_does_not_change_the_total_is_said_with_the_total(shown):
    for state, text in zip(SETTINGS, shown, strict=True):
        of_mha = f"{sum(attention_parameters(state['d_model'], state['h'], bias=state['bias']).values()):,}개"
        heads = {int(n) for n in re.findall(r"(\d+)이?든", text["about_h"])}
        assert {1, state["h"]} <= heads and all(state["d_model"] % h == 0 for h in heads)
        assert of_mha in text["about_h"]
        if state["g"] in (None, state["h"]):
            assert "h는 합계를 바꾸지 않고" in text["about_h"]
        else:
            assert f"{of_mha}에서 {text['total']}가 됩니다" in text["about_h"]
    assert shown[0]["about_h"].startswith("h가 1이든 8이든 64든 파라미터는 모두 1,050,624개입니다.")


def test_areas_and_lengths_are_to_scale():
    for state, html in zip(SETTINGS, call("still", SETTINGS), strict=True):
        number = attention_parameters(state["d_model"], state["h"], state["g"], bias=state["bias"])
        ratios = re.findall(r"aspect-ratio:(\d+)/(\d+)", html)
        assert {int(height) * int(width) for width, height in ratios} == {number["W_Q"]}  # the squares are W_Q
        widths = re.findall(r'data-area="(\w+)" style="width:([\d.]+)%', html)
        assert {name: float(width) for name, width in widths} == {
            name: pytest.approx(100 * n / number["W_Q"]) for name, n in number.items()
        }
        bars = re.findall(r'data-bar="(\w+)" style="width:([\d.e-]+)%', html)
        total = sum(flops(state).values())
        assert {name: float(width) for name, width in bars} == {
            name: pytest.approx(100 * n / total) for name, n in flops(state).items()
        }
        assert "NaN" not in html and "undefined" not in html


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"h": 3}, "d_model = 512는 h = 3으로 나누어떨어지지 않습니다"),
        ({"h": 64, "d_model": 8}, "d_model = 8은 h = 64로 나누어떨어지지 않습니다"),
        ({"g": 3}, "h = 8은 KV 헤드 수 g = 3으로 나누어떨어지지 않습니다(나머지 2)"),
        ({"g": 3}, "g를 2나 4로 바꾸면 됩니다"),
        ({"g": 16}, "g = 16이 헤드 수 h = 8보다 많습니다"),
    ],
)
def test_the_still_of_what_does_not_divide_is_the_explanation_and_nothing_else(change, said):
    [html] = call("still", [{**STATE, **change}])
    assert said in html and "data-out" not in html


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("h", (1, 64)), ("d_model", (8, 512, 768, 1024, 4096)), ("T", (1, 16384)), ("g", (1, 64, None)),
     ("bias", (False, True))],
)  # fmt: skip
def test_every_allowed_value_is_taken(name, allowed):
    widget = ParameterCounter()
    for value in allowed:
        setattr(widget, name, value)
        assert getattr(widget, name) == value == widget.get_state()[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [("h", 0), ("h", 65), ("h", None), ("d_model", 7), ("d_model", 4097), ("T", 0), ("T", 16385), ("T", 2.0),
     ("g", 0), ("g", 65), ("g", "8"), ("bias", 1), ("bias", None)],
)  # fmt: skip
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    widget = ParameterCounter()
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=rf"{name}.*입니다\. 받은 값|{name}에는 정수가 필요합니다"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_an_unknown_setting_raises():
    with pytest.raises(TypeError, match=r"heads.*쓸 수 있는 설정"):
        ParameterCounter(heads=4)

"""HeadAtlas: its settings, what it refuses, and the numbers of its JavaScript against Python and a slow reference."""

import random
import re
import unicodedata
from types import SimpleNamespace

import pytest
import torch
from run_node import evaluate
from traitlets import TraitError

from multihead.models.bert import Attention
from multihead.widgets import HeadAtlas

L, H = 3, 5
TOKENS = ["[CLS]", "the", "story", "##tell", "##er", "saw", "un", "##happy", "cats", ".", "[SEP]"]
WORDS = [None, 0, 1, 1, 1, 2, 3, 3, 4, 5, None]
ARCS = [(0, 1), (1, 2), (3, 4), (4, 2)]


def sentence(tokens=TOKENS, seed=0, layers=L, heads=H, **more):
    generator = torch.Generator().manual_seed(seed)
    weights = (3 * torch.randn(layers, heads, len(tokens), len(tokens), generator=generator)).softmax(-1)
    return SimpleNamespace(tokens=tokens, weights=weights, **more)


def relation(arcs, **more):
    best = [{"layer": 2, "head": 4, "accuracy": 0.9, "low": 0.8, "high": 0.95}]
    return {"arcs": arcs, "best": best, "baseline": 0.4, "offset": -1} | more


SCORES = torch.rand(2, L, H, generator=torch.Generator().manual_seed(3)).double()


def atlas(**settings):
    given = {
        "scores": {"가": SCORES[0], "나": SCORES[1] - 0.5},
        "sentences": [sentence(), sentence(["[CLS]", "a", "b", "[SEP]"], seed=1), sentence(seed=2)],
        "relations": {"r": relation([ARCS, [], ARCS[:1]]), "s": relation([[], [(1, 0)], []], best=[])},
    }
    return HeadAtlas(**given | settings)


def state_of(widget):
    return widget.get_state(["score", "layer", "head", "sentence", "relation", "_atlas", "_weights"])


def call(function, widgets):
    script = f"return given.map((state) => module.{function}(state, module.unpackWeights(state._weights)));"
    return evaluate("head_atlas.js", script, [state_of(widget) for widget in widgets])


@pytest.fixture(scope="module")
def widgets():
    rng = random.Random(5)
    return [
        atlas(
            score=rng.choice("가나"), layer=rng.randint(1, L), head=rng.randint(1, H), sentence=rng.randint(0, 2),
            relation=rng.choice(["", "r", "s"]),
        )
        for _ in range(60)
    ]  # fmt: skip


# -- numbers -----------------------------------------------------------------------------------------------------


def test_the_browser_has_every_map_to_the_fourth_decimal(widgets):
    for widget, rows in zip(widgets, call("mapOf", widgets), strict=True):
        shown = torch.tensor([list(row.values()) for row in rows], dtype=torch.float64)
        given = [sentence(), sentence(["[CLS]", "a", "b", "[SEP]"], seed=1), sentence(seed=2)][widget.sentence]
        assert torch.allclose(shown, given.weights[widget.layer - 1, widget.head - 1].double(), atol=5.1e-5)
        assert torch.equal(shown, widget.map()) or torch.allclose(shown, widget.map(), atol=1e-12)


def slow_arcs(widget):
    """Word by word: mean over the query's pieces of the sum over the key's pieces, argmax over the other words."""
    if not widget.relation:
        return []
    own = widget._atlas["sentences"][widget.sentence]["words"]
    count = max(word for word in own if word is not None) + 1
    found = []
    for query, key in dict(widget._atlas["relations"])[widget.relation]["arcs"][widget.sentence]:
        weights = {}
        for word in set(range(count)) - {query}:
            rows = [t for t, w in enumerate(own) if w == query]
            columns = [t for t, w in enumerate(own) if w == word]
            weights[word] = sum(widget.map()[t, s].item() for t in rows for s in columns) / len(rows)
        found.append((query, key, weights[key], weights[key] == max(weights.values())))
    return found


def test_arcs_equal_a_slow_reference_in_python_and_in_the_browser(widgets):
    hits = set()
    for widget, drawn in zip(widgets, call("arcsOf", widgets), strict=True):
        expected = slow_arcs(widget)
        hits |= {found for *_, found in expected}
        for arc, other, (query, key, weight, found) in zip(widget.arcs(), drawn, expected, strict=True):
            assert (arc.query, arc.key, arc.found) == (query, key, found)
            assert (other["query"], other["key"], other["found"]) == (query, key, found)
            assert arc.weight == pytest.approx(weight) == other["weight"]
    assert hits == {True, False}


def test_where_two_words_get_as_much_none_is_found_in_python_and_in_the_browser():
    """Also where the weights of the pieces of a word only add up to as much, in any order."""
    weights = torch.full((L, H, 6, 6), 1 / 6)
    weights[:, :, 1] = torch.tensor([0.0, 0.1, 0.3, 0.1, 0.2, 0.3])  # a: b 0.3, c 0.1 + 0.2, d 0.3
    weights[:, :, 2] = torch.tensor([0.0, 0.1, 0.1, 0.1, 0.3, 0.4])  # b: c 0.1 + 0.3, d 0.4
    weights[:, :, 5] = torch.tensor([0.0, 0.3, 0.2, 0.2, 0.2, 0.1])  # d: c 0.4, a 0.3
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (3, 2), (3, 0)]
    tied = Attention(["[CLS]", "a", "b", "c", "##c", "d"], weights, torch.zeros(1))
    widget = atlas(sentences=[tied], relations={"r": relation([pairs])}, relation="r")
    expected = [False] * 5 + [True, False]
    assert [arc.found for arc in widget.arcs()] == expected
    assert [arc["found"] for arc in call("arcsOf", [widget])[0]] == expected


def test_a_word_that_looks_at_itself_is_refused():
    with pytest.raises(ValueError, match=r"자기 자신을 봅니다: \[1\]"):
        atlas(relations={"r": relation([[(1, 1)], [], []])})


@pytest.mark.parametrize("wrong", ["나는 먹었다", 3, {"tokens": []}])
def test_what_is_no_attention_is_refused(wrong):
    with pytest.raises(ValueError, match=r"bert.attend\(글\)"):
        atlas(sentences=[wrong])


def test_score_rank_and_list_are_those_of_the_table(widgets):
    tables = {"가": SCORES[0], "나": SCORES[1] - 0.5}
    for widget, text, rows in zip(widgets, call("readouts", widgets), call("listRows", widgets), strict=True):
        table = tables[widget.score]
        value = table[widget.layer - 1, widget.head - 1].item()
        assert text["head"] == f"{widget.layer}-{widget.head}"
        assert text["value"].replace("−", "-") == f"{value:.2f}"
        assert text["place"] == f"헤드 {L * H}개 가운데 {int((table > value).sum()) + 1}위"
        largest = table.abs().max().item()
        assert text["high"] == f"{largest:.2f}"
        assert text["low"] == (f"−{largest:.2f}" if widget.score == "나" else "0.00")
        if widget.relation == "":
            best = [divmod(i, H) for i in table.flatten().argsort(descending=True)[:5].tolist()]
            assert [(row["layer"] - 1, row["head"] - 1) for row in rows] == best
        elif widget.relation == "r":
            assert [(row["layer"], row["head"], row["text"]) for row in rows] == [(2, 4, "90\u00a0% (80~95)")]
            assert "1낱말 앞을 고르면 40\u00a0%" in text["baseline"]


def test_what_the_arcs_say_names_words_and_hits():
    widget = atlas(relation="r")
    [text] = call("readouts", [widget])
    hits = sum(arc.found for arc in widget.arcs())
    assert text["arcs"].startswith(f"화살표 4개 가운데 {hits}개를 맞혔습니다(○).")
    assert "storyteller → saw" in text["arcs"] and "unhappy → cats" in text["arcs"]
    [nothing] = call("readouts", [atlas(relation="r", sentence=1)])
    assert "이 문장에는 ‘r’ 관계가 없습니다" in nothing["arcs"]


def test_the_still_shows_every_head_the_map_the_arcs_and_the_list():
    [html] = call("still", [atlas(relation="r", layer=2, head=4)])
    values = re.findall(r'mh-cell-value">([^<]+)<', html)
    assert [value.replace("−", "-") for value in values] == [f"{v:.2f}" for v in SCORES[0].flatten().tolist()]
    assert html.count('class="mh-arc') == 4 and html.count("is-chosen") == 1
    assert "헤드 2-4의 어텐션 지도" in html and "90\u00a0% (80~95)" in html
    assert "NaN" not in html and "undefined" not in html and "<input" not in html


def test_tokens_never_become_markup():
    evil = atlas(
        sentences=[sentence(["[CLS]", "<img src=x>", "</svg>", "[SEP]"])],
        relations={"<b>": relation([[(0, 1)]])},
        relation="<b>",
    )
    [html] = call("still", [evil])
    assert "<img" not in html and html.count("</svg>") == 1 and "<b>" not in html


# -- settings ----------------------------------------------------------------------------------------------------


def test_names_are_the_same_in_every_unicode_form():
    names = ["가", "아래  로"]
    strange = [unicodedata.normalize("NFD", name) for name in names]
    widget = atlas(
        scores={strange[0]: SCORES[0], strange[1]: SCORES[1]}, relations={strange[1]: relation([[(0, 1)], [], []])},
        score=strange[1], relation=names[1],
    )  # fmt: skip
    assert (widget.score, widget.relation) == ("아래 로", "아래 로") and len(widget.arcs()) == 1
    widget.score = names[0]
    assert widget.score == "가" and atlas(scores={strange[0]: SCORES[0]}).score == "가"


def test_it_opens_with_the_best_head_of_its_first_score():
    layer, head = divmod(SCORES[0].argmax().item(), H)
    widget = atlas()
    assert (widget.score, widget.layer, widget.head, widget.sentence, widget.relation) == (
        "가",
        layer + 1,
        head + 1,
        0,
        "",
    )
    assert (atlas(layer=2).layer, atlas(layer=2).head) == (2, 1)


@pytest.mark.parametrize(
    ("name", "values"),
    [("score", "가나"), ("layer", (1, L)), ("head", (1, H)), ("sentence", (0, 2)), ("relation", ["", "r", "s"])],
)
def test_every_allowed_value_is_taken(name, values):
    widget = atlas()
    for value in values:
        setattr(widget, name, value)
        assert getattr(widget, name) == value == widget.get_state()[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [("score", "다"), ("score", None), ("layer", 0), ("layer", L + 1), ("layer", "1"), ("head", H + 1), ("sentence", 3),
     ("sentence", -1), ("relation", "t"), ("relation", None)],
)  # fmt: skip
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    widget = atlas()
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=rf"{name}.*받은 값"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before
    with pytest.raises(TraitError, match=rf"{name}.*받은 값"):
        atlas(**{name: value})


def test_an_unknown_setting_raises():
    with pytest.raises(TypeError, match=r"heads.*쓸 수 있는 설정: .*relation"):
        atlas(heads=4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scores": {}}, "하나 이상"),
        ({"sentences": [], "relations": {}}, "하나 이상"),
        ({"scores": {"가": SCORES[0].T}}, r"\(3, 5\)이어야 하는데 \(5, 3\)"),
        ({"scores": {"가": SCORES[0] / 0}}, "유한하지 않은"),
        ({"sentences": [sentence(), sentence(heads=4)]}, r"\(3, 5\)인 문장과 \(3, 4\)인 문장"),
        ({"sentences": [SimpleNamespace(tokens=["a"], weights=torch.ones(L, H, 2, 2) / 2)]}, r"\(3, 5, 2, 2\)"),
        ({"sentences": [SimpleNamespace(tokens=["a"], weights=torch.full((L, H, 1, 1), 2.0))]}, "합이 1"),
        ({"relations": {"r": relation([ARCS])}}, "문장마다 하나씩 3개여야 하는데 1개"),
        ({"relations": {"r": relation([[(0, 6)], [], []])}}, r"없는 낱말 번호가 있습니다: \[6\]"),
        ({"relations": {"r": relation([[], [], []], baseline=float("nan"))}}, "유한하지 않은"),
        ({"sentences": [sentence(["a"] * 90, layers=10, heads=5)], "scores": {"가": torch.ones(10, 5)}, "relations": {}},
         "405,000개로, 한계인 400,000개"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_numbers(given, message):
    with pytest.raises(ValueError, match=message):
        atlas(**given)


def test_words_follow_from_the_tokens_or_are_given():
    assert atlas()._atlas["sentences"][0]["words"] == WORDS
    odd = ["[UNK]", "##a", "[", "b", "]", "[SEP]", "##c"]
    assert atlas(sentences=[sentence(odd)], relations={})._atlas["sentences"][0]["words"] == [0, 0, 1, 2, 3, None, 4]
    given = sentence(["[CLS]", "don", "'", "t", "[SEP]"], words=[None, 0, 0, 0, None])
    assert atlas(sentences=[given], relations={})._atlas["sentences"][0]["words"] == [None, 0, 0, 0, None]


def test_any_array_is_a_score_and_weights_take_three_bytes_each():
    widget = atlas(
        scores={"목록": SCORES[0].tolist(), "numpy": SCORES[0].numpy(), "정수": torch.ones(L, H, dtype=torch.int)}
    )
    assert [name for name, _ in widget._atlas["scores"]] == ["목록", "numpy", "정수"]
    assert len(widget._weights) <= 2 * 4 / 3 * L * H * (2 * 11**2 + 4**2) + 4

"""SentenceExplorer: its settings, its answers in a kernel, and its JavaScript against Python and a slow reference."""

import random
import re
from types import SimpleNamespace

import bert_files
import numpy
import pytest
import torch
from run_node import evaluate
from traitlets import TraitError

from multihead.models.bert import PACKAGED, Attention, load_bert
from multihead.widgets import SentenceExplorer
from multihead.widgets.sentence_explorer import MAX_TOKENS, PREPARED, head_reactions, is_word, matched_tokens

L, H = 3, 5


def attention(tokens, seed):
    generator = torch.Generator().manual_seed(seed)
    weights = (3 * torch.randn(L, H, len(tokens), len(tokens), generator=generator)).softmax(-1)
    return Attention(tokens, weights, hidden_states=torch.zeros(0))


class FakeBert:
    """Splits at spaces and draws weights by length; a text "broken" raises."""

    num_layers, num_heads, max_length, name = L, H, 512, PACKAGED

    def __init__(self):
        self.asked = []
        self.tokenizer = SimpleNamespace(tokenize=lambda text, verbose: text.split())

    def attend(self, text):
        self.asked.append(text)
        if text == "broken":
            raise RuntimeError("메모리가 모자랍니다")
        return attention(["[CLS]", *text.split(), "[SEP]"], seed=len(text))


def explorer(**settings):
    return SentenceExplorer(FakeBert(), **settings)


def as_json(attention):
    return {"tokens": attention.tokens, "layers": L, "heads": H, "weights": attention.weights.flatten().tolist()}


# -- two sentences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ("a b c d", "a x c d", [(0, 0), (2, 2), (3, 3)]),
        ("a b c", "a b x y c", [(0, 0), (1, 1), (2, 4)]),
        ("a b", "a b", [(0, 0), (1, 1)]),
        ("the cat", "the the cat", [(0, 0), (1, 2)]),  # no token is matched twice
        ("the the cat", "the cat", [(0, 0), (2, 1)]),
        ("a", "b", []),
    ],
)
def test_tokens_are_matched_from_both_ends(first, second, pairs):
    assert matched_tokens(first.split(), second.split()) == pairs


def slow_reaction(first, second, layer, head):
    """One number at a time, as the docstring of head_reactions says it."""
    pairs = matched_tokens(first.tokens, second.tokens)
    a, b = first.weights[layer, head].tolist(), second.weights[layer, head].tolist()
    changes = []
    for i, j in pairs:
        if is_word(first.tokens[i]):
            same = sum(abs(a[i][k] - b[j][other]) for k, other in pairs)
            lost = sum(a[i][k] for k in range(len(a)) if k not in [p for p, _ in pairs])
            come = sum(b[j][k] for k in range(len(b)) if k not in [q for _, q in pairs])
            changes.append((same + abs(lost - come)) / 2)
    return sum(changes) / len(changes) if changes else None


def test_reactions_equal_a_slow_reference_in_python_and_in_the_browser():
    draw = random.Random(2)
    cases = []
    for seed in range(40):
        words = draw.choices(["the", "cat", "##s", ".", "[UNK]", "사과"], k=draw.randint(1, 8))
        at = draw.randint(0, len(words))
        changed = words[:at] + draw.choices(["x", "y", "cat"], k=draw.randint(0, 2)) + words[at + draw.randint(0, 2) :]
        cases.append([attention(["[CLS]", *words, "[SEP]"], seed), attention(["[CLS]", *changed, "[SEP]"], seed + 100)])
    found = evaluate(
        "sentence_explorer.js",
        """
        const typed = (one) => ({ ...one, weights: Float64Array.from(one.weights) });
        return given.map(([first, second]) => module.headReactions(typed(first), typed(second)));
        """,
        [[as_json(one) for one in case] for case in cases],
    )
    kinds = set()
    for (first, second), rows in zip(cases, found, strict=True):
        expected = [slow_reaction(first, second, layer, head) for layer in range(L) for head in range(H)]
        kinds.add(expected[0] is None)
        if expected[0] is None:
            assert rows is None
            with pytest.raises(ValueError, match="견줄 행이 없습니다"):
                head_reactions(first, second)
            continue
        assert head_reactions(first, second).flatten().tolist() == pytest.approx(expected, abs=1e-6)
        assert [row["reaction"] for row in rows] == pytest.approx(expected, abs=1e-6)
        assert [(row["layer"], row["head"]) for row in rows] == [(i + 1, j + 1) for i in range(L) for j in range(H)]
        assert all(0 <= row["reaction"] <= row["change"] <= 1 + 1e-6 for row in rows)
    assert kinds == {True, False}


def test_reactions_are_0_between_equal_sentences_and_1_between_rows_that_share_nothing():
    tokens = ["[CLS]", "a", "b", "[SEP]"]
    same = attention(tokens, 0)
    assert head_reactions(same, same).abs().max() == 0
    first, second = (torch.zeros(L, H, 4, 4) for _ in range(2))
    first[..., 0], second[..., 3] = 1, 1
    apart = [Attention(tokens, weights, hidden_states=torch.zeros(0)) for weights in (first, second)]
    assert torch.equal(head_reactions(*apart), torch.ones(L, H, dtype=torch.float64))


# -- what the browser shows ------------------------------------------------------------------------------------------


def test_the_browser_has_every_prepared_map_to_the_fourth_decimal():
    widget = explorer()
    state = widget.get_state(["_recorded", "_weights"])
    recorded = evaluate(
        "sentence_explorer.js",
        """
        const recorded = module.readRecorded(given._recorded, given._weights);
        return [...recorded].map(([text, { tokens, weights }]) => [text, tokens, [...weights]]);
        """,
        state,
    )
    assert [text for text, *_ in recorded] == PREPARED
    for text, tokens, weights in recorded:
        expected = FakeBert().attend(text)
        assert tokens == expected.tokens
        assert numpy.allclose(weights, expected.weights.flatten().double(), atol=5.1e-5)


def test_every_failure_and_every_vocabulary_gets_a_korean_sentence():
    failures = [
        {"kind": "empty"},
        {"kind": "too_long", "count": 72, "most": 64},
        {"kind": "missing", "file": "a.bin", "status": 404},
        {"kind": "truncated", "file": "a.bin", "bytes": 1000, "expected": 2000},
        {"kind": "truncated", "file": "model.json", "bytes": 3},
        {"kind": "interrupted", "file": "a.bin"},
        {"kind": "cancelled"},
        {"kind": "no_worker"},
        {"kind": "other_model"},
        {"kind": "fault", "message": "x"},
    ]
    texts = evaluate("sentence_explorer.js", "return given.map(module.failureText);", failures)
    assert all(re.search(r"(니다|십시오)\.$|: x$", text) and "undefined" not in text for text in texts)
    assert "토큰 72개로 나뉘어 한계인 64개" in texts[1] and "1,000바이트, 원래는 2,000바이트" in texts[3]

    given = [["cat"], ["[UNK]", "[UNK]"], ["cat", "[UNK]"], ["\u1102", "##\u1161", "[UNK]"], []]
    script = "return given.map((tokens) => module.vocabularyNote({ tokens: ['[CLS]', ...tokens] }));"
    notes = evaluate("sentence_explorer.js", script, given)
    for note, said in zip(notes, ["", "하나도 없어", "없는 1곳은", "어휘는 영어", ""], strict=True):
        assert said in note and (said or note == "")


def still(**settings):
    widget = explorer(**settings)
    state = widget.get_state([*widget.settings(), "_recorded", "_weights"])
    return evaluate("sentence_explorer.js", "return module.still(given);", state)


def test_the_still_shows_lines_and_map_and_the_comparison():
    html = still(layer=2, head=4, compare=PREPARED[1])
    assert html.count("<svg") == 4 and html.count('class="mh-best-row"') == 5
    assert "헤드 <strong>2-4</strong>" in html and "‘tired.’ → ‘soft.’" in html
    assert "NaN" not in html and "undefined" not in html and "<input" not in html
    assert still(specials=False).count("[CLS]</text>") == 0 < still().count("[CLS]</text>")


def test_a_sentence_that_was_not_computed_is_no_blank_and_no_markup():
    html = still(text="<b>new</b>")
    assert "아직 계산하지 않았습니다" in html and "<b>" not in html and "&lt;b&gt;new" in html


def test_tokens_never_become_markup(monkeypatch):
    texts = ["<img src=x> & <b>bold</b>", "<i>thin</i> & <b>bold</b>"]
    monkeypatch.setattr("multihead.widgets.sentence_explorer.PREPARED", texts)
    html = still(text=texts[0], compare=texts[1])
    assert html.count("&lt;b&gt;bold&lt;/b&gt;</text>") == 8 and not re.search("<img|<b>|<i>", html)


# -- settings and answers --------------------------------------------------------------------------------------------


def test_prepared_sentences_are_short_for_the_packaged_model_and_limits_agree():
    tokenizer = load_bert().tokenizer
    assert len(PREPARED) == 6 and all(len(tokenizer(text)["input_ids"]) <= 14 for text in PREPARED)
    assert MAX_TOKENS == bert_files.MAX_TOKENS


@pytest.mark.parametrize(
    ("name", "value"),
    [("layer", 0), ("layer", L + 1), ("head", H + 1), ("text", 3), ("compare", None), ("specials", 1)],
)
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    widget = explorer()
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=rf"{name}.*받은 값"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_an_unknown_setting_raises():
    with pytest.raises(TypeError, match="heads.*쓸 수 있는 설정: .*compare"):
        explorer(heads=3)


def answers(widget, monkeypatch, *texts):
    sent = []
    monkeypatch.setattr(SentenceExplorer, "send", lambda self, content, buffers=None: sent.append((content, buffers)))
    for i, text in enumerate(texts):
        widget._handle_custom_msg({"id": f"view-{i}", "text": text}, [])
    assert [content["id"] for content, _ in sent] == [f"view-{i}" for i in range(len(texts))]
    return sent


def test_in_a_kernel_the_model_answers_with_tokens_and_maps(monkeypatch):
    widget = explorer()
    [(content, [buffer])] = answers(widget, monkeypatch, "a b c")
    expected = FakeBert().attend("a b c")
    assert content["tokens"] == expected.tokens == ["[CLS]", "a", "b", "c", "[SEP]"]
    assert numpy.array_equal(numpy.frombuffer(buffer, "<f4"), expected.weights.flatten().numpy())


def test_in_a_kernel_what_cannot_be_answered_is_said_too(monkeypatch):
    widget = explorer()
    prepared = len(widget._bert.asked)
    replies = answers(widget, monkeypatch, "  ", "\u200b\u3164", "a " * 63, "a " * 62, "broken")
    assert [content.get("error") for content, _ in replies] == [
        {"kind": "empty"},
        {"kind": "empty"},
        {"kind": "too_long", "count": 65, "most": 64},
        None,
        {"kind": "fault", "message": "메모리가 모자랍니다"},
    ]
    assert widget._bert.asked[prepared:] == ["a " * 62, "broken"]

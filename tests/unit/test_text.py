"""One text, one answer: normalize_text in Python and normalizeText in JavaScript."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_node import evaluate

from multihead.models.text import normalize_text

SAME = [
    "나는 빨간 사과",
    unicodedata.normalize("NFD", "나는 빨간 사과"),
    "나는 \u200b빨간 사과",
    "나는\u2003빨간\u3000사과",
    "\ufeff나는\t빨간\r\n사과\u00a0",
    "나\u00ad는 빨\u2060간 사과\u3164",
    "나는 빨간 사과\ud83d",
]


@pytest.mark.parametrize("text", SAME)
def test_every_form_of_a_text_is_the_same_text(text):
    assert normalize_text(text) == "나는 빨간 사과"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u3164", "\u115f\u1160", "\ufe0f", "\x00", "\ud800", "\u2028\u3000"])
def test_what_cannot_be_seen_is_empty(text):
    assert normalize_text(text) == ""


def test_letters_accents_case_and_jamo_stay():
    for text in ("Café NAÏVE", "ㅋㅋ ㅠㅠ", "ß ſ", "漢字", "😀 👩", "a b", "1,000.5%"):
        assert normalize_text(text) == text


# A surrogate pair in JSON would be one letter to Node and two to Python.
ODD = st.sampled_from("\u1112\u1161\u11ab\u200b\u200d\ufe0f\u3164\u2003\u0301\xad\x85\x1c\u180e\U0001f469\U000e0001\ud800")
TEXTS = st.text(st.one_of(ODD, st.characters()), max_size=12)


@settings(deadline=None, max_examples=20)
@given(st.lists(TEXTS, min_size=200, max_size=200))
def test_the_browser_gives_the_same_and_doing_it_twice_changes_nothing(texts):
    want = [normalize_text(text) for text in texts]
    assert [normalize_text(text) for text in want] == want
    known = [text for text in texts if all(unicodedata.category(c) != "Cn" for c in text)]
    assert evaluate("text.js", "return given.map(module.normalizeText)", known) == [normalize_text(text) for text in known]


def test_the_browser_gives_the_same_for_every_character_there_is():
    characters = [chr(i) for i in range(0x110000) if unicodedata.category(chr(i)) != "Cn"]
    texts = [f"가{c}a" for c in characters]
    got = evaluate("text.js", "return given.map(module.normalizeText)", texts)
    assert [json.dumps(t) for t, g in zip(texts, got) if g != normalize_text(t)] == []

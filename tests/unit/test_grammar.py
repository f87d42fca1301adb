"""The small world of Korean sentences: known dependencies, right written forms, and nothing impossible."""

import random
from collections import Counter

import pytest
from kiwipiepy import Kiwi
from record_surface_forms import kiwi_morphemes, make_surface_forms

from multihead.models.grammar import (
    CONTENT_WORDS,
    HONORIFIC_OF,
    IT,
    MOST_TOKENS,
    OBJECTS,
    RELATIONS,
    SURFACE_FILE,
    TENSE_OF,
    VERB_OF,
    VOCABULARY,
    Clause,
    Sentence,
    held_out,
    random_sentence,
    surface_forms,
)


def sentences(count, test=False, seed=0):
    chance = random.Random(seed)
    return [random_sentence(chance, test=test) for _ in range(count)]


def object_first(clause):
    return clause.order.index("object") < clause.order.index("subject")


@pytest.fixture(scope="module")
def kiwi():
    return Kiwi(num_workers=1)


def test_there_are_at_least_100_content_words_and_every_token_has_one_number():
    assert len(set(CONTENT_WORDS)) == len(CONTENT_WORDS) >= 100
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert {token.form for s in sentences(3000) for token in s.tokens} == set(VOCABULARY) - {"[PAD]", "[MASK]"}


def test_the_example_of_the_book_is_written_as_in_the_book():
    clause = Clause("할머니", "편지", "어제", order=("subject", "time", "object"))
    assert Sentence((clause,)).surface == "할머니가 어제 편지를 읽으셨다."
    assert [token.form for token in Sentence((clause,)).tokens] == "할머니 가 어제 편지 를 읽 시 었 다".split()
    second = Clause("동생", IT, "내일", "몰래", ("time", "manner", "subject", "object"))
    assert Sentence((clause, second), "다").surface == "할머니가 어제 편지를 읽으셨다. 내일 몰래 동생이 그것을 읽을 것이다."


def test_every_slot_follows_from_the_token_that_is_named_as_its_source():
    for sentence in sentences(500):
        for token in sentence.tokens:
            if token.role not in RELATIONS:
                continue
            source = sentence.tokens[token.source]
            assert source.role == RELATIONS[token.role]
            decides = {"verb": VERB_OF, "honorific": HONORIFIC_OF, "tense": TENSE_OF}[token.role]
            assert decides[source.form] == token.form
            own_object = sentence.clauses[token.clause].object
            assert source.clause == (0 if own_object == IT and token.role == "verb" else token.clause)


def test_no_fixed_distance_finds_the_source():
    for role in RELATIONS:
        distances = Counter(
            place - token.source for s in sentences(1000) for place, token in enumerate(s.tokens) if token.role == role
        )
        assert distances.most_common(1)[0][1] / distances.total() < 0.35, role


def test_training_and_test_never_show_an_object_on_the_same_side():
    seen = {test: {(c.object, object_first(c)) for s in sentences(4000, test) for c in s.clauses if c.object != IT} for test in (False, True)}
    assert not seen[False] & seen[True]
    assert all(held_out(*pair) for pair in seen[True]) and len(seen[True]) == len(VERB_OF) / 2
    assert len(seen[False]) == 2 * len(VERB_OF) * 3 / 4


def test_chance_is_one_in_six_for_verbs_and_a_half_for_the_others():
    slots = [t for s in sentences(3000) for t in s.tokens]
    for role, count in (("verb", 6), ("honorific", 2), ("tense", 2)):
        forms = Counter(token.form for token in slots if token.role == role)
        assert len(forms) == count and max(forms.values()) / forms.total() < 1.15 / count


def test_the_longest_sentence_has_20_tokens_and_there_is_none_longer():
    assert max(len(s.tokens) for s in sentences(2000)) == MOST_TOKENS


def test_nobody_does_the_same_twice_in_one_sentence():
    for sentence in sentences(500):
        for role in ("subject", "object", "time"):
            words = [getattr(clause, role) for clause in sentence.clauses]
            assert len(set(words)) == len(words)


def test_one_seed_gives_the_same_sentences_again():
    assert sentences(20) == sentences(20) != sentences(20, seed=1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Clause("", "편지", "어제"), "주어가 없으면"),
        (lambda: Clause("할머니", None, "어제"), "목적어가 없으면"),
        (lambda: Clause("할머니", "편지", ""), "시간 부사가 없으면"),
        (lambda: Clause("고양이", "편지", "어제"), "배우지 않은 낱말.*고양이"),
        (lambda: Clause("할머니", "편지", "어제", order=("subject", "object")), "한 번씩"),
        (lambda: Sentence(()), "받은 절: 0개"),
        (lambda: Sentence((Clause("형", "책", "곧"),) * 3), "많아야 20개.*받은 절: 3개"),
        (lambda: Sentence((Clause("형", IT, "곧"),)), "가리킬 것이 앞에 없습니다"),
        (lambda: Sentence((Clause("형", "책", "곧"), Clause("누나", IT, "곧")), "고"), "제 목적어"),
        (lambda: Sentence((Clause("형", "책", "곧"), Clause("누나", "책", "곧")), "다"), "그것"),
        (lambda: Sentence((Clause("형", "책", "곧"),), "지만"), "지만"),
    ],
)
def test_what_is_impossible_is_refused_with_the_reason(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_the_recorded_forms_are_those_of_kiwipiepy():
    assert make_surface_forms() == surface_forms() and len(surface_forms()) == 32 + 72 + 1 + 6 * 2 * 2 * 2
    assert "\\u" not in SURFACE_FILE.read_text("utf-8")


def test_kiwipiepy_finds_no_wrong_particle_or_ending_in_1000_sentences(kiwi):
    for sentence in sentences(500) + sentences(500, test=True):
        written, morphemes = [], []
        groups = {"subject": 2, "object": 2, "verb": 4}
        rest = [(token.role, token.form) for token in sentence.tokens]
        while rest:
            width = groups.get(rest[0][0], 1)
            forms = [form for _, form in rest[:width]]
            # A word of more than one morpheme, like 다음 주에, comes in its written form.
            morphemes += kiwi_morphemes(forms) if width > 1 else [(part, "MAG") for part in forms[0].split()]
            rest = rest[width:]
            if forms[-1] == "다":
                written.append(kiwi.join(morphemes) + ".")
                morphemes = []
        assert " ".join(written) == sentence.surface
        # Analysed as any other text and put together again: a wrong ending would come back as the right one.
        again = kiwi.join(kiwi.tokenize(sentence.surface))
        assert again.replace(" ", "") == sentence.surface.replace(" ", "")


def test_sentences_are_written_without_kiwipiepy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "kiwipiepy", None)
    surface_forms.cache_clear()
    assert sentences(1)[0].surface.endswith("다.")


def test_every_verb_has_twelve_objects_of_its_own():
    assert {verb: len(nouns) for verb, nouns in OBJECTS.items()} == dict.fromkeys(OBJECTS, 12)
    assert len(VERB_OF) == 72

"""The annotated sentences: many, varied, and free of slips that a reader of the file would overlook."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

import multihead
from multihead.heads.annotated import LANGUAGES, RELATIONS, load_sentences, parse_sentence

DETERMINERS = set("a all an any every no some that the these this those what which".split())
PREPOSITIONS = set(
    "about across after at behind beside by during for from in into near of on to under with within without".split()
)
PRONOUNS = set("he her him himself his it its she their them they".split())
KOREAN_ENDINGS = {"nsubj": "이가은는서누도", "dobj": "을를은는엇도"}  # the last syllable of a subject, of an object


def pairs(language, relation):
    """(sentence, dependent, head), the last two as words."""
    for sentence in load_sentences(language):
        for dependent, head in sentence.relations.get(relation, ()):
            yield sentence, sentence.words[dependent], sentence.words[head]


def test_a_line_is_read_the_same_in_every_unicode_form():
    line = "나는 사과를 먹었다 . | nsubj 나는>먹었다 | dobj 사과를>먹었다"
    for strange in (unicodedata.normalize("NFD", line), line.replace("나는 ", "나는\u3000", 1).replace("먹", "\u200b먹", 1)):
        assert parse_sentence(strange) == parse_sentence(line)
    mixed = line.replace("나는>", unicodedata.normalize("NFD", "나는>"))
    assert parse_sentence(mixed) == parse_sentence(line)


@pytest.mark.parametrize("language, least", [("en", 120), ("ko", 60)])
def test_there_are_enough_sentences_of_5_to_16_words_and_none_twice(language, least):
    sentences = load_sentences(language)
    assert len({sentence.text for sentence in sentences}) == len(sentences) >= least
    for sentence in sentences:
        assert 5 <= sum(word.isalpha() for word in sentence.words) <= 16, sentence.text
        assert sentence.words[-1] in ".?" and sentence.relations, sentence.text


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("language, most", [("en", 0.6), ("ko", 0.65)])
def test_no_fixed_offset_does_well(language, most, relation):
    distances = [
        head - dependent
        for sentence in load_sentences(language)
        for dependent, head in sentence.relations.get(relation, ())
    ]
    commonest = Counter(distances).most_common(1)[0][1]
    assert len(distances) >= {"en": 50, "ko": 18}[language]
    assert commonest / len(distances) <= most


def test_english_relations_join_the_kinds_of_words_that_their_names_say():
    for relation, words in (("det", DETERMINERS), ("coref", PRONOUNS)):
        for sentence, dependent, _ in pairs("en", relation):
            assert dependent.lower() in words, (relation, dependent, sentence.text)
    for sentence, _, head in pairs("en", "pobj"):
        assert head.lower() in PREPOSITIONS, (head, sentence.text)
    for relation in ("det", "amod"):
        for sentence in load_sentences("en"):
            assert all(dependent < head for dependent, head in sentence.relations.get(relation, ())), sentence.text


def test_every_english_article_is_annotated():
    for sentence in load_sentences("en"):
        determiners = {dependent for dependent, _ in sentence.relations.get("det", ())}
        articles = {i for i, word in enumerate(sentence.words) if word.lower() in ("a", "an", "the")}
        left_out = [sentence.words[i + 1] for i in articles - determiners]
        assert set(left_out) <= {"dozen"}, sentence.text  # "a dozen sailors" is a number


def test_korean_subjects_and_objects_carry_their_particle():
    for relation, endings in KOREAN_ENDINGS.items():
        for sentence, dependent, _ in pairs("ko", relation):
            assert dependent[-1] in endings, (relation, dependent, sentence.text)
    for relation in ("det", "amod", "nsubj", "dobj"):
        for sentence in load_sentences("ko"):
            assert all(dependent < head for dependent, head in sentence.relations.get(relation, ())), sentence.text


def test_the_guide_explains_every_relation():
    guide = Path(multihead.__file__).with_name("data").joinpath("ANNOTATION.md").read_text("utf-8")
    for relation in RELATIONS:
        assert f"`{relation}`" in guide


# -- the format ------------------------------------------------------------------------------------------------------


def test_words_are_named_and_become_places():
    sentence = parse_sentence("The cat saw the dog . | det The>cat the>dog | nsubj cat>saw")
    assert sentence.words == ("The", "cat", "saw", "the", "dog", ".") and sentence.text == "The cat saw the dog ."
    assert sentence.relations == {"det": ((0, 1), (3, 4)), "nsubj": ((1, 2),)}


def test_a_word_that_occurs_twice_is_named_with_its_number():
    sentence = parse_sentence("a cat saw a dog | det a#2>dog a#1>cat")
    assert sentence.relations == {"det": ((3, 4), (0, 1))}


@pytest.mark.parametrize(
    "line, message",
    [
        ("cat", "낱말이 둘 이상"),
        ("a cat | subj cat>a", "모르는 관계입니다: 'subj'.*nsubj"),
        ("a cat | ", "모르는 관계입니다: ''"),
        ("a cat | det", "낱말과 함께"),
        ("a cat | det a>cat | det a>cat", "한 번만"),
        ("a cat | det a-cat", "'a-cat'.*읽을 수 없습니다"),
        ("a cat | det a>dog", "문장에 없는 낱말입니다: 'dog'"),
        ("a cat or a dog | det a>dog", "'a'이\\(가\\) 2번 나옵니다.*a#1"),
        ("a cat or a dog | det a#3>dog", "'a#3'.*2번"),
        ("a cat or a dog | det a#x>dog", "'a#x'.*2번"),
        ("a cat | det a#0>cat", "'a#0'.*1번"),
        ("a cat | det cat>cat", "자기 자신"),
        ("a cat dog | det a>cat a>dog", "'a'의 짝이 둘"),
    ],
)
def test_a_wrong_line_is_refused_in_korean(line, message):
    with pytest.raises(ValueError, match=message):
        parse_sentence(line)


def test_a_wrong_line_of_the_file_is_named_with_its_number(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sentences_en.txt").write_text("# note\n\na cat | det a>cat\na cat | det a>dog\n")
    monkeypatch.setattr("multihead.heads.annotated.files", lambda package: tmp_path)
    with pytest.raises(ValueError, match="sentences_en.txt 4행: 문장에 없는 낱말입니다: 'dog'"):
        load_sentences("en")


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match=f"{', '.join(LANGUAGES)}.*'de'"):
        load_sentences("de")

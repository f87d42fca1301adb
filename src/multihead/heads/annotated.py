"""The sentences by which this book measures heads, and who depends on whom in them.

A line of ``data/sentences_en.txt`` or ``data/sentences_ko.txt`` names the words that stand in each relation::

    The cat chased a mouse . | det The>cat a>mouse | nsubj cat>chased | dobj mouse>chased

``data/ANNOTATION.md`` says what each relation means and how to add a sentence.
"""

from dataclasses import dataclass
from importlib.resources import files

from ..models.text import normalize_text

# What the dependent (left) and its head (right) are called. Relations as in Stanford Dependencies, without coref.
RELATIONS = {
    "det": ("한정사", "명사"),
    "nsubj": ("주어", "동사"),
    "dobj": ("목적어", "동사"),
    "amod": ("형용사", "명사"),
    "pobj": ("전치사의 목적어", "전치사"),
    "coref": ("대명사", "선행사"),
}
LANGUAGES = ("en", "ko")
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence, word by word, with its relations."""

    words: tuple[str, ...]  # a punctuation mark is a word of its own
    relations: dict[str, tuple[tuple[int, int], ...]]  # name -> (dependent, head), places in ``words`` from 0

    @property
    def text(self) -> str:
        """What a model reads."""
        return " ".join(self.words)


def is_word(text: str) -> bool:
    """Neither punctuation nor a special token of BERT."""
    return text not in SPECIAL and any(character.isalnum() for character in text)


def load_sentences(language: str) -> list[AnnotatedSentence]:
    """The book's sentences: "en" or "ko"."""
    if language not in LANGUAGES:
        raise ValueError(f"언어는 {', '.join(LANGUAGES)} 가운데 하나여야 합니다. 받은 값: {language!r}")
    name = f"sentences_{language}.txt"
    lines = files("multihead").joinpath("data", name).read_text("utf-8").splitlines()
    sentences = []
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith("#"):
            try:
                sentences.append(parse_sentence(line))
            except ValueError as error:
                raise ValueError(f"{name} {number}행: {error}") from None
    return sentences


def parse_sentence(line: str) -> AnnotatedSentence:
    """Reads one line: ``words | relation dependent>head ... | ...``. ``the#2`` is the second "the" of the sentence."""
    text, *parts = (part.strip() for part in normalize_text(line).split("|"))
    words = tuple(text.split())
    if len(words) < 2:
        raise ValueError(f"낱말이 둘 이상 있어야 합니다: '{text}'")
    relations = {}
    for part in parts:
        name, *pairs = part.split() or [""]
        if name not in RELATIONS:
            raise ValueError(f"모르는 관계입니다: '{name}'. 쓸 수 있는 관계는 {', '.join(RELATIONS)}입니다.")
        if name in relations or not pairs:
            raise ValueError(f"관계 {name}은(는) 한 번만, 낱말과 함께 적어야 합니다.")
        relations[name] = tuple(_places(words, pair) for pair in pairs)
        dependents = [dependent for dependent, _ in relations[name]]
        for dependent in dependents:
            if dependents.count(dependent) > 1:
                raise ValueError(f"관계 {name}에서 '{words[dependent]}'의 짝이 둘입니다. 하나만 적어야 합니다.")
    return AnnotatedSentence(words, relations)


def _places(words: tuple[str, ...], pair: str) -> tuple[int, int]:
    names = pair.split(">")
    if len(names) != 2:
        raise ValueError(f"'{pair}'을(를) 읽을 수 없습니다. '낱말>낱말'처럼 적어야 합니다.")
    dependent, head = (_place(words, name) for name in names)
    if dependent == head:
        raise ValueError(f"'{pair}'은(는) 낱말이 자기 자신에 걸립니다.")
    return dependent, head


def _place(words: tuple[str, ...], name: str) -> int:
    """Of ``word`` or, where there are several, ``word#n``."""
    word, _, number = name.partition("#")
    places = [place for place, other in enumerate(words) if other == word]
    if not places:
        raise ValueError(f"문장에 없는 낱말입니다: '{name}'")
    if len(places) > 1 and not number:
        raise ValueError(f"'{word}'이(가) {len(places)}번 나옵니다. {word}#1처럼 몇 번째인지 적어야 합니다.")
    if number and not (number.isdecimal() and 1 <= int(number) <= len(places)):
        raise ValueError(f"'{name}': '{word}'은(는) {len(places)}번 나옵니다.")
    return places[int(number or 1) - 1]

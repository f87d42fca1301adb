"""A small world of Korean sentences whose dependencies are known, because this file makes them.

In "할머니가 어제 편지를 읽으셨다" the verb depends on the object (편지를 → 읽), the honorific on the subject
(할머니가 → 시) and the tense on the adverb of time (어제 → 었), wherever each of them stands::

    sentence = random_sentence(random.Random(0))
    sentence.surface                                 # as a Korean would write it
    [(token.form, token.role, token.source) for token in sentence.tokens]

Tokens are morphemes in one fixed form (가 also stands for 이), and the honorific slot is always there: 시 or ∅.
"""

import json
import random
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

# The particle 가 is used for everyone: 께서 would give the honorific away without the subject.
HONOURED = """할머니 할아버지 외할머니 외할아버지 어머니 아버지 시어머니 장모님 선생님 교수님
    사장님 부장님 과장님 원장님 박사님 회장님""".split()
PLAIN = "아이 동생 친구 누나 형 언니 오빠 학생 소년 소녀 조카 막내 후배 아들 딸 손녀".split()

OBJECTS = {  # of each verb; in this world nothing else can be done with them
    "읽": "책 신문 소설 잡지 동화 만화 시집 기사 논문 일기 편지 엽서".split(),
    "입": "한복 바지 정장 외투 저고리 셔츠 코트 스웨터 조끼 잠옷 점퍼 반바지".split(),
    "신": "구두 운동화 양말 장화 슬리퍼 고무신 부츠 샌들 버선 등산화 털신 실내화".split(),
    "쓰": "모자 안경 우산 양산 선글라스 밀짚모자 털모자 가면 마스크 헬멧 베레모 돋보기".split(),
    "부르": "노래 민요 동요 가곡 자장가 애국가 가요 교가 유행가 캐럴 축가 아리랑".split(),
    "타": "버스 기차 지하철 택시 비행기 배 자전거 오토바이 자동차 유람선 전철 마차".split(),
}
TIMES = {  # adverbs that demand this tense
    "었": "어제 그저께 엊그제 아까 방금 지난주에 어젯밤에 그제".split(),
    "ㄹ 것이": ["내일", "모레", "글피", "이따가", "곧", "나중에", "조만간", "다음 주에"],
}
MANNERS = "혼자 다시 또 몰래 천천히 서둘러 조용히 잠깐 오랜만에 서울에서 부산에서 시골에서".split()
IT = "그것"

VERB_OF = {noun: verb for verb, nouns in OBJECTS.items() for noun in nouns}
TENSE_OF = {adverb: tense for tense, adverbs in TIMES.items() for adverb in adverbs}
HONORIFIC_OF = {**dict.fromkeys(HONOURED, "시"), **dict.fromkeys(PLAIN, "∅")}
CONTENT_WORDS = [*HONORIFIC_OF, *VERB_OF, IT, *TENSE_OF, *MANNERS, *OBJECTS]

PAD, MASK = "[PAD]", "[MASK]"
VOCABULARY = [PAD, MASK, "가", "를", "시", "∅", *TIMES, "고", "다", *CONTENT_WORDS]
TOKEN_ID = {form: i for i, form in enumerate(VOCABULARY)}

LINKS = ("고", "다")  # how the first clause goes on: "..., 그리고 ..." or a new sentence, whose object is 그것
MOST_CLAUSES = 2
MOST_TOKENS = 20  # two clauses of ten
RELATIONS = {"verb": "object", "honorific": "subject", "tense": "time"}  # a slot, and what decides it


class Token(NamedTuple):
    """One morpheme: its form, its role, its clause (from 0), and the index of the token that decides it, or None."""

    form: str
    role: str
    clause: int
    source: int | None = None


@dataclass(frozen=True)
class Clause:
    """Who did what, when and how. ``order`` holds the roles in front of the verb: subject, object, time, manner.

    The verb, the honorific and the tense follow from the words. Raises ValueError, in Korean, for words that this world
    does not know and for a clause without subject, object or time.
    """

    subject: str
    object: str
    time: str
    manner: str | None = None
    order: tuple[str, ...] = ("subject", "time", "object", "manner")

    def __post_init__(self):
        # An order may name a manner that the clause lacks, so that one order serves many clauses.
        object.__setattr__(self, "order", tuple(role for role in self.order if role != "manner" or self.manner))
        missing = {
            "subject": "주어가 없으면 높임말을 쓸지 정할 수 없습니다.",
            "object": "목적어가 없으면 동사를 정할 수 없습니다.",
            "time": "시간 부사가 없으면 시제를 정할 수 없습니다.",
        }
        for role, why in missing.items():
            if not getattr(self, role):
                raise ValueError(f"{why} 모든 절에 주어, 목적어, 시간 부사가 하나씩 있어야 합니다.")
        known = {"subject": HONORIFIC_OF, "object": {**VERB_OF, IT: None}, "time": TENSE_OF, "manner": [None, *MANNERS]}
        for role, words in known.items():
            if getattr(self, role) not in words:
                raise ValueError(f"모델이 배우지 않은 낱말입니다: {role} = {getattr(self, role)!r}")
        roles = ["subject", "object", "time", *(["manner"] if self.manner else [])]
        if sorted(self.order) != sorted(roles):
            raise ValueError(f"order에는 {', '.join(roles)}가 한 번씩 있어야 합니다: {self.order}")


@dataclass(frozen=True)
class Sentence:
    """One clause, or two. ``link`` is the ending of the first of two: 고 joins them, after 다 the object is 그것.

    Raises ValueError, in Korean, for more than two clauses and for 그것 where nothing comes before it.
    """

    clauses: tuple[Clause, ...]
    link: str = "고"

    def __post_init__(self):
        object.__setattr__(self, "clauses", tuple(self.clauses))
        count = len(self.clauses)
        if not 1 <= count <= MOST_CLAUSES:
            raise ValueError(
                f"모델이 배운 문장은 절이 1개나 {MOST_CLAUSES}개이고 토큰은 많아야 {MOST_TOKENS}개입니다. 받은 절: {count}개"
            )
        if self.link not in LINKS:
            raise ValueError(f"link는 고나 다입니다. 받은 값: {self.link!r}")
        if self.clauses[0].object == IT:
            raise ValueError("첫 절의 목적어는 그것일 수 없습니다. 가리킬 것이 앞에 없습니다.")
        if count == 2 and (self.clauses[1].object == IT) != (self.link == "다"):
            raise ValueError("두 절을 고로 이으면 둘째 절에 제 목적어가 있어야 하고, 다로 끊으면 그것이어야 합니다.")

    @cached_property
    def tokens(self) -> list[Token]:
        """Every morpheme with its role and with what decides it."""
        tokens, deciding_object = [], None
        for number, clause in enumerate(self.clauses):
            place = {}
            for role in clause.order:
                place[role] = len(tokens)
                tokens.append(Token(getattr(clause, role), role, number))
                if role in ("subject", "object"):
                    tokens.append(Token({"subject": "가", "object": "를"}[role], f"{role}_particle", number))
            if clause.object == IT:
                tokens[place["object"]] = Token(IT, "object", number, deciding_object)
            else:
                deciding_object = place["object"]
            last = number == len(self.clauses) - 1
            tokens += [
                Token(VERB_OF[tokens[deciding_object].form], "verb", number, deciding_object),
                Token(HONORIFIC_OF[clause.subject], "honorific", number, place["subject"]),
                Token(TENSE_OF[clause.time], "tense", number, place["time"]),
                Token("다" if last else self.link, "ending", number),
            ]
        return tokens

    @property
    def ids(self) -> list[int]:
        """The tokens as numbers of VOCABULARY."""
        return [TOKEN_ID[token.form] for token in self.tokens]

    @property
    def surface(self) -> str:
        """As a Korean would write it, with the right particles and endings."""
        return surface_of(self.tokens)


def surface_of(tokens: list[Token]) -> str:
    """The written sentence of these tokens, from the recorded forms of particles and endings (surface_forms.json)."""
    forms, words, i = surface_forms(), [], 0
    while i < len(tokens):
        width = {"subject": 2, "object": 2, "verb": 4}.get(tokens[i].role, 1)
        group = [token.form for token in tokens[i : i + width]]
        words.append(forms["+".join(group)] if width > 1 else group[0])
        i += width
    return " ".join(words)


# ---- chance --------------------------------------------------------------------------------------------------------


def held_out(noun: str, object_first: bool) -> bool:
    """Whether training never shows this object on this side of the subject: half of the objects miss one side."""
    return list(VERB_OF).index(noun) % 4 == (0 if object_first else 1)


def random_sentence(chance: random.Random, *, test: bool = False) -> Sentence:
    """One, two joined or two separate clauses, with words and order by chance.

    With ``test`` every object stands on the side of the subject where training never shows it, without it on the other.
    """
    kind = chance.choices(("one", "고", "다"), (4, 3, 3))[0]
    clauses = 1 if kind == "one" else 2
    # Not the same person, object or day twice: nobody would say that.
    subjects = chance.sample(list(HONORIFIC_OF), clauses)
    times = chance.sample(list(TENSE_OF), clauses)
    nouns = [noun for noun in VERB_OF if not test or held_out(noun, True) or held_out(noun, False)]
    objects = chance.sample(nouns, clauses)
    if kind == "다":
        objects[1] = IT
    made = []
    for subject, noun, time in zip(subjects, objects, times):
        manner = chance.choice(MANNERS) if chance.random() < 0.5 else None
        order = ["subject", "object", "time", *(["manner"] if manner else [])]
        chance.shuffle(order)
        object_first = order.index("object") < order.index("subject")
        # A noun that misses neither side is never in a test, so one exchange is always enough.
        if noun != IT and held_out(noun, object_first) != test:
            s, o = order.index("subject"), order.index("object")
            order[s], order[o] = order[o], order[s]
        made.append(Clause(subject, noun, time, manner, tuple(order)))
    return Sentence(tuple(made), kind if clauses == 2 else "고")


# ---- written forms -------------------------------------------------------------------------------------------------

SURFACE_FILE = Path(__file__).parents[1] / "data" / "surface_forms.json"


@cache
def surface_forms() -> dict[str, str]:
    """Written forms of a noun with its particle ("편지+를") and of a verb with its endings ("읽+시+었+다")."""
    return json.loads(SURFACE_FILE.read_text("utf-8"))

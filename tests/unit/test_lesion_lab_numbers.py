"""LesionLab: its settings, and its JavaScript against torch and against the grammar."""

import random

import pytest
import torch
from run_node import evaluate
from traitlets import TraitError

from multihead.models.grammar import IT, RELATIONS, Clause, Sentence, random_sentence
from multihead.models.tiny_bert import (
    MASK,
    TOKEN_ID,
    WEIGHTS_FILE,
    every_head,
    load_tiny_bert,
    recorded_runs,
    without_heads,
)
from multihead.widgets import LesionLab

LETTER = Sentence((Clause("할머니", "편지", "어제"),))
LONG = Sentence((Clause("할머니", "편지", "어제", "혼자"), Clause("동생", IT, "내일", "몰래")), "다")
REFUSED = [
    ("sentence", "할머니가 편지를 읽으셨다"), ("sentence", None), ("masked", 9), ("masked", -1), ("masked", True),
    ("off", [(0, 1)]), ("off", [(3, 1)]), ("off", [(1, 5)]), ("off", [(1, 0)]), ("off", [1]), ("off", None), ("off", "1-1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    lab = LesionLab(sentence=LETTER)
    before = getattr(lab, name)
    with pytest.raises(TraitError, match=rf"{name}.*받은 값"):
        setattr(lab, name, value)
    assert getattr(lab, name) == before


def test_an_unknown_setting_raises_and_names_the_known_ones():
    with pytest.raises(TypeError, match=r"heads.*쓸 수 있는 설정: masked, off, sentence$"):
        LesionLab(heads=4)


def test_heads_are_taken_in_any_order_and_kept_once():
    assert LesionLab(off=[[2, 1], (1, 3), (1, 3)]).off == ((1, 3), (2, 1))


def test_what_the_browser_sends_is_a_sentence_in_python_and_a_shorter_one_takes_the_mask_along():
    lab = LesionLab(sentence=LONG, masked=len(LONG.tokens) - 1)
    sent = LesionLab(sentence=LETTER).get_state()["sentence"]
    lab.set_state({"sentence": sent, "masked": 2, "off": [[1, 2]]})
    assert lab.sentence == LETTER and lab.masked == 2 and lab.off == ((1, 2),)
    lab = LesionLab(sentence=LONG, masked=len(LONG.tokens) - 1)
    lab.sentence = LETTER
    assert lab.masked == len(LETTER.tokens) - 1


def test_answers_and_maps_are_those_of_the_model_with_the_heads_off():
    lab = LesionLab(sentence=LETTER, masked=5, off=[(1, 2), (2, 4)])
    ids = [*LETTER.ids[:5], TOKEN_ID[MASK], *LETTER.ids[6:]]
    logits, maps = without_heads(load_tiny_bert(), lab.off)(torch.tensor([ids]), need_weights=True)
    best = logits[0, 5].softmax(-1).sort(descending=True).values[:5]
    assert list(lab.answers.values()) == pytest.approx(best.tolist()) and lab.maps.equal(maps[0])
    assert lab.answers != LesionLab(sentence=LETTER, masked=5).answers


def test_javascript_equals_torch_for_500_random_sentences_and_head_settings():
    chance = random.Random(0)
    heads = every_head(load_tiny_bert())
    labs, states = [], []
    for _ in range(500):
        sentence = random_sentence(chance, test=chance.random() < 0.5)
        off = chance.sample(heads, chance.randrange(len(heads) + 1))
        labs.append(LesionLab(sentence=sentence, masked=chance.randrange(len(sentence.tokens)), off=off))
        states.append(labs[-1].get_state(["sentence", "masked", "off"]))
    private = labs[0].get_state(["_weights", "_world"])
    theirs = evaluate(
        "lesion_lab.js",
        """const tiny = module.unpack(given._weights);
        return given.states.map((state) => {
            const { tokens, written, logits, maps } = module.examine(state, tiny, given._world);
            return { tokens, written, logits: [...logits], maps };
        });""",
        {**private, "states": states},
    )
    for lab, found in zip(labs, theirs, strict=True):
        assert found["written"] == lab.sentence.surface
        assert [tuple(token.values()) for token in found["tokens"]] == [tuple(token) for token in lab.sentence.tokens]
        logits, maps = lab.ask()
        torch.testing.assert_close(torch.tensor(found["logits"]), logits[lab.masked], atol=1e-4, rtol=0)
        torch.testing.assert_close(torch.tensor(found["maps"]), maps, atol=1e-4, rtol=0)
    assert len({lab.off for lab in labs}) > 100


def test_every_word_that_the_model_may_answer_is_told_in_words_even_where_it_makes_no_sentence():
    state = LesionLab(sentence=LETTER, masked=5).get_state()
    written = evaluate(
        "lesion_lab.js",
        """const tokens = module.tokensOf(given.sentence, given._world);
        return given._world.vocabulary.map((form) =>
            module.surfaceOf(tokens.map((token, i) => (i === 5 ? { ...token, form } : token)), given._world));""",
        state,
    )
    assert [text for text in written if text] == [
        f"할머니가 어제 편지를 {verb}" for verb in ("읽으셨다.", "입으셨다.", "신으셨다.", "쓰셨다.", "부르셨다.", "타셨다.")
    ]


def test_what_is_no_sentence_is_explained_with_the_numbers():
    told = evaluate(
        "lesion_lab.js",
        """return given.clauses.map((clauses) =>
            module.faultOf({ clauses, link: "고" }, { most_clauses: 2, most_tokens: 20 }));""",
        {
            "clauses": [
                [{"subject": None, "object": "편지", "time": "어제", "order": ["subject", "time", "object"]}],
                [{"subject": "형", "object": None, "time": "어제", "order": ["subject", "time", "object"]}],
                [{"subject": "형", "object": "책", "time": None, "order": ["subject", "time", "object"]}],
                [{"subject": "형", "object": "책", "time": "곧", "order": ["subject", "time", "object"]}] * 3,
                [{"subject": "형", "object": "책", "time": "곧", "order": ["subject", "time", "object"]}] * 2,
            ]
        },
    )
    assert [bool(told[0] and "주어가 없습니다" in told[0]), bool("목적어가 없습니다" in told[1])] == [True, True]
    assert "시간 부사가 없습니다" in told[2] and "절이 3개이면 토큰이 27개입니다" in told[3] and "20개까지만" in told[3]
    assert told[4] is None


def test_the_page_carries_the_shipped_file_itself_and_little_more():
    state = LesionLab().get_state()
    assert len(state["_weights"]) == -(-WEIGHTS_FILE.stat().st_size // 3) * 4 < 140_000


def test_the_strip_ends_with_the_shipped_model_and_gives_a_relation_to_each_head_that_the_model_cannot_do_without():
    shipped = recorded_runs()["shipped"]
    history = LesionLab()._world["history"]
    assert history["steps"][-1] == shipped["step"]
    roles = evaluate(
        "lesion_lab.js",
        """return Object.fromEntries(Object.entries(given.cost).map(([head, cost]) =>
            [head, Object.keys(cost).filter((slot) => module.stepOfRole(given, cost[slot]) !== null)]));""",
        history,
    )
    owners = {role: min(shipped["without"], key=lambda head: shipped["without"][head][role]) for role in RELATIONS}
    assert len(set(owners.values())) == 3 and all(role in roles[head] for role, head in owners.items())

"""LesionLab: a small Korean BERT that answers for a masked token, with a switch for each of its heads."""

import base64
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache

import torch
import traitlets
from torch import Tensor

from multihead.models.grammar import (
    HONOURED,
    LINKS,
    MANNERS,
    MASK,
    MOST_CLAUSES,
    MOST_TOKENS,
    OBJECTS,
    PLAIN,
    TIMES,
    TOKEN_ID,
    VOCABULARY,
    Clause,
    Sentence,
    surface_forms,
)
from multihead.models.tiny_bert import WEIGHTS_FILE, TinyBert, every_head, load_tiny_bert, recorded_runs, without_heads
from multihead.widgets.base import IntRange, Widget, join_module

FIRST_SENTENCE = Sentence((Clause("할머니", "편지", "어제", order=("subject", "time", "object")),))
MOST_ANSWERS = 5


class SentenceTrait(traitlets.TraitType):
    """A synced ``multihead.models.grammar.Sentence``; the browser sees its clauses and link."""

    def __init__(self, default: Sentence):
        super().__init__(default)
        self.tag(
            sync=True,
            to_json=lambda sentence, widget: asdict(sentence),
            from_json=lambda given, widget: read_sentence(given),
        )

    def validate(self, obj, value):
        if not isinstance(value, Sentence):
            raise traitlets.TraitError(f"{self.name}에는 grammar.Sentence가 필요합니다. 받은 값: {value!r}")
        return value


def read_sentence(given: dict) -> Sentence:
    clauses = [Clause(**{**clause, "order": tuple(clause["order"])}) for clause in given["clauses"]]
    return Sentence(tuple(clauses), given["link"])


class Heads(traitlets.TraitType):
    """A synced list of (layer, head), counted from 1, sorted and without repetition."""

    def __init__(self):
        super().__init__(())
        self.tag(sync=True, to_json=lambda heads, widget: [list(pair) for pair in heads])

    def validate(self, obj, value):
        known = every_head(model())
        try:
            heads = sorted({(layer, head) for layer, head in value})
            if set(heads) <= set(known):
                return tuple(heads)
        except (TypeError, ValueError):
            pass
        raise traitlets.TraitError(
            f"{self.name}에는 (층, 헤드)의 목록이 필요합니다. 층은 1부터 {known[-1][0]}까지, "
            f"헤드는 1부터 {known[-1][1]}까지입니다. 받은 값: {value!r}"
        )


class LesionLab(Widget):
    """작은 한국어 BERT에 문장을 주고, 가린 토큰의 답이 헤드를 끌 때마다 어떻게 바뀌는지 봅니다.

    sentence  문장(grammar.Sentence). 위젯에서 낱말과 어순을 바꾸면 따라 바뀝니다.
    masked    가린 토큰의 번호 (0~토큰 수-1)
    off       꺼 둔 헤드의 (층, 헤드) 목록. 둘 다 1부터 셉니다.

    answers   가린 자리의 답 다섯 개와 확률. 읽기만 합니다.
    maps      모든 헤드의 어텐션 가중치 (층, h, T, T). 읽기만 합니다.
    """

    _esm = join_module("lesion_lab.js")

    sentence = SentenceTrait(FIRST_SENTENCE)
    masked = IntRange(FIRST_SENTENCE.tokens.index(next(t for t in FIRST_SENTENCE.tokens if t.role == "verb")), 0, 19)
    off = Heads()
    _weights = traitlets.Unicode(read_only=True).tag(sync=True)  # the shipped safetensors file, in base64
    _world = traitlets.Dict(read_only=True).tag(sync=True)  # words, written forms and the training record

    @traitlets.default("_weights")
    def _packed_weights(self):
        return base64.b64encode(WEIGHTS_FILE.read_bytes()).decode()

    @traitlets.default("_world")
    def _known_world(self):
        shipped = recorded_runs()["shipped"]
        until_shipped = [entry for entry in shipped["history"] if entry["step"] <= shipped["step"]]
        return {
            "vocabulary": VOCABULARY,
            "honoured": HONOURED,
            "plain": PLAIN,
            "objects": OBJECTS,
            "times": TIMES,
            "manners": MANNERS,
            "surface": surface_forms(),
            "most_clauses": MOST_CLAUSES,
            "most_tokens": MOST_TOKENS,
            "links": LINKS,
            "history": compact_history(until_shipped),
        }

    @traitlets.observe("sentence")
    def _keep_mask_inside(self, change):
        self.masked = min(self.masked, len(self.sentence.tokens) - 1)

    @traitlets.validate("masked")
    def _mask_in_sentence(self, proposal):
        last = len(self.sentence.tokens) - 1
        if proposal.value > last:
            raise traitlets.TraitError(f"이 문장에서 masked의 범위는 0부터 {last}까지입니다. 받은 값: {proposal.value}")
        return proposal.value

    @property
    def answers(self) -> dict[str, float]:
        """The five most probable tokens for the masked place, with their probabilities."""
        best = self.ask()[0][self.masked].softmax(-1).topk(MOST_ANSWERS)
        return {VOCABULARY[i]: p for i, p in zip(best.indices.tolist(), best.values.tolist())}

    @property
    def maps(self) -> Tensor:
        """Weights (layers, h, T, T) of every head."""
        return self.ask()[1]

    @torch.inference_mode()
    def ask(self) -> tuple[Tensor, Tensor]:
        """Scores (T, V) of all tokens for every place, and the maps, with the heads of ``off`` switched off."""
        ids = self.sentence.ids
        ids[self.masked] = TOKEN_ID[MASK]
        logits, maps = without_heads(model(), self.off)(torch.tensor([ids]), need_weights=True)
        return logits[0], maps[0]


@cache
def model() -> TinyBert:
    """The shipped model."""
    return load_tiny_bert()


def compact_history(history: Iterable[dict]) -> dict:
    """What each head's absence costs each relation at each recorded step, in per cent, for the strip."""
    history = list(history)
    return {
        "steps": [entry["step"] for entry in history],
        "intact": {slot: [round(100 * e["intact"][slot]) for e in history] for slot in history[0]["intact"]},
        "cost": {
            head: {
                slot: [round(100 * (e["intact"][slot] - e["without"][head][slot])) for e in history]
                for slot in history[0]["intact"]
            }
            for head in history[0]["without"]
        },
    }

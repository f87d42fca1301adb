"""HeadAtlas: every head of a model, coloured by a score; the map of one head, with relations between words over it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import traitlets
from torch import Tensor

from multihead.heads.weights import as_names, as_weights, check_weights
from multihead.models.text import normalize_text
from multihead.widgets.base import WEIGHT_STEP, IntRange, Text, Widget, join_module, pack_weights

TIE = 1e-9  # sums of the same weights in another order differ by less, sums of others by more
MAX_WEIGHTS = 400_000  # about 1 MB of page: 12 layers of 12 heads for 16 tokens in 10 sentences


class Arc(NamedTuple):
    """A relation between two words of a sentence, and whether a head follows it."""

    query: int  # number of the word that looks, from 0
    key: int  # number of the word that it should look at
    weight: float  # that the head gives the key word
    found: bool  # no other word of the sentence gets as much from this query


class HeadAtlas(Widget):
    """모델의 모든 헤드를 점수로 칠한 표입니다. 헤드를 고르면 문장에서 그린 지도와 낱말 사이의 관계를 봅니다.

    scores     점수의 이름과 (층, 헤드) 배열의 사전. 음수가 있으면 0을 가운데에 두고 칠합니다.
    sentences  Bert.attend()가 돌려준 것의 목록
    relations  관계의 이름과 사전의 사전. 없어도 됩니다. 사전에는 다음 것을 넣습니다.
               "arcs": 문장마다 (쿼리 낱말, 키 낱말) 번호의 목록, "best": layer, head, accuracy, low, high의 목록,
               "baseline": 가장 좋은 고정 간격의 정확도, "offset": 그 간격. 쿼리 낱말에서 키 낱말까지 셉니다.
    score      칠할 점수의 이름. 처음에는 첫 점수입니다.
    layer      지도를 그릴 헤드의 층, 1부터. 처음에는 점수가 가장 큰 헤드입니다.
    head       지도를 그릴 헤드의 번호, 1부터
    sentence   문장의 번호, 0부터
    relation   보일 관계의 이름. ""이면 관계를 그리지 않습니다.
    """

    # The words of a sentence follow from its tokens ("##" continues a word, "[...]" is special) unless it has an
    # attribute .words with the number of the word of each token, None for special ones.

    _esm = join_module("head_atlas.js")

    score = Text("")
    layer = IntRange(1, 1, 999)
    head = IntRange(1, 1, 999)
    sentence = IntRange(0, 0, 999)
    relation = Text("")
    _atlas = traitlets.Dict().tag(sync=True)
    _weights = traitlets.Unicode().tag(sync=True)  # base 64 of all maps, sentence by sentence, (layers, h, T, T) each

    def __init__(
        self,
        scores: Mapping[str, Any],
        sentences: Sequence[Any],
        relations: Mapping[str, Mapping[str, Any]] | None = None,
        **settings,
    ):
        self._maps = [_maps(sentence) for sentence in sentences]
        if not scores or not self._maps:
            raise ValueError("점수와 문장이 하나 이상 있어야 합니다.")
        num_layers, num_heads = self._maps[0].shape[:2]
        tables = {normalize_text(name): _table(name, values, num_layers, num_heads) for name, values in scores.items()}
        self._check_maps(num_layers, num_heads)
        words = [_words(sentence) for sentence in sentences]
        self._atlas = {
            "layers": num_layers,
            "heads": num_heads,
            # Lists of pairs: a browser would sort names that look like numbers.
            "scores": [[name, table.tolist()] for name, table in tables.items()],
            "sentences": [{"tokens": as_names(s.tokens), "words": numbers} for s, numbers in zip(sentences, words)],
            "relations": [[normalize_text(name), _relation(name, given, words)] for name, given in (relations or {}).items()],
        }
        self._weights = pack_weights(self._maps)
        settings.setdefault("score", next(iter(tables)))
        if settings["score"] in tables and not {"layer", "head"} & settings.keys():
            layer, head = divmod(tables[settings["score"]].argmax().item(), num_heads)
            settings |= {"layer": layer + 1, "head": head + 1}
        super().__init__(**settings)

    def _check_maps(self, num_layers: int, num_heads: int) -> None:
        for maps in self._maps:
            if maps.shape[:2] != (num_layers, num_heads):
                raise ValueError(
                    f"모든 문장이 같은 모델에서 나와야 합니다: (층, 헤드)가 {(num_layers, num_heads)}인 문장과 "
                    f"{tuple(maps.shape[:2])}인 문장이 섞여 있습니다."
                )
        total = sum(maps.numel() for maps in self._maps)
        if total > MAX_WEIGHTS:
            raise ValueError(
                f"문장 {len(self._maps)}개의 가중치가 {total:,}개로, 한계인 {MAX_WEIGHTS:,}개를 넘습니다. "
                "문장을 줄이십시오."
            )

    @traitlets.validate("score", "relation", "layer", "head", "sentence")
    def _exists(self, proposal):
        name, value = proposal.trait.name, proposal.value
        if name in ("score", "relation"):
            names = [known for known, _ in self._atlas[f"{name}s"]] + [""] * (name == "relation")
            if value not in names:
                raise traitlets.TraitError(
                    f"{name}의 값은 {', '.join(map(repr, names))} 가운데 하나입니다. 받은 값: {value!r}"
                )
        else:
            first, count = (0, len(self._maps)) if name == "sentence" else (1, self._atlas[f"{name}s"])
            if not first <= value < first + count:
                raise traitlets.TraitError(
                    f"{name}의 범위는 {first}부터 {first + count - 1}까지입니다. 받은 값: {value}"
                )
        return value

    def map(self) -> Tensor:
        """Weights (T, T) of the head that is shown, in the sentence that is shown."""
        return self._maps[self.sentence][self.layer - 1, self.head - 1]

    def arcs(self) -> list[Arc]:
        """The arcs that are drawn, at word level as Clark et al. (2019, section 4) measure it.

        The weight of a pair of words is the sum over the pieces of the key word and the mean over those of the query
        word. The key is found if no other word gets as much; the query word itself and special tokens do not count.
        """
        if not self.relation:
            return []
        words = self._atlas["sentences"][self.sentence]["words"]
        pairs = dict(self._atlas["relations"])[self.relation]["arcs"][self.sentence]
        count = max((word for word in words if word is not None), default=-1) + 1
        pieces = torch.tensor([[word == number for word in words] for number in range(count)], dtype=torch.float64)
        weights = pieces / pieces.sum(-1, keepdim=True) @ self.map() @ pieces.T  # (words, words)
        weights.fill_diagonal_(-1)
        as_much = (weights[:, None, :] > weights[..., None] - TIE).sum(-1)  # words that get as much as the key, with it
        return [Arc(q, k, weights[q, k].item(), as_much[q, k].item() == 1) for q, k in pairs]


def _maps(sentence) -> Tensor:
    """(layers, h, T, T) of one sentence."""
    if not hasattr(sentence, "weights") or not hasattr(sentence, "tokens"):
        raise ValueError(f"sentences에는 bert.attend(글)가 돌려준 것의 목록을 넣으십시오. 받은 값: {type(sentence).__name__}")
    weights = as_weights(sentence.weights)
    T = len(sentence.tokens)
    if weights.ndim != 4 or weights.shape[2:] != (T, T):
        raise ValueError(f"문장의 가중치는 (층, 헤드, {T}, {T}) 모양이어야 하는데 {tuple(weights.shape)}입니다.")
    check_weights(weights)
    return (weights.double() / WEIGHT_STEP).round() * WEIGHT_STEP  # what the browser has


def _words(sentence) -> list[int | None]:
    """Number of the word of each token, None for special tokens."""
    if getattr(sentence, "words", None) is not None:
        return list(sentence.words)
    numbers, count = [], 0
    for token in sentence.tokens:
        if token.startswith("[") and token.endswith("]") and token not in ("[", "]", "[UNK]"):
            numbers.append(None)
            continue
        if not (token.startswith("##") and count and numbers[-1] is not None):
            count += 1
        numbers.append(count - 1)
    return numbers


def _table(name: str, values, num_layers: int, num_heads: int) -> Tensor:
    """(layers, h) of a score."""
    table = torch.as_tensor(values).detach().double().cpu()
    if table.shape != (num_layers, num_heads):
        raise ValueError(
            f"점수 '{name}'의 모양은 (층, 헤드) = {(num_layers, num_heads)}이어야 하는데 {tuple(table.shape)}입니다."
        )
    if not table.isfinite().all():
        raise ValueError(f"점수 '{name}'에 유한하지 않은 값이 있습니다.")
    return table


def _relation(name: str, given: Mapping[str, Any], words: list[list[int | None]]) -> dict:
    arcs = [[(int(query), int(key)) for query, key in pairs] for pairs in given["arcs"]]
    if len(arcs) != len(words):
        raise ValueError(f"관계 '{name}'의 arcs는 문장마다 하나씩 {len(words)}개여야 하는데 {len(arcs)}개입니다.")
    for pairs, numbers in zip(arcs, words):
        unknown = {word for pair in pairs for word in pair} - set(numbers)
        if unknown:
            raise ValueError(f"관계 '{name}'에 문장에 없는 낱말 번호가 있습니다: {sorted(unknown)}")
        if loops := [query for query, key in pairs if query == key]:
            raise ValueError(f"관계 '{name}'에서 낱말이 자기 자신을 봅니다: {loops}. 쿼리 낱말과 키 낱말은 달라야 합니다.")
    baseline = float(given["baseline"])
    best = [
        {"layer": int(row["layer"]), "head": int(row["head"])}
        | {key: float(row[key]) for key in ("accuracy", "low", "high")}
        for row in given["best"]
    ]
    if not all(math.isfinite(row[key]) for row in best for key in row) or not math.isfinite(baseline):
        raise ValueError(f"관계 '{name}'의 정확도에 유한하지 않은 값이 있습니다.")
    return {"arcs": arcs, "best": best, "baseline": baseline, "offset": int(given["offset"])}

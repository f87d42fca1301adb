"""AttentionPlayground: a sentence, its attention maps head by head, and what each head adds to the output."""

import base64
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import torch
import traitlets
from torch import Tensor

from multihead.attention import (
    causal_mask,
    check_divisible,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from multihead.models.text import normalize_text
from multihead.widgets.base import Choice, IntRange, Text, Widget, join_module

WIDTH = 64  # of the one set of matrices; a smaller d_model takes its leading part
MATRICES = ("W_Q", "W_K", "W_V", "W_O")
MOST_WORDS = 12

# Numbers travel to the browser as int8, so both sides compute with exactly the same ones. The steps are powers of two.
MATRIX_STEP = 2**-8
EMBEDDING_STEP = 2**-5


class PlaygroundAttention(NamedTuple):
    """What AttentionPlayground shows, as float64 tensors. T words, h heads, D = d_model.

    scores          (h, T, T)  q kᵀ, divided by √d_k if the widget scales; the mask is not in it yet
    weights         (h, T, T)  softmax of the scores, 0 where masked
    contributions   (h, T, D)  head_i · W_O_i
    output          (T, D)     Concat(head_1, ..., head_h) · W_O, the sum of the contributions
    """

    words: list[str]
    scores: Tensor
    weights: Tensor
    contributions: Tensor
    output: Tensor


class AttentionPlayground(Widget):
    """문장을 고치고 h와 d_model을 바꾸면서 헤드마다 다른 어텐션 지도와, 출력에 더하는 기여를 봅니다.

    sentence  띄어쓰기로 나눌 문장. 앞의 12단어까지 씁니다.
    d_model   모델 차원 (8~64). h로 나누어떨어지지 않으면 위젯이 그 까닭을 설명합니다.
    h         헤드 수 (1~8)
    mask      "none": 없음, "causal": 인과, "padding": 패딩
    padding   mask="padding"일 때 패딩으로 볼 마지막 단어의 수 (1~12)
    scaled    True이면 점수를 √d_k로 나눕니다.
    seed      단어 임베딩을 뽑는 시드 (0~999). 투영 행렬은 바뀌지 않습니다.
    query     기여를 볼 쿼리 단어의 번호 (0~단어 수-1)

    가중치는 학습하지 않은 난수입니다. attention()이 같은 숫자를 multihead의 함수로 계산합니다.
    """

    _esm = join_module("attention_playground.js")

    sentence = Text("나는 빨간 사과를 먹었다")
    d_model = IntRange(32, 8, WIDTH)
    h = IntRange(4, 1, 8)
    mask = Choice("none", ("none", "causal", "padding"))
    padding = IntRange(1, 1, MOST_WORDS)
    scaled = Choice(True, (False, True))
    seed = IntRange(0, 0, 999)
    query = IntRange(3, 0, MOST_WORDS - 1)
    _weights = traitlets.Unicode(read_only=True).tag(sync=True)  # 22 KB: W_Q, W_K, W_V, W_O, then 256 normal quantiles

    @traitlets.default("_weights")
    def _packed_weights(self):
        matrices, quantiles = integers()
        return base64.b64encode(torch.cat([matrices.flatten(), quantiles]).numpy().tobytes()).decode()

    @traitlets.observe("sentence")
    def _keep_query_inside(self, change):
        self.query = min(self.query, self._last_query())

    @traitlets.validate("query")
    def _query_in_sentence(self, proposal):
        if proposal.value > self._last_query():
            raise traitlets.TraitError(
                f"이 문장에서 query의 범위는 0부터 {self._last_query()}까지입니다. 받은 값: {proposal.value}"
            )
        return proposal.value

    def _last_query(self) -> int:
        return max(len(words_of(self.sentence)) - 1, 0)

    def attention(self) -> PlaygroundAttention:
        """The numbers of the picture, from ``multihead.attention``.

        Raises ValueError if the sentence has no word or h does not divide d_model.
        """
        words = words_of(self.sentence)
        if not words:
            raise ValueError("문장에 단어가 없습니다. 단어를 하나 이상 쓰십시오.")
        d_k = check_divisible(self.d_model, self.h)
        x = word_embeddings(words, self.d_model, self.seed)[None]  # (1, T, D)
        W = projection_matrices(self.d_model)
        q, k, v = (split_heads(x @ W[name], self.h) for name in ("W_Q", "W_K", "W_V"))  # (1, h, T, d_k)
        scale = d_k**-0.5 if self.scaled else 1.0
        heads, weights = scaled_dot_product_attention(q, k, v, self._mask(len(words)), scale=scale)
        W_O = W["W_O"].view(self.h, d_k, self.d_model)  # one block of rows a head
        return PlaygroundAttention(
            words, (q @ k.mT * scale)[0], weights[0], heads[0] @ W_O, (merge_heads(heads) @ W["W_O"])[0]
        )

    def _mask(self, T: int) -> Tensor | None:
        if self.mask == "causal":
            return causal_mask(T)
        if self.mask == "padding":
            return padding_mask(torch.tensor([max(T - self.padding, 0)]), T)
        return None


def words_of(sentence: str) -> list[str]:
    """The words that the widget shows: split at white space, at most 12."""
    return normalize_text(sentence).split()[:MOST_WORDS]


def projection_matrices(d_model: int) -> dict[str, Tensor]:
    """W_Q, W_K, W_V, W_O, each (D, D) and used as x @ W: the leading part of one 64-wide set.

    √(64 / D) keeps the variance of a projected number the same for every D, as Xavier's initialisation does.
    """
    matrices, _ = integers()
    factor = MATRIX_STEP * (WIDTH / d_model) ** 0.5
    return {name: W[:d_model, :d_model].double() * factor for name, W in zip(MATRICES, matrices)}


def word_embeddings(words: list[str], d_model: int, seed: int) -> Tensor:
    """(T, D): a normally distributed vector for any word, always the same one for the same word and seed."""
    _, quantiles = integers()
    rows = [[quantiles[byte] for byte in word_bytes(word, seed, d_model)] for word in words]
    return torch.tensor(rows, dtype=torch.float64) * EMBEDDING_STEP


def word_bytes(word: str, seed: int, count: int) -> list[int]:
    """Random bytes for a word: the FNV-1a hash of "seed:word", counted on and mixed by MurmurHash3's last step."""
    hashed = 0x811C9DC5
    for byte in f"{seed}:{word}".encode():
        hashed = (hashed ^ byte) * 0x01000193 % 2**32
    mixed = []
    for i in range(count):
        bits = (hashed + i * 0x9E3779B9) % 2**32
        bits = (bits ^ bits >> 16) * 0x85EBCA6B % 2**32
        bits = (bits ^ bits >> 13) * 0xC2B2AE35 % 2**32
        mixed.append((bits ^ bits >> 16) >> 24)
    return mixed


@cache
def integers() -> tuple[Tensor, Tensor]:
    """Matrices (4, 64, 64) with Xavier's deviation 1/√64, and 256 quantiles of the normal distribution, both int8."""
    normal = torch.randn(len(MATRICES), WIDTH, WIDTH, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    matrices = normal * WIDTH**-0.5 / MATRIX_STEP
    quantiles = torch.tensor([NormalDist().inv_cdf((i + 0.5) / 256) for i in range(256)]) / EMBEDDING_STEP
    return tuple(t.round().clamp(-127, 127).to(torch.int8) for t in (matrices, quantiles))

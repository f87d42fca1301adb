"""The two-neighbours experiment: every token names the token on its left *and* the one on its right.

The smallest task that wants two things of one query. Sequences are random: only attention can find the answers::

    model = NeighbourModel(num_heads=2, seed=0)
    recording = train(model, seed=0)
    recording.accuracy[-1].both               # share of positions with both answers right
    neighbour_shares(recording.maps[-1])      # (h, 2): how much each head gives to the left and to the right neighbour

Letters for dimensions as in attention.py, and V for the size of the vocabulary.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention import MultiHeadAttention
from ..notebook import progress

VOCABULARY = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎㅏㅑㅓㅕㅗㅛㅜㅠㅡㅣ"  # V = 24 tokens without any meaning
LENGTH = 16  # T
D_MODEL = 32
BATCH = 32
STEPS = 500
LEARNING_RATE = 3e-3
HELD_OUT_SEED = 2**31  # of the sequences that accuracy is measured on: no training run has it


class NeighbourModel(nn.Module):
    """One attention layer, and a linear read-out for each of the two answers.

    x       = token_embedding[token] + position_embedding[position]
    hidden  = norm(x + attention(x))                                   residual and LayerNorm, as in the paper's encoder
    answers = left(hidden), right(hidden)                              logits over the vocabulary

    num_heads   h, a divisor of 32; the number of parameters is the same for every h
    seed        of the parameters. PyTorch's global generator is left alone.
    """

    def __init__(self, num_heads: int, *, seed: int):
        super().__init__()
        V = len(VOCABULARY)
        with torch.random.fork_rng(devices=[]):  # the layers draw numbers of their own first
            self.token_embedding = nn.Embedding(V, D_MODEL)
            self.position_embedding = nn.Embedding(LENGTH, D_MODEL)
            self.attention = MultiHeadAttention(D_MODEL, num_heads)
            self.norm = nn.LayerNorm(D_MODEL)
            self.left = nn.Linear(D_MODEL, V)
            self.right = nn.Linear(D_MODEL, V)
        initialise(self, seed)

    def hidden(self, tokens: Int[Tensor, "B T"], *, need_weights: bool = False):
        """What is read out (B, T, D), and the weights (B, h, T, T) or None."""
        x = self.token_embedding(tokens) + self.position_embedding.weight  # (B, T, D)
        attended, weights = self.attention(x, need_weights=need_weights)
        return self.norm(x + attended), weights

    def forward(self, tokens: Int[Tensor, "B T"]):
        """Logits of the left and of the right neighbour, each (B, T, V)."""
        hidden, _ = self.hidden(tokens)
        return self.left(hidden), self.right(hidden)


def initialise(module: nn.Module, seed: int) -> None:
    """Xavier's uniform weights, biases of 0, embeddings with deviation 0.5, all drawn from a generator of their own."""
    generator = torch.Generator().manual_seed(seed)
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight, generator=generator)
            nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight, std=0.5, generator=generator)


def random_sequences(count: int, generator: torch.Generator) -> Int[Tensor, "B T"]:
    """``count`` sequences of T = 16 tokens, each token as likely as any other."""
    return torch.randint(len(VOCABULARY), (count, LENGTH), generator=generator)


def held_out_sequences() -> Int[Tensor, "B T"]:
    """128 sequences, always the same; maps are recorded on the first one."""
    return random_sequences(128, torch.Generator().manual_seed(HELD_OUT_SEED))


def answers(tokens: Int[Tensor, "B T"]) -> tuple[Int[Tensor, "B inner"], Int[Tensor, "B inner"]]:
    """The left and the right neighbours of the T - 2 inner positions: the ends lack one of the two."""
    return tokens[:, :-2], tokens[:, 2:]


def inner(logits: Float[Tensor, "B T V"]) -> Float[Tensor, "B inner V"]:
    return logits[:, 1:-1]


class Accuracy(NamedTuple):
    """Shares of the inner positions, 0 to 1."""

    left: float
    right: float
    both: float  # both answers right at one and the same position


@torch.no_grad()
def accuracy(model: nn.Module, tokens: Int[Tensor, "B T"] | None = None) -> Accuracy:
    """How often the most likely answer is right, on the held-out sequences unless others are given."""
    tokens = held_out_sequences() if tokens is None else tokens
    right_answers = [inner(logits).argmax(-1) == answer for logits, answer in zip(model(tokens), answers(tokens))]
    left, right = right_answers
    return Accuracy(*(hits.float().mean().item() for hits in (left, right, left & right)))


def neighbour_shares(weights: Float[Tensor, "*B h T T"]) -> Float[Tensor, "h 2"]:
    """How much each head gives to the left and to the right neighbour, averaged over sequences and inner queries."""
    left = weights.diagonal(-1, -2, -1)[..., :-1]  # queries 1 to T - 2, keys 0 to T - 3
    right = weights.diagonal(1, -2, -1)[..., 1:]  # queries 1 to T - 2, keys 2 to T - 1
    shares = torch.stack([left.mean(-1), right.mean(-1)], -1)  # (*B, h, 2)
    return shares.flatten(0, -3).mean(0) if shares.dim() > 2 else shares


def specialisation(shares: Float[Tensor, "h 2"]) -> Float[Tensor, "h"]:
    """|left - right| of each head: 1 where it looks at one neighbour alone, 0 where it divides itself equally."""
    return (shares[:, 0] - shares[:, 1]).abs()


@dataclass(frozen=True)
class Recording:
    """What a training run looked like at n chosen steps."""

    num_heads: int
    tokens: Tensor  # (T,) the sequence of the maps
    steps: list[int]  # n numbers of updates made so far; 0 is the untrained model
    maps: Tensor  # (n, h, T, T) attention weights on ``tokens``
    shares: Tensor  # (n, h, 2) neighbour_shares over all held-out sequences
    accuracy: list[Accuracy]  # n, on the held-out sequences
    losses: Tensor  # (n,) on the held-out sequences


def train(
    model: NeighbourModel, *, seed: int, steps: int = STEPS, record_at: Iterable[int] | None = None
) -> Recording:
    """Train ``model`` in place with AdamW and record it on the way; shows a progress bar in a notebook.

    seed        of the training sequences: runs of one seed see the same sequences in the same order
    steps       number of updates
    record_at   steps to record, 0 to ``steps``; every tenth unless given

    Raises ValueError for steps to record that do not exist.
    """
    wanted = set(range(0, steps + 1, 10)) if record_at is None else set(record_at)
    if not wanted or not wanted <= set(range(steps + 1)):
        raise ValueError(f"기록할 걸음은 0부터 {steps}까지입니다. 받은 값: {sorted(wanted)}")
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)
    records = []
    with _one_thread():
        for step in progress(range(steps + 1), f"h = {model.attention.num_heads}, 시드 {seed}"):
            if step in wanted:
                records.append((step, *_measure(model)))
            if step < steps:
                loss = neighbour_loss(model, random_sequences(BATCH, generator))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    at, maps, shares, accuracies, losses = zip(*records)
    return Recording(
        num_heads=model.attention.num_heads,
        tokens=held_out_sequences()[0],
        steps=list(at),
        maps=torch.stack(maps),
        shares=torch.stack(shares),
        accuracy=list(accuracies),
        losses=torch.stack(losses),
    )


def neighbour_loss(model: nn.Module, tokens: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """Cross entropy of the left answer plus that of the right answer, in nats, averaged over the inner positions."""
    pairs = zip(model(tokens), answers(tokens))
    return sum(F.cross_entropy(inner(logits).flatten(0, 1), answer.flatten()) for logits, answer in pairs)


@torch.no_grad()
def _measure(model: NeighbourModel) -> tuple[Tensor, Tensor, Accuracy, Tensor]:
    tokens = held_out_sequences()
    _, weights = model.hidden(tokens, need_weights=True)  # (B, h, T, T)
    return weights[0], neighbour_shares(weights), accuracy(model, tokens), neighbour_loss(model, tokens)


@contextmanager
def _one_thread() -> Iterator[None]:
    """The tensors are too small to share: a second core only waits for the first one, and may change the rounding."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

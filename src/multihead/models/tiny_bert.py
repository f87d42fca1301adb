"""A masked language model of two layers for the sentences of :mod:`multihead.models.grammar`, small enough to train in minutes.

    model = load_tiny_bert()                          # the shipped weights
    probes = make_probes(test_sentences(500))         # one masked slot each
    slot_accuracy(model, probes)                      # {"verb": 1.0, "honorific": 1.0, "tense": 1.0}
    slot_accuracy(without_heads(model, [(2, 1)]), probes)

A head is named (layer, head), both counted from 1, as in "head 2-1".
"""

import copy
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from tqdm import tqdm

from ..attention import MultiHeadAttention
from .grammar import MASK, MOST_TOKENS, PAD, RELATIONS, TOKEN_ID, VOCABULARY, Sentence, random_sentence

D_MODEL, D_FF, NUM_LAYERS = 64, 128, 2
STEPS, BATCH, MASKED_SHARE = 3000, 64, 0.2
PEAK_RATE, WEIGHT_DECAY = 2e-3, 0.1
IGNORED = -100  # target of a token that was not masked, as F.cross_entropy has it

Heads = Iterable[tuple[int, int]]


class Layer(nn.Module):
    """x + attention(norm(x)), then x + feed-forward(norm(x)): a pre-norm layer (Xiong et al. 2020, arXiv:2002.04745)."""

    def __init__(self, num_heads: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(D_MODEL)
        self.attention = MultiHeadAttention(D_MODEL, num_heads)
        self.ff_norm = nn.LayerNorm(D_MODEL)
        self.ff_in = nn.Linear(D_MODEL, D_FF)
        self.ff_out = nn.Linear(D_FF, D_MODEL)

    def forward(self, x: Tensor, mask: Tensor, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        added, weights = self.attention(self.attention_norm(x), mask=mask, need_weights=need_weights)
        x = x + added
        return x + self.ff_out(F.relu(self.ff_in(self.ff_norm(x)))), weights


class TinyBert(nn.Module):
    """Tells for each place of a sentence which token stands there, also where it reads [MASK].

    num_heads   h of both layers, a divisor of 64
    """

    def __init__(self, num_heads: int = 4):
        super().__init__()
        self.num_heads = num_heads
        self.embedding = nn.Embedding(len(VOCABULARY), D_MODEL)
        self.position = nn.Embedding(MOST_TOKENS, D_MODEL)
        self.layers = nn.ModuleList(Layer(num_heads) for _ in range(NUM_LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.output = nn.Linear(D_MODEL, len(VOCABULARY))

    def forward(self, ids: Tensor, *, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """ids (B, T), at most 20 long, shorter sentences filled with [PAD].

        Returns logits (B, T, V) over VOCABULARY, and None or the weights (B, layers, h, T, T).
        Raises ValueError for longer sentences.
        """
        T = ids.shape[1]
        if T > MOST_TOKENS:
            raise ValueError(f"문장은 토큰 {MOST_TOKENS}개까지입니다: {T}개")
        mask = (ids != TOKEN_ID[PAD])[:, None, None]  # (B, 1, 1, T), True = may attend
        x = self.embedding(ids) + self.position.weight[:T]
        maps = []
        for layer in self.layers:
            x, weights = layer(x, mask, need_weights)
            maps.append(weights)
        return self.output(self.norm(x)), torch.stack(maps, 1) if need_weights else None


def without_heads(model: TinyBert, heads: Heads) -> TinyBert:
    """A copy of ``model`` in which these (layer, head), counted from 1, add nothing to the output.

    Concat(heads) W_O is the sum of head_i W_O_i, so it is enough to set the part W_O_i to zero.
    Raises ValueError for heads that there are not.
    """
    lesioned = copy.deepcopy(model)
    d_k = D_MODEL // model.num_heads
    for layer, head in heads:
        if not (1 <= layer <= NUM_LAYERS and 1 <= head <= model.num_heads):
            raise ValueError(
                f"층은 1부터 {NUM_LAYERS}까지, 헤드는 1부터 {model.num_heads}까지입니다. 받은 값: {layer}-{head}"
            )
        with torch.no_grad():  # nn.Linear keeps W_Oᵀ: the rows of W_O are columns here
            lesioned.layers[layer - 1].attention.W_O.weight[:, (head - 1) * d_k : head * d_k] = 0
    return lesioned


def every_head(model: TinyBert) -> list[tuple[int, int]]:
    """(layer, head) of each head, counted from 1."""
    return [(layer, head) for layer in range(1, NUM_LAYERS + 1) for head in range(1, model.num_heads + 1)]


# ---- what the model is asked ---------------------------------------------------------------------------------------


def padded(rows: list[list[int]], filling: int) -> Tensor:
    """(B, T) from lists of several lengths."""
    length = max(map(len, rows))
    return torch.tensor([row + [filling] * (length - len(row)) for row in rows])


class Probes(NamedTuple):
    """Sentences with one masked slot each: ids (N, T), its place (N,), the place of the token that decides it (N,), the
    right answer (N,) and the names of the slots.

    ``refers`` (N,) is True for verbs that hang on the object of the sentence before, through 그것.
    """

    ids: Tensor
    place: Tensor
    source: Tensor
    answer: Tensor
    slot: list[str]
    refers: Tensor


def make_probes(sentences: list[Sentence]) -> Probes:
    """For every verb, honorific and tense of the sentences the sentence with that one token masked."""
    rows, places, sources, answers, slots, refers = [], [], [], [], [], []
    for sentence in sentences:
        ids = sentence.ids
        for place, token in enumerate(sentence.tokens):
            if token.role in RELATIONS:
                rows.append([*ids[:place], TOKEN_ID[MASK], *ids[place + 1 :]])
                places.append(place)
                sources.append(token.source)
                answers.append(ids[place])
                slots.append(token.role)
                refers.append(token.role == "verb" and sentence.tokens[token.source].clause != token.clause)
    ids = padded(rows, TOKEN_ID[PAD])
    places, sources, answers, refers = map(torch.tensor, (places, sources, answers, refers))
    return Probes(ids, places, sources, answers, slots, refers)


def test_sentences(count: int, seed: int = 0) -> list[Sentence]:
    """Sentences whose objects stand on the side of the subject where training never shows them."""
    chance = random.Random(f"test {seed}")
    return [random_sentence(chance, test=True) for _ in range(count)]


test_sentences.__test__ = False  # pytest takes it for a test otherwise


@torch.inference_mode()
def right_answers(model: TinyBert, probes: Probes) -> Tensor:
    """(N,), True where the most probable of all tokens is the right one."""
    logits, _ = model(probes.ids)
    return logits[torch.arange(len(probes.ids)), probes.place].argmax(-1) == probes.answer


def slot_accuracy(model: TinyBert, probes: Probes) -> dict[str, float]:
    """Share of right answers for the verb, the honorific and the tense."""
    right = right_answers(model, probes)
    return {slot: right[torch.tensor([s == slot for s in probes.slot])].float().mean().item() for slot in RELATIONS}


# ---- training ------------------------------------------------------------------------------------------------------


def training_batch(seed: int, step: int) -> tuple[Tensor, Tensor]:
    """64 sentences with a fifth of the tokens masked, ids (B, T), and the masked tokens (B, T), IGNORED elsewhere.

    The same seed and step give the same batch, so that training can go on where it stopped.
    """
    chance = random.Random(f"{seed} {step}")
    truth = padded([random_sentence(chance).ids for _ in range(BATCH)], TOKEN_ID[PAD])
    generator = torch.Generator().manual_seed(chance.randrange(2**31))
    masked = (torch.rand(truth.shape, generator=generator) < MASKED_SHARE) & (truth != TOKEN_ID[PAD])
    return truth.masked_fill(masked, TOKEN_ID[MASK]), truth.masked_fill(~masked, IGNORED)


@dataclass
class Training:
    """A model while it learns. ``run`` may be called again and again; ``save`` and ``load`` carry it over to another day.

    num_heads, seed   of the model; the seed also decides the sentences
    steps             length of the whole training, which the learning rate is planned for
    losses            loss of every step so far
    """

    num_heads: int = 4
    seed: int = 0
    steps: int = STEPS
    losses: list[float] = field(default_factory=list)

    def __post_init__(self):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.model = TinyBert(self.num_heads)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=PEAK_RATE, weight_decay=WEIGHT_DECAY)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, PEAK_RATE, total_steps=self.steps + 1)

    def run(self, steps: int | None = None, *, progress: bool = False) -> TinyBert:
        """Train for ``steps`` more steps, to the end if not given; a bar shows the progress if asked for."""
        first = len(self.losses)
        last = self.steps if steps is None else min(first + steps, self.steps)
        self.model.train()
        for step in tqdm(range(first, last), disable=not progress, desc="학습", unit="걸음"):
            ids, targets = training_batch(self.seed, step)
            logits, _ = self.model(ids)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            self.losses.append(loss.item())
        return self.model.eval()

    def save(self, path: str | Path) -> None:
        """Everything that is needed to go on."""
        parts = {name: getattr(self, name).state_dict() for name in ("model", "optimizer", "schedule")}
        settings = {name: getattr(self, name) for name in ("num_heads", "seed", "steps", "losses")}
        torch.save({"settings": settings, **parts}, path)

    @classmethod
    def load(cls, path: str | Path) -> "Training":
        saved = torch.load(path, weights_only=True)
        training = cls(**saved["settings"])
        for name in ("model", "optimizer", "schedule"):
            getattr(training, name).load_state_dict(saved[name])
        return training


# ---- shipped weights -----------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[1] / "data"
WEIGHTS_FILE = DATA / "tiny_bert.safetensors"
RUNS_FILE = DATA / "tiny_bert_runs.json"  # written by tools/train_tiny_bert.py
LEVELS = 127  # of a weight on either side of zero


def save_weights(model: TinyBert, path: str | Path) -> None:
    """Write the matrices as int8, each row with a step of its own, and the vectors as float32.

    The page with the widget carries this very file, so Python and the browser compute with the same rounded numbers.
    """
    tensors = {}
    for name, values in model.state_dict().items():
        if values.dim() == 2:
            step = values.abs().amax(1, keepdim=True).clamp(min=1e-12) / LEVELS  # (rows, 1)
            tensors[f"{name}.step"] = step
            values = (values / step).round().to(torch.int8)
        tensors[name] = values
    save_file(tensors, path, metadata={"num_heads": str(model.num_heads)})


def load_tiny_bert(path: str | Path = WEIGHTS_FILE) -> TinyBert:
    """The shipped model, or one from a file of :func:`save_weights`, ready to be asked."""
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        model = TinyBert(int(file.metadata()["num_heads"]))
    model.load_state_dict({
        name: values * tensors[f"{name}.step"] if values.dtype == torch.int8 else values
        for name, values in tensors.items()
        if not name.endswith(".step")
    })  # fmt: skip
    return model.eval()


def recorded_runs() -> dict:
    """Figures of long training runs, made by ``tools/train_tiny_bert.py``: see its text for the fields."""
    return json.loads(RUNS_FILE.read_text("utf-8"))

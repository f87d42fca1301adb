"""Trains the Korean BERT of chapters 08 and 09 on two CPU cores: corpus -> vocabulary -> training.

    python tools/train_korean_bert.py corpus SOURCES      # filters the texts, makes the vocabulary, counts tokens
    python tools/train_korean_bert.py train               # goes on from the last checkpoint; stop it at any time
    python tools/train_korean_bert.py branch 2000         # from there, but down to learning rate zero in 2,000 steps
    python tools/train_korean_bert.py ship                # writes the newest branch into src/multihead/data/korean_bert

SOURCES is a folder with reviews.txt.xz, docs.txt.xz, ... : one sentence or short text a line, UTF-8. Where each comes
from and under which licence stands in REGISTERS. The texts themselves are never part of this project.

Everything is written to the folder _training/korean_bert (--folder), which git ignores:

    vocab.txt, corpus.npz, corpus.json   the vocabulary, all lines as token numbers, how many were kept and why not
    checkpoint.pt                        weights, optimizer, step: what a run goes on from; lost, it goes on from what
                                         was shipped, with an optimizer that knows nothing yet
    steps/000100.safetensors, ...        the weights at that step, float16: for looking at how heads appear
    branches/005000+2000.safetensors     weights of a branch from step 5,000; the run itself goes on beside it
    log.jsonl                            loss, speed, masked accuracy by register

Masked language modelling as in BERT (Devlin et al. 2018, arXiv:1810.04805), without sentence pairs and dropout. The
learning rate of the run stays the same and comes down only in a branch, so that a run need not know its length beforehand
(Hägele et al. 2024, arXiv:2405.18392).
"""

import argparse
import json
import lzma
import math
import os
import random
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM

from multihead.models.korean_bert import FOLDER as SHIPPED
from multihead.models.korean_bert import SPECIAL, make_tokenizer, read_weights, write_weights

FOLDER = Path(__file__).parents[1] / "_training" / "korean_bert"
UNK, CLS, SEP, MASK = (SPECIAL.index(token) for token in ("[UNK]", "[CLS]", "[SEP]", "[MASK]"))


@dataclass(frozen=True)
class Settings:
    """All that decides what comes out."""

    seed: int = 0
    # vocabulary
    vocab_size: int = 8192
    characters: int = 1650
    english_words: int = 150
    # model
    layers: int = 6
    d_model: int = 192
    num_heads: int = 6
    d_ff: int = 576
    max_tokens: int = 64
    # masks: of every line a share is hidden, in every other line whole words
    masked: float = 0.25
    whole_words: float = 0.5
    # optimizer
    batch_tokens: int = 8192
    peak_rate: float = 1e-3
    warm_up: int = 500
    weight_decay: float = 0.05
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0


@dataclass(frozen=True)
class Register:
    """One kind of text: how often an epoch shows each of its lines, or how many of them, drawn anew each time."""

    source: str
    licence: str
    times: int = 1
    most: int | None = None


REGISTERS = {
    "reviews": Register("Naver sentiment movie corpus, github.com/e9t/nsmc", "CC0 1.0", most=220_000),
    "docs": Register("Visual Studio documentation, github.com/MicrosoftDocs/visualstudio-docs.ko-kr", "CC BY 4.0"),
    "book_reviews": Register("National Assembly Library, github.com/yiunsr/boddari", "CC BY", times=4),
    "novels": Register("KoCoNovel, github.com/storidient/KoCoNovel", "CC BY-SA 4.0", times=4),
    "wikinews": Register("Wikinews, github.com/yiunsr/boddari", "CC BY 2.5", times=4),
    "tales": Register("Andersen, Bang Jeong-hwan, Duru Books, github.com/yiunsr/boddari", "free", times=6),
}
HELD_OUT = 50  # of so many lines one is never trained on


# ---- corpus --------------------------------------------------------------------------------------------------------

HANGUL = re.compile("[가-힣]")
JAMO = re.compile("[ㄱ-ㆎ]")  # ㅋㅋ, ㅠㅠ, slang in initials
PLAIN = re.compile(r"[가-힣A-Za-z0-9\s.,!?'\"“”‘’…~():;·-]")
REPEATED = re.compile(r"(.)\1{3,}|([^\w\s])\2{2,}(?<!\.\.\.)")
ADDRESS = re.compile(r"https?:|www\.|[\w.]+@\w+|[A-Za-z]:\\|\.(?:com|net|org)\b")
# A particle or 합니다 with a space before it: what machine translation left of a page's buttons.
TORN = re.compile(r"(?<!\S)(?:를|을|는|은|의|와|과|에|에서|으로|로|에게|부터|합니다|하는|하여|하고|됩니다|되는)(?!\S)")
INSULTS = re.compile(
    "씨발|시발|씨팔|ㅅㅂ|좆|존나|졸라|새끼|새키|쉐이|병신|븅신|개년|쌍년|썅|지랄|미친놈|미친년|닥쳐|꺼져|찌질|쓰레기|빠순|빠돌|급식충"
    "|[가-힣]충이|김치녀|된장녀|한남|메갈|일베|홍어|전라디언|좌빨|빨갱이|쪽바리|짱깨|짱개|섹스|자위|강간|성폭|야동|젖탱|창녀|걸레|보지[가를는]?\\b|게이들|호모새"
    "|장애인같|뒈져|뒤져라|죽여버|알바[들야냐]|별점|평점|1점|10점|[01]개도 아깝"
)


def refused(line: str, register: str) -> str | None:
    """Why a line does not belong into the corpus, or None."""
    letters = line.replace(" ", "")
    words = line.split()
    if len(HANGUL.findall(letters)) < 0.6 * len(letters):
        return "little Hangul"
    if len(PLAIN.findall(letters)) < 0.95 * len(letters) or REPEATED.search(line):
        return "symbols"
    if JAMO.search(line):
        return "bare jamo"
    if ADDRESS.search(line):
        return "address"
    if INSULTS.search(line):
        return "insult or spam"
    if TORN.search(line):
        return "torn particle"
    if not 3 <= len(words):
        return "short"
    if len(letters) > 5.5 * len(words):
        return "unspaced"
    if register == "docs" and not re.search(r"[다요까오]\.?$", line):
        return "no sentence"
    return None


def read_corpus(sources: Path) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """The lines of each register that are worth reading, and for each how many were refused and why."""
    lines, counts = {}, {}
    for register in REGISTERS:
        kept: dict[str, str] = {}
        why = Counter()
        with lzma.open(sources / f"{register}.txt.xz", "rt", encoding="utf-8") as file:
            for raw in file:
                line = " ".join(unicodedata.normalize("NFC", raw).split())
                reason = refused(line, register)
                alike = re.sub(r"\W|\d", "", line)
                if reason is None and alike in kept:
                    reason = "seen before"
                if reason is None:
                    kept[alike] = line
                why[reason or "kept"] += 1
        lines[register] = list(kept.values())
        counts[register] = dict(why)
        print(register, dict(why), flush=True)
    return lines, counts


# ---- vocabulary ----------------------------------------------------------------------------------------------------


def pieces(kiwi, line: str):
    """The morphemes of each word as they are written: 먹었다 -> 먹, ##었, ##다. 갔다 is 갔, ##다: a syllable stays whole."""
    starts, end = set(), 0
    for token in kiwi.tokenize(line):
        if token.start >= end:
            starts.add(token.start)
        end = max(end, token.end)
    for word in re.finditer(r"[가-힣]+|[a-z]+", line.lower()):
        cuts = [word.start(), *(i for i in range(word.start() + 1, word.end()) if i in starts), word.end()]
        # What stands behind another letter, as 를 in "Git를", is no beginning of a word.
        inside = word.start() > 0 and line[word.start() - 1].isalnum()
        for k, (a, b) in enumerate(zip(cuts, cuts[1:])):
            yield ("##" if k or inside else "") + line.lower()[a:b]


def make_vocabulary(lines: list[str], settings: Settings) -> list[str]:
    """Special tokens, every common character in both forms, then the commonest English words and morphemes."""
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=2)
    letters = Counter(c for line in lines for c in line.lower() if not c.isspace())
    characters = [c for c, _ in letters.most_common(settings.characters)]
    # A word is cut at every punctuation mark, so only letters and digits can go on inside one.
    single = [form for c in characters for form in ([c, f"##{c}"] if c.isalnum() else [c])]
    found = Counter(piece for line in lines[::3] for piece in pieces(kiwi, line))
    longer = [p for p, _ in found.most_common() if len(p.removeprefix("##")) > 1]
    english = [p for p in longer if p.isascii() and p[0] != "#"][: settings.english_words]
    korean = [p for p in longer if not p.removeprefix("##").isascii()]
    room = settings.vocab_size - len(SPECIAL) - len(single) - len(english)
    chosen = {*single, *english, *korean[:room]}
    # The commonest first: the page that loads rows of the vocabulary needs few of them.
    return list(SPECIAL) + sorted(chosen, key=lambda p: (-(found[p] or letters[p.removeprefix("##")] / 100), p))


def prepare(sources: Path, folder: Path, settings: Settings) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines, counts = read_corpus(sources)
    rng = random.Random(settings.seed)
    for kept in lines.values():
        rng.shuffle(kept)
    shown = [line for register, kept in lines.items() for line in kept[: REGISTERS[register].most]]
    vocabulary = make_vocabulary(shown, settings)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    tokenizer = make_tokenizer(vocabulary)

    ids, lengths, registers, facts = [], [], [], {}
    for number, (register, kept) in enumerate(lines.items()):
        encoded = [line.ids for line in tokenizer.encode_batch(kept, add_special_tokens=False)]
        fitting = [line for line in encoded if 3 <= len(line) <= settings.max_tokens - 2]
        ids += fitting
        lengths += [len(line) for line in fitting]
        registers += [number] * len(fitting)
        flat = [i for line in fitting for i in line]
        facts[register] = {
            **asdict(REGISTERS[register]),
            "lines_read": sum(counts[register].values()),
            "refused": {reason: n for reason, n in counts[register].items() if reason != "kept"},
            "lines": len(fitting),
            "tokens": len(flat),
            "unknown": round(flat.count(UNK) / len(flat), 6),
        }
        print(register, facts[register], flush=True)
    np.savez_compressed(
        folder / "corpus.npz",
        ids=np.concatenate([np.array(line, np.uint16) for line in ids]),
        lengths=np.array(lengths, np.uint8),
        registers=np.array(registers, np.uint8),
    )
    (folder / "corpus.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), "utf-8")


# ---- batches -------------------------------------------------------------------------------------------------------


class Corpus:
    """All lines as token numbers. Line i of a register is held out where i % HELD_OUT == 0."""

    def __init__(self, folder: Path, settings: Settings):
        self.settings = settings
        self.vocabulary = (folder / "vocab.txt").read_text("utf-8").splitlines()
        self.continues = torch.tensor([token.startswith("##") for token in self.vocabulary])
        with np.load(folder / "corpus.npz") as file:
            self.ids, self.lengths, registers = file["ids"], file["lengths"].astype(np.int64), file["registers"]
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.train, self.held_out = {}, {}
        for number, register in enumerate(REGISTERS):
            lines = np.flatnonzero(registers == number)
            held = np.arange(len(lines)) % HELD_OUT == 0
            self.train[register], self.held_out[register] = lines[~held], lines[held]

    def epoch(self, number: int) -> list[np.ndarray]:
        """Line numbers of each batch: lines of one length together, so that no batch has padding."""
        rng = np.random.default_rng((self.settings.seed, number))
        shown = []
        for register, lines in self.train.items():
            most = REGISTERS[register].most
            shown.append(np.repeat(lines if most is None else rng.permutation(lines)[:most], REGISTERS[register].times))
        lines = rng.permutation(np.concatenate(shown))
        batches = []
        for length in np.unique(self.lengths[lines]):
            group = lines[self.lengths[lines] == length]
            size = max(1, self.settings.batch_tokens // (length + 2))
            batches += [group[i : i + size] for i in range(0, len(group), size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def batch(self, lines: np.ndarray) -> torch.Tensor:
        """(B, T) token numbers between [CLS] and [SEP]."""
        rows = np.stack([self.ids[self.starts[i] : self.starts[i + 1]] for i in lines]).astype(np.int64)
        return F.pad(F.pad(torch.from_numpy(rows), (1, 0), value=CLS), (0, 1), value=SEP)

    def mask(self, ids: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """The tokens as the model sees them, and which of them (B, T) it has to name.

        Of the hidden tokens 80 % become [MASK], 10 % another token, 10 % stay, as in BERT. In half of the lines all pieces
        of a word are hidden together (Cui et al. 2019, arXiv:1906.08101): 할머니 ##가, not 가 alone.
        """
        s = self.settings
        ordinary = (ids != CLS) & (ids != SEP)
        single = torch.rand(ids.shape, generator=generator) < s.masked
        word = (~self.continues[ids]).cumsum(1)  # number of the word
        whole = torch.rand(ids.shape, generator=generator).gather(1, word - 1) < s.masked
        by_word = torch.rand(ids.shape[0], 1, generator=generator) < s.whole_words
        hidden = torch.where(by_word, whole, single) & ordinary
        fate = torch.rand(ids.shape, generator=generator)
        other = torch.randint(len(SPECIAL), len(self.vocabulary), ids.shape, generator=generator)
        seen = torch.where(hidden & (fate < 0.8), MASK, torch.where(hidden & (fate > 0.9), other, ids))
        return seen, hidden


# ---- training ------------------------------------------------------------------------------------------------------


def make_model(settings: Settings) -> BertForMaskedLM:
    torch.manual_seed(settings.seed)
    config = BertConfig(
        vocab_size=settings.vocab_size,
        hidden_size=settings.d_model,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.num_heads,
        intermediate_size=settings.d_ff,
        max_position_embeddings=settings.max_tokens,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    # eager: the fused kernel's backward pass in bfloat16 takes two thirds of a step on this kind of processor.
    return BertForMaskedLM._from_config(config, attn_implementation="eager")


class Training:
    """Weights and optimizer in float32; forward and backward pass in bfloat16, a third of the time where there is AMX."""

    def __init__(self, folder: Path, settings: Settings):
        self.folder, self.settings = folder, settings
        self.corpus = Corpus(folder, settings)
        self.model = make_model(settings)
        self.weights = [p.detach().clone().requires_grad_() for p in self.model.parameters()]
        self.names = [name for name, _ in self.model.named_parameters()]
        self.model.to(torch.bfloat16)
        decayed = [w for w in self.weights if w.dim() > 1]
        others = [w for w in self.weights if w.dim() == 1]
        groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.peak_rate, betas=settings.betas, fused=True)
        self.step = self.tokens = self.epoch = self.in_epoch = self.seconds = 0
        self.branch: range | None = None  # the steps in which the learning rate comes down to zero

    COUNTERS = ("step", "tokens", "epoch", "in_epoch", "seconds")

    def save(self) -> None:
        """The whole state, so that a run that is stopped and one that is not end alike."""
        state = {
            "settings": asdict(self.settings),
            "weights": self.weights,
            "optimizer": self.optimizer.state_dict(),
            **{name: getattr(self, name) for name in self.COUNTERS},
        }
        torch.save(state, self.folder / "checkpoint.new")
        os.replace(self.folder / "checkpoint.new", self.folder / "checkpoint.pt")

    def load(self) -> str:
        """Take up the checkpoint or, without one, what was shipped. Says which."""
        path = self.folder / "checkpoint.pt"
        if path.exists():
            state = torch.load(path, weights_only=True)
            weights = state["weights"]
            self.optimizer.load_state_dict(state["optimizer"])
        elif (SHIPPED / "run.json").exists():
            if (SHIPPED / "vocab.txt").read_text("utf-8").splitlines() != self.corpus.vocabulary:
                raise ValueError(f"{SHIPPED} has another vocabulary: copy its vocab.txt to {self.folder}, then make the corpus")
            state = json.loads((SHIPPED / "run.json").read_text("utf-8"))["counters"]
            shipped = read_weights(SHIPPED / "model.safetensors")
            weights = [shipped[name] for name in self.names]
        else:
            return "nothing"
        with torch.no_grad():
            for ours, theirs in zip(self.weights, weights):
                ours.copy_(theirs)
        for name in self.COUNTERS:
            setattr(self, name, state[name])
        return "the checkpoint" if path.exists() else "the shipped weights"

    def to_model(self) -> None:
        with torch.no_grad():
            for ours, p in zip(self.weights, self.model.parameters()):
                p.copy_(ours)

    def export(self, path: Path, dtype=torch.float16) -> None:
        path.parent.mkdir(exist_ok=True)
        # save_file wants each tensor in memory of its own; the decoder shares the embeddings.
        save_file({n: w.detach().to(dtype).contiguous() for n, w in zip(self.names, self.weights)}, path)

    def rate(self) -> float:
        s = self.settings
        rate = s.peak_rate * min(1.0, (self.step + 1) / s.warm_up)
        return rate if self.branch is None else rate * (self.branch.stop - self.step) / len(self.branch)

    def train_batch(self, lines: np.ndarray) -> float:
        self.to_model()
        generator = torch.Generator().manual_seed(self.settings.seed * 10**9 + self.step)
        ids = self.corpus.batch(lines)
        seen, hidden = self.corpus.mask(ids, generator)
        output = self.model.bert(seen)[0][hidden]  # logits only where something is to be named
        loss = F.cross_entropy(self.model.cls(output).float(), ids[hidden])
        loss.backward()
        for ours, p in zip(self.weights, self.model.parameters()):
            ours.grad, p.grad = p.grad.float(), None
        torch.nn.utils.clip_grad_norm_(self.weights, self.settings.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        self.optimizer.step()
        self.step, self.in_epoch, self.tokens = self.step + 1, self.in_epoch + 1, self.tokens + ids.numel()
        return loss.item()

    @torch.no_grad()
    def accuracy(self, most: int = 400) -> dict[str, float]:
        """Share of hidden tokens named rightly, single tokens, in lines held out, by register."""
        self.to_model()
        found = {}
        for register, lines in self.corpus.held_out.items():
            generator = torch.Generator().manual_seed(1)
            right = count = 0
            for i in lines[:most]:
                ids = self.corpus.batch(np.array([i]))
                hidden = (torch.rand(ids.shape, generator=generator) < 0.15) & (ids != CLS) & (ids != SEP)
                logits = self.model.cls(self.model.bert(torch.where(hidden, MASK, ids))[0][hidden])
                right += (logits.argmax(-1) == ids[hidden]).sum().item()
                count += hidden.sum().item()
            found[register] = round(right / count, 4)
        return found

    def log(self, **facts) -> None:
        entry = {"step": self.step, "tokens": self.tokens, "epoch": self.epoch, **facts}
        if self.branch:
            entry["branch"] = self.branch.start
        print(json.dumps(entry, ensure_ascii=False), flush=True)
        with open(self.folder / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def batches(self) -> Iterator[np.ndarray]:
        """All that is still to come, without end."""
        while True:
            for lines in self.corpus.epoch(self.epoch)[self.in_epoch :]:
                yield lines
            self.epoch, self.in_epoch = self.epoch + 1, 0

    def run(self) -> None:
        losses, began, tokens = [], time.time(), self.tokens
        for lines in self.batches():
            if self.branch and self.step == self.branch.stop:
                break
            if not self.branch and (self.step in SNAPSHOTS or self.step % 10_000 == 0):
                self.export(self.folder / "steps" / f"{self.step:06}.safetensors")
            losses.append(self.train_batch(lines))
            if not math.isfinite(losses[-1]):
                raise FloatingPointError(f"loss {losses[-1]} at step {self.step}")
            if self.step % 200 == 0:
                seconds = time.time() - began
                self.seconds += seconds
                speed = round((self.tokens - tokens) / seconds)
                loss = round(sum(losses) / len(losses), 4)
                self.log(loss=loss, rate=self.rate(), tokens_per_second=speed, seconds=round(self.seconds))
                losses, began, tokens = [], time.time(), self.tokens
                if not self.branch:
                    self.save()
            if self.step % 2000 == 0:
                self.log(accuracy=self.accuracy())
        self.log(accuracy=self.accuracy())
        name = f"{self.branch.start:06}+{len(self.branch)}"
        self.export(self.folder / "branches" / f"{name}.safetensors", torch.float32)
        facts = {"counters": {n: getattr(self, n) for n in self.COUNTERS}, "accuracy": self.accuracy(most=2000)}
        (self.folder / "branches" / f"{name}.json").write_text(json.dumps(facts, indent=1), "utf-8")


def ship(folder: Path, settings: Settings) -> None:
    """The newest branch as the package's Korean BERT, with the record of its run. The model card is written by hand."""
    newest = max((folder / "branches").glob("*.safetensors"))
    SHIPPED.mkdir(exist_ok=True)
    make_model(settings).config.save_pretrained(SHIPPED)
    write_weights(load_file(newest), SHIPPED / "model.safetensors")
    (SHIPPED / "vocab.txt").write_text((folder / "vocab.txt").read_text("utf-8"), "utf-8")
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text("utf-8").splitlines()]
    start = int(newest.stem.split("+")[0])
    log = [entry for entry in log if entry.get("branch", start) == start and ("branch" in entry or entry["step"] <= start)]
    record = {
        "command": "python tools/train_korean_bert.py",
        "torch": torch.__version__,
        "settings": asdict(settings),
        "corpus": json.loads((folder / "corpus.json").read_text("utf-8")),
        "branch": newest.stem,
        **json.loads(newest.with_suffix(".json").read_text("utf-8")),
        "curve": [[entry["step"], entry["tokens"], entry["loss"]] for entry in log if "loss" in entry][::5],
        "accuracies": [[entry["step"], entry["accuracy"]] for entry in log if "accuracy" in entry],
    }
    (SHIPPED / "run.json").write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")


SNAPSHOTS = {0, 100, 200, 400, 700, 1000, 1500, 2000, 3000, 4000, 5000, 7000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("corpus").add_argument("sources", type=Path)
    commands.add_parser("train")
    commands.add_parser("branch").add_argument("steps", type=int)
    commands.add_parser("ship")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    settings = Settings()
    if arguments.command == "corpus":
        return prepare(arguments.sources, arguments.folder, settings)
    if arguments.command == "ship":
        return ship(arguments.folder, settings)
    training = Training(arguments.folder, settings)
    print(f"goes on from {training.load()}, step {training.step}", flush=True)
    if arguments.command == "branch":
        training.branch = range(training.step, training.step + arguments.steps)
    training.run()


if __name__ == "__main__":
    main()

"""Trains the small Korean BERT for several seeds and numbers of heads, ships the clearest moment and records the figures.

    python tools/train_tiny_bert.py [folder for checkpoints, default _build/tiny_bert]

Writes src/multihead/data/tiny_bert.safetensors and tiny_bert_runs.json. A run takes minutes; stopped, it goes on from its
last checkpoint. The fields of the JSON:

    command, torch, train_probes, test_sentences    how the figures were made; a probe is one masked slot
    runs       for each (num_heads, seed): accuracy by slot, without: accuracy by slot with one head off,
               curve: [step, accuracy by slot] during training, loss: mean loss of each 100 steps
    shipped    seed and step: where the heads divide the relations most clearly, every slot being solved.
               Of this model also refers: accuracy of verbs that hang on 그것, pairs: two heads off,
               untrained: accuracy before the first step, history: what each head's absence costs during training,
               first_losses: mean loss of each 20 of the first 200 steps
"""

import itertools
import json
import sys
from pathlib import Path

import torch

from multihead.models.grammar import RELATIONS
from multihead.models.tiny_bert import (
    RUNS_FILE,
    WEIGHTS_FILE,
    Training,
    every_head,
    load_tiny_bert,
    make_probes,
    right_answers,
    save_weights,
    slot_accuracy,
    test_sentences,
    without_heads,
)

RUNS = [*((4, seed) for seed in range(8)), (8, 0), (2, 0), (1, 0)]  # heads, seed
RECORDED = [*range(0, 1001, 100), *range(1200, 2001, 200), 2300, 2600, 3000]
TRAIN_PROBES, TEST_SENTENCES = 100, 300
SOLVED = 0.98  # share of right answers; of some 150 probes a slot, two may fail by chance


def name(head):
    return f"{head[0]}-{head[1]}"


def rounded(accuracy):
    return {slot: round(share, 4) for slot, share in accuracy.items()}


def means(losses, width):
    return [round(sum(losses[i : i + width]) / width, 4) for i in range(0, len(losses), width)]


def one_head_off(model, probes):
    return {name(head): rounded(slot_accuracy(without_heads(model, [head]), probes)) for head in every_head(model)}


def trained(num_heads, seed, folder):
    """The finished training and its record, from the checkpoint on if there is one."""
    stem = folder / f"h{num_heads}s{seed}"
    checkpoint, record = stem.with_suffix(".pt"), stem.with_suffix(".json")
    probes = make_probes(test_sentences(TRAIN_PROBES, seed=1))
    training, history = Training(num_heads, seed), []
    if checkpoint.exists():
        training, history = Training.load(checkpoint), json.loads(record.read_text())
    for step in RECORDED[len(history) :]:
        model = training.run(step - len(training.losses))
        intact, without = rounded(slot_accuracy(model, probes)), one_head_off(model, probes)
        history.append({"step": step, "intact": intact, "without": without})
        training.save(checkpoint)
        record.write_text(json.dumps(history))
        print(num_heads, seed, step, intact, flush=True)
    return training, history


def clarity(without, accuracy):
    """How far, for the worst of the relations, its own head's removal costs it more than any other relation."""
    cost = {head: {slot: accuracy[slot] - left[slot] for slot in RELATIONS} for head, left in without.items()}
    return min(
        max(c[slot] - max(c[other] for other in RELATIONS if other != slot) for c in cost.values()) for slot in RELATIONS
    )


def clearest(histories):
    """(seed, step) of the clearest division among the recorded moments at which every slot is solved."""
    moments = [
        (clarity(entry["without"], entry["intact"]), seed, entry["step"])
        for seed, history in histories.items()
        for entry in history
        if min(entry["intact"].values()) >= SOLVED
    ]
    return max(moments)[1:]


def trained_to(seed, step, folder):
    """The training of this seed once more, up to this step: the same batches give the same weights."""
    checkpoint = folder / f"h4s{seed}_{step}.pt"
    if checkpoint.exists():
        return Training.load(checkpoint)
    training = Training(4, seed)
    training.run(step)
    training.save(checkpoint)
    return training


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    probes = make_probes(test_sentences(TEST_SENTENCES))
    runs, histories = [], {}
    for num_heads, seed in RUNS:
        training, history = trained(num_heads, seed, folder)
        path = folder / f"h{num_heads}s{seed}.safetensors"
        save_weights(training.model, path)
        model = load_tiny_bert(path)  # the figures are those of the rounded weights
        runs.append({
            "num_heads": num_heads,
            "seed": seed,
            "accuracy": rounded(slot_accuracy(model, probes)),
            "without": one_head_off(model, probes),
            "curve": [[entry["step"], entry["intact"]] for entry in history],
            "loss": means(training.losses, 100),
        })  # fmt: skip
        histories[num_heads, seed] = history
    seed, step = clearest({seed: history for (num_heads, seed), history in histories.items() if num_heads == 4})
    training = trained_to(seed, step, folder)
    save_weights(training.model, WEIGHTS_FILE)
    WEIGHTS_FILE.chmod(0o644)
    model = load_tiny_bert()
    pairs = itertools.combinations(every_head(model), 2)
    shipped = {
        "num_heads": 4,
        "seed": seed,
        "step": step,
        "accuracy": rounded(slot_accuracy(model, probes)),
        "without": one_head_off(model, probes),
        "refers": round(right_answers(model, probes)[probes.refers].float().mean().item(), 4),
        "pairs": {f"{name(a)} {name(b)}": rounded(slot_accuracy(without_heads(model, [a, b]), probes)) for a, b in pairs},
        "untrained": rounded(slot_accuracy(Training(4, seed).model.eval(), probes)),
        "history": histories[4, seed],
        "first_losses": means(training.losses[:200], 20),
    }
    command = "python tools/train_tiny_bert.py"
    figures = {
        "command": command, "torch": torch.__version__, "train_probes": TRAIN_PROBES,
        "test_sentences": TEST_SENTENCES, "shipped": shipped, "runs": runs,
    }  # fmt: skip
    RUNS_FILE.write_text(json.dumps(figures, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "_build/tiny_bert"))

"""The heads of a Korean BERT on two treebanks: from a word to the word that it depends on, near and far pairs apart.

    python tools/measure_treebanks.py SOURCES WEIGHTS [WEIGHTS ...]

SOURCES is a folder with ko_gsd-ud-test.conllu.xz and ko_kaist-ud-test.conllu.xz (Universal Dependencies, CC BY-SA 4.0);
WEIGHTS are files of tools/train_korean_bert.py, or "untrained". Only figures leave this program, no sentence does.

A head is right where the dependent's last piece (in Korean its particle or ending) gives most weight to the head word:
pieces of a word are added up; [CLS], [SEP], punctuation and the dependent itself are left out. Beside it, on the same pairs:

    offset    the best fixed number of words to the right (or left)
    nearest   the nearest word of the right kind to the right: a verb or adjective, for acl, nmod and det a noun
"""

import argparse
import json
import lzma
from collections import Counter, defaultdict
from pathlib import Path

import torch
from safetensors.torch import load_file
from train_korean_bert import CLS, FOLDER, SEP, Settings, make_model

from multihead.models.korean_bert import make_tokenizer

VERBS, NOUNS = {"VERB", "ADJ"}, {"NOUN", "PROPN", "PRON", "NUM"}
RELATIONS = {"obj": VERBS, "nsubj": VERBS, "obl": VERBS, "advcl": VERBS, "acl": NOUNS, "nmod": NOUNS, "det": NOUNS}


def read_treebank(path: Path):
    """Each sentence as a list of (form, kind, place of its head from 0 or -1, relation)."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if line[0] != "#"]
            yield [(row[1], row[3], int(row[6]) - 1, row[7].split(":")[0]) for row in rows if row[0].isdecimal()]


def tokenized(sentence, tokenizer, most):
    """Token numbers with [CLS] and [SEP], and for each token the word that it belongs to (-1: none)."""
    encoded = tokenizer.encode([form for form, *_ in sentence], is_pretokenized=True, add_special_tokens=False)
    if len(encoded.ids) > most - 2 or None in encoded.word_ids:
        return None
    return torch.tensor([CLS, *encoded.ids, SEP]), torch.tensor([-1, *encoded.word_ids, -1])


def pairs_of(sentence):
    """(relation, dependent, head, words from one to the other without punctuation, nearest word of the right kind)."""
    words = [i for i, (_, kind, *_) in enumerate(sentence) if kind != "PUNCT"]
    place = {word: n for n, word in enumerate(words)}
    for dependent in words:
        _, _, head, relation = sentence[dependent]
        if relation in RELATIONS and head in place:
            right = [w for w in words if w > dependent and sentence[w][1] in RELATIONS[relation]]
            yield relation, dependent, head, place[head] - place[dependent], right[0] if right else None


@torch.no_grad()
def measure(model, sentences, tokenizer, most):
    """For each (relation, "near" or "far"): n, hits of every head (layers, h), distances, hits of the nearest candidate."""
    found = defaultdict(lambda: {"n": 0, "hits": 0, "distances": Counter(), "nearest": 0})
    for sentence in sentences:
        if (tokens := tokenized(sentence, tokenizer, most)) is None:
            continue
        ids, word = tokens
        maps = torch.stack(model(ids[None], output_attentions=True).attentions)[:, 0]  # (layers, h, T, T)
        punctuation = torch.tensor([kind == "PUNCT" for _, kind, *_ in sentence])
        for relation, dependent, head, distance, nearest in pairs_of(sentence):
            last = (word == dependent).nonzero().max()
            to_words = torch.zeros(*maps.shape[:2], len(sentence)).index_add_(2, word[1:-1], maps[:, :, last, 1:-1])
            to_words[..., punctuation] = -1
            to_words[..., dependent] = -1
            score = found[relation, "near" if abs(distance) == 1 else "far"]
            score["n"] += 1
            score["hits"] = score["hits"] + (to_words.argmax(-1) == head)
            score["distances"][distance] += 1
            score["nearest"] += nearest == head
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("weights", nargs="+")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--most", type=int, help="so many sentences of each treebank")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    settings = Settings()
    tokenizer = make_tokenizer((arguments.folder / "vocab.txt").read_text("utf-8").splitlines())
    records = []
    for weights in arguments.weights:
        model = make_model(settings).eval()
        if weights != "untrained":
            model.load_state_dict({k: v.float() for k, v in load_file(weights).items()}, strict=False)
        for treebank in ("gsd", "kaist"):
            sentences = list(read_treebank(arguments.sources / f"ko_{treebank}-ud-test.conllu.xz"))[: arguments.most]
            found = measure(model.bert, sentences, tokenizer, settings.max_tokens)
            for (relation, reach), score in sorted(found.items()):
                n, accuracy = score["n"], score["hits"] / score["n"]
                layer, head = divmod(accuracy.argmax().item(), settings.num_heads)
                record = {
                    "weights": Path(weights).stem, "treebank": treebank, "relation": relation, "reach": reach, "n": n,
                    "head": f"{layer + 1}-{head + 1}", "accuracy": round(accuracy.max().item(), 3),
                    "offset": round(score["distances"].most_common(1)[0][1] / n, 3), "nearest": round(score["nearest"] / n, 3),
                }
                records.append(record)
                print(*(f"{value!s:>10}" for value in record.values()), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1), "utf-8")


if __name__ == "__main__":
    main()

"""Checks the new Korean annotations: format, distance, tokens; and lists words whose ending asks for a relation they lack.

    python tools/annotations/check.py [-v]

These sentences take the place of src/multihead/data/sentences_ko.txt when chapter 09 measures the Korean BERT.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from multihead.heads import annotated
from multihead.models.korean_bert import FOLDER, make_tokenizer


NEW = {
    "acl": ("관형절의 서술어", "명사"),
    "nmod": ("'의'가 붙은 어절", "명사"),
    "advcl": ("이어진 서술어", "서술어"),
    "obl": ("부사어", "서술어"),
    "hon": ("높인 서술어", "주어"),
}
annotated.RELATIONS.update(NEW)
MAX_TOKENS = 62
TO_PREDICATE = ("nsubj", "dobj", "obl", "advcl")
# Endings that usually ask for a relation: what is listed here is to be looked at, not always to be mended.
ASKS = {
    "nmod": r"의$|^(내|네|제)$",
    "dobj": r"[을를]$",
    "obl": r"(에|에서|에게|한테|께|으?로|처럼|만큼|보다|까지|부터|[와과]|에[는도서만]|에서[는도]|에게[는도])$",
    "advcl": r"(고|지만|면|서|니까|으니|려고|자|면서|다가|며|도록|는데|더니|으나|느라|므로|자마자|러|어도|아도|해도|고도|고는)$",
    "hon": r"[시신실셨세셔]|으신|주무|계[시셨]",
    "coref": r"^(그|그녀|그것|그들|자기|자신|당신|그곳|거기)(는|은|가|이|를|을|의|에게|도|과|와|로|으로|에서|에)?$",
    "nsubj": r"(은|는|이|가|께서)$",
}


def read(path: Path):
    """(register, sentence) of every line; a comment names the register of what follows."""
    register = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if line.startswith("#"):
            register = line.lstrip("# ")
        elif line:
            try:
                yield register, number, annotated.parse_sentence(line)
            except ValueError as error:
                print(f"{number}행: {error}")


def baselines(sentences, name: str) -> list[float]:
    """Share of pairs found by: the next word, the best fixed offset (given last), the nearest predicate or subject."""
    pairs = [(sentence, pair) for sentence in sentences for pair in sentence.relations.get(name, ())]
    offsets = Counter(head - dependent for _, (dependent, head) in pairs)
    offset, count = offsets.most_common(1)[0]
    found = 0
    for sentence, (dependent, head) in pairs:
        if name == "hon":  # the nearest subject on the left, else on the right
            places = [place for place, _ in sentence.relations.get("nsubj", ())]
            left = [place for place in places if place < dependent]
            right = [place for place in places if place > dependent]
            found += head == (max(left) if left else min(right, default=None))
        else:
            found += head == min((place for place in predicates(sentence) if place > dependent), default=None)
    nearest = found / len(pairs) if name in (*TO_PREDICATE, "hon") else float("nan")
    return [offsets[1] / len(pairs), count / len(pairs), nearest, offset]


def predicates(sentence) -> set[int]:
    """Words that the annotation shows to be predicates."""
    heads = {head for name in TO_PREDICATE for _, head in sentence.relations.get(name, ())}
    return heads | {word for name in ("acl", "advcl", "hon") for word, _ in sentence.relations.get(name, ())}


def main() -> None:
    rows = list(read(Path(__file__).with_name("sentences_ko.txt")))
    sentences = [sentence for _, _, sentence in rows]
    print(len(sentences), "sentences,", len({sentence.text for sentence in sentences}), "different")
    for register, count in Counter(register for register, _, _ in rows).items():
        print(f"  {count:4} {register}")
    print(f"{'':6} {'n':>5} {'near':>5} {'far':>5} {'next':>6} {'best offset':>12} {'nearest':>8}")
    for name in ("det", "nsubj", "dobj", "obl", "amod", "acl", "nmod", "advcl", "hon", "pobj", "coref"):
        distances = [abs(a - b) for sentence in sentences for a, b in sentence.relations.get(name, ())]
        if distances:
            far = sum(distance > 1 for distance in distances)
            following, fixed, nearest, offset = baselines(sentences, name)
            print(f"{name:6} {len(distances):5} {len(distances) - far:5} {far:5} {following:6.2f}"
                  f" {fixed:6.2f} ({offset:+d}) {nearest:8.2f}")
    tokenizer = make_tokenizer((FOLDER / "vocab.txt").read_text("utf-8").splitlines())
    longest, words = 0, []
    for _, number, sentence in rows:
        tokens = tokenizer.encode(sentence.text, add_special_tokens=False).tokens
        longest = max(longest, len(tokens))
        words.append(len(sentence.words))
        if len(tokens) > MAX_TOKENS or "[UNK]" in tokens:
            print(f"{number}행: {len(tokens)} tokens, [UNK] in {[w for w in sentence.words if '[UNK]' in tokenizer.encode(w).tokens]}")
    print(f"longest {longest} tokens; {min(words)} to {max(words)} words, mean {sum(words) / len(words):.1f}")
    if "-v" in sys.argv:
        missing = defaultdict(list)
        for _, number, sentence in rows:
            for name, pattern in ASKS.items():
                done = {word for word, _ in sentence.relations.get(name, ())}
                if name == "dobj":
                    done |= {word for word, _ in sentence.relations.get("pobj", ())}
                if name == "nsubj":  # adnominal forms and topics look alike
                    done |= {w for r in ("acl", "amod", "det", "dobj", "obl", "hon", "nmod") for w, _ in sentence.relations.get(r, ())}
                    done |= {h for r in TO_PREDICATE for _, h in sentence.relations.get(r, ())}
                missing[name] += [f"{number}:{word}" for place, word in enumerate(sentence.words)
                                  if place not in done and re.search(pattern, word)]
        for name, words in missing.items():
            print(f"\n[{name}?] " + " ".join(words))


if __name__ == "__main__":
    main()

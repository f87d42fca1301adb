"""A small BERT with random weights on disk: "another model" for tests that reach no hub."""

from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizerFast


def save_random_bert(folder: Path, words: set[str], *, layers: int = 12, heads: int = 12, seed: int = 0) -> Path:
    """Saves a model of 12 x 12 heads, as BERT-base has, that reads these words; words of five letters and more in two pieces."""
    letters = sorted(set("".join(words).lower()))
    pieces = {word.lower() for word in words if len(word) < 5}
    pieces |= {piece for word in words if len(word) >= 5 for piece in (word[:4].lower(), "##" + word[4:].lower())}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
    vocabulary += sorted(pieces - set(vocabulary))
    (folder / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), strip_accents=False).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=4 * heads, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=8, max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertModel(config)  # weights as large as learnt ones: its heads differ
    model.config.initializer_range = 0.02  # as in every published BERT: its control is nearly even
    model.save_pretrained(folder)
    return folder

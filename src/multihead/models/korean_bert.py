"""The Korean BERT of this project: its files, its tokenizer, its weights. ``tools/train_korean_bert.py`` made them.

A folder holds

    config.json         the sizes, as transformers writes them
    vocab.txt           token i in line i
    model.safetensors   matrices as whole numbers of 8 bits with a float16 scale for each row, vectors as float16
    run.json            how it was trained and what it can do, in figures
    README.md           the model card

``load_bert("ko")`` reads the folder that comes with the package.
"""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import BertForMaskedLM, PreTrainedTokenizerFast

FOLDER = Path(str(files("multihead") / "data" / "korean_bert"))
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # the first entries of the vocabulary
SCALE = ".scale"  # behind the name of a matrix: the name of its scales


def make_tokenizer(vocabulary: list[str]) -> "Tokenizer":
    """Greedy WordPiece, as BERT's. The vocabulary is made of morphemes, so that words fall into them: 할머니, ##가."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(vocabulary)}, unk_token="[UNK]"))
    # strip_accents would take Hangul syllables apart.
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.BertNormalizer(strip_accents=False, lowercase=True)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    separator, start = (("[SEP]", SPECIAL.index("[SEP]")), ("[CLS]", SPECIAL.index("[CLS]")))
    tokenizer.post_processor = processors.BertProcessing(separator, start)
    return tokenizer


def load_tokenizer(folder: Path = FOLDER) -> "PreTrainedTokenizerFast":
    """The tokenizer as transformers wants it, [MASK] included."""
    from tokenizers import decoders
    from transformers import BertConfig, PreTrainedTokenizerFast

    tokenizer = make_tokenizer((folder / "vocab.txt").read_text("utf-8").splitlines())
    tokenizer.decoder = decoders.WordPiece()
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=BertConfig.from_pretrained(folder).max_position_embeddings,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **dict(zip(names, SPECIAL)),
    )


def load_model(folder: Path = FOLDER) -> "BertForMaskedLM":
    """The model in float32, ready to run (eval), with attention that can be looked at (eager)."""
    from transformers import BertConfig, BertForMaskedLM

    model = BertForMaskedLM._from_config(BertConfig.from_pretrained(folder), attn_implementation="eager")
    missing, unexpected = model.load_state_dict(read_weights(folder / "model.safetensors"), strict=False)
    # The output layer shares its matrix and its bias with others, which are stored once.
    if unexpected or any(not name.startswith("cls.predictions.decoder.") for name in missing):
        raise ValueError(f"가중치 파일이 모델과 맞지 않습니다. 없는 것: {missing}, 남는 것: {unexpected}")
    return model.eval()


def write_weights(weights: dict[str, Tensor], path: Path) -> None:
    """Round each row of a matrix to 255 steps of its largest number, and everything else to float16."""
    rounded = {}
    for name, weight in weights.items():
        if weight.dim() == 1:
            rounded[name] = weight.half()
        else:
            scale = (weight.abs().amax(1).clamp(min=1e-6) / 127).half()
            rounded[name] = (weight / scale.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
            rounded[name + SCALE] = scale
    save_file(rounded, path)


def read_weights(path: Path) -> dict[str, Tensor]:
    """What :func:`write_weights` wrote, in float32."""
    rounded = load_file(path)
    return {
        name: tensor.float() * rounded[name + SCALE].float()[:, None] if tensor.dim() > 1 else tensor.float()
        for name, tensor in rounded.items()
        if not name.endswith(SCALE)
    }

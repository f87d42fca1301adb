"""Attention in whatever form it is given, as the maps that a view draws."""

from typing import NamedTuple

import torch

from ..heads.weights import as_names, as_numbers, as_weights, check_weights
from ..models.bert import Attention

MAX_WEIGHTS = 130_000  # about 400 KB of page: 12 layers of 12 heads for 30 tokens
PADDING = {"[PAD]", "<pad>"}
EAGER_ADVICE = (
    "어텐션 가중치가 들어 있지 않습니다. 모델을 이렇게 읽고 output_attentions=True로 실행하십시오: "
    'AutoModel.from_pretrained(이름, attn_implementation="eager")'
)


class Maps(NamedTuple):
    """What a view draws, whatever form it was given in."""

    weights: torch.Tensor  # (layers, h, T, S) float32, the chosen layers only
    tokens: list[str]  # T queries
    key_tokens: list[str]  # S keys
    layers: list[int]  # true number of each layer, from 1
    pair_start: int | None  # where the second text of a pair starts


# -- reading what we are given ---------------------------------------------------------------------------------------


def read_maps(attention, tokens, key_tokens, layers, sample) -> Maps:
    """Any of the accepted forms as ``Maps``: chosen layers, one sample, no padding. Checks that they are attention."""
    pair_start = None
    if isinstance(attention, Attention):
        tokens = attention.tokens if tokens is None else tokens
        pair_start = attention.pair_start
        attention = attention.weights
    elif hasattr(attention, "attentions"):
        attention = attention.attentions
    elif hasattr(attention, "cross_attentions"):
        raise ValueError(
            "인코더와 디코더가 있는 모델입니다. output.cross_attentions처럼 어느 어텐션인지 골라 넣으십시오."
        )
    if tokens is None:
        raise ValueError("토큰 목록이 필요합니다. 가중치 다음에 넣으십시오: head_view(attention, tokens)")

    stack = [_one_sample(weights, sample) for weights in _layer_tensors(attention)]
    numbers = range(1, len(stack) + 1)
    layers = list(numbers) if layers is None else as_numbers(layers, numbers, "층")
    shapes = {tuple(weights.shape) for weights in stack}
    if len(shapes) > 1:
        raise ValueError(f"층마다 가중치의 모양이 같아야 합니다. 받은 모양: {sorted(shapes)}")
    weights = torch.stack([stack[number - 1] for number in layers])

    tokens = _tokens_of_sample(tokens, sample)
    key_tokens = tokens if key_tokens is None else _tokens_of_sample(key_tokens, sample)
    weights, tokens, key_tokens = _without_padding(weights, tokens, key_tokens)
    if weights.shape[2:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"가중치의 모양 {tuple(weights.shape[1:])}과 토큰 수가 맞지 않습니다: "
            f"쿼리 토큰 {len(tokens)}개, 키 토큰 {len(key_tokens)}개."
        )
    check_weights(weights)
    if weights.numel() > MAX_WEIGHTS:
        num_layers, num_heads, num_queries, num_keys = weights.shape
        fitting = MAX_WEIGHTS // weights[0].numel()
        advice = f"layers=로 층을 {fitting}개까지 고르십시오." if fitting else "글을 줄이십시오."
        raise ValueError(
            f"한 그림에 넣기에 너무 큽니다: 층 {num_layers} × 헤드 {num_heads} × 쿼리 {num_queries} × 키 {num_keys} = "
            f"{weights.numel():,}개로, 한계인 {MAX_WEIGHTS:,}개를 넘습니다. {advice}"
        )
    return Maps(weights, tokens, key_tokens, layers, pair_start)


def _layer_tensors(attention) -> list[torch.Tensor]:
    """One tensor a layer."""
    if hasattr(attention, "ndim"):
        attention = as_weights(attention)
        if attention.ndim not in (3, 4, 5):
            raise ValueError(
                f"텐서는 (층, 헤드, 쿼리, 키)나 (헤드, 쿼리, 키) 모양이어야 하는데 {tuple(attention.shape)}입니다."
            )
        return [attention] if attention.ndim == 3 else list(attention)
    if _is_empty(attention):
        raise ValueError(EAGER_ADVICE)
    if not isinstance(attention, (tuple, list)):
        raise ValueError(
            "어텐션 가중치가 아닙니다. bert.attend(글)의 결과나 모델의 output.attentions를 넣으십시오. "
            f"받은 값: {type(attention).__name__}"
        )
    if isinstance(attention[0], Attention):
        raise ValueError(f"글이 {len(attention)}개 있습니다. attentions[0]처럼 하나를 골라 넣으십시오.")
    if isinstance(attention[0], (tuple, list)) and hasattr(attention[0][0], "ndim") and attention[0][0].ndim == 4:
        raise ValueError(
            f"generate()의 어텐션은 걸음마다 따로 있고, 여기에는 {len(attention)}걸음이 있습니다. attentions[0]처럼 한 걸음을 고르거나, "
            "만든 글 전체를 model(ids, output_attentions=True)에 다시 넣어 한 번에 얻으십시오."
        )
    return [as_weights(layer) for layer in attention]


def _is_empty(attention) -> bool:
    """None, (), (None, None) and ((), ()): what models and generate() return without eager attention."""
    return attention is None or isinstance(attention, (tuple, list)) and (
        not attention or any(map(_is_empty, attention))
    )


def _one_sample(weights: torch.Tensor, sample: int | None) -> torch.Tensor:
    """(h, T, S) of one layer."""
    if weights.ndim not in (3, 4):
        raise ValueError(
            f"층마다 (배치, 헤드, 쿼리, 키)나 (헤드, 쿼리, 키) 모양이어야 하는데 {tuple(weights.shape)}입니다. "
            "헤드의 평균이 아니라 헤드마다의 가중치가 필요합니다."
        )
    if weights.ndim == 3:
        if sample is not None:
            raise ValueError(
                f"배치가 없는 가중치라 sample={sample!r}을 고를 수 없습니다. 한 층의 배치라면 [output.attentions[0]]처럼 "
                "목록에 담으십시오."
            )
        return weights
    batch = len(weights)
    if sample is None and batch != 1:
        raise ValueError(f"배치에 글이 {batch}개 있습니다. sample=0부터 sample={batch - 1}까지에서 하나를 고르십시오.")
    if sample is not None and sample not in range(batch):
        raise ValueError(f"sample은 0부터 {batch - 1}까지입니다. 받은 값: {sample}")
    return weights[sample or 0]


def _tokens_of_sample(tokens, sample: int | None) -> list[str]:
    if isinstance(tokens, (list, tuple)) and tokens and isinstance(tokens[0], (list, tuple)):
        if len(tokens) <= (sample or 0) or sample is None and len(tokens) > 1:
            raise ValueError(f"토큰 목록이 {len(tokens)}개 있습니다. 글마다 하나씩 넣고 sample=로 고르십시오. 받은 sample: {sample}")
        tokens = tokens[sample or 0]
    return as_names(tokens)


def _without_padding(weights, tokens, key_tokens):
    """Drops padded positions: those whose token says so and to which no head attends."""
    if weights.shape[2:] != (len(tokens), len(key_tokens)):
        return weights, tokens, key_tokens  # reported by the caller
    attended = weights.sum((0, 1, 2)) > 0
    keys = [i for i, token in enumerate(key_tokens) if token not in PADDING or attended[i]]
    queries = keys if tokens == key_tokens else [i for i, token in enumerate(tokens) if token not in PADDING]
    return weights[:, :, queries][..., keys], [tokens[i] for i in queries], [key_tokens[i] for i in keys]

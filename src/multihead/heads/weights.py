"""Attention weights, names and numbers in whatever form they are given, or one Korean sentence on what is wrong."""

import operator
from collections.abc import Iterable, Sequence

import torch

from ..models.text import normalize_text

ROW_SUM_TOLERANCE = 0.01  # half precision rounds every weight


def check_weights(weights: torch.Tensor) -> None:
    """Raises unless every row is a distribution over the keys, or all zero because it was fully masked."""
    sums = weights.sum(-1)
    bad = ~(((sums - 1).abs() <= ROW_SUM_TOLERANCE) | (weights == 0).all(-1))  # NaN is bad too
    if bad.any():
        worst = sums[bad][0].item()
        raise ValueError(
            f"어텐션 가중치는 행마다 합이 1이어야 하는데 합이 {worst:.3f}인 행이 있습니다. "
            "점수가 아니라 소프트맥스를 거친 가중치인지, 드롭아웃을 거치지 않았는지(model.eval()) 확인하십시오."
        )
    if (weights < 0).any():
        raise ValueError(f"어텐션 가중치는 0 이상이어야 하는데 {weights.min().item():.3f}이 있습니다.")


def as_weights(given) -> torch.Tensor:
    """Numbers of any kind, as a tensor to draw."""
    try:
        weights = torch.as_tensor(given).detach().cpu().float()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(
            f"어텐션 가중치는 텐서나 숫자 배열이어야 합니다. 받은 값: {type(given).__name__}. "
            "층이나 헤드마다 나뉘어 있으면 하나를 고르거나 torch.stack으로 묶으십시오."
        ) from None
    if not weights.numel():
        raise ValueError(f"가중치가 하나도 없습니다. 받은 모양: {tuple(weights.shape)}")
    return weights


def as_names(tokens) -> list[str]:
    """The names of the tokens; refuses their numbers, and a text that is not cut yet."""
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise ValueError(f"토큰의 이름을 목록으로 넣으십시오. 예: 글.split(), tokenizer.tokenize(글). 받은 값: {tokens!r}")
    names = list(tokens)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"토큰의 이름이 필요한데 {type(name).__name__}을(를) 받았습니다. "
                "번호라면 tokenizer.convert_ids_to_tokens(번호 목록)로 이름을 얻고, 글이 여럿이면 하나를 고르십시오."
            )
    if not names:
        raise ValueError("토큰이 하나도 없습니다. 토큰이 하나 이상인 글을 넣으십시오.")
    return [normalize_text(name) for name in names]


def as_numbers(given, allowed: range, what: str) -> list[int]:
    """The numbers of layers or heads to draw."""
    try:
        numbers = [operator.index(number) for number in given]
    except TypeError:
        numbers = []
    if not numbers or not set(numbers) <= set(allowed):
        raise ValueError(
            f"{what} 번호는 {allowed[0]}부터 {allowed[-1]}까지이고 목록으로 넣습니다. 예: [{allowed[0]}]. 받은 값: {given!r}"
        )
    return numbers


def check_shape(weights: torch.Tensor, tokens: Sequence[str], key_tokens: Sequence[str]) -> None:
    shape = tuple(weights.shape)
    if weights.ndim != 3:
        raise ValueError(
            f"가중치의 모양은 (헤드, 쿼리, 키)여야 하는데 {shape}입니다. "
            "nn.MultiheadAttention이라면 average_attn_weights=False로 헤드마다의 가중치를 받으십시오."
        )
    if shape[1:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"가중치의 모양 {shape}과 토큰 수가 맞지 않습니다: 쿼리 토큰 {len(tokens)}개, 키 토큰 {len(key_tokens)}개."
        )

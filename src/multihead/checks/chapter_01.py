"""Graders of chapter 1: single-head attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..attention import causal_mask, scaled_dot_product_attention
from .grading import D_K, B, H, T, Wrong, grader, is_close, random_tensor, refuse, shaped, square_mask


@grader
def check_attention(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(q, k, v)``: scaled dot-product attention of (T, d_k), (S, d_k), (S, d_v) -> (T, d_v)."""
    q, k, v = (random_tensor(*shape) for shape in ((T, D_K), (T + 2, D_K), (T + 2, H)))
    result = shaped(answer(q, k, v), (T, H))
    wrong_axis = (q @ k.T / D_K**0.5).softmax(0) @ v
    for mistake, hint in (
        ((q @ k.T).softmax(-1) @ v, "점수를 √d_k로 나누지 않았습니다."),
        ((q @ k.T / D_K).softmax(-1) @ v, "d_k가 아니라 d_k의 제곱근으로 나누어야 합니다."),
        (wrong_axis, "소프트맥스의 축이 다릅니다. 쿼리마다 키에 걸쳐(dim=-1) 합이 1이 되어야 합니다."),
        (q @ k.T / D_K**0.5 @ v, "소프트맥스를 거치지 않았습니다."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, scaled_dot_product_attention(q, k, v)[0]):
        raise Wrong("모양은 맞지만 값이 다릅니다. softmax(q kᵀ / √d_k) v를 한 조각씩 확인하십시오.")
    return "맞습니다. 소프트맥스의 축도 나누는 값도 맞습니다."


@grader
def check_causal_mask(answer: Callable[[int], Tensor]) -> str:
    """Grade ``answer(T)``: the causal mask (T, T), True = may attend."""
    result = square_mask(answer(T), T)
    refuse(result, ~causal_mask(T), "True와 False가 뒤바뀌었습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다.")
    refuse(result, causal_mask(T).T, "쿼리와 키가 뒤바뀌어 미래만 봅니다. 행이 쿼리, 열이 키입니다.")
    refuse(result, causal_mask(T).tril(-1), "자기 자신도 볼 수 있어야 합니다.")
    if not torch.equal(result, causal_mask(T)):
        raise Wrong("값이 다릅니다. 첫 행은 첫 칸만, 마지막 행은 모든 칸이 True여야 합니다.")
    return "맞습니다. 자기와 앞의 토큰만 봅니다."


@grader
def check_masked_attention(answer: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(q, k, v, mask)``: (B, T, d_k), (B, S, d_k), (B, S, d_v), (B, T, S) -> (B, T, d_v).

    A row of the mask that allows nothing has output zero and a finite gradient.
    """
    S = T + 2
    q, k, v = random_tensor(B, T, D_K), random_tensor(B, S, D_K), random_tensor(B, S, H)
    mask = random_tensor(B, T, S) > 0
    mask[..., 0] = True
    mask[0, 1] = False
    given = answer(q, k, v, mask)
    result = shaped(given, (B, T, H))
    if result[0, 1].isnan().any():
        raise Wrong("볼 곳이 없는 행이 nan입니다. -inf만 있는 행의 소프트맥스는 0을 0으로 나눕니다. 그 행을 0으로 두십시오.")
    scores = q @ k.mT / D_K**0.5
    for mistake, hint in (
        (scaled_dot_product_attention(q, k, v, ~mask)[0], "마스크를 뒤집어 썼습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다."),
        (scores.softmax(-1) @ v, "마스크를 쓰지 않았습니다."),
        (scores.softmax(-1) * mask @ v, "소프트맥스 뒤에 가려서 가중치의 합이 1보다 작습니다. 점수를 먼저 가리십시오."),
        (scores.masked_fill(~mask, 0).softmax(-1) @ v, "가린 점수에 0을 넣었습니다. 0도 소프트맥스를 거치면 가중치가 됩니다."),
        (scaled_dot_product_attention(q, k, v, mask, scale=1.0)[0], "점수를 √d_k로 나누지 않았습니다."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result[0, 1], torch.zeros(H)):
        raise Wrong("볼 곳이 없는 행의 출력은 0이어야 합니다. 아주 작은 수로 가리면 그 행은 모든 값의 평균이 됩니다.")
    if not is_close(result, scaled_dot_product_attention(q, k, v, mask)[0]):
        raise Wrong("모양은 맞지만 값이 다릅니다. 점수, 마스크, 소프트맥스, 가중합을 하나씩 확인하십시오.")
    if isinstance(given, Tensor):
        given = answer(q.requires_grad_(), k, v, mask)
    if not getattr(given, "requires_grad", False):
        raise Wrong("출력은 맞지만 기울기가 q까지 흐르지 않습니다. detach()나 NumPy를 거치지 말고 텐서로 계산하십시오.")
    if not torch.autograd.grad(given.sum(), q)[0].isfinite().all():
        raise Wrong("출력은 맞지만 기울기에 nan이 있습니다. -inf를 더하지 말고 masked_fill로 채우십시오.")
    return "맞습니다. 볼 곳이 없는 행은 0이고 기울기도 유한합니다."

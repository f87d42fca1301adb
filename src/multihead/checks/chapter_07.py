"""Graders of chapter 7: the tiny Korean BERT."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from ..attention import merge_heads
from .grading import D_K, B, H, T, Wrong, as_scalars, grader, is_close, is_same, random_tensor, refuse, shaped


@grader
def check_masked_loss(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(logits, truth, masked)``: mean cross-entropy over the masked places only, a number.

    logits (B, T, V)   truth (B, T) right tokens   masked (B, T) boolean, True = was masked
    """
    vocabulary = 7
    logits = random_tensor(B, T, vocabulary)
    truth = torch.arange(B * T).view(B, T) % vocabulary
    masked = torch.arange(B * T).view(B, T) % 3 == 0
    losses = F.cross_entropy(logits.transpose(1, 2), truth, reduction="none")  # (B, T)
    result = shaped(answer(logits, truth, masked), ())
    for mistake, hint in (
        (losses.mean(), "모든 자리를 셌습니다. 가린 자리만 세어야 합니다."),
        (losses[~masked].mean(), "가리지 않은 자리를 셌습니다. masked는 True가 가린 자리입니다."),
        (losses[masked].sum(), "더하기만 했습니다. 가린 자리의 수로 나누십시오."),
        ((losses * masked).mean(), "모든 자리의 수로 나누었습니다. 가린 자리의 수로 나누어야 합니다."),
        (-losses[masked].mean(), "부호가 반대입니다. 손실은 음의 로그 확률입니다."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, losses[masked].mean()):
        raise Wrong("값이 다릅니다. 가린 자리마다 정답의 -log(확률)을 구해 평균하십시오.")
    return "맞습니다. 가린 자리만 셌습니다."


@grader
def check_heads_off(answer: Callable[[Tensor, Tensor, list[int]], Tensor]) -> str:
    """Grade ``answer(heads, W_O, off)``: the output (B, T, D) without the heads of ``off``, counted from 1.

    heads (B, h, T, d_k)   W_O (D, D), used as x @ W_O
    """
    heads, W_O = random_tensor(B, H, T, D_K), random_tensor(H * D_K, H * D_K)
    contributions = heads @ W_O.view(H, D_K, -1)  # (B, h, T, D)
    result = shaped(answer(heads, W_O, [3]), (B, T, H * D_K))
    if answer.changed_what_it_got:
        raise Wrong("받은 텐서를 바꾸었습니다. 다음에 같은 헤드를 켜도 0이 남습니다. clone()으로 복사한 뒤에 바꾸십시오.")
    columns = W_O.clone()
    columns[:, -D_K:] = 0
    for mistake, hint in (
        (contributions.sum(1), "아무 헤드도 꺼지지 않았습니다."),
        (contributions[:, 2], "끌 헤드만 남겼습니다. 나머지 헤드의 기여를 더해야 합니다."),
        (merge_heads(heads) @ columns, "W_O의 열을 지웠습니다. 헤드와 만나는 것은 W_O의 행입니다."),
        (contributions[:, :2].sum(1) * H / (H - 1), "남은 헤드의 기여를 키웠습니다. 끄기만 하고 나머지는 그대로 두십시오."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, contributions[:, :2].sum(1)):
        raise Wrong("값이 다릅니다. 헤드를 1부터 센다는 것을 기억하고, 꺼지지 않은 헤드의 기여를 더하십시오.")
    if not is_close(shaped(answer(heads, W_O, [1, 3]), (B, T, H * D_K)), contributions[:, 1]):
        raise Wrong("헤드를 둘 이상 끄면 값이 다릅니다. off에 든 헤드를 모두 끄십시오.")
    return "맞습니다. 꺼진 헤드의 기여만 빠졌습니다."


@grader
def check_best_distance(answer: Callable[[list[tuple[int, int]]], tuple[int, float]]) -> str:
    """Grade ``answer(pairs)``: of pairs (place, source) the commonest distance place - source, and its share."""
    pairs = [(5, 3), (8, 6), (7, 3), (4, 6), (9, 7), (6, 2), (3, 5), (4, 0)]  # distances 2, 2, 4, -2, 2, 4, -2, 4 ...
    pairs.append((2, 0))  # ... and 2: four of nine
    distance, share = as_scalars(answer(pairs), ("거리", "비율"))
    if distance == -2:
        raise Wrong("방향을 보십시오. 거리는 자리 - 근거이고, 근거가 앞에 있으면 양수입니다.")
    if distance != 2:
        raise Wrong(f"가장 흔한 거리는 2인데 {distance}가 나왔습니다.")
    if is_same(share, 4):
        raise Wrong("횟수를 돌려주었습니다. 쌍의 수로 나누어 비율을 구하십시오.")
    if not is_same(share, 4 / 9):
        raise Wrong(f"비율은 4/9 ≈ 0.444여야 하는데 {share}가 나왔습니다.")
    return "맞습니다. 거리 2 하나만 외워도 44%는 맞힙니다."

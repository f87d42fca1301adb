"""Graders of chapter 8: the heads of a real BERT."""

from collections.abc import Callable

import torch
from torch import Tensor

from .grading import B, H, T, Wrong, as_scalars, graded_number, grader, is_close, random_tensor, refuse, shaped


@grader
def check_strongest_head(answer: Callable[[Tensor, int, int], tuple[int, int]]) -> str:
    """Grade ``answer(weights, query, key)``: (layer, head), counted from 1, of the largest of (layers, h, T, T) weights."""
    weights = torch.full((B, H, T, T), 0.1)
    layer, head, query, key = 1, 0, 3, 2  # the wanted head is 2-1
    weights[layer, head, query, key] = 0.6
    weights[0, 2, key, query] = 0.7  # larger, but with query and key exchanged
    weights[0, 1, 0, 0] = 0.9  # larger, but another token's

    result = as_scalars(answer(weights, query, key), ("층", "헤드"))
    hints = {
        (2, 1): None,
        (1, 0): "0부터 센 번호입니다. 이 책은 층과 헤드를 1부터 셉니다.",
        (1, 3): "쿼리와 키가 뒤바뀌었습니다. 가중치는 weights[층, 헤드, 쿼리, 키] 순서입니다.",
        (1, 2): "다른 토큰의 가중치까지 보았습니다. weights[:, :, query, key]에서만 가장 큰 것을 찾으십시오.",
    }
    if hint := hints.get(result, f"있어야 할 답은 (2, 1)인데 {result}이 나왔습니다."):
        raise Wrong(hint)
    return "맞습니다. 펼친 번호를 층과 헤드로 바르게 되돌렸습니다."


@grader
def check_mean_entropy(answer: Callable[[Tensor], Tensor]) -> str:
    """Grade ``answer(weights)``: (layers, h, T, T) -> mean entropy of the rows of each head in nats, (layers, h)."""
    weights = random_tensor(B, H, T, T).mul(2).softmax(-1)
    weights[0, 0] = torch.eye(T)  # 0 ln 0 counts 0
    result = shaped(answer(weights), (B, H))
    if result.isnan().any():
        raise Wrong("NaN이 나왔습니다. 가중치가 0이면 로그가 -∞이므로, 0 ln 0을 0으로 세어야 합니다.")
    entropies = torch.special.entr(weights)
    right = entropies.sum(-1).mean(-1)
    for mistake, hint in (
        (-right, "부호가 뒤바뀌었습니다. 엔트로피는 0 이상입니다."),
        (right / torch.tensor(2.0).log(), "밑이 2인 로그를 썼습니다. 이 책은 자연로그로 잽니다."),
        (entropies.mean((-1, -2)), "행 안에서는 평균이 아니라 합을 구해야 합니다. 평균은 행(쿼리)에 걸쳐 구합니다."),
        (entropies.sum((-1, -2)), "행(쿼리)에 걸쳐 더했습니다. 행마다 구한 엔트로피를 평균하십시오."),
        (torch.special.entr(weights.mean(-2)).sum(-1), "가중치부터 평균했습니다. 행마다 엔트로피를 구한 다음 평균하십시오."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, right):
        raise Wrong("모양은 맞지만 값이 다릅니다. 행마다 -Σ w ln w를 구하고 행에 걸쳐 평균하십시오.")
    return "맞습니다. 한 토큰에 몰린 헤드는 0이고, 고를수록 커집니다."


@grader
def check_sink_heads(answer: Callable[[Tensor], int]) -> str:
    """Grade ``answer(weights)``: (layers, h, T, T) -> in how many heads the queries 1:-1 give key 0 most."""
    weights = torch.full((B, H, T, T), 0.1)
    weights[:, :, 0, 1:-1] = 0.12  # so that exchanging queries and keys shows
    weights[0, :2, :, 0] = 0.6  # two sinks
    weights[0, 2, :, -1] = 0.6  # a sink at the other end
    weights[1, 0, :, 0], weights[1, 0, :, 2] = 0.4, 0.6  # much for the first token, but more for another one
    weights[1, 1, 1:-1, 0], weights[1, 1, 1:-1, 1] = 0.4, 0.6  # the same, where the first and the last query ...
    weights[1, 1, [0, -1], 0] = 5.0  # ... look at the first token only
    weights[1, 2, :, 1] = 0.6
    weights /= weights.sum(-1, keepdim=True)
    received = weights[:, :, 1:-1].mean(2)
    hints = {
        int((weights.mean(2).argmax(-1) == 0).sum()): "첫 토큰과 마지막 토큰이 쿼리인 행까지 셌습니다. 쿼리는 1:-1만 쓰십시오.",
        int((weights[..., 1:-1].mean(3).argmax(-1) == 0).sum()): (
            "쿼리와 키가 뒤바뀌었습니다. 가중치는 weights[층, 헤드, 쿼리, 키] 순서입니다."
        ),
        int((received[..., 0] > 0.2).sum()): "많이 받는 것만으로는 모자랍니다. 다른 모든 토큰보다 많이 받아야 합니다.",
        int((received.argmax(-1) == T - 1).sum()): "마지막 토큰을 셌습니다. 첫 토큰의 번호는 0입니다.",
    }
    return graded_number(answer(weights), 2, hints, "시험 삼아 만든 헤드 6개")

"""Graders of chapter 9: measuring heads."""

from collections.abc import Callable

import torch
from torch import Tensor

from .grading import Wrong, as_scalar, graded_number, grader, is_close, is_same, random_tensor, refuse, shaped


@grader
def check_word_map(answer: Callable[[Tensor, list], Tensor]) -> str:
    """Grade ``answer(weights, word_of_token)``: weights (T, T) between tokens -> (W, W) between words.

    ``word_of_token`` numbers the word of each token, None for [CLS] and [SEP].
    """
    weights, words = random_tensor(7, 7).softmax(-1), [None, 0, 1, 1, 1, 2, None]
    result = shaped(answer(weights, words), (3, 3))
    member = torch.tensor([[word == w for w in range(3)] for word in words]).float()  # (T, W)
    total, mean = member, member / member.sum(0)
    for mistake, hint in (
        (mean.T @ weights @ mean, "보는 쪽과 받는 쪽을 모두 평균했습니다. 낱말이 받은 가중치는 조각들이 받은 것을 더해야 합니다."),
        (total.T @ weights @ total, "보는 쪽과 받는 쪽을 모두 더했습니다. 보는 쪽은 조각들의 평균이어야 합니다."),
        (total.T @ weights @ mean, "더하기와 평균이 뒤바뀌었습니다. 행이 보는 쪽, 열이 받는 쪽입니다."),
        ((mean.T @ weights @ total).T, "행과 열이 뒤바뀌었습니다. 행이 보는 쪽입니다."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, mean.T @ weights @ total):
        raise Wrong("모양은 맞지만 값이 다릅니다. 낱말마다 조각의 행은 평균하고 조각의 열은 더했는지 보십시오.")
    return "맞습니다. 받는 쪽은 더하고 보는 쪽은 평균했습니다."


@grader
def check_head_accuracy(answer: Callable[[Tensor, list], float]) -> str:
    """Grade ``answer(weights, pairs)``: share of pairs (i, j) in which word i gives j most weight, itself aside."""
    weights = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.6, 0.1, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.6, 0.2, 0.1]])
    pairs = [(0, 1), (1, 0), (2, 3), (3, 2)]
    result = as_scalar(answer(weights, pairs))
    hints = {
        0.5: "자기 자신도 후보에 넣었거나 행과 열을 뒤바꾸었습니다. 대각선을 빼고 행마다 가장 큰 칸을 고르십시오.",
        3.0: "맞힌 수입니다. 짝의 수로 나누어야 합니다.",
        0.25: "틀린 비율입니다.",
    }
    if not is_same(result, 0.75):
        raise Wrong(hints.get(round(result, 6), f"있어야 할 답은 0.75인데 {result}이 나왔습니다."))
    return "맞습니다. 자기를 뺀 가장 큰 칸이 정답인 비율입니다."


@grader
def check_best_offset(answer: Callable[[list], int]) -> str:
    """Grade ``answer(pairs)``: the distance j - i that is right for most of the pairs (i, j)."""
    pairs = [(3, 0), (5, 2), (8, 5), (9, 6), (7, 1), (0, 1), (1, 3), (4, 6), (2, 7), (5, 9), (0, 4)]
    hints = {
        3: "부호가 반대입니다. 걸리는 낱말 i에서 걸리는 곳 j까지의 거리는 j - i입니다.",
        4: "맞힌 짝의 수입니다. 그 거리를 돌려주십시오.",
        5: "가장 큰 거리입니다. 가장 많이 나오는 거리를 고르십시오.",
        0: "거리의 평균입니다. 평균 거리에는 낱말이 하나도 없을 수 있습니다. 가장 많이 나오는 거리를 고르십시오.",
        1: "거리의 가운데 값입니다. 가장 많이 나오는 거리를 고르십시오.",
    }
    return graded_number(answer(pairs), -3, hints, f"짝이 {pairs}")

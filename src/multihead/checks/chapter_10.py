"""Graders of chapter 10: what comes next."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..attention import causal_mask, padding_mask
from .grading import T, Wrong, boolean_mask, grader, refuse, shaped, square_mask


@grader
def check_padded_causal_mask(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(lengths, T)``: causal and padding masks in one, (B, 1, T, T), True = may attend."""
    lengths, causal = torch.tensor([3, T]), causal_mask(T).expand(2, 1, T, T)
    padding = padding_mask(lengths, T)
    result = boolean_mask(shaped(answer(lengths, T), (2, 1, T, T)))
    for mistake, hint in (
        (~(causal & padding), "True와 False가 뒤바뀌었습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다."),
        (causal | padding, "둘 가운데 하나만 허락해도 보게 했습니다. 둘 다 허락할 때만(&) 볼 수 있습니다."),
        (causal, "패딩을 가리지 않았습니다."),
        (padding.expand_as(causal), "미래를 가리지 않았습니다."),
        (causal & padding.mT, "패딩의 행을 가렸습니다. 가려야 할 것은 키, 곧 열입니다."),
    ):
        refuse(result, mistake, hint)
    if not torch.equal(result, causal & padding):
        raise Wrong("값이 다릅니다. 쿼리마다 자기와 앞의 토큰 가운데 패딩이 아닌 것만 True여야 합니다.")
    return "맞습니다. 미래와 패딩을 한꺼번에 가렸습니다."


@grader
def check_sliding_window(answer: Callable[[int, int], Tensor]) -> str:
    """Grade ``answer(T, window)``: the causal mask that reaches back ``window`` tokens, itself included."""
    length, window = 7, 3

    def band(width: int) -> Tensor:
        return causal_mask(length) & ~causal_mask(length).tril(-width)

    result = square_mask(answer(length, window), length)
    refuse(result, ~band(window), "True와 False가 뒤바뀌었습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다.")
    refuse(result, band(window + 1), "한 칸 더 멀리 봅니다. 폭에는 자기 자신도 들어갑니다.")
    refuse(result, causal_mask(length), "먼 과거를 가리지 않았습니다.")
    refuse(result, band(window) | band(window).T, "미래도 볼 수 있습니다. 쿼리보다 뒤의 키는 가려야 합니다.")
    if not torch.equal(result, band(window)):
        raise Wrong(f"값이 다릅니다. 행마다 자기까지 최근 {window}칸만 True여야 합니다.")
    return "맞습니다. 자기까지 최근 window개의 토큰만 봅니다."

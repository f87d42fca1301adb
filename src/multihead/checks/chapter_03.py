"""Graders of chapter 3: split_heads."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..attention import causal_mask, merge_heads, scaled_dot_product_attention, split_heads
from .grading import D_K, B, H, T, Wrong, as_truth, grader, is_close, numbered_tensor, refuse, shaped


@grader
def check_split_heads(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(x, num_heads)``: (B, T, D) -> (B, h, T, d_k)."""
    x = numbered_tensor(B, T, H * D_K)
    result = shaped(answer(x, H), (B, H, T, D_K))
    refuse(
        result,
        x.view(B, H, T, D_K),
        "모양은 맞지만 토큰이 섞였습니다. view(B, h, T, d_k)로 바로 바꾸지 말고 토큰마다 나눈 뒤 축을 옮기십시오.",
    )
    every_hth = x.view(B, T, D_K, H).permute(0, 3, 1, 2)
    refuse(result, every_hth, "헤드가 열을 h칸씩 건너뛰며 가져갔습니다. 한 헤드는 이웃한 열 d_k개를 받아야 합니다.")
    if not is_close(result, split_heads(x, H)):
        raise Wrong("모양은 맞지만 값이 다릅니다. 첫 헤드가 모든 토큰의 앞쪽 d_k열을 받았는지 보십시오.")
    return "맞습니다. 헤드마다 모든 토큰에서 제 몫의 열을 받았습니다."


@grader
def check_merge_heads(answer: Callable[[Tensor], Tensor]) -> str:
    """Grade ``answer(heads)``: (B, h, T, d_k) -> (B, T, D)."""
    heads = split_heads(numbered_tensor(B, T, H * D_K), H)
    result = shaped(answer(heads), (B, T, H * D_K))
    untransposed, alternating = heads.reshape(B, T, -1), heads.permute(0, 2, 3, 1).reshape(B, T, -1)
    refuse(
        result,
        untransposed,
        "모양은 맞지만 다른 토큰의 숫자가 끼어들었습니다. 합치기 전에 transpose(1, 2)로 토큰을 바깥에 두십시오.",
    )
    refuse(result, alternating, "헤드의 숫자가 한 칸씩 번갈아 섞였습니다. 한 헤드의 숫자 d_k개는 나란히 있어야 합니다.")
    if not is_close(result, merge_heads(heads)):
        raise Wrong("모양은 맞지만 값이 다릅니다. split_heads로 나눈 텐서를 넣으면 처음 텐서가 나와야 합니다.")
    return "맞습니다. 나눈 것을 그대로 되돌렸습니다."


@grader
def check_sees_the_future(answer: Callable[[Callable[[Tensor], Tensor], int, int], bool]) -> str:
    """Grade ``answer(attend, length, width)``: whether ``attend``, (1, T, D) -> (1, T, D), lets a later token in."""
    D = H * D_K

    def attend_with(mask: Tensor | None, merge: Callable[[Tensor], Tensor] = merge_heads) -> Callable[[Tensor], Tensor]:
        return lambda x: merge(scaled_dot_product_attention(*[split_heads(torch.as_tensor(x), H)] * 3, mask)[0])

    one_ahead = torch.ones(T, T, dtype=torch.bool).tril(1)
    for attend, sees, hint in (
        (attend_with(None), True, "마스크가 없는 구현을 놓쳤습니다. 뒤의 토큰을 바꾸고 앞선 출력이 변하는지 보십시오."),
        (attend_with(causal_mask(T)), False, "바른 구현을 의심했습니다. 바꾼 토큰부터는 변해야 맞으니 앞선 출력만 보십시오."),
        (
            attend_with(causal_mask(T), lambda heads: heads.reshape(1, T, D)),
            True,
            "헤드를 잘못 합친 구현을 놓쳤습니다. 첫 출력만 보지 말고 바꾼 토큰보다 앞선 출력을 모두 보십시오.",
        ),
        (attend_with(one_ahead), True, "한 칸 앞만 엿보는 구현을 놓쳤습니다. 바꾼 토큰의 바로 앞 출력까지 보십시오."),
    ):
        if as_truth(answer(attend, T, D)) != sees:
            raise Wrong(hint)
    return "맞습니다. 미래가 새는 구현 셋을 찾았고 바른 구현은 그대로 두었습니다."

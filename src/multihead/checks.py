"""Graders of the exercises: each says in Korean what is right, or what is wrong and why it may have happened.

A grader prints and never raises, so that a notebook runs to its end whatever its reader has written so far.
"""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

from .attention import merge_heads, split_heads

B, T, H, D_K = 2, 5, 3, 4  # all different, so that swapped axes show


class _Wrong(Exception):
    """What is wrong with an answer, said to the reader."""


def _grader(check: Callable[[Callable], str]) -> Callable[[Callable], None]:
    """Print what ``check`` returns or the reason why it stopped."""

    @wraps(check)
    def grade(answer: Callable) -> None:
        def filled_in(*arguments):
            result = answer(*arguments)
            if result is None or result is ...:
                raise _Wrong(f"{answer.__name__}: 아직 비어 있습니다. `...` 자리에 코드를 쓰고 결과를 return으로 돌려주십시오.")
            return result

        try:
            print(f"✓ {check(filled_in)}")
        except _Wrong as wrong:
            print(f"✗ {wrong}")
        except Exception as error:  # the reader's own code failed
            print(f"✗ 실행하다가 멈추었습니다. {type(error).__name__}: {error}")

    return grade


def _shaped(result: object, shape: tuple[int, ...]) -> Tensor:
    if not isinstance(result, Tensor):
        raise _Wrong(f"결과는 텐서여야 하는데 {type(result).__name__}입니다.")
    if result.shape != shape:
        raise _Wrong(f"모양이 다릅니다. 있어야 할 모양은 {shape}, 돌려준 모양은 {tuple(result.shape)}입니다.")
    return result


def _numbered(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


@_grader
def check_split_heads(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(x, num_heads)``: (B, T, D) -> (B, h, T, d_k)."""
    x = _numbered(B, T, H * D_K)
    result = _shaped(answer(x, H), (B, H, T, D_K))
    if torch.equal(result, x.view(B, H, T, D_K)):
        raise _Wrong("모양은 맞지만 토큰이 섞였습니다. view(B, h, T, d_k)로 바로 바꾸지 말고 토큰마다 나눈 뒤 축을 옮기십시오.")
    if torch.equal(result, x.view(B, T, D_K, H).permute(0, 3, 1, 2)):
        raise _Wrong("헤드가 열을 h칸씩 건너뛰며 가져갔습니다. 한 헤드는 이웃한 열 d_k개를 받아야 합니다.")
    if not torch.equal(result, split_heads(x, H)):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 첫 헤드가 모든 토큰의 앞쪽 d_k열을 받았는지 보십시오.")
    return "맞습니다. 헤드마다 모든 토큰에서 제 몫의 열을 받았습니다."


@_grader
def check_merge_heads(answer: Callable[[Tensor], Tensor]) -> str:
    """Grade ``answer(heads)``: (B, h, T, d_k) -> (B, T, D)."""
    heads = split_heads(_numbered(B, T, H * D_K), H)
    result = _shaped(answer(heads), (B, T, H * D_K))
    if torch.equal(result, heads.reshape(B, T, H * D_K)):
        raise _Wrong("모양은 맞지만 다른 토큰의 숫자가 끼어들었습니다. 합치기 전에 transpose(1, 2)로 토큰을 바깥에 두십시오.")
    if torch.equal(result, heads.permute(0, 2, 3, 1).reshape(B, T, H * D_K)):
        raise _Wrong("헤드의 숫자가 한 칸씩 번갈아 섞였습니다. 한 헤드의 숫자 d_k개는 나란히 있어야 합니다.")
    if not torch.equal(result, merge_heads(heads)):
        raise _Wrong("모양은 맞지만 값이 다릅니다. split_heads로 나눈 텐서를 넣으면 처음 텐서가 나와야 합니다.")
    return "맞습니다. 나눈 것을 그대로 되돌렸습니다."


@_grader
def check_strongest_head(answer: Callable[[Tensor, int, int], tuple[int, int]]) -> str:
    """Grade ``answer(weights, query, key)``: (layer, head), counted from 1, of the largest of (layers, h, T, T) weights."""
    weights = torch.full((B, H, T, T), 0.1)
    layer, head, query, key = 1, 0, 3, 2  # the wanted head is 2-1
    weights[layer, head, query, key] = 0.6
    weights[0, 2, key, query] = 0.7  # larger, but with query and key exchanged
    weights[0, 1, 0, 0] = 0.9  # larger, but another token's

    result = tuple(int(number) for number in answer(weights, query, key))
    hints = {
        (2, 1): None,
        (1, 0): "0부터 센 번호입니다. 이 책은 층과 헤드를 1부터 셉니다.",
        (1, 3): "쿼리와 키가 뒤바뀌었습니다. 가중치는 weights[층, 헤드, 쿼리, 키] 차례입니다.",
        (1, 2): "다른 토큰의 가중치까지 보았습니다. weights[:, :, query, key]에서만 가장 큰 것을 찾으십시오.",
    }
    if hint := hints.get(result, f"있어야 할 답은 (2, 1)인데 {result}이 나왔습니다."):
        raise _Wrong(hint)
    return "맞습니다. 펼친 번호를 층과 헤드로 바르게 되돌렸습니다."

"""Graders of chapter 2: why many heads."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .grading import D_K, B, H, T, Wrong, as_scalar, grader, is_close, is_same, random_tensor, refuse, shaped


@grader
def check_neighbour_share(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(weights, offset)``: (h, T, T) -> (h,), what inner queries give to the key ``offset`` further on."""
    weights = random_tensor(H, T, T).softmax(-1)
    for offset in (-1, 1):
        result = shaped(answer(weights, offset), (H,))
        kept, other = (weights[:, 1:-1].diagonal(1 + way, -2, -1)[..., : T - 2] for way in (offset, -offset))
        for mistake, hint in (
            (other.mean(-1), "왼쪽과 오른쪽이 뒤바뀌었습니다. 가중치는 weights[헤드, 쿼리, 키] 순서입니다."),
            (weights.diagonal(offset, -2, -1).mean(-1), "양 끝의 쿼리까지 셌습니다. 이웃이 둘 다 있는 자리만 평균하십시오."),
            (kept.sum(-1), "더하기만 했습니다. 안쪽 쿼리의 수로 나누어 평균하십시오."),
        ):
            refuse(result, mistake, hint)
        if not is_close(result, kept.mean(-1)):
            raise Wrong(
                f"offset = {offset}일 때 값이 다릅니다. weights[:, i, i + offset]을 i = 1부터 T-2까지 평균하십시오."
            )
    return "맞습니다. 안쪽 쿼리가 이웃에게 준 가중치만 평균했습니다."


@grader
def check_both_right(answer: Callable[[Tensor, Tensor, Tensor], float]) -> str:
    """Grade ``answer(left_logits, right_logits, tokens)``: share of inner positions with both answers right."""
    names = torch.randint(H, (B, T + 2), generator=torch.Generator().manual_seed(1))
    says_left, says_right = names.roll(1, 1), names.roll(-1, 1)
    says_left[0, 2] += 1  # wrong on the left here, on the right there, and on both sides once
    says_right[1, 3:5] += 1
    says_left[1, 4] += 1
    left_logits, right_logits = (F.one_hot(says % H, H).float() for says in (says_left, says_right))
    inner = slice(1, -1)
    left, right = (says_left % H)[:, inner] == names[:, :-2], (says_right % H)[:, inner] == names[:, 2:]
    swapped = ((says_right % H)[:, inner] == names[:, :-2]) & ((says_left % H)[:, inner] == names[:, 2:])
    with_ends = ((says_left % H) == names.roll(1, 1)) & ((says_right % H) == names.roll(-1, 1))
    result = as_scalar(answer(left_logits, right_logits, names))
    hints = {
        (left.float().mean() + right.float().mean()) / 2: "두 정답률을 평균했습니다. 같은 자리에서 둘 다 맞아야 셉니다.",
        left.float().mean() * right.float().mean(): "두 정답률을 곱했습니다. 자리마다 둘 다 맞았는지 보고 세십시오.",
        (left | right).float().mean(): "하나만 맞은 자리도 셌습니다. 둘 다 맞아야 합니다.",
        swapped.float().mean(): "왼쪽과 오른쪽이 뒤바뀌었습니다. 왼쪽 이웃은 tokens[:, :-2]입니다.",
        with_ends.float().mean(): "양 끝의 자리까지 셌습니다. 안쪽 자리 T-2개만 세십시오.",
        (left & right).float().sum(): "개수를 돌려주었습니다. 자리의 수로 나누어 비율을 구하십시오.",
    }
    for mistake, hint in hints.items():
        if is_same(result, mistake.item()):
            raise Wrong(hint)
    if not is_same(result, (left & right).float().mean().item()):
        raise Wrong("값이 다릅니다. argmax로 답을 고르고, 자리마다 왼쪽과 오른쪽이 모두 맞았는지 보십시오.")
    return "맞습니다. 두 답이 한자리에서 모두 맞아야 셌습니다."


@grader
def check_switched_off(answer: Callable[[Tensor, int, int], Tensor]) -> str:
    """Grade ``answer(weight, head, num_heads)``: a copy of W_O's nn.Linear weight (D, D) that leaves out one head."""
    D, head = H * D_K, 1
    weight = random_tensor(D, D) + 5  # no number is 0
    result = shaped(answer(weight, head, H), (D, D))
    if answer.changed_what_it_got:
        raise Wrong("받은 행렬이 바뀌었습니다. clone()으로 복사한 뒤 고치십시오.")
    own = torch.arange(D) // D_K
    for mistake, hint in (
        (weight * (own != head)[:, None], "행을 지웠습니다. nn.Linear의 weight는 (출력, 입력)이라 헤드의 몫은 열입니다."),
        (weight * (own != head - 1), "번호를 1부터 셌습니다. 헤드 번호는 0부터입니다."),
        (weight * (torch.arange(D) % H != head), "열을 h칸씩 건너뛰며 지웠습니다. 이웃한 열 d_k개가 한 헤드의 몫입니다."),
        (weight * (own == head), "다른 헤드를 모두 지우고 이 헤드만 남겼습니다."),
        (weight, "아무것도 지우지 않았습니다."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, weight * (own != head)):
        raise Wrong("값이 다릅니다. 헤드 i의 몫은 i·d_k열부터 (i+1)·d_k열 앞까지입니다.")
    return "맞습니다. 그 헤드의 열만 0이고 나머지는 그대로입니다."

"""Graders of the exercises: each says in Korean what is right, or what is wrong and why it may have happened.

A grader prints and never raises, so that a notebook runs to its end whatever its reader has written so far. What the
reader's function raises is told as its own; a fault of the grader says that it is one.
"""

import copy
import math
import numbers
from collections.abc import Callable, Sequence
from functools import wraps

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor

from .attention import (
    attention_weights,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)

B, T, H, D_K = 2, 5, 3, 4  # all different, so that swapped axes show


class _Wrong(Exception):
    """What is wrong with an answer, said to the reader."""


class _Answer:
    """The reader's function. It gets copies, so that nothing it does to them changes the right answer."""

    def __init__(self, function: Callable):
        self.function = function
        self.changed_what_it_got = False

    def __call__(self, *arguments):
        given = [a.clone() if isinstance(a, Tensor) else copy.deepcopy(a) for a in arguments]
        try:
            result = self.function(*given)
        except Exception as error:
            raise _Wrong(f"실행하다가 멈추었습니다. {type(error).__name__}: {error}") from error
        if result is None or result is ...:
            name = getattr(self.function, "__name__", "함수")
            raise _Wrong(f"{name}: 아직 비어 있습니다. `return ...` 줄을 지우고 코드를 채우십시오.")
        tensors = [(a, b) for a, b in zip(arguments, given) if isinstance(a, Tensor)]
        self.changed_what_it_got = any(not torch.equal(a, b) for a, b in tensors)
        return result


def _grader(check: Callable[[Callable], str]) -> Callable[[Callable], None]:
    """Print what ``check`` returns or the reason why it stopped."""

    @wraps(check)
    def grade(answer: Callable) -> None:
        if not callable(answer):
            print(f"✗ 결과가 아니라 함수를 넣으십시오: {check.__name__}(함수 이름). 받은 값: {type(answer).__name__}")
            return
        try:
            print(f"✓ {check(_Answer(answer))}")
        except _Wrong as wrong:
            print(f"✗ {wrong}")
        except Exception as error:
            print(
                "✗ 채점기가 멈추었습니다. 답이 틀렸다는 뜻은 아니니, 이 줄과 함께 쓴 코드를 책의 저장소에 알려 주십시오. "
                f"{type(error).__name__}: {error}"
            )

    return grade


def _tensor(result: object) -> Tensor:
    """What the reader computed, in PyTorch or in NumPy, as a tensor that keeps its gradient; floats as float32."""
    if isinstance(result, numpy.ndarray | numpy.generic) and result.dtype.kind in "biuf":
        result = torch.from_numpy(numpy.array(result))
    elif isinstance(result, numbers.Real):
        result = torch.tensor(float(result))
    if not isinstance(result, Tensor):
        raise _Wrong(f"결과는 텐서여야 하는데 {type(result).__name__}입니다.")
    return result.cpu().float() if result.is_floating_point() else result.cpu()


def _shaped(result: object, shape: tuple[int, ...]) -> Tensor:
    result = _tensor(result)
    if shape == () and result.numel() == 1:
        return result.reshape(())
    if result.shape != shape:
        raise _Wrong(f"모양이 다릅니다. 있어야 할 모양은 {shape}, 돌려준 모양은 {tuple(result.shape)}입니다.")
    return result


def _scalar(result: object) -> int | float:
    """One number, whatever type it has."""
    if isinstance(result, Tensor | numpy.ndarray | numpy.generic):
        result = _shaped(result, ()).item()
    if not isinstance(result, numbers.Real):
        raise _Wrong(f"결과는 수여야 하는데 {type(result).__name__}입니다: {result!r}")
    return int(result) if result == result // 1 else float(result)


def _scalars(result: object, names: Sequence[str]) -> tuple[int | float, ...]:
    """A row of numbers: a tuple, a list or an array of them."""
    row = result.tolist() if isinstance(result, Tensor | numpy.ndarray) else result
    if not isinstance(row, tuple | list) or len(row) != len(names):
        raise _Wrong(f"({', '.join(names)})를 차례로 돌려주어야 하는데 {result!r}이 나왔습니다.")
    return tuple(map(_scalar, row))


def _truth(result: object) -> bool:
    number = _scalar(result)
    if number not in (0, 1):
        raise _Wrong(f"True나 False를 돌려주어야 하는데 {result!r}이 나왔습니다.")
    return bool(number)


def _numbered(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


@_grader
def check_attention(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(q, k, v)``: scaled dot-product attention of (T, d_k), (S, d_k), (S, d_v) -> (T, d_v)."""
    q, k, v = (_random(*shape) for shape in ((T, D_K), (T + 2, D_K), (T + 2, H)))
    result = _shaped(answer(q, k, v), (T, H))
    wrong_axis = (q @ k.T / D_K**0.5).softmax(0) @ v
    for mistake, hint in (
        ((q @ k.T).softmax(-1) @ v, "점수를 √d_k로 나누지 않았습니다."),
        ((q @ k.T / D_K).softmax(-1) @ v, "d_k가 아니라 d_k의 제곱근으로 나누어야 합니다."),
        (wrong_axis, "소프트맥스의 축이 다릅니다. 쿼리마다 키에 걸쳐(dim=-1) 합이 1이 되어야 합니다."),
        (q @ k.T / D_K**0.5 @ v, "소프트맥스를 거치지 않았습니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, scaled_dot_product_attention(q, k, v)[0]):
        raise _Wrong("모양은 맞지만 값이 다릅니다. softmax(q kᵀ / √d_k) v를 한 조각씩 확인하십시오.")
    return "맞습니다. 소프트맥스의 축도 나누는 값도 맞습니다."


@_grader
def check_causal_mask(answer: Callable[[int], Tensor]) -> str:
    """Grade ``answer(T)``: the causal mask (T, T), True = may attend."""
    result = _mask(answer(T), T)
    _refuse(result, ~causal_mask(T), "True와 False가 뒤바뀌었습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다.")
    _refuse(result, causal_mask(T).T, "쿼리와 키가 뒤바뀌어 미래만 봅니다. 행이 쿼리, 열이 키입니다.")
    _refuse(result, causal_mask(T).tril(-1), "자기 자신도 볼 수 있어야 합니다.")
    if not torch.equal(result, causal_mask(T)):
        raise _Wrong("값이 다릅니다. 첫 행은 첫 칸만, 마지막 행은 모든 칸이 True여야 합니다.")
    return "맞습니다. 자기와 앞의 토큰만 봅니다."


@_grader
def check_masked_attention(answer: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(q, k, v, mask)``: (B, T, d_k), (B, S, d_k), (B, S, d_v), (B, T, S) -> (B, T, d_v).

    A row of the mask that allows nothing has output zero and a finite gradient.
    """
    S = T + 2
    q, k, v = _random(B, T, D_K), _random(B, S, D_K), _random(B, S, H)
    mask = _random(B, T, S) > 0
    mask[..., 0] = True
    mask[0, 1] = False
    given = answer(q, k, v, mask)
    result = _shaped(given, (B, T, H))
    if result[0, 1].isnan().any():
        raise _Wrong("볼 곳이 없는 행이 nan입니다. -inf만 있는 행의 소프트맥스는 0을 0으로 나눕니다. 그 행을 0으로 두십시오.")
    scores = q @ k.mT / D_K**0.5
    for mistake, hint in (
        (scaled_dot_product_attention(q, k, v, ~mask)[0], "마스크를 뒤집어 썼습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다."),
        (scores.softmax(-1) @ v, "마스크를 쓰지 않았습니다."),
        (scores.softmax(-1) * mask @ v, "소프트맥스 뒤에 가려서 가중치의 합이 1보다 작습니다. 점수를 먼저 가리십시오."),
        (scores.masked_fill(~mask, 0).softmax(-1) @ v, "가린 점수에 0을 넣었습니다. 0도 소프트맥스를 거치면 가중치가 됩니다."),
        (scaled_dot_product_attention(q, k, v, mask, scale=1.0)[0], "점수를 √d_k로 나누지 않았습니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result[0, 1], torch.zeros(H)):
        raise _Wrong("볼 곳이 없는 행의 출력은 0이어야 합니다. 아주 작은 수로 가리면 그 행은 모든 값의 평균이 됩니다.")
    if not _close(result, scaled_dot_product_attention(q, k, v, mask)[0]):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 점수, 마스크, 소프트맥스, 가중합을 하나씩 확인하십시오.")
    if isinstance(given, Tensor):
        given = answer(q.requires_grad_(), k, v, mask)
    if not getattr(given, "requires_grad", False):
        raise _Wrong("출력은 맞지만 기울기가 q까지 흐르지 않습니다. detach()나 NumPy를 거치지 말고 텐서로 계산하십시오.")
    if not torch.autograd.grad(given.sum(), q)[0].isfinite().all():
        raise _Wrong("출력은 맞지만 기울기에 nan이 있습니다. -inf를 더하지 말고 masked_fill로 채우십시오.")
    return "맞습니다. 볼 곳이 없는 행은 0이고 기울기도 유한합니다."


@_grader
def check_split_heads(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(x, num_heads)``: (B, T, D) -> (B, h, T, d_k)."""
    x = _numbered(B, T, H * D_K)
    result = _shaped(answer(x, H), (B, H, T, D_K))
    _refuse(
        result,
        x.view(B, H, T, D_K),
        "모양은 맞지만 토큰이 섞였습니다. view(B, h, T, d_k)로 바로 바꾸지 말고 토큰마다 나눈 뒤 축을 옮기십시오.",
    )
    every_hth = x.view(B, T, D_K, H).permute(0, 3, 1, 2)
    _refuse(result, every_hth, "헤드가 열을 h칸씩 건너뛰며 가져갔습니다. 한 헤드는 이웃한 열 d_k개를 받아야 합니다.")
    if not _close(result, split_heads(x, H)):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 첫 헤드가 모든 토큰의 앞쪽 d_k열을 받았는지 보십시오.")
    return "맞습니다. 헤드마다 모든 토큰에서 제 몫의 열을 받았습니다."


@_grader
def check_merge_heads(answer: Callable[[Tensor], Tensor]) -> str:
    """Grade ``answer(heads)``: (B, h, T, d_k) -> (B, T, D)."""
    heads = split_heads(_numbered(B, T, H * D_K), H)
    result = _shaped(answer(heads), (B, T, H * D_K))
    untransposed, alternating = heads.reshape(B, T, -1), heads.permute(0, 2, 3, 1).reshape(B, T, -1)
    _refuse(
        result,
        untransposed,
        "모양은 맞지만 다른 토큰의 숫자가 끼어들었습니다. 합치기 전에 transpose(1, 2)로 토큰을 바깥에 두십시오.",
    )
    _refuse(result, alternating, "헤드의 숫자가 한 칸씩 번갈아 섞였습니다. 한 헤드의 숫자 d_k개는 나란히 있어야 합니다.")
    if not _close(result, merge_heads(heads)):
        raise _Wrong("모양은 맞지만 값이 다릅니다. split_heads로 나눈 텐서를 넣으면 처음 텐서가 나와야 합니다.")
    return "맞습니다. 나눈 것을 그대로 되돌렸습니다."


@_grader
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
        if _truth(answer(attend, T, D)) != sees:
            raise _Wrong(hint)
    return "맞습니다. 미래가 새는 구현 셋을 찾았고 바른 구현은 그대로 두었습니다."


@_grader
def check_strongest_head(answer: Callable[[Tensor, int, int], tuple[int, int]]) -> str:
    """Grade ``answer(weights, query, key)``: (layer, head), counted from 1, of the largest of (layers, h, T, T) weights."""
    weights = torch.full((B, H, T, T), 0.1)
    layer, head, query, key = 1, 0, 3, 2  # the wanted head is 2-1
    weights[layer, head, query, key] = 0.6
    weights[0, 2, key, query] = 0.7  # larger, but with query and key exchanged
    weights[0, 1, 0, 0] = 0.9  # larger, but another token's

    result = _scalars(answer(weights, query, key), ("층", "헤드"))
    hints = {
        (2, 1): None,
        (1, 0): "0부터 센 번호입니다. 이 책은 층과 헤드를 1부터 셉니다.",
        (1, 3): "쿼리와 키가 뒤바뀌었습니다. 가중치는 weights[층, 헤드, 쿼리, 키] 순서입니다.",
        (1, 2): "다른 토큰의 가중치까지 보았습니다. weights[:, :, query, key]에서만 가장 큰 것을 찾으십시오.",
    }
    if hint := hints.get(result, f"있어야 할 답은 (2, 1)인데 {result}이 나왔습니다."):
        raise _Wrong(hint)
    return "맞습니다. 펼친 번호를 층과 헤드로 바르게 되돌렸습니다."


@_grader
def check_mean_entropy(answer: Callable[[Tensor], Tensor]) -> str:
    """Grade ``answer(weights)``: (layers, h, T, T) -> mean entropy of the rows of each head in nats, (layers, h)."""
    weights = _random(B, H, T, T).mul(2).softmax(-1)
    weights[0, 0] = torch.eye(T)  # 0 ln 0 counts 0
    result = _shaped(answer(weights), (B, H))
    if result.isnan().any():
        raise _Wrong("NaN이 나왔습니다. 가중치가 0이면 로그가 -∞이므로, 0 ln 0을 0으로 세어야 합니다.")
    entropies = torch.special.entr(weights)
    right = entropies.sum(-1).mean(-1)
    for mistake, hint in (
        (-right, "부호가 뒤바뀌었습니다. 엔트로피는 0 이상입니다."),
        (right / torch.tensor(2.0).log(), "밑이 2인 로그를 썼습니다. 이 책은 자연로그로 잽니다."),
        (entropies.mean((-1, -2)), "행 안에서는 평균이 아니라 합을 구해야 합니다. 평균은 행(쿼리)에 걸쳐 구합니다."),
        (entropies.sum((-1, -2)), "행(쿼리)에 걸쳐 더했습니다. 행마다 구한 엔트로피를 평균하십시오."),
        (torch.special.entr(weights.mean(-2)).sum(-1), "가중치부터 평균했습니다. 행마다 엔트로피를 구한 다음 평균하십시오."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, right):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 행마다 -Σ w ln w를 구하고 행에 걸쳐 평균하십시오.")
    return "맞습니다. 한 토큰에 몰린 헤드는 0이고, 고를수록 커집니다."


@_grader
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
    return _number(answer(weights), 2, hints, "시험 삼아 만든 헤드 6개")


@_grader
def check_head_contributions(answer: Callable[[Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(heads, W_O)``: (B, h, T, d_k), (D, D) -> what each head adds to the output, (B, h, T, D)."""
    heads, W_O = _random(B, H, T, D_K), _random(H * D_K, H * D_K)
    result = _shaped(answer(heads, W_O), (B, H, T, H * D_K))
    columns = W_O.view(-1, H, D_K).permute(1, 2, 0)  # blocks of columns instead of rows
    _refuse(result, heads @ columns, "W_O의 열을 나누었습니다. 헤드의 출력과 만나는 것은 W_O의 행입니다.")
    _refuse(result, heads @ W_O.view(D_K, H, -1).transpose(0, 1), "행을 h칸씩 건너뛰며 묶었습니다. 이웃한 d_k행이 한 헤드의 것입니다.")
    if not _close(result.sum(1), merge_heads(heads) @ W_O):
        raise _Wrong("헤드에 걸쳐 더하면 Concat(heads) @ W_O와 같아야 하는데 다릅니다.")
    if not _close(result, heads @ W_O.view(H, D_K, -1)):
        raise _Wrong("더한 값은 맞지만 헤드마다의 기여가 다릅니다.")
    return "맞습니다. 기여를 모두 더하면 출력이 됩니다."


@_grader
def check_multi_head_attention(answer: Callable) -> str:
    """Grade ``answer(x, W_Q, W_K, W_V, W_O, num_heads)``: all of multi-head attention from four (D, D) matrices."""
    D = H * D_K
    x, (W_Q, W_K, W_V, W_O) = _random(B, T, D), _random(4, D, D) / D**0.5
    result = _shaped(answer(x, W_Q, W_K, W_V, W_O, H), (B, T, D))
    q, k, v = (split_heads(x @ W, H) for W in (W_Q, W_K, W_V))
    right = merge_heads(scaled_dot_product_attention(q, k, v)[0])
    one_head = scaled_dot_product_attention(x @ W_Q, x @ W_K, x @ W_V)[0]
    full_width = merge_heads(attention_weights(q, k, scale=D**-0.5) @ v)
    unscaled = merge_heads(attention_weights(q, k, scale=1.0) @ v)
    tangled = scaled_dot_product_attention(*((x @ W).view(B, H, T, D_K) for W in (W_Q, W_K, W_V)))[0]
    for mistake, hint in (
        (right, "W_O를 곱하지 않았습니다."),
        (one_head @ W_O, "헤드로 나누지 않고 폭 전체로 어텐션을 한 번만 계산했습니다."),
        (full_width @ W_O, "√d_model이 아니라 √d_k로 나누어야 합니다. 헤드의 폭은 d_k입니다."),
        (unscaled @ W_O, "점수를 √d_k로 나누지 않았습니다."),
        (tangled.reshape(B, T, D) @ W_O, "view(B, h, T, d_k)로 바로 나누어 토큰이 섞였습니다."),
        (right.view(B, T, H, D_K).transpose(1, 2).reshape(B, T, D) @ W_O, "합치기 전에 transpose(1, 2)를 빠뜨렸습니다."),
        (right @ W_O.T, "W_O를 뒤집어 곱했습니다. 이 연습에서는 x @ W 순서입니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, right @ W_O):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 투영, 나누기, 어텐션, 합치기, W_O 순서로 하나씩 확인하십시오.")
    return "맞습니다. 멀티헤드 어텐션을 처음부터 끝까지 계산했습니다."


@_grader
def check_head_matrices(answer: Callable[[Tensor, int, int], Tensor]) -> str:
    """Grade ``answer(in_proj_weight, head, num_heads)``: (3 D, D) -> W_Q, W_K, W_V of a head, (3, D, d_k)."""
    D, head = H * D_K, 1
    weight = _numbered(3 * D, D)
    result = _tensor(answer(weight, head, H))
    if result.shape == (3, D_K, D):
        raise _Wrong("전치를 빠뜨렸습니다. nn.Linear의 weight는 (출력, 입력)이지만 x @ W에는 (입력, 출력)이 필요합니다.")
    result = _shaped(result, (3, D, D_K))
    for mistake, hint in (
        (weight.view(H, 3, D_K, D)[head].mT, "헤드마다 Q, K, V가 번갈아 있다고 보았습니다. W_Q가 통째로 먼저 옵니다."),
        (weight.view(3, H, D_K, D)[:, head - 1].mT, "헤드를 1부터 셌습니다. 번호는 0부터입니다."),
        (weight.view(3, D_K, H, D)[:, :, head].mT, "행을 h칸씩 건너뛰며 골랐습니다. 이웃한 d_k행이 한 헤드의 것입니다."),
        (weight.view(3, D, H, D_K)[:, :, head], "열을 나누었습니다. weight는 (출력, 입력)이라 헤드의 몫은 행입니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, weight.view(3, H, D_K, D)[:, head].mT):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 셋으로 나눈 다음 헤드의 d_k행을 고르고 전치하십시오.")
    return "맞습니다. PyTorch가 한 덩어리로 저장한 행렬에서 헤드 하나를 꺼냈습니다."


@_grader
def check_parameter_count(answer: Callable[[int, int], int]) -> str:
    """Grade ``answer(d_model, num_heads)``: parameters with biases, 4 D² + 4 D."""
    D, h = 96, 8
    hints = {
        4 * D * D: "편향 네 개를 빠뜨렸습니다.",
        4 * D * D + 2 * D: "편향을 둘만 셌습니다. W_Q, W_K, W_V, W_O에 하나씩 있습니다.",
        h * (4 * D * D + 4 * D): "헤드 수를 곱했습니다. 헤드가 늘면 d_k가 줄어 모두 합한 수는 그대로입니다.",
        3 * (D * D + D): "W_O를 빠뜨렸습니다.",
    }
    return _number(answer(D, h), 4 * D * D + 4 * D, hints, f"d_model = {D}, num_heads = {h}")


@_grader
def check_crossing_length(answer: Callable[[int], int]) -> str:
    """Grade ``answer(d_model)``: the shortest T at which scores and weighted sum cost more than the projections."""
    D = 96
    hints = {
        2 * D: "그 길이에서는 둘이 같습니다. 커지기 시작하는 길이는 하나 더 깁니다.",
        D + 1: "투영은 넷이라 8TD²이고, 점수와 가중합은 합쳐서 4T²D입니다.",
        4 * D + 1: "점수만 세고 가중합을 빠뜨렸습니다.",
    }
    return _number(answer(D), 2 * D + 1, hints, f"d_model = {D}")


@_grader
def check_largest_batch(answer: Callable[[int, int, int], int]) -> str:
    """Grade ``answer(memory, num_heads, length)``: sentences whose 16-bit scores fit into ``memory`` bytes."""
    memory, h, length = 10 * 2**30, 12, 2048
    one = 2 * h * length**2
    hints = {
        memory // one + 1: "올림했습니다. 마지막 문장은 메모리에 다 들어가지 않습니다.",
        memory / one: "문장의 수는 정수여야 합니다. 나눈 몫만 남기십시오.",
        memory // (2 * one): "숫자 하나를 4바이트로 셌습니다. 16비트는 2바이트입니다.",
        memory // (one // 2): "숫자 하나를 1바이트로 셌습니다. 16비트는 2바이트입니다.",
        memory // (one // h): "헤드 수를 빠뜨렸습니다. 점수 행렬은 헤드마다 하나입니다.",
        memory // (one // length): "T × T 행렬인데 T를 한 번만 곱했습니다.",
    }
    question = f"메모리 {memory:,}바이트, num_heads = {h}, length = {length:,}"
    return _number(answer(memory, h, length), memory // one, hints, question)


@_grader
def check_kv_head(answer: Callable[[int, int, int], int]) -> str:
    """Grade ``answer(query_head, num_heads, num_kv_heads)``: the KV head of a query head, both from 0."""
    h, g = 12, 3
    given = [_scalar(answer(i, h, g)) for i in range(h)]
    for mistake, hint in (
        ([i % g for i in range(h)], "나머지를 썼습니다. repeat처럼 번갈아 짝지어지므로 이웃한 헤드가 흩어집니다."),
        ([i // g for i in range(h)], "무리의 수가 아니라 한 무리의 크기 h/g로 나누어야 합니다."),
        ([i // (h // g) + 1 for i in range(h)], "1부터 셌습니다. 번호는 0부터입니다."),
    ):
        if given == mistake:
            raise _Wrong(hint)
    if given != [i // (h // g) for i in range(h)]:
        raise _Wrong(f"h = {h}, g = {g}일 때 쿼리 헤드 0부터 차례로 {given}이 나왔습니다. 이웃한 {h // g}개가 한 무리입니다.")
    return "맞습니다. 이웃한 쿼리 헤드가 KV 헤드 하나를 나누어 씁니다."


@_grader
def check_cache_bytes(answer: Callable[[int, int, int, int, int], int]) -> str:
    """Grade ``answer(layers, num_heads, num_kv_heads, d_model, tokens)``: bytes of a 16-bit KV cache."""
    layers, h, g, D, tokens = 5, 12, 3, 96, 7
    right = 2 * layers * g * (D // h) * tokens * 2
    hints = {
        right // 2: "키와 값 가운데 하나만 셌거나 숫자 하나를 1바이트로 셌습니다.",
        right * h // g: "쿼리 헤드의 수를 썼습니다. 캐시에는 KV 헤드만 들어갑니다.",
        right * h: "헤드 하나의 폭은 d_model이 아니라 d_k = d_model / num_heads입니다.",
        right // layers: "층의 수를 빠뜨렸습니다. 층마다 캐시가 따로 있습니다.",
        right * 2: "숫자 하나를 4바이트로 셌습니다.",
    }
    return _number(answer(layers, h, g, D, tokens), right, hints, f"층 {layers}개, h = {h}, g = {g}, d_model = {D}, 토큰 {tokens}개")


@_grader
def check_pool_kv_heads(answer: Callable[[Tensor, int, int], Tensor]) -> str:
    """Grade ``answer(weight, num_heads, num_kv_heads)``: W_K.weight (h d_k, D) -> (g d_k, D), mean over a group."""
    h, g = 6, 2
    weight = _random(h * D_K, h * D_K)
    result = _shaped(answer(weight, h, g), (g * D_K, h * D_K))
    for mistake, hint in (
        (weight.view(h // g, g, D_K, -1).mean(0), "떨어져 있는 헤드를 묶었습니다. 이웃한 헤드 h/g개가 한 무리입니다."),
        (weight.view(g, h // g, D_K, -1)[:, 0], "무리마다 첫 헤드만 남겼습니다. 무리의 헤드를 모두 평균하십시오."),
        (weight.view(g, h // g, D_K, -1).sum(1), "평균이 아니라 합입니다. 키가 h/g배로 커져 점수도 커집니다."),
        (weight.view(g, D_K, h // g, -1).mean(2), "헤드가 아니라 이웃한 행을 평균했습니다. 행은 헤드마다 d_k개씩 묶여 있습니다."),
    ):
        _refuse(result, mistake.reshape(result.shape), hint)
    if not _close(result, weight.view(g, h // g, D_K, -1).mean(1).flatten(0, 1)):
        raise _Wrong("모양은 맞지만 값이 다릅니다. (g, h/g, d_k, D)로 나누어 무리 안의 헤드에 걸쳐 평균하십시오.")
    return "맞습니다. 무리마다 이웃한 헤드의 투영을 평균했습니다."


@_grader
def check_padded_causal_mask(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(lengths, T)``: causal and padding masks in one, (B, 1, T, T), True = may attend."""
    lengths, causal = torch.tensor([3, T]), causal_mask(T).expand(2, 1, T, T)
    padding = padding_mask(lengths, T)
    result = _boolean(_shaped(answer(lengths, T), (2, 1, T, T)))
    for mistake, hint in (
        (~(causal & padding), "True와 False가 뒤바뀌었습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다."),
        (causal | padding, "둘 가운데 하나만 허락해도 보게 했습니다. 둘 다 허락할 때만(&) 볼 수 있습니다."),
        (causal, "패딩을 가리지 않았습니다."),
        (padding.expand_as(causal), "미래를 가리지 않았습니다."),
        (causal & padding.mT, "패딩의 행을 가렸습니다. 가려야 할 것은 키, 곧 열입니다."),
    ):
        _refuse(result, mistake, hint)
    if not torch.equal(result, causal & padding):
        raise _Wrong("값이 다릅니다. 쿼리마다 자기와 앞의 토큰 가운데 패딩이 아닌 것만 True여야 합니다.")
    return "맞습니다. 미래와 패딩을 한꺼번에 가렸습니다."


@_grader
def check_sliding_window(answer: Callable[[int, int], Tensor]) -> str:
    """Grade ``answer(T, window)``: the causal mask that reaches back ``window`` tokens, itself included."""
    length, window = 7, 3

    def band(width: int) -> Tensor:
        return causal_mask(length) & ~causal_mask(length).tril(-width)

    result = _mask(answer(length, window), length)
    _refuse(result, ~band(window), "True와 False가 뒤바뀌었습니다. 이 책의 마스크는 True가 '볼 수 있음'입니다.")
    _refuse(result, band(window + 1), "한 칸 더 멀리 봅니다. 폭에는 자기 자신도 들어갑니다.")
    _refuse(result, causal_mask(length), "먼 과거를 가리지 않았습니다.")
    _refuse(result, band(window) | band(window).T, "미래도 볼 수 있습니다. 쿼리보다 뒤의 키는 가려야 합니다.")
    if not torch.equal(result, band(window)):
        raise _Wrong(f"값이 다릅니다. 행마다 자기까지 최근 {window}칸만 True여야 합니다.")
    return "맞습니다. 자기까지 최근 window개의 토큰만 봅니다."


@_grader
def check_neighbour_share(answer: Callable[[Tensor, int], Tensor]) -> str:
    """Grade ``answer(weights, offset)``: (h, T, T) -> (h,), what inner queries give to the key ``offset`` further on."""
    weights = _random(H, T, T).softmax(-1)
    for offset in (-1, 1):
        result = _shaped(answer(weights, offset), (H,))
        kept, other = (weights[:, 1:-1].diagonal(1 + way, -2, -1)[..., : T - 2] for way in (offset, -offset))
        for mistake, hint in (
            (other.mean(-1), "왼쪽과 오른쪽이 뒤바뀌었습니다. 가중치는 weights[헤드, 쿼리, 키] 순서입니다."),
            (weights.diagonal(offset, -2, -1).mean(-1), "양 끝의 쿼리까지 셌습니다. 이웃이 둘 다 있는 자리만 평균하십시오."),
            (kept.sum(-1), "더하기만 했습니다. 안쪽 쿼리의 수로 나누어 평균하십시오."),
        ):
            _refuse(result, mistake, hint)
        if not _close(result, kept.mean(-1)):
            raise _Wrong(
                f"offset = {offset}일 때 값이 다릅니다. weights[:, i, i + offset]을 i = 1부터 T-2까지 평균하십시오."
            )
    return "맞습니다. 안쪽 쿼리가 이웃에게 준 가중치만 평균했습니다."


@_grader
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
    result = _scalar(answer(left_logits, right_logits, names))
    hints = {
        (left.float().mean() + right.float().mean()) / 2: "두 정답률을 평균했습니다. 같은 자리에서 둘 다 맞아야 셉니다.",
        left.float().mean() * right.float().mean(): "두 정답률을 곱했습니다. 자리마다 둘 다 맞았는지 보고 세십시오.",
        (left | right).float().mean(): "하나만 맞은 자리도 셌습니다. 둘 다 맞아야 합니다.",
        swapped.float().mean(): "왼쪽과 오른쪽이 뒤바뀌었습니다. 왼쪽 이웃은 tokens[:, :-2]입니다.",
        with_ends.float().mean(): "양 끝의 자리까지 셌습니다. 안쪽 자리 T-2개만 세십시오.",
        (left & right).float().sum(): "개수를 돌려주었습니다. 자리의 수로 나누어 비율을 구하십시오.",
    }
    for mistake, hint in hints.items():
        if _same(result, mistake.item()):
            raise _Wrong(hint)
    if not _same(result, (left & right).float().mean().item()):
        raise _Wrong("값이 다릅니다. argmax로 답을 고르고, 자리마다 왼쪽과 오른쪽이 모두 맞았는지 보십시오.")
    return "맞습니다. 두 답이 한자리에서 모두 맞아야 셌습니다."


@_grader
def check_switched_off(answer: Callable[[Tensor, int, int], Tensor]) -> str:
    """Grade ``answer(weight, head, num_heads)``: a copy of W_O's nn.Linear weight (D, D) that leaves out one head."""
    D, head = H * D_K, 1
    weight = _random(D, D) + 5  # no number is 0
    result = _shaped(answer(weight, head, H), (D, D))
    if answer.changed_what_it_got:
        raise _Wrong("받은 행렬이 바뀌었습니다. clone()으로 복사한 뒤 고치십시오.")
    own = torch.arange(D) // D_K
    for mistake, hint in (
        (weight * (own != head)[:, None], "행을 지웠습니다. nn.Linear의 weight는 (출력, 입력)이라 헤드의 몫은 열입니다."),
        (weight * (own != head - 1), "번호를 1부터 셌습니다. 헤드 번호는 0부터입니다."),
        (weight * (torch.arange(D) % H != head), "열을 h칸씩 건너뛰며 지웠습니다. 이웃한 열 d_k개가 한 헤드의 몫입니다."),
        (weight * (own == head), "다른 헤드를 모두 지우고 이 헤드만 남겼습니다."),
        (weight, "아무것도 지우지 않았습니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, weight * (own != head)):
        raise _Wrong("값이 다릅니다. 헤드 i의 몫은 i·d_k열부터 (i+1)·d_k열 앞까지입니다.")
    return "맞습니다. 그 헤드의 열만 0이고 나머지는 그대로입니다."


@_grader
def check_word_map(answer: Callable[[Tensor, list], Tensor]) -> str:
    """Grade ``answer(weights, word_of_token)``: weights (T, T) between tokens -> (W, W) between words.

    ``word_of_token`` numbers the word of each token, None for [CLS] and [SEP].
    """
    weights, words = _random(7, 7).softmax(-1), [None, 0, 1, 1, 1, 2, None]
    result = _shaped(answer(weights, words), (3, 3))
    member = torch.tensor([[word == w for w in range(3)] for word in words]).float()  # (T, W)
    total, mean = member, member / member.sum(0)
    for mistake, hint in (
        (mean.T @ weights @ mean, "보는 쪽과 받는 쪽을 모두 평균했습니다. 낱말이 받은 가중치는 조각들이 받은 것을 더해야 합니다."),
        (total.T @ weights @ total, "보는 쪽과 받는 쪽을 모두 더했습니다. 보는 쪽은 조각들의 평균이어야 합니다."),
        (total.T @ weights @ mean, "더하기와 평균이 뒤바뀌었습니다. 행이 보는 쪽, 열이 받는 쪽입니다."),
        ((mean.T @ weights @ total).T, "행과 열이 뒤바뀌었습니다. 행이 보는 쪽입니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, mean.T @ weights @ total):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 낱말마다 조각의 행은 평균하고 조각의 열은 더했는지 보십시오.")
    return "맞습니다. 받는 쪽은 더하고 보는 쪽은 평균했습니다."


@_grader
def check_head_accuracy(answer: Callable[[Tensor, list], float]) -> str:
    """Grade ``answer(weights, pairs)``: share of pairs (i, j) in which word i gives j most weight, itself aside."""
    weights = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.6, 0.1, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.6, 0.2, 0.1]])
    pairs = [(0, 1), (1, 0), (2, 3), (3, 2)]
    result = _scalar(answer(weights, pairs))
    hints = {
        0.5: "자기 자신도 후보에 넣었거나 행과 열을 뒤바꾸었습니다. 대각선을 빼고 행마다 가장 큰 칸을 고르십시오.",
        3.0: "맞힌 수입니다. 짝의 수로 나누어야 합니다.",
        0.25: "틀린 비율입니다.",
    }
    if not _same(result, 0.75):
        raise _Wrong(hints.get(round(result, 6), f"있어야 할 답은 0.75인데 {result}이 나왔습니다."))
    return "맞습니다. 자기를 뺀 가장 큰 칸이 정답인 비율입니다."


@_grader
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
    return _number(answer(pairs), -3, hints, f"짝이 {pairs}")


@_grader
def check_masked_loss(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(logits, truth, masked)``: mean cross-entropy over the masked places only, a number.

    logits (B, T, V)   truth (B, T) right tokens   masked (B, T) boolean, True = was masked
    """
    vocabulary = 7
    logits = _random(B, T, vocabulary)
    truth = torch.arange(B * T).view(B, T) % vocabulary
    masked = torch.arange(B * T).view(B, T) % 3 == 0
    losses = F.cross_entropy(logits.transpose(1, 2), truth, reduction="none")  # (B, T)
    result = _shaped(answer(logits, truth, masked), ())
    for mistake, hint in (
        (losses.mean(), "모든 자리를 셌습니다. 가린 자리만 세어야 합니다."),
        (losses[~masked].mean(), "가리지 않은 자리를 셌습니다. masked는 True가 가린 자리입니다."),
        (losses[masked].sum(), "더하기만 했습니다. 가린 자리의 수로 나누십시오."),
        ((losses * masked).mean(), "모든 자리의 수로 나누었습니다. 가린 자리의 수로 나누어야 합니다."),
        (-losses[masked].mean(), "부호가 반대입니다. 손실은 음의 로그 확률입니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, losses[masked].mean()):
        raise _Wrong("값이 다릅니다. 가린 자리마다 정답의 -log(확률)을 구해 평균하십시오.")
    return "맞습니다. 가린 자리만 셌습니다."


@_grader
def check_heads_off(answer: Callable[[Tensor, Tensor, list[int]], Tensor]) -> str:
    """Grade ``answer(heads, W_O, off)``: the output (B, T, D) without the heads of ``off``, counted from 1.

    heads (B, h, T, d_k)   W_O (D, D), used as x @ W_O
    """
    heads, W_O = _random(B, H, T, D_K), _random(H * D_K, H * D_K)
    contributions = heads @ W_O.view(H, D_K, -1)  # (B, h, T, D)
    result = _shaped(answer(heads, W_O, [3]), (B, T, H * D_K))
    if answer.changed_what_it_got:
        raise _Wrong("받은 텐서를 바꾸었습니다. 다음에 같은 헤드를 켜도 0이 남습니다. clone()으로 복사한 뒤에 바꾸십시오.")
    columns = W_O.clone()
    columns[:, -D_K:] = 0
    for mistake, hint in (
        (contributions.sum(1), "아무 헤드도 꺼지지 않았습니다."),
        (contributions[:, 2], "끌 헤드만 남겼습니다. 나머지 헤드의 기여를 더해야 합니다."),
        (merge_heads(heads) @ columns, "W_O의 열을 지웠습니다. 헤드와 만나는 것은 W_O의 행입니다."),
        (contributions[:, :2].sum(1) * H / (H - 1), "남은 헤드의 기여를 키웠습니다. 끄기만 하고 나머지는 그대로 두십시오."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, contributions[:, :2].sum(1)):
        raise _Wrong("값이 다릅니다. 헤드를 1부터 센다는 것을 기억하고, 꺼지지 않은 헤드의 기여를 더하십시오.")
    if not _close(_shaped(answer(heads, W_O, [1, 3]), (B, T, H * D_K)), contributions[:, 1]):
        raise _Wrong("헤드를 둘 이상 끄면 값이 다릅니다. off에 든 헤드를 모두 끄십시오.")
    return "맞습니다. 꺼진 헤드의 기여만 빠졌습니다."


@_grader
def check_best_distance(answer: Callable[[list[tuple[int, int]]], tuple[int, float]]) -> str:
    """Grade ``answer(pairs)``: of pairs (place, source) the commonest distance place - source, and its share."""
    pairs = [(5, 3), (8, 6), (7, 3), (4, 6), (9, 7), (6, 2), (3, 5), (4, 0)]  # distances 2, 2, 4, -2, 2, 4, -2, 4 ...
    pairs.append((2, 0))  # ... and 2: four of nine
    distance, share = _scalars(answer(pairs), ("거리", "비율"))
    if distance == -2:
        raise _Wrong("방향을 보십시오. 거리는 자리 - 근거이고, 근거가 앞에 있으면 양수입니다.")
    if distance != 2:
        raise _Wrong(f"가장 흔한 거리는 2인데 {distance}가 나왔습니다.")
    if _same(share, 4):
        raise _Wrong("횟수를 돌려주었습니다. 쌍의 수로 나누어 비율을 구하십시오.")
    if not _same(share, 4 / 9):
        raise _Wrong(f"비율은 4/9 ≈ 0.444여야 하는데 {share}가 나왔습니다.")
    return "맞습니다. 거리 2 하나만 외워도 44%는 맞힙니다."


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def _close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a.float(), b.float(), atol=1e-4)


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6)  # of NaN it is false


def _refuse(result: Tensor, mistake: Tensor, hint: str) -> None:
    if _close(result, mistake):
        raise _Wrong(hint)


def _mask(result: object, length: int) -> Tensor:
    return _boolean(_shaped(result, (length, length)))


def _boolean(result: Tensor) -> Tensor:
    if result.dtype != torch.bool:
        raise _Wrong(f"마스크는 torch.bool이어야 하는데 {result.dtype}입니다. 비교 연산의 결과를 쓰거나 .bool()을 붙이십시오.")
    return result


def _number(result: object, right: int, hints: dict[int | float, str], question: str) -> str:
    result = _scalar(result)
    if _same(result, right):
        return f"맞습니다. {question}일 때 {right:,}입니다."
    for mistake, hint in hints.items():
        if _same(result, mistake):
            raise _Wrong(hint)
    raise _Wrong(f"{question}일 때 {right:,}이어야 하는데 {result:,}이 나왔습니다.")

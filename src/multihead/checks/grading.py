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
from torch import Tensor

B, T, H, D_K = 2, 5, 3, 4  # all different, so that swapped axes show


class Wrong(Exception):
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
            raise Wrong(f"실행하다가 멈추었습니다. {type(error).__name__}: {error}") from error
        if result is None or result is ...:
            name = getattr(self.function, "__name__", "함수")
            raise Wrong(f"{name}: 아직 비어 있습니다. `return ...` 줄을 지우고 코드를 채우십시오.")
        tensors = [(a, b) for a, b in zip(arguments, given) if isinstance(a, Tensor)]
        self.changed_what_it_got = any(not torch.equal(a, b) for a, b in tensors)
        return result


def grader(check: Callable[[Callable], str]) -> Callable[[Callable], None]:
    """Print what ``check`` returns or the reason why it stopped."""

    @wraps(check)
    def grade(answer: Callable) -> None:
        if not callable(answer):
            print(f"✗ 결과가 아니라 함수를 넣으십시오: {check.__name__}(함수 이름). 받은 값: {type(answer).__name__}")
            return
        try:
            print(f"✓ {check(_Answer(answer))}")
        except Wrong as wrong:
            print(f"✗ {wrong}")
        except Exception as error:
            print(
                "✗ 채점기가 멈추었습니다. 답이 틀렸다는 뜻은 아니니, 이 줄과 함께 쓴 코드를 책의 저장소에 알려 주십시오. "
                f"{type(error).__name__}: {error}"
            )

    return grade


def as_tensor(result: object) -> Tensor:
    """What the reader computed, in PyTorch or in NumPy, as a tensor that keeps its gradient; floats as float32."""
    if isinstance(result, numpy.ndarray | numpy.generic) and result.dtype.kind in "biuf":
        result = torch.from_numpy(numpy.array(result))
    elif isinstance(result, numbers.Real):
        result = torch.tensor(float(result))
    if not isinstance(result, Tensor):
        raise Wrong(f"결과는 텐서여야 하는데 {type(result).__name__}입니다.")
    return result.cpu().float() if result.is_floating_point() else result.cpu()


def shaped(result: object, shape: tuple[int, ...]) -> Tensor:
    result = as_tensor(result)
    if shape == () and result.numel() == 1:
        return result.reshape(())
    if result.shape != shape:
        raise Wrong(f"모양이 다릅니다. 있어야 할 모양은 {shape}, 돌려준 모양은 {tuple(result.shape)}입니다.")
    return result


def as_scalar(result: object) -> int | float:
    """One number, whatever type it has."""
    if isinstance(result, Tensor | numpy.ndarray | numpy.generic):
        result = shaped(result, ()).item()
    if not isinstance(result, numbers.Real):
        raise Wrong(f"결과는 수여야 하는데 {type(result).__name__}입니다: {result!r}")
    return int(result) if result == result // 1 else float(result)


def as_scalars(result: object, names: Sequence[str]) -> tuple[int | float, ...]:
    """A row of numbers: a tuple, a list or an array of them."""
    row = result.tolist() if isinstance(result, Tensor | numpy.ndarray) else result
    if not isinstance(row, tuple | list) or len(row) != len(names):
        raise Wrong(f"({', '.join(names)})를 차례로 돌려주어야 하는데 {result!r}이 나왔습니다.")
    return tuple(map(as_scalar, row))


def as_truth(result: object) -> bool:
    number = as_scalar(result)
    if number not in (0, 1):
        raise Wrong(f"True나 False를 돌려주어야 하는데 {result!r}이 나왔습니다.")
    return bool(number)


def numbered_tensor(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


def random_tensor(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def is_close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a.float(), b.float(), atol=1e-4)


def is_same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6)  # of NaN it is false


def refuse(result: Tensor, mistake: Tensor, hint: str) -> None:
    if is_close(result, mistake):
        raise Wrong(hint)


def square_mask(result: object, length: int) -> Tensor:
    return boolean_mask(shaped(result, (length, length)))


def boolean_mask(result: Tensor) -> Tensor:
    if result.dtype != torch.bool:
        raise Wrong(f"마스크는 torch.bool이어야 하는데 {result.dtype}입니다. 비교 연산의 결과를 쓰거나 .bool()을 붙이십시오.")
    return result


def graded_number(result: object, right: int, hints: dict[int | float, str], question: str) -> str:
    result = as_scalar(result)
    if is_same(result, right):
        return f"맞습니다. {question}일 때 {right:,}입니다."
    for mistake, hint in hints.items():
        if is_same(result, mistake):
            raise Wrong(hint)
    raise Wrong(f"{question}일 때 {right:,}이어야 하는데 {result:,}이 나왔습니다.")

"""Graders of chapter 5: parameters and cost."""

from collections.abc import Callable

from .grading import graded_number, grader


@grader
def check_parameter_count(answer: Callable[[int, int], int]) -> str:
    """Grade ``answer(d_model, num_heads)``: parameters with biases, 4 D² + 4 D."""
    D, h = 96, 8
    hints = {
        4 * D * D: "편향 네 개를 빠뜨렸습니다.",
        4 * D * D + 2 * D: "편향을 둘만 셌습니다. W_Q, W_K, W_V, W_O에 하나씩 있습니다.",
        h * (4 * D * D + 4 * D): "헤드 수를 곱했습니다. 헤드가 늘면 d_k가 줄어 모두 합한 수는 그대로입니다.",
        3 * (D * D + D): "W_O를 빠뜨렸습니다.",
    }
    return graded_number(answer(D, h), 4 * D * D + 4 * D, hints, f"d_model = {D}, num_heads = {h}")


@grader
def check_crossing_length(answer: Callable[[int], int]) -> str:
    """Grade ``answer(d_model)``: the shortest T at which scores and weighted sum cost more than the projections."""
    D = 96
    hints = {
        2 * D: "그 길이에서는 둘이 같습니다. 커지기 시작하는 길이는 하나 더 깁니다.",
        D + 1: "투영은 넷이라 8TD²이고, 점수와 가중합은 합쳐서 4T²D입니다.",
        4 * D + 1: "점수만 세고 가중합을 빠뜨렸습니다.",
    }
    return graded_number(answer(D), 2 * D + 1, hints, f"d_model = {D}")


@grader
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
    return graded_number(answer(memory, h, length), memory // one, hints, question)

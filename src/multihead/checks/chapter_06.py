"""Graders of chapter 6: KV cache, MQA, GQA."""

from collections.abc import Callable

from torch import Tensor

from .grading import D_K, Wrong, as_scalar, graded_number, grader, is_close, random_tensor, refuse, shaped


@grader
def check_kv_head(answer: Callable[[int, int, int], int]) -> str:
    """Grade ``answer(query_head, num_heads, num_kv_heads)``: the KV head of a query head, both from 0."""
    h, g = 12, 3
    given = [as_scalar(answer(i, h, g)) for i in range(h)]
    for mistake, hint in (
        ([i % g for i in range(h)], "나머지를 썼습니다. repeat처럼 번갈아 짝지어지므로 이웃한 헤드가 흩어집니다."),
        ([i // g for i in range(h)], "무리의 수가 아니라 한 무리의 크기 h/g로 나누어야 합니다."),
        ([i // (h // g) + 1 for i in range(h)], "1부터 셌습니다. 번호는 0부터입니다."),
    ):
        if given == mistake:
            raise Wrong(hint)
    if given != [i // (h // g) for i in range(h)]:
        raise Wrong(f"h = {h}, g = {g}일 때 쿼리 헤드 0부터 차례로 {given}이 나왔습니다. 이웃한 {h // g}개가 한 무리입니다.")
    return "맞습니다. 이웃한 쿼리 헤드가 KV 헤드 하나를 나누어 씁니다."


@grader
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
    return graded_number(answer(layers, h, g, D, tokens), right, hints, f"층 {layers}개, h = {h}, g = {g}, d_model = {D}, 토큰 {tokens}개")


@grader
def check_pool_kv_heads(answer: Callable[[Tensor, int, int], Tensor]) -> str:
    """Grade ``answer(weight, num_heads, num_kv_heads)``: W_K.weight (h d_k, D) -> (g d_k, D), mean over a group."""
    h, g = 6, 2
    weight = random_tensor(h * D_K, h * D_K)
    result = shaped(answer(weight, h, g), (g * D_K, h * D_K))
    for mistake, hint in (
        (weight.view(h // g, g, D_K, -1).mean(0), "떨어져 있는 헤드를 묶었습니다. 이웃한 헤드 h/g개가 한 무리입니다."),
        (weight.view(g, h // g, D_K, -1)[:, 0], "무리마다 첫 헤드만 남겼습니다. 무리의 헤드를 모두 평균하십시오."),
        (weight.view(g, h // g, D_K, -1).sum(1), "평균이 아니라 합입니다. 키가 h/g배로 커져 점수도 커집니다."),
        (weight.view(g, D_K, h // g, -1).mean(2), "헤드가 아니라 이웃한 행을 평균했습니다. 행은 헤드마다 d_k개씩 묶여 있습니다."),
    ):
        refuse(result, mistake.reshape(result.shape), hint)
    if not is_close(result, weight.view(g, h // g, D_K, -1).mean(1).flatten(0, 1)):
        raise Wrong("모양은 맞지만 값이 다릅니다. (g, h/g, d_k, D)로 나누어 무리 안의 헤드에 걸쳐 평균하십시오.")
    return "맞습니다. 무리마다 이웃한 헤드의 투영을 평균했습니다."

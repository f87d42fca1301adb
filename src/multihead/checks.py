"""Graders of the exercises: each says in Korean what is right, or what is wrong and why it may have happened.

A grader prints and never raises, so that a notebook runs to its end whatever its reader has written so far.
"""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

from .attention import attention_weights, causal_mask, merge_heads, scaled_dot_product_attention, split_heads

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
                raise _Wrong(f"{answer.__name__}: 아직 비어 있습니다. `return ...` 줄을 지우고 코드를 채우십시오.")
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
    if not torch.equal(result, split_heads(x, H)):
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
        (1, 3): "쿼리와 키가 뒤바뀌었습니다. 가중치는 weights[층, 헤드, 쿼리, 키] 순서입니다.",
        (1, 2): "다른 토큰의 가중치까지 보았습니다. weights[:, :, query, key]에서만 가장 큰 것을 찾으십시오.",
    }
    if hint := hints.get(result, f"있어야 할 답은 (2, 1)인데 {result}이 나왔습니다."):
        raise _Wrong(hint)
    return "맞습니다. 펼친 번호를 층과 헤드로 바르게 되돌렸습니다."


@_grader
def check_mean_entropy(answer: Callable[[Tensor], Tensor]) -> str:
    """Grade ``answer(weights)``: (layers, h, T, T) -> entropy of the rows in nats, the mean of each head, (layers, h)."""
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
    """Grade ``answer(weights)``: (layers, h, T, T) -> how many heads give key 0 most, without the first and last query."""
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
    tangled = scaled_dot_product_attention(*((x @ W).view(B, H, T, D_K) for W in (W_Q, W_K, W_V)))[0]
    for mistake, hint in (
        (right, "W_O를 곱하지 않았습니다."),
        (one_head @ W_O, "헤드로 나누지 않고 폭 전체로 어텐션을 한 번만 계산했습니다."),
        (full_width @ W_O, "√d_model이 아니라 √d_k로 나누어야 합니다. 헤드의 폭은 d_k입니다."),
        (tangled.reshape(B, T, D) @ W_O, "view(B, h, T, d_k)로 바로 나누어 토큰이 섞였습니다."),
        (right.view(B, T, H, D_K).transpose(1, 2).reshape(B, T, D) @ W_O, "합치기 전에 transpose(1, 2)를 빠뜨렸습니다."),
        (right @ W_O.T, "W_O를 뒤집어 곱했습니다. 이 연습에서는 x @ W 순서입니다."),
    ):
        _refuse(result, mistake, hint)
    if not _close(result, right @ W_O):
        raise _Wrong("모양은 맞지만 값이 다릅니다. 투영, 나누기, 어텐션, 합치기, W_O 순서로 하나씩 확인하십시오.")
    return "맞습니다. 멀티헤드 어텐션을 처음부터 끝까지 계산했습니다."


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
def check_kv_head(answer: Callable[[int, int, int], int]) -> str:
    """Grade ``answer(query_head, num_heads, num_kv_heads)``: the KV head of a query head, both from 0."""
    h, g = 12, 3
    given = [answer(i, h, g) for i in range(h)]
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


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def _close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, atol=1e-4)


def _refuse(result: Tensor, mistake: Tensor, hint: str) -> None:
    if _close(result.float(), mistake.float()):
        raise _Wrong(hint)


def _mask(result: object, length: int) -> Tensor:
    result = _shaped(result, (length, length))
    if result.dtype != torch.bool:
        raise _Wrong(f"마스크는 torch.bool이어야 하는데 {result.dtype}입니다. 비교 연산의 결과를 쓰거나 .bool()을 붙이십시오.")
    return result


def _number(result: object, right: int, hints: dict[int, str], question: str) -> str:
    if result == right:
        return f"맞습니다. {question}일 때 {right:,}입니다."
    raise _Wrong(hints.get(result, f"{question}일 때 {right:,}이어야 하는데 {result:,}이 나왔습니다."))

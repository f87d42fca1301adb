"""Graders of chapter 4: the output projection."""

from collections.abc import Callable

from torch import Tensor

from ..attention import attention_weights, merge_heads, scaled_dot_product_attention, split_heads
from .grading import D_K, B, H, T, Wrong, as_tensor, grader, is_close, numbered_tensor, random_tensor, refuse, shaped


@grader
def check_head_contributions(answer: Callable[[Tensor, Tensor], Tensor]) -> str:
    """Grade ``answer(heads, W_O)``: (B, h, T, d_k), (D, D) -> what each head adds to the output, (B, h, T, D)."""
    heads, W_O = random_tensor(B, H, T, D_K), random_tensor(H * D_K, H * D_K)
    result = shaped(answer(heads, W_O), (B, H, T, H * D_K))
    columns = W_O.view(-1, H, D_K).permute(1, 2, 0)  # blocks of columns instead of rows
    refuse(result, heads @ columns, "W_O의 열을 나누었습니다. 헤드의 출력과 만나는 것은 W_O의 행입니다.")
    refuse(result, heads @ W_O.view(D_K, H, -1).transpose(0, 1), "행을 h칸씩 건너뛰며 묶었습니다. 이웃한 d_k행이 한 헤드의 것입니다.")
    if not is_close(result.sum(1), merge_heads(heads) @ W_O):
        raise Wrong("헤드에 걸쳐 더하면 Concat(heads) @ W_O와 같아야 하는데 다릅니다.")
    if not is_close(result, heads @ W_O.view(H, D_K, -1)):
        raise Wrong("더한 값은 맞지만 헤드마다의 기여가 다릅니다.")
    return "맞습니다. 기여를 모두 더하면 출력이 됩니다."


@grader
def check_multi_head_attention(answer: Callable) -> str:
    """Grade ``answer(x, W_Q, W_K, W_V, W_O, num_heads)``: all of multi-head attention from four (D, D) matrices."""
    D = H * D_K
    x, (W_Q, W_K, W_V, W_O) = random_tensor(B, T, D), random_tensor(4, D, D) / D**0.5
    result = shaped(answer(x, W_Q, W_K, W_V, W_O, H), (B, T, D))
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
        refuse(result, mistake, hint)
    if not is_close(result, right @ W_O):
        raise Wrong("모양은 맞지만 값이 다릅니다. 투영, 나누기, 어텐션, 합치기, W_O 순서로 하나씩 확인하십시오.")
    return "맞습니다. 멀티헤드 어텐션을 처음부터 끝까지 계산했습니다."


@grader
def check_head_matrices(answer: Callable[[Tensor, int, int], Tensor]) -> str:
    """Grade ``answer(in_proj_weight, head, num_heads)``: (3 D, D) -> W_Q, W_K, W_V of a head, (3, D, d_k)."""
    D, head = H * D_K, 1
    weight = numbered_tensor(3 * D, D)
    result = as_tensor(answer(weight, head, H))
    if result.shape == (3, D_K, D):
        raise Wrong("전치를 빠뜨렸습니다. nn.Linear의 weight는 (출력, 입력)이지만 x @ W에는 (입력, 출력)이 필요합니다.")
    result = shaped(result, (3, D, D_K))
    for mistake, hint in (
        (weight.view(H, 3, D_K, D)[head].mT, "헤드마다 Q, K, V가 번갈아 있다고 보았습니다. W_Q가 통째로 먼저 옵니다."),
        (weight.view(3, H, D_K, D)[:, head - 1].mT, "헤드를 1부터 셌습니다. 번호는 0부터입니다."),
        (weight.view(3, D_K, H, D)[:, :, head].mT, "행을 h칸씩 건너뛰며 골랐습니다. 이웃한 d_k행이 한 헤드의 것입니다."),
        (weight.view(3, D, H, D_K)[:, :, head], "열을 나누었습니다. weight는 (출력, 입력)이라 헤드의 몫은 행입니다."),
    ):
        refuse(result, mistake, hint)
    if not is_close(result, weight.view(3, H, D_K, D)[:, head].mT):
        raise Wrong("모양은 맞지만 값이 다릅니다. 셋으로 나눈 다음 헤드의 d_k행을 고르고 전치하십시오.")
    return "맞습니다. PyTorch가 한 덩어리로 저장한 행렬에서 헤드 하나를 꺼냈습니다."

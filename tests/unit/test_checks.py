"""Graders: plausible mistakes get the fitting hint, differently written right answers pass, and nothing ever raises."""

import pytest
import torch

from multihead import causal_mask, merge_heads, scaled_dot_product_attention, split_heads
from multihead.checks import (
    check_attention,
    check_cache_bytes,
    check_causal_mask,
    check_crossing_length,
    check_head_contributions,
    check_kv_head,
    check_mean_entropy,
    check_merge_heads,
    check_multi_head_attention,
    check_parameter_count,
    check_sink_heads,
    check_sliding_window,
    check_split_heads,
    check_strongest_head,
)

SPLIT_RIGHT = [
    lambda x, h: x.view(*x.shape[:2], h, -1).transpose(1, 2),
    lambda x, h: torch.stack(x.chunk(h, -1), 1),
    lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3),
]
SPLIT_WRONG = {
    "토큰이 섞였습니다": lambda x, h: x.view(x.shape[0], h, x.shape[1], -1),
    "건너뛰며": lambda x, h: x.view(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
    "모양이 다릅니다": lambda x, h: x.view(*x.shape[:2], h, -1),
    "값이 다릅니다": lambda x, h: torch.stack(x.chunk(h, -1), 1).flip(1),
    "아직 비어 있습니다": lambda x, h: None,
    "텐서여야 하는데 list": lambda x, h: list(x.chunk(h, -1)),
    "ZeroDivisionError": lambda x, h: x / (1 // 0),
}
MERGE_RIGHT = [
    lambda heads: heads.transpose(1, 2).flatten(2),
    lambda heads: torch.cat(heads.unbind(1), -1),
    lambda heads: heads.permute(0, 2, 1, 3).contiguous().view(heads.shape[0], heads.shape[2], -1),
]
MERGE_WRONG = {
    "다른 토큰의 숫자": lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1),
    "한 칸씩 번갈아": lambda heads: heads.permute(0, 2, 3, 1).flatten(2),
    "모양이 다릅니다": lambda heads: heads.transpose(1, 2),
    "값이 다릅니다": lambda heads: torch.cat(heads.unbind(1)[::-1], -1),
    "아직 비어 있습니다": lambda heads: ...,
    "RuntimeError": lambda heads: heads.view(heads.shape[0], heads.shape[2], -1),
}


def by_divmod(weights, query, key):
    layer, head = divmod(weights[:, :, query, key].argmax().item(), weights.shape[1])
    return layer + 1, head + 1


def by_unravel(weights, query, key):
    return tuple(i + 1 for i in torch.unravel_index(weights[..., query, key].argmax(), weights.shape[:2]))


STRONGEST_RIGHT = [by_divmod, by_unravel]
STRONGEST_WRONG = {
    "0부터 센": lambda w, q, k: tuple(i - 1 for i in by_divmod(w, q, k)),
    "뒤바뀌었습니다": lambda w, q, k: by_divmod(w, k, q),
    "다른 토큰": lambda w, q, k: by_divmod(w.amax((-1, -2))[..., None, None], 0, 0),
    "있어야 할 답은": lambda w, q, k: (2, 3),
    "아직 비어 있습니다": lambda w, q, k: None,
    "TypeError": lambda w, q, k: 4,
}

ENTROPY_RIGHT = [
    lambda w: -torch.special.xlogy(w, w).sum(-1).mean(-1),
    lambda w: torch.distributions.Categorical(probs=w.clamp_min(1e-9)).entropy().mean(-1),
]
ENTROPY_WRONG = {
    "NaN": lambda w: -(w * w.log()).sum(-1).mean(-1),
    "부호": lambda w: torch.special.xlogy(w, w).sum(-1).mean(-1),
    "밑이 2인": lambda w: -(w * w.clamp_min(1e-9).log2()).sum(-1).mean(-1),
    "평균이 아니라 합": lambda w: torch.special.entr(w).mean((-1, -2)),
    "걸쳐 더했습니다": lambda w: torch.special.entr(w).sum((-1, -2)),
    "가중치부터 평균": lambda w: torch.special.entr(w.mean(2)).sum(-1),
    "값이 다릅니다": lambda w: torch.special.entr(w).sum(-1).amax(-1),
    "모양이 다릅니다": lambda w: torch.special.entr(w).sum(-1),
    "아직 비어 있습니다": lambda w: None,
}

SINKS_RIGHT = [
    lambda w: (w[:, :, 1:-1].mean(2).argmax(-1) == 0).sum().item(),
    lambda w: sum(head[1:-1].sum(0).argmax() == 0 for layer in w for head in layer),
]
SINKS_WRONG = {
    "쿼리인 행까지": lambda w: (w.mean(2).argmax(-1) == 0).sum().item(),
    "쿼리와 키가 뒤바뀌었습니다": lambda w: (w[..., 1:-1].mean(3).argmax(-1) == 0).sum().item(),
    "다른 모든 토큰보다": lambda w: (w[:, :, 1:-1, 0].mean(2) > 0.2).sum().item(),
    "마지막 토큰을": lambda w: (w[:, :, 1:-1].mean(2).argmax(-1) == w.shape[-1] - 1).sum().item(),
    "2이어야 하는데 6이": lambda w: w[..., 0, 0].numel(),
    "아직 비어 있습니다": lambda w: ...,
}

ATTENTION_RIGHT = [
    lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v,
    lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0],
]
ATTENTION_WRONG = {
    "√d_k로 나누지 않았습니다": lambda q, k, v: (q @ k.T).softmax(-1) @ v,
    "제곱근": lambda q, k, v: (q @ k.T / q.shape[-1]).softmax(-1) @ v,
    "축이 다릅니다": lambda q, k, v: (q @ k.T / q.shape[-1] ** 0.5).softmax(0) @ v,
    "소프트맥스를 거치지": lambda q, k, v: q @ k.T / q.shape[-1] ** 0.5 @ v,
    "아직 비어 있습니다": lambda q, k, v: None,
    "모양이 다릅니다": lambda q, k, v: (q @ k.T / q.shape[-1] ** 0.5).softmax(-1),
}

CAUSAL_RIGHT = [causal_mask, lambda T: torch.arange(T)[:, None] >= torch.arange(T)]
CAUSAL_WRONG = {
    "뒤바뀌었습니다. 이 책": lambda T: ~causal_mask(T),
    "미래만": lambda T: causal_mask(T).T,
    "자기 자신도": lambda T: causal_mask(T).tril(-1),
    "torch.bool": lambda T: torch.ones(T, T).tril(),
    "첫 행은 첫 칸만": lambda T: torch.ones(T, T, dtype=torch.bool),
}

CONTRIBUTIONS_RIGHT = [
    lambda heads, W: heads @ W.view(heads.shape[1], heads.shape[3], -1),
    lambda heads, W: torch.stack([x @ w for x, w in zip(heads.unbind(1), W.chunk(heads.shape[1]))], 1),
]
CONTRIBUTIONS_WRONG = {
    "W_O의 열": lambda heads, W: heads @ W.view(-1, heads.shape[1], heads.shape[3]).permute(1, 2, 0),
    "건너뛰며": lambda heads, W: heads @ W.view(heads.shape[3], heads.shape[1], -1).transpose(0, 1),
    "모양이 다릅니다": lambda heads, W: merge_heads(heads) @ W,
    "W_O와 같아야": lambda heads, W: 2 * (heads @ W.view(heads.shape[1], heads.shape[3], -1)),
}


def whole_attention(x, W_Q, W_K, W_V, W_O, h, split=split_heads, merge=merge_heads, **options):
    q, k, v = (split(x @ W, h) for W in (W_Q, W_K, W_V))
    return merge(scaled_dot_product_attention(q, k, v, **options)[0]) @ W_O


def by_loop(x, W_Q, W_K, W_V, W_O, h):
    heads = zip(*((x @ W).chunk(h, -1) for W in (W_Q, W_K, W_V)))
    return torch.cat([(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v for q, k, v in heads], -1) @ W_O


def view_only(x, h):
    return x.view(x.shape[0], h, x.shape[1], -1)


def reshape_only(heads):
    return heads.reshape(heads.shape[0], heads.shape[2], -1)


MULTI_HEAD_RIGHT = [whole_attention, by_loop]
MULTI_HEAD_WRONG = {
    "W_O를 곱하지": lambda x, q, k, v, o, h: whole_attention(x, q, k, v, torch.eye(len(o)), h),
    "헤드로 나누지 않고": lambda x, q, k, v, o, h: whole_attention(x, q, k, v, o, 1),
    "√d_model이 아니라": lambda x, q, k, v, o, h: whole_attention(x, q, k, v, o, h, scale=len(o) ** -0.5),
    "토큰이 섞였습니다": lambda x, *W: whole_attention(x, *W, split=view_only, merge=reshape_only),
    "합치기 전에": lambda x, *W: whole_attention(x, *W, merge=reshape_only),
    "뒤집어": lambda x, q, k, v, o, h: whole_attention(x, q, k, v, o.T, h),
}

PARAMETERS_RIGHT = [lambda D, h: 4 * D**2 + 4 * D, lambda D, h: 4 * D * (D + 1)]
PARAMETERS_WRONG = {
    "편향 네 개를": lambda D, h: 4 * D * D,
    "둘만": lambda D, h: 4 * D * D + 2 * D,
    "헤드 수를 곱했습니다": lambda D, h: h * (4 * D * D + 4 * D),
    "W_O를 빠뜨렸습니다": lambda D, h: 3 * D * (D + 1),
    "이어야 하는데": lambda D, h: 7,
}

CROSSING_RIGHT = [
    lambda D: 2 * D + 1,
    lambda D: next(T for T in range(1, 10**6) if 4 * T * T * D > 8 * T * D * D),
]
CROSSING_WRONG = {
    "둘이 같습니다": lambda D: 2 * D,
    "가중합을 빠뜨렸습니다": lambda D: 4 * D + 1,
    "투영은 넷": lambda D: D + 1,
    "이어야 하는데": lambda D: D**2,
}

KV_HEAD_RIGHT = [lambda i, h, g: i // (h // g), lambda i, h, g: torch.arange(g).repeat_interleave(h // g)[i].item()]
KV_HEAD_WRONG = {
    "나머지": lambda i, h, g: i % g,
    "크기 h/g로": lambda i, h, g: i // g,
    "1부터": lambda i, h, g: i // (h // g) + 1,
    "한 무리입니다": lambda i, h, g: 0,
}


def right_cache_bytes(layers, h, g, D, tokens):
    return 2 * layers * g * (D // h) * tokens * 2


CACHE_RIGHT = [right_cache_bytes, lambda layers, h, g, D, tokens: layers * tokens * g * D * 4 // h]
CACHE_WRONG = {
    "하나만 셌거나": lambda *a: right_cache_bytes(*a) // 2,
    "쿼리 헤드의 수를": lambda layers, h, g, D, tokens: right_cache_bytes(layers, h, h, D, tokens),
    "헤드 하나의 폭은": lambda layers, h, g, D, tokens: 2 * layers * g * D * tokens * 2,
    "층의 수를": lambda layers, h, g, D, tokens: right_cache_bytes(1, h, g, D, tokens),
    "4바이트": lambda *a: right_cache_bytes(*a) * 2,
    "이어야 하는데": lambda *a: 1,
}


def window_by_distance(T, window):
    distance = torch.arange(T)[:, None] - torch.arange(T)
    return (0 <= distance) & (distance < window)


WINDOW_RIGHT = [window_by_distance, lambda T, w: causal_mask(T) ^ causal_mask(T).tril(-w)]
WINDOW_WRONG = {
    "뒤바뀌었습니다": lambda T, w: ~window_by_distance(T, w),
    "한 칸 더": lambda T, w: window_by_distance(T, w + 1),
    "먼 과거": lambda T, w: causal_mask(T),
    "미래도": lambda T, w: window_by_distance(T, w) | window_by_distance(T, w).T,
    "torch.bool": lambda T, w: window_by_distance(T, w).int(),
}

EXERCISES = [
    (check_split_heads, SPLIT_RIGHT, SPLIT_WRONG),
    (check_merge_heads, MERGE_RIGHT, MERGE_WRONG),
    (check_strongest_head, STRONGEST_RIGHT, STRONGEST_WRONG),
    (check_mean_entropy, ENTROPY_RIGHT, ENTROPY_WRONG),
    (check_sink_heads, SINKS_RIGHT, SINKS_WRONG),
    (check_attention, ATTENTION_RIGHT, ATTENTION_WRONG),
    (check_causal_mask, CAUSAL_RIGHT, CAUSAL_WRONG),
    (check_head_contributions, CONTRIBUTIONS_RIGHT, CONTRIBUTIONS_WRONG),
    (check_multi_head_attention, MULTI_HEAD_RIGHT, MULTI_HEAD_WRONG),
    (check_parameter_count, PARAMETERS_RIGHT, PARAMETERS_WRONG),
    (check_crossing_length, CROSSING_RIGHT, CROSSING_WRONG),
    (check_kv_head, KV_HEAD_RIGHT, KV_HEAD_WRONG),
    (check_cache_bytes, CACHE_RIGHT, CACHE_WRONG),
    (check_sliding_window, WINDOW_RIGHT, WINDOW_WRONG),
]


@pytest.mark.parametrize("grade, answer", [(grade, answer) for grade, right, _ in EXERCISES for answer in right])
def test_right_answers_pass_however_they_are_written(grade, answer, capsys):
    grade(answer)
    assert capsys.readouterr().out.startswith("✓ 맞습니다")


@pytest.mark.parametrize(
    "grade, hint, answer", [(grade, hint, answer) for grade, _, wrong in EXERCISES for hint, answer in wrong.items()]
)
def test_mistakes_get_the_fitting_hint(grade, hint, answer, capsys):
    grade(answer)
    said = capsys.readouterr().out
    assert said.startswith("✗ ") and hint in said

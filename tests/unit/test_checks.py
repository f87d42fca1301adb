"""Graders: plausible mistakes get the fitting hint, differently written right answers pass, and nothing ever raises."""

import functools
import sys
from collections import Counter

import numpy as np
import pytest
import torch

from multihead import causal_mask, checks, merge_heads, padding_mask, scaled_dot_product_attention, split_heads
from multihead.checks import (
    check_attention,
    check_best_distance,
    check_best_offset,
    check_both_right,
    check_cache_bytes,
    check_causal_mask,
    check_crossing_length,
    check_head_accuracy,
    check_head_contributions,
    check_head_matrices,
    check_heads_off,
    check_kv_head,
    check_largest_batch,
    check_masked_attention,
    check_masked_loss,
    check_mean_entropy,
    check_merge_heads,
    check_multi_head_attention,
    check_neighbour_share,
    check_padded_causal_mask,
    check_parameter_count,
    check_pool_kv_heads,
    check_sees_the_future,
    check_sink_heads,
    check_sliding_window,
    check_split_heads,
    check_strongest_head,
    check_switched_off,
    check_word_map,
    grading,
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
    "(층, 헤드)를 차례로": lambda w, q, k: 4,
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
    "√d_k로 나누지 않았습니다": lambda x, *W: whole_attention(x, *W, scale=1.0),
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


def share_by_index(weights, offset):
    query = torch.arange(1, weights.shape[-1] - 1)
    return weights[:, query, query + offset].mean(-1)


SHARE_RIGHT = [
    share_by_index,
    lambda w, offset: torch.stack([w[:, i, i + offset] for i in range(1, w.shape[-1] - 1)]).mean(0),
]
SHARE_WRONG = {
    "뒤바뀌었습니다": lambda w, offset: share_by_index(w, -offset),
    "양 끝의 쿼리": lambda w, offset: w.diagonal(offset, -2, -1).mean(-1),
    "더하기만": lambda w, offset: share_by_index(w, offset) * (w.shape[-1] - 2),
    "모양이 다릅니다": lambda w, offset: share_by_index(w, offset).mean(),
    "offset = -1일 때": lambda w, offset: share_by_index(w, 0),
    "offset = 1일 때": lambda w, offset: share_by_index(w, min(offset, 0)),
    "아직 비어 있습니다": lambda w, offset: ...,
}


def hits(left, right, tokens):
    return left.argmax(-1)[:, 1:-1] == tokens[:, :-2], right.argmax(-1)[:, 1:-1] == tokens[:, 2:]


def rate(hit):
    return hit.float().mean()


def by_counting(left, right, tokens):
    B, T = tokens.shape
    inside = [(b, t) for b in range(B) for t in range(1, T - 1)]
    says = [(left[b, t].argmax(), right[b, t].argmax()) for b, t in inside]
    wanted = [(tokens[b, t - 1], tokens[b, t + 1]) for b, t in inside]
    return sum(a == b for a, b in zip(says, wanted)) / len(inside)


BOTH_RIGHT = [lambda *given: rate(hits(*given)[0] & hits(*given)[1]), by_counting]
BOTH_WRONG = {
    "평균했습니다": lambda *given: (rate(hits(*given)[0]) + rate(hits(*given)[1])) / 2,
    "곱했습니다": lambda *given: rate(hits(*given)[0]) * rate(hits(*given)[1]),
    "하나만 맞은": lambda *given: rate(hits(*given)[0] | hits(*given)[1]),
    "뒤바뀌었습니다": lambda left, right, tokens: BOTH_RIGHT[0](right, left, tokens),
    "양 끝의": lambda left, right, tokens: rate(
        (left.argmax(-1) == tokens.roll(1, 1)) & (right.argmax(-1) == tokens.roll(-1, 1))
    ),
    "개수를": lambda *given: (hits(*given)[0] & hits(*given)[1]).sum(),
    "값이 다릅니다": lambda *given: 2.0,
    "RuntimeError": lambda left, right, tokens: rate(left.argmax(-1) == tokens[:, 2:]),
}


def with_columns(weight, keep):
    return torch.where(keep, weight, 0)


def block_of(weight, h):
    return torch.arange(len(weight)) // (len(weight) // h)


def by_slice(weight, head, h):
    d_k = len(weight) // h
    weight = weight.clone()
    weight[:, head * d_k : (head + 1) * d_k] = 0
    return weight


def in_place(weight, head, h):
    weight[:, block_of(weight, h) == head] = 0
    return weight


OFF_RIGHT = [by_slice, lambda W, head, h: with_columns(W, block_of(W, h) != head)]
OFF_WRONG = {
    "clone()": in_place,
    "행을 지웠습니다": lambda W, head, h: by_slice(W.T, head, h).T,
    "1부터 셌습니다": lambda W, head, h: by_slice(W, head - 1, h),
    "건너뛰며": lambda W, head, h: with_columns(W, torch.arange(len(W)) % h != head),
    "이 헤드만 남겼습니다": lambda W, head, h: with_columns(W, block_of(W, h) == head),
    "아무것도": lambda W, head, h: W.clone(),
    "값이 다릅니다": lambda W, head, h: torch.zeros_like(W),
}


def masked_by_hand(q, k, v, mask, scale=2, hide=lambda scores, mask: scores.masked_fill(~mask, float("-inf"))):
    return hide(q @ k.mT / scale, mask).softmax(-1).nan_to_num() @ v


MASKED_RIGHT = [
    masked_by_hand,
    lambda q, k, v, m: torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=m),
]
MASKED_WRONG = {
    "그 행을 0으로": lambda q, k, v, m: (q @ k.mT / 2).masked_fill(~m, float("-inf")).softmax(-1) @ v,
    "마스크를 뒤집어": lambda q, k, v, m: masked_by_hand(q, k, v, ~m),
    "마스크를 쓰지": lambda q, k, v, m: masked_by_hand(q, k, v, m, hide=lambda scores, mask: scores),
    "소프트맥스 뒤에": lambda q, k, v, m: (q @ k.mT / 2).softmax(-1) * m @ v,
    "0을 넣었습니다": lambda q, k, v, m: masked_by_hand(q, k, v, m, hide=torch.mul),
    "√d_k로 나누지": lambda q, k, v, m: masked_by_hand(q, k, v, m, scale=1),
    "모든 값의 평균": lambda q, k, v, m: masked_by_hand(q, k, v, m, hide=lambda s, mask: s.masked_fill(~mask, -1e9)),
    "하나씩 확인": lambda q, k, v, m: 2 * masked_by_hand(q, k, v, m),
    "기울기에 nan": lambda q, k, v, m: masked_by_hand(q, k, v, m, hide=lambda s, mask: s + mask.float().log()),
}


def future_by_change(attend, T, D, changed=-1, watched=slice(0, -1)):
    x = torch.randn(1, T, D, generator=torch.Generator().manual_seed(5))
    other = x.clone()
    other[:, changed] += 1
    return not torch.allclose(attend(other)[:, watched], attend(x)[:, watched])


def future_by_gradient(attend, T, D):
    x = torch.randn(1, T, D, requires_grad=True)
    return any(torch.autograd.grad(attend(x)[0, t].sum(), x)[0][0, t + 1 :].abs().sum() > 0 for t in range(T - 1))


FUTURE_RIGHT = [future_by_change, future_by_gradient]
FUTURE_WRONG = {
    "마스크가 없는 구현을": lambda attend, T, D: False,
    "바른 구현을 의심": lambda attend, T, D: future_by_change(attend, T, D, changed=0),
    "앞선 출력만": lambda attend, T, D: future_by_change(attend, T, D, watched=slice(None)),
    "잘못 합친": lambda attend, T, D: future_by_change(attend, T, D, watched=slice(0, 1)),
    "한 칸 앞만": lambda attend, T, D: future_by_change(attend, T, D, watched=slice(0, 2)),
    "아직 비어": lambda attend, T, D: None,
}

MATRICES_RIGHT = [
    lambda W, i, h: W.view(3, h, -1, W.shape[1])[:, i].mT,
    lambda W, i, h: torch.stack([part.chunk(h)[i].T for part in W.chunk(3)]),
]
MATRICES_WRONG = {
    "전치를 빠뜨렸습니다": lambda W, i, h: W.view(3, h, -1, W.shape[1])[:, i],
    "번갈아 있다고": lambda W, i, h: W.view(h, 3, -1, W.shape[1])[i].mT,
    "1부터": lambda W, i, h: W.view(3, h, -1, W.shape[1])[:, i - 1].mT,
    "건너뛰며": lambda W, i, h: W.view(3, -1, h, W.shape[1])[:, :, i].mT,
    "열을 나누었습니다": lambda W, i, h: torch.stack([part.chunk(h, 1)[i] for part in W.chunk(3)]),
    "값이 다릅니다": lambda W, i, h: W.view(3, h, -1, W.shape[1])[:, i].mT.flip(0),
}

BATCH_RIGHT = [lambda memory, h, T: memory // (2 * h * T * T), lambda memory, h, T: int(memory / h / T**2 / 2)]
BATCH_WRONG = {
    "올림": lambda memory, h, T: -(-memory // (2 * h * T * T)),
    "정수여야": lambda memory, h, T: memory / (2 * h * T * T),
    "4바이트": lambda memory, h, T: memory // (4 * h * T * T),
    "1바이트": lambda memory, h, T: memory // (h * T * T),
    "헤드 수를 빠뜨렸습니다": lambda memory, h, T: memory // (2 * T * T),
    "T를 한 번만": lambda memory, h, T: memory // (2 * h * T),
    "이어야 하는데": lambda memory, h, T: 1,
}

POOL_RIGHT = [
    lambda W, h, g: W.view(g, h // g, W.shape[0] // h, -1).mean(1).flatten(0, 1),
    lambda W, h, g: torch.cat([sum(group.chunk(h // g)) / (h // g) for group in W.chunk(g)]),
]
POOL_WRONG = {
    "떨어져 있는": lambda W, h, g: W.view(h // g, g, W.shape[0] // h, -1).mean(0).flatten(0, 1),
    "첫 헤드만": lambda W, h, g: torch.cat([group.chunk(h // g)[0] for group in W.chunk(g)]),
    "평균이 아니라 합": lambda W, h, g: (h // g) * POOL_RIGHT[0](W, h, g),
    "이웃한 행을": lambda W, h, g: W.view(W.shape[0] * g // h, h // g, -1).mean(1),
    "모양이 다릅니다": lambda W, h, g: W,
    "값이 다릅니다": lambda W, h, g: POOL_RIGHT[0](W, h, g).flip(0),
}

PADDED_RIGHT = [
    lambda lengths, T: causal_mask(T) & padding_mask(lengths, T),
    lambda lengths, T: torch.stack([causal_mask(T) & (torch.arange(T) < n) for n in lengths])[:, None],
]
PADDED_WRONG = {
    "뒤바뀌었습니다": lambda lengths, T: ~(causal_mask(T) & padding_mask(lengths, T)),
    "둘 다 허락할": lambda lengths, T: causal_mask(T) | padding_mask(lengths, T),
    "패딩을 가리지": lambda lengths, T: causal_mask(T).expand(len(lengths), 1, T, T),
    "미래를 가리지": lambda lengths, T: padding_mask(lengths, T).expand(-1, 1, T, T),
    "패딩의 행을": lambda lengths, T: causal_mask(T) & padding_mask(lengths, T).mT,
    "모양이 다릅니다": lambda lengths, T: (causal_mask(T) & padding_mask(lengths, T))[:, 0],
    "torch.bool": lambda lengths, T: (causal_mask(T) & padding_mask(lengths, T)).int(),
}


def members(words):
    """(T, W): 1 where token t is a piece of word w."""
    count = 1 + max(word for word in words if word is not None)
    return torch.tensor([[float(word == w) for w in range(count)] for word in words])


def word_map_by_matrices(weights, words, of_rows=lambda m: m / m.sum(0), of_columns=lambda m: m):
    return of_rows(members(words)).T @ weights @ of_columns(members(words))


def word_map_by_loop(weights, words):
    count = 1 + max(word for word in words if word is not None)
    result = torch.zeros(count, count)
    for i in range(count):
        rows = torch.stack([row for row, word in zip(weights, words) if word == i]).mean(0)
        for j in range(count):
            result[i, j] = sum(weight for weight, word in zip(rows, words) if word == j)
    return result


def mean_of(m):
    return m / m.sum(0)


WORD_MAP_RIGHT = [word_map_by_matrices, word_map_by_loop]
WORD_MAP_WRONG = {
    "모두 평균": lambda w, words: word_map_by_matrices(w, words, mean_of, mean_of),
    "모두 더했습니다": lambda w, words: word_map_by_matrices(w, words, lambda m: m),
    "더하기와 평균이": lambda w, words: word_map_by_matrices(w, words, lambda m: m, mean_of),
    "행과 열이": lambda w, words: word_map_by_matrices(w, words).T,
    "모양이 다릅니다": lambda w, words: w[1:-1, 1:-1],
    "값이 다릅니다": lambda w, words: word_map_by_matrices(w, words) / 2,
}


def accuracy_by_loop(weights, pairs):
    right = 0
    for i, j in pairs:
        right += j == max((k for k in range(len(weights)) if k != i), key=lambda k: weights[i, k])
    return right / len(pairs)


def accuracy_by_argmax(weights, pairs):
    weights.fill_diagonal_(0)
    queries, keys = torch.tensor(pairs).T
    return (weights.argmax(-1)[queries] == keys).float().mean()


HEAD_ACCURACY_RIGHT = [accuracy_by_loop, accuracy_by_argmax]
HEAD_ACCURACY_WRONG = {
    "자기 자신도": lambda w, pairs: sum(w[i].argmax() == j for i, j in pairs) / len(pairs),
    "맞힌 수입니다": lambda w, pairs: accuracy_by_loop(w, pairs) * len(pairs),
    "틀린 비율": lambda w, pairs: 1 - accuracy_by_loop(w, pairs),
    "있어야 할 답은": lambda w, pairs: 0.6,
}

OFFSET_RIGHT = [
    lambda pairs: torch.tensor([j - i for i, j in pairs]).mode().values.item(),
    lambda pairs: max(range(-9, 10), key=lambda k: sum(j - i == k for i, j in pairs)),
]
OFFSET_WRONG = {
    "부호가 반대": lambda pairs: -OFFSET_RIGHT[0](pairs),
    "맞힌 짝의 수": lambda pairs: sum(j - i == -3 for i, j in pairs),
    "가장 큰 거리": lambda pairs: max(j - i for i, j in pairs),
    "거리의 평균": lambda pairs: sum(j - i for i, j in pairs) / len(pairs),
    "가운데 값": lambda pairs: sorted(j - i for i, j in pairs)[len(pairs) // 2],
}

def masked_loss(logits, truth, masked):
    return torch.nn.functional.cross_entropy(logits[masked], truth[masked])


def each_loss(logits, truth):
    return -logits.log_softmax(-1).gather(-1, truth[..., None])[..., 0]


MASKED_LOSS_RIGHT = [masked_loss, lambda z, truth, m: (each_loss(z, truth) * m).sum() / m.sum()]
MASKED_LOSS_WRONG = {
    "모든 자리를 셌습니다": lambda z, truth, m: each_loss(z, truth).mean(),
    "가리지 않은 자리": lambda z, truth, m: masked_loss(z, truth, ~m),
    "더하기만": lambda z, truth, m: each_loss(z, truth)[m].sum(),
    "모든 자리의 수로": lambda z, truth, m: (each_loss(z, truth) * m).mean(),
    "부호가": lambda z, truth, m: -masked_loss(z, truth, m),
    "값이 다릅니다": lambda z, truth, m: 2 * masked_loss(z, truth, m),
    "모양이 다릅니다": lambda z, truth, m: each_loss(z, truth),
}


def heads_off(heads, W_O, off, *, first=1, scale=1.0):
    kept = [i for i in range(heads.shape[1]) if i + first not in off]
    return (heads @ W_O.view(heads.shape[1], heads.shape[3], -1))[:, kept].sum(1) * scale


def in_place(heads, W_O, off):
    heads[:, [i - 1 for i in off]] = 0
    return heads_off(heads, W_O, [])


HEADS_OFF_RIGHT = [heads_off, lambda heads, W_O, off: in_place(heads.clone(), W_O, off)]
HEADS_OFF_WRONG = {
    "아무 헤드도": lambda heads, W_O, off: heads_off(heads, W_O, []),
    "끌 헤드만": lambda heads, W_O, off: heads_off(heads, W_O, [1, 2]),
    "W_O의 열": lambda heads, W_O, off: heads_off(heads, W_O, []).index_fill(-1, torch.arange(8, 12), 0),
    "키웠습니다": lambda heads, W_O, off: heads_off(heads, W_O, off, scale=1.5),
    "1부터 센다": lambda heads, W_O, off: heads_off(heads, W_O, [2]),
    "둘 이상": lambda heads, W_O, off: heads_off(heads, W_O, off[-1:]),
    "받은 텐서를": in_place,
}


def best_distance(pairs):
    distances = [place - source for place, source in pairs]
    best = max(set(distances), key=distances.count)
    return best, distances.count(best) / len(distances)


def best_distance_by_counter(pairs):
    ((best, count),) = Counter(place - source for place, source in pairs).most_common(1)
    return torch.tensor(best), torch.tensor(count / len(pairs))


BEST_DISTANCE_RIGHT = [best_distance, best_distance_by_counter]
BEST_DISTANCE_WRONG = {
    "방향을": lambda pairs: best_distance([(b, a) for a, b in pairs]),
    "횟수를": lambda pairs: (2, 4),
    "비율은": lambda pairs: (2, 0.5),
    "가장 흔한": lambda pairs: (4, 1 / 3),
}

EXERCISES = [
    (check_masked_loss, MASKED_LOSS_RIGHT, MASKED_LOSS_WRONG),
    (check_heads_off, HEADS_OFF_RIGHT, HEADS_OFF_WRONG),
    (check_best_distance, BEST_DISTANCE_RIGHT, BEST_DISTANCE_WRONG),
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
    (check_neighbour_share, SHARE_RIGHT, SHARE_WRONG),
    (check_both_right, BOTH_RIGHT, BOTH_WRONG),
    (check_switched_off, OFF_RIGHT, OFF_WRONG),
    (check_masked_attention, MASKED_RIGHT, MASKED_WRONG),
    (check_sees_the_future, FUTURE_RIGHT, FUTURE_WRONG),
    (check_head_matrices, MATRICES_RIGHT, MATRICES_WRONG),
    (check_largest_batch, BATCH_RIGHT, BATCH_WRONG),
    (check_pool_kv_heads, POOL_RIGHT, POOL_WRONG),
    (check_padded_causal_mask, PADDED_RIGHT, PADDED_WRONG),
    (check_word_map, WORD_MAP_RIGHT, WORD_MAP_WRONG),
    (check_head_accuracy, HEAD_ACCURACY_RIGHT, HEAD_ACCURACY_WRONG),
    (check_best_offset, OFFSET_RIGHT, OFFSET_WRONG),
]


@pytest.mark.parametrize("grade, answer", [(grade, answer) for grade, right, _ in EXERCISES for answer in right])
def test_right_answers_pass_however_they_are_written(grade, answer, capsys):
    grade(answer)
    assert capsys.readouterr().out.startswith("✓ 맞습니다")


def in_form(result, of_tensor, of_number):
    """A right answer as another reader may return it."""
    if isinstance(result, (tuple, list)):
        return type(result)(in_form(part, of_tensor, of_number) for part in result)
    return of_tensor(result) if isinstance(result, torch.Tensor) else of_number(result)


FORMS = {
    "float64": (lambda t: t.double() if t.is_floating_point() else t, np.asarray),
    "NumPy": (lambda t: t.detach().numpy(), lambda number: np.asarray(number)[()]),
    "reversed NumPy": (lambda t: np.flip(np.flip(t.detach().double().numpy() if t.is_floating_point() else t.numpy())), np.array),
    "gradient": (lambda t: t.clone().requires_grad_() if t.is_floating_point() else t, torch.tensor),
    "one element": (lambda t: t if t.ndim else t[None], lambda number: torch.tensor([number])),
    "float": (lambda t: t if t.ndim else t.item(), float),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("grade, answer", [(grade, answer) for grade, right, _ in EXERCISES for answer in right])
def test_right_answers_pass_in_every_type_of_number(grade, answer, form, capsys):
    grade(lambda *given: in_form(answer(*given), *FORMS[form]))
    said = capsys.readouterr().out
    if grade is check_masked_attention and "NumPy" in form:  # it asks for gradients, which NumPy has not
        assert "출력은 맞지만 기울기가 q까지 흐르지 않습니다" in said
    else:
        assert said.startswith("✓ 맞습니다")


@pytest.mark.parametrize("answer", ["4", "", [], {}, (), object(), 1j, float("nan"), float("inf"), torch.zeros(0), np.array(["4"]),
                                    np.array(None), torch.zeros(2, 2), [[1.0]], (1, 2, 3), ("a", "b"), (None, None)])  # fmt: skip
@pytest.mark.parametrize("grade", [grade for grade, *_ in EXERCISES])
def test_whatever_is_returned_is_refused_without_a_fault_of_the_grader(grade, answer, capsys):
    grade(lambda *given: answer)
    said = capsys.readouterr().out
    assert said.startswith("✗ ") and "멈추었습니다" not in said


@pytest.mark.parametrize("grade", [grade for grade, *_ in EXERCISES])
def test_a_fault_of_the_reader_and_one_of_the_grader_are_told_apart(grade, capsys, monkeypatch):
    def fails(*given):
        raise KeyError("W_Q")

    grade(fails)
    assert capsys.readouterr().out == "✗ 실행하다가 멈추었습니다. KeyError: 'W_Q'\n"
    # Every grader reads the answer by one of these.
    for reads in ("as_tensor", "as_scalar", "as_scalars", "as_truth"):
        for home in (grading, sys.modules[grade.__module__]):
            if hasattr(home, reads):
                monkeypatch.setattr(home, reads, fails)
    grade(lambda *given: 0)
    said = capsys.readouterr().out
    assert said.startswith("✗ 채점기가 멈추었습니다. 답이 틀렸다는 뜻은 아니니") and "KeyError: 'W_Q'" in said


@pytest.mark.parametrize("grade", [grade for grade, *_ in EXERCISES])
def test_a_result_in_the_place_of_the_function_is_named(grade, capsys):
    grade(torch.zeros(3))
    assert capsys.readouterr().out == f"✗ 결과가 아니라 함수를 넣으십시오: {grade.__name__}(함수 이름). 받은 값: Tensor\n"


def test_a_right_answer_that_changes_what_it_got_changes_no_verdict(capsys):
    def in_place(q, k, v):
        q /= q.shape[-1] ** 0.5
        return q.matmul(k.mT).softmax(-1).matmul(v)

    def sorts(pairs):
        pairs.sort()
        return OFFSET_RIGHT[0](pairs)

    check_attention(in_place)
    check_best_offset(sorts)
    check_attention(functools.partial(in_place))
    assert capsys.readouterr().out.count("✓ 맞습니다") == 3


@pytest.mark.parametrize(
    "grade, hint, answer", [(grade, hint, answer) for grade, _, wrong in EXERCISES for hint, answer in wrong.items()]
)
def test_mistakes_get_the_fitting_hint(grade, hint, answer, capsys):
    grade(answer)
    said = capsys.readouterr().out
    assert said.startswith("✗ ") and hint in said


@pytest.mark.parametrize("grade, right, wrong", EXERCISES, ids=[grade.__name__ for grade, *_ in EXERCISES])
def test_every_grader_is_tried_with_enough_answers(grade, right, wrong):
    own_code_fails = ("아직 비어 있습니다", "모양이 다릅니다", "Error")
    assert len(right) >= 2 and len([hint for hint in wrong if not hint.endswith(own_code_fails)]) >= 3


def test_no_grader_is_left_out():
    assert {name for name in vars(checks) if name.startswith("check_")} == {grade.__name__ for grade, *_ in EXERCISES}

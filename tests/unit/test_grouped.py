"""Grouped-query attention against PyTorch's enable_gqa, a loop over heads, and the MHA it generalises."""

import pytest
import torch
import torch.nn.functional as F

from multihead import (
    GroupedQueryAttention,
    KVCache,
    MultiHeadAttention,
    MultiQueryAttention,
    causal_mask,
    padding_mask,
    split_heads,
)

B, T, S, H, G, D_K = 2, 5, 7, 12, 3, 11
D = H * D_K


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def randn(*shape, **options):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), **options)


def random_mask(*shape):
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[..., 0] = True
    return mask


def projected(m, query, memory):
    return split_heads(m.W_Q(query), H), split_heads(m.W_K(memory), G), split_heads(m.W_V(memory), G)


MASKS = [None, random_mask(T, S), random_mask(1, S), random_mask(B, 1, 1, S), random_mask(B, 1, T, S), random_mask(B, H, T, S)]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask", MASKS)
def test_equals_pytorch_with_enable_gqa(mask, need_weights):
    m, x, memory = GroupedQueryAttention(D, H, G), randn(B, T, D), randn(B, S, D)
    heads = F.scaled_dot_product_attention(*projected(m, x, memory), attn_mask=mask, enable_gqa=True)
    want = m.W_O(heads.transpose(1, 2).flatten(2))
    torch.testing.assert_close(m(x, memory, mask=mask, need_weights=need_weights)[0], want)


def test_query_head_i_reads_kv_head_i_divided_by_group_size():
    m, x, memory = GroupedQueryAttention(D, H, G), randn(B, T, D), randn(B, S, D)
    q, k, _ = projected(m, x, memory)
    _, weights = m(x, memory, need_weights=True)
    assert weights.shape == (B, H, T, S)
    for i in range(H):
        torch.testing.assert_close(weights[:, i], (q[:, i] @ k[:, i // (H // G)].mT / D_K**0.5).softmax(-1))


def test_differs_from_tiling_the_kv_heads():
    m, x = GroupedQueryAttention(D, H, G), randn(B, T, D)
    q, k, v = projected(m, x, x)
    tiled = F.scaled_dot_product_attention(q, k.repeat(1, H // G, 1, 1), v.repeat(1, H // G, 1, 1))
    assert (m(x)[0] - m.W_O(tiled.transpose(1, 2).flatten(2))).abs().max() > 1e-3


def test_with_as_many_kv_heads_as_heads_it_equals_mha():
    mha, x, mask = MultiHeadAttention(D, H), randn(B, T, D), causal_mask(T)
    gqa = GroupedQueryAttention.from_mha(mha, H)
    for need_weights in (True, False):
        torch.testing.assert_close(gqa(x, mask=mask, need_weights=need_weights), mha(x, mask=mask, need_weights=need_weights))


def test_mean_pooling_error_grows_as_kv_heads_get_fewer():
    mha, x = MultiHeadAttention(D, H), randn(B, T, D)
    errors = [(GroupedQueryAttention.from_mha(mha, g)(x)[0] - mha(x)[0]).pow(2).mean().item() for g in (12, 6, 3, 1)]
    assert errors[0] < 1e-12 and errors == sorted(errors) and errors[1] > 1e-6


def test_from_mha_averages_the_heads_of_a_group():
    mha = MultiHeadAttention(D, H)
    gqa = GroupedQueryAttention.from_mha(mha, G)
    heads = mha.W_K.weight.view(H, D_K, D)
    torch.testing.assert_close(gqa.W_K.weight[D_K : 2 * D_K], heads[4:8].mean(0))
    torch.testing.assert_close(gqa.W_V.bias[:D_K], mha.W_V.bias[: 4 * D_K].view(4, D_K).mean(0))
    assert torch.equal(gqa.W_Q.weight, mha.W_Q.weight) and torch.equal(gqa.W_O.bias, mha.W_O.bias)


def test_from_mha_keeps_mode_dtype_and_absent_bias():
    gqa = GroupedQueryAttention.from_mha(MultiHeadAttention(D, H, bias=False, dropout=0.1).double().eval(), G)
    assert (gqa.training, gqa.dropout, gqa.W_K.bias, gqa.W_K.weight.dtype) == (False, 0.1, None, torch.float64)


def test_multi_query_attention_is_one_kv_head():
    mqa = MultiQueryAttention(D, H)
    assert mqa.num_kv_heads == 1 and mqa.W_K.weight.shape == mqa.W_V.weight.shape == (D_K, D)


@pytest.mark.parametrize("g", [5, 0, 24, -3])
def test_kv_heads_that_do_not_divide_are_refused_with_both_numbers(g):
    with pytest.raises(ValueError, match=f"num_heads = 12, num_kv_heads = {g}"):
        GroupedQueryAttention(D, H, g)


MODULES = [
    lambda: MultiHeadAttention(D, H),
    lambda: GroupedQueryAttention(D, H, G),
    lambda: MultiQueryAttention(D, H),
]


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 3e-2), (torch.float64, 1e-12)])
@pytest.mark.parametrize("chunks", [(3, 1, 2), (1,) * 6, (6,), (1, 5), (4, 2)])
@pytest.mark.parametrize("build", MODULES)
def test_any_chunking_equals_one_causal_pass(build, chunks, dtype, tolerance):
    m, x, cache = build().to(dtype), randn(B, 6, D).to(dtype), KVCache()
    full, _ = m(x, mask=causal_mask(6))
    chunked = torch.cat([m(part, cache=cache)[0] for part in x.split(chunks, 1)], 1)
    torch.testing.assert_close(chunked, full, atol=tolerance, rtol=0)


@pytest.mark.parametrize("build", MODULES)
def test_cache_bytes_follow_the_formula(build):
    m, cache = build().to(torch.bfloat16), KVCache()
    m(randn(B, T, D).to(torch.bfloat16), cache=cache)
    assert cache.nbytes == 2 * B * m.num_kv_heads * T * D_K * 2


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_fully_masked_row_gives_zeros_and_finite_gradients(dtype, need_weights):
    m, x = GroupedQueryAttention(D, H, G).to(dtype), randn(B, T, D).to(dtype).requires_grad_()
    output, weights = m(x, mask=padding_mask(torch.tensor([0, T])), need_weights=need_weights)
    torch.testing.assert_close(output[0], m.W_O.bias.expand(T, D))
    assert weights is None or (weights[0] == 0).all()
    output.float().pow(2).sum().backward()
    assert all(p.grad.isfinite().all() for p in (x, *m.parameters()))


@pytest.mark.parametrize("t, s", [(1, 1), (1, S), (T, 1)])
def test_single_tokens_and_non_contiguous_inputs_work(t, s):
    m = GroupedQueryAttention(D, H, G)
    x, memory = randn(B, D, t).transpose(1, 2), randn(B, D, s).transpose(1, 2)
    torch.testing.assert_close(m(x, memory)[0], m(x.contiguous(), memory.contiguous(), need_weights=True)[0])


def test_the_fast_path_never_repeats_keys_and_values(monkeypatch):
    seen = []
    original = F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda q, k, v, **o: (seen.append(k.shape), original(q, k, v, **o))[1])
    GroupedQueryAttention(D, H, G)(randn(B, T, D), randn(B, S, D))
    assert seen == [(B, G, S, D_K)]

"""attention.py against independent references: loops over heads, nn.MultiheadAttention, F.scaled_dot_product_attention.

Every dimension is another prime, so that a swapped pair of axes cannot go unnoticed.
"""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from multihead import (
    KVCache,
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)

B, T, S, H, D_K = 2, 5, 7, 3, 11
D = H * D_K
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def randn(*shape, **options):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), **options)


def random_mask(*shape):
    """Random, with at least one key allowed in every row."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[..., 0] = True
    return mask


def attention_by_loops(m, query, memory):
    """Section 3.2.2 word by word: one small attention a head, from slices of the projections."""
    q, k, v = m.W_Q(query), m.W_K(memory), m.W_V(memory)
    heads = []
    for i in range(m.num_heads):
        s = slice(i * m.d_k, (i + 1) * m.d_k)
        weights = (q[..., s] @ k[..., s].transpose(-1, -2) / m.d_k**0.5).softmax(-1)
        heads.append(weights @ v[..., s])
    return m.W_O(torch.cat(heads, -1))


# ---------------------------------------------------------------- scaled dot product


def test_output_equals_pytorch():
    q, k, v = randn(B, T, D_K), randn(B, S, D_K), randn(B, S, 13)
    output, weights = scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, v))
    assert weights.shape == (B, T, S)


def test_scale_replaces_one_over_root_d_k():
    q, k, v = randn(T, D_K), randn(S, D_K), randn(S, D_K)
    _, weights = scaled_dot_product_attention(q, k, v, scale=0.5)
    torch.testing.assert_close(weights, (0.5 * q @ k.T).softmax(-1))


def test_masked_weights_are_exactly_zero_and_rows_sum_to_one():
    mask = random_mask(T, S)
    _, weights = scaled_dot_product_attention(randn(T, D_K), randn(S, D_K), randn(S, D_K), mask)
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(T))


def test_mask_means_the_same_as_in_pytorch():
    q, k, v, mask = randn(B, T, D_K), randn(B, S, D_K), randn(B, S, D_K), random_mask(B, T, S)
    torch.testing.assert_close(
        scaled_dot_product_attention(q, k, v, mask)[0], F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    )


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("mask", [None, random_mask(T, S), torch.zeros(T, S, dtype=torch.bool)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_without_gradients_weights_are_the_same_and_inputs_unchanged(dtype, mask, mode):
    q, k, v = (randn(B, n, D_K, dtype=dtype) for n in (T, S, S))
    before = [x.clone() for x in (q, k, v)]
    want, want_weights = scaled_dot_product_attention(q, k, v, mask)
    with mode():
        got, weights = scaled_dot_product_attention(q, k, v, mask)
    assert torch.equal(got, want) and torch.equal(weights, want_weights)
    assert all(torch.equal(x, y) for x, y in zip((q, k, v), before))


# ---------------------------------------------------------------- split and merge


@given(b=st.integers(1, 3), t=st.integers(1, 6), h=st.integers(1, 5), d_k=st.integers(1, 5))
def test_merge_undoes_split(b, t, h, d_k):
    x = torch.arange(b * t * h * d_k, dtype=torch.float32).reshape(b, t, h * d_k)
    heads = split_heads(x, h)
    assert heads.shape == (b, h, t, d_k)
    assert torch.equal(merge_heads(heads), x)


def test_head_i_gets_the_ith_columns_of_the_same_token():
    x = randn(B, T, D)
    for i in range(H):
        assert torch.equal(split_heads(x, H)[:, i], x[:, :, i * D_K : (i + 1) * D_K])


def test_split_copies_nothing_and_takes_non_contiguous_input():
    x = randn(B, D, T).transpose(1, 2)
    assert split_heads(x, H).data_ptr() == x.data_ptr()
    assert torch.equal(merge_heads(split_heads(x, H)), x)


@pytest.mark.parametrize("d_model, h", [(64, 3), (64, 0), (64, 128), (63, 8), (64, -4), (0, 1)])
def test_sizes_that_do_not_divide_raise_and_name_both_numbers(d_model, h):
    for build in (lambda: MultiHeadAttention(d_model, h), lambda: split_heads(torch.zeros(B, T, d_model), h)):
        with pytest.raises(ValueError, match="d_model") as error:
            build()
        assert f"d_model = {d_model}" in str(error.value) and f"num_heads = {h}" in str(error.value)


# ---------------------------------------------------------------- masks


def test_causal_mask_lets_each_query_see_itself_and_what_came_before():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_causal_mask_with_more_keys_is_the_end_of_the_full_one():
    assert torch.equal(causal_mask(T, S), causal_mask(S)[-T:])


def test_causal_mask_refuses_more_queries_than_keys():
    with pytest.raises(ValueError, match="T = 7, S = 5"):
        causal_mask(S, T)


def test_padding_mask_hides_the_padding_of_each_sentence():
    mask = padding_mask(torch.tensor([2, 3]), 4)
    assert mask.shape == (2, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[True, True, False, False], [True, True, True, False]]
    assert padding_mask(torch.tensor([2, 3])).shape == (2, 1, 1, 3)
    with pytest.raises(ValueError, match="S = 2"):
        padding_mask(torch.tensor([2, 3]), 2)


def test_what_padding_holds_does_not_matter():
    m, x, mask = MultiHeadAttention(D, H), randn(B, S, D), padding_mask(torch.tensor([3, S]))
    other = x.clone()
    other[0, 3:] += 1
    for need_weights in (True, False):
        torch.testing.assert_close(
            m(x, mask=mask, need_weights=need_weights)[0][0, :3],
            m(other, mask=mask, need_weights=need_weights)[0][0, :3],
        )


@pytest.mark.parametrize("need_weights", [True, False])
def test_causal_attention_never_looks_ahead(need_weights):
    m, x = MultiHeadAttention(D, H), randn(B, T, D)
    later = x.clone()
    later[:, -1] += 1
    before, after = (m(y, mask=causal_mask(T), need_weights=need_weights)[0] for y in (x, later))
    torch.testing.assert_close(before[:, :-1], after[:, :-1])
    assert not torch.allclose(before[:, -1], after[:, -1])


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_fully_masked_row_gives_zeros_and_finite_gradients(dtype, need_weights, training):
    m = MultiHeadAttention(D, H, dropout=0.3).to(dtype).train(training)
    x = randn(B, T, D).to(dtype).requires_grad_()
    mask = torch.ones(B, 1, T, T, dtype=torch.bool)
    mask[1] = False  # a sentence that is all padding
    mask[0, 0, 2] = False  # and a single row
    output, weights = m(x, mask=mask, need_weights=need_weights)
    torch.testing.assert_close(output[1], m.W_O.bias.expand(T, D))  # zero heads: only the bias of W_O is left
    torch.testing.assert_close(output[0, 2], m.W_O.bias)
    assert weights is None or ((weights[1] == 0).all() and (weights[0, :, 2] == 0).all())
    output.float().pow(2).sum().backward()
    assert all(p.grad.isfinite().all() for p in (x, *m.parameters()))


@pytest.mark.parametrize("mask", [torch.ones(T, T), torch.ones(T, T, dtype=torch.int64)])
def test_a_mask_that_is_not_boolean_is_refused(mask):
    m, x = MultiHeadAttention(D, H), randn(B, T, D)
    for call in (
        lambda: m(x, mask=mask),
        lambda: m(x, mask=mask, need_weights=True),
        lambda: scaled_dot_product_attention(x, x, x, mask),
    ):
        with pytest.raises(ValueError, match="torch.bool"):
            call()


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_mask_of_the_wrong_shape_is_refused_with_both_shapes(need_weights):
    m, x = MultiHeadAttention(D, H), randn(B, T, D)
    with pytest.raises(ValueError, match=r"\(4, 5\).*\(2, 3, 5, 5\)"):
        m(x, mask=torch.ones(4, 5, dtype=torch.bool), need_weights=need_weights)
    with pytest.raises(ValueError, match="3차원"):  # (B, T, T) would be taken for (h, T, T)
        m(x, mask=torch.ones(B, T, T, dtype=torch.bool), need_weights=need_weights)


# ---------------------------------------------------------------- the module


def test_equals_a_loop_over_heads():
    m, x, memory = MultiHeadAttention(D, H), randn(B, T, D), randn(B, S, D)
    torch.testing.assert_close(m(x)[0], attention_by_loops(m, x, x))
    torch.testing.assert_close(m(x, memory, need_weights=True)[0], attention_by_loops(m, x, memory))


@pytest.mark.parametrize("mask", [None, random_mask(T, S), random_mask(B, 1, T, S), random_mask(B, H, T, S)])
def test_both_paths_agree(mask):
    m, x, memory = MultiHeadAttention(D, H), randn(B, T, D), randn(B, S, D)
    slow, weights = m(x, memory, mask=mask, need_weights=True)
    fast, none = m(x, memory, mask=mask)
    torch.testing.assert_close(slow, fast, atol=1e-6, rtol=0)
    assert weights.shape == (B, H, T, S) and none is None


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("length", [T, S])
def test_equals_pytorch_output_and_map_of_every_head(bias, length, batch_first):
    theirs = nn.MultiheadAttention(D, H, bias=bias, batch_first=batch_first).eval()
    if bias:  # PyTorch starts its biases at zero, where a forgotten one would not show
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    x, memory, mask = randn(B, T, D), randn(B, length, D), random_mask(B, H, T, length)
    ours = MultiHeadAttention.from_torch(theirs)
    order = (lambda y: y) if batch_first else (lambda y: y.transpose(0, 1))
    want, want_weights = theirs(  # True blocks there, and a mask a head comes as (B * h, T, S)
        order(x), order(memory), order(memory), attn_mask=~mask.flatten(0, 1), average_attn_weights=False
    )
    got, got_weights = ours(x, memory, mask=mask, need_weights=True)
    torch.testing.assert_close(got, order(want))
    torch.testing.assert_close(got_weights, want_weights)
    torch.testing.assert_close(ours(x, memory, mask=mask)[0], order(want))


def test_from_torch_copies_and_keeps_mode_dtype_and_dropout():
    theirs = nn.MultiheadAttention(D, H, dropout=0.25, dtype=torch.float64).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    assert not ours.training and ours.dropout == 0.25 and ours.W_Q.weight.dtype == torch.float64
    before = ours.W_K.weight.clone()
    nn.init.zeros_(theirs.in_proj_weight)
    assert torch.equal(ours.W_K.weight, before)


@pytest.mark.parametrize("options", [{"kdim": 5}, {"vdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True}])
def test_from_torch_refuses_what_ours_does_not_have(options):
    with pytest.raises(ValueError, match="kdim, vdim, add_bias_kv, add_zero_attn"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(D, H, **options))


def test_weights_are_per_head_and_before_dropout():
    m, x = MultiHeadAttention(D, H, dropout=0.5).train(), randn(B, T, D)
    dropped, weights = m(x, need_weights=True)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T))
    torch.testing.assert_close(weights, m.eval()(x, need_weights=True)[1])
    assert not torch.allclose(dropped, m(x)[0])


@pytest.mark.parametrize("need_weights", [True, False])
def test_dropout_keeps_the_mean_and_only_acts_while_training(need_weights):
    m, x = MultiHeadAttention(D, H, dropout=0.5), randn(1, T, D)
    mean = m.train()(x.expand(4000, T, D), need_weights=need_weights)[0].mean(0)
    exact = m.eval()(x, need_weights=need_weights)[0][0]
    torch.testing.assert_close(mean, exact, atol=0.03, rtol=0)
    torch.testing.assert_close(m(x, need_weights=need_weights)[0][0], exact)


@pytest.mark.parametrize("h", [1, 8, 64])
@pytest.mark.parametrize("bias, count", [(True, 1_050_624), (False, 1_048_576)])
def test_the_number_of_heads_does_not_change_the_number_of_parameters(h, bias, count):
    assert sum(p.numel() for p in MultiHeadAttention(512, h, bias=bias).parameters()) == count


def test_permuting_the_tokens_permutes_the_output():
    m, x, order = MultiHeadAttention(D, H), randn(B, T, D), torch.randperm(T)
    torch.testing.assert_close(m(x[:, order])[0], m(x)[0][:, order])


@pytest.mark.parametrize("t, s", [(1, 1), (1, S), (T, 1)])
def test_single_tokens_work(t, s):
    m, x, memory = MultiHeadAttention(D, H), randn(B, t, D), randn(B, s, D)
    torch.testing.assert_close(m(x, memory)[0], m(x, memory, need_weights=True)[0])


def test_inputs_of_another_width_or_rank_are_refused():
    m = MultiHeadAttention(D, H)
    for x in (randn(B, T, D + 1), randn(B, T, D)[0]):
        with pytest.raises(Exception, match="query|shape"):  # the shape checker of the tests may speak first
            m(x)
    with pytest.raises(ValueError, match="배치 크기"):
        m._check_inputs(randn(B, T, D), randn(B, T, D), randn(B, S, D))
    with pytest.raises(ValueError, match="query"):
        m._check_inputs(*[randn(T, D)] * 3)


def test_dropout_outside_its_range_is_refused():
    with pytest.raises(ValueError, match="dropout = 1.5"):
        MultiHeadAttention(D, H, dropout=1.5)


# ---------------------------------------------------------------- cache


@pytest.mark.parametrize("chunks", [(3, 1, 2), (1, 1, 1, 1, 1, 1), (6,), (2, 4)])
@pytest.mark.parametrize("need_weights", [True, False])
def test_any_chunking_equals_one_causal_pass(chunks, need_weights):
    m, x, cache = MultiHeadAttention(D, H), randn(B, 6, D), KVCache()
    full, weights = m(x, mask=causal_mask(6), need_weights=True)
    outputs = [m(part, cache=cache, need_weights=need_weights) for part in x.split(chunks, 1)]
    torch.testing.assert_close(torch.cat([y for y, _ in outputs], 1), full)
    if need_weights:
        torch.testing.assert_close(outputs[-1][1], weights[:, :, -chunks[-1] :])


def test_cached_attention_also_obeys_the_callers_mask():
    m, x, cache, mask = MultiHeadAttention(D, H), randn(B, 5, D), KVCache(), padding_mask(torch.tensor([3, 5]))
    full, _ = m(x, mask=mask & causal_mask(5))
    m(x[:, :3], mask=mask[..., :3], cache=cache)
    torch.testing.assert_close(m(x[:, 3:], mask=mask, cache=cache)[0], full[:, 3:])


def test_cache_counts_the_bytes_it_stores_not_its_reserve():
    m, cache = MultiHeadAttention(D, H).to(torch.bfloat16), KVCache()
    assert (cache.length, cache.nbytes) == (0, 0)
    for _ in range(5):
        m(randn(B, 1, D, dtype=torch.bfloat16), cache=cache)
    assert cache.length == 5 and cache.nbytes == 2 * B * H * 5 * D_K * 2


def test_cached_steps_have_the_gradients_of_the_full_pass():
    m, x = MultiHeadAttention(D, H), randn(B, 4, D)
    m(x, mask=causal_mask(4))[0].pow(2).sum().backward()
    want = m.W_K.weight.grad.clone()
    m.zero_grad()
    cache = KVCache()
    torch.cat([m(part, cache=cache)[0] for part in x.split(1, 1)], 1).pow(2).sum().backward()
    torch.testing.assert_close(m.W_K.weight.grad, want)


def test_cache_refuses_another_batch_and_cross_attention():
    m, x, cache = MultiHeadAttention(D, H), randn(B, T, D), KVCache()
    m(x, cache=cache)
    with pytest.raises(ValueError, match="새 KVCache"):
        m(x[:1], cache=cache)
    with pytest.raises(ValueError, match="셀프 어텐션"):
        m(x, x, cache=cache)

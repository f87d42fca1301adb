"""The formulas against what PyTorch really allocates and executes."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from multihead import GroupedQueryAttention, KVCache, MultiHeadAttention, causal_mask
from multihead.counting import (
    PUBLISHED_MODELS,
    attention_flops,
    attention_parameters,
    kv_cache_bytes,
    score_bytes,
)

B, T, S, H, G, D_K = 2, 5, 7, 12, 3, 11
D = H * D_K


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("g", [None, 1, G, H])
def test_parameters_equal_those_of_the_module(g, bias):
    module = MultiHeadAttention(D, H, bias=bias) if g is None else GroupedQueryAttention(D, H, g, bias=bias)
    count = attention_parameters(D, H, g, bias=bias)
    assert count == {name: sum(p.numel() for p in getattr(module, name).parameters()) for name in count}


@pytest.mark.parametrize("h", [1, 8, 64])
@pytest.mark.parametrize("bias, total", [(True, 1_050_624), (False, 1_048_576)])
def test_parameters_equal_pytorchs_whatever_h_is(h, bias, total):
    theirs = sum(p.numel() for p in nn.MultiheadAttention(512, h, bias=bias).parameters())
    assert sum(attention_parameters(512, h, bias=bias).values()) == theirs == total


@pytest.mark.parametrize("g", [G, H])
def test_flops_equal_those_that_pytorch_counts(g):
    module, x, memory = GroupedQueryAttention(D, H, g, bias=False), torch.randn(1, T, D), torch.randn(1, S, D)
    with FlopCounterMode(display=False) as counter:
        module(x, memory, need_weights=True)
    assert sum(attention_flops(D, H, T, S, g).values()) == counter.get_total_flops()


def test_scores_and_weighted_sum_overtake_the_projections_at_twice_d_model():
    for T, larger in ((2 * D - 1, False), (2 * D, False), (2 * D + 1, True)):
        flops = attention_flops(D, H, T)
        assert (flops["scores"] + flops["weighted_sum"] > flops["projections"]) is larger


def test_a_causal_kernel_does_half_of_both_and_is_overtaken_at_four_times_d_model():
    """Counted over the pairs of a query and a key that a causal mask lets meet: T (T + 1) / 2 of T²."""
    for T, larger in ((4 * D - 2, False), (4 * D, True)):
        flops, met = attention_flops(D, H, T), causal_mask(T).sum().item() / T**2
        assert abs(met - 0.5) < 0.002
        assert ((flops["scores"] + flops["weighted_sum"]) * met > flops["projections"]) is larger


def test_score_bytes_equal_those_of_the_weights():
    _, weights = MultiHeadAttention(D, H)(torch.randn(B, T, D), torch.randn(B, S, D), need_weights=True)
    assert score_bytes(H, T, S, batch=B) == weights.nbytes
    assert score_bytes(H, T, batch=B, bytes_per_number=2) == B * H * T * T * 2


@pytest.mark.parametrize("dtype, size", [(torch.float32, 4), (torch.bfloat16, 2)])
def test_cache_bytes_equal_those_of_a_filled_cache(dtype, size):
    module, caches = GroupedQueryAttention(D, H, G).to(dtype), [KVCache() for _ in range(3)]
    for cache in caches:  # one a layer
        module(torch.randn(B, T, D, dtype=dtype), cache=cache)
    assert kv_cache_bytes(3, G, D_K, T, batch=B, bytes_per_number=size) == sum(cache.nbytes for cache in caches)


# Bytes a token at 2 bytes a number, as computed from the published numbers of layers, KV heads and head width.
BYTES_A_TOKEN = {
    "GPT-2 small": 36_864,
    "GPT-3 175B": 4_718_592,
    "PaLM 540B": 120_832,
    "Falcon-7B": 8_192,
    "Falcon-40B": 122_880,
    "Llama-2-7B": 524_288,
    "Llama-2-70B": 327_680,
    "Llama-3-8B": 131_072,
    "Llama-3-70B": 327_680,
    "Mistral-7B": 131_072,
    "Gemma-2B": 18_432,
    "Qwen2-7B": 57_344,
}


@pytest.mark.parametrize("tokens, kept", [(1, 1), (6, 6), (7, 7), (8, 7), (100, 7)])
def test_a_sliding_window_keeps_its_last_tokens_only(tokens, kept):
    assert kv_cache_bytes(3, G, D_K, tokens, window=7, batch=B) == kv_cache_bytes(3, G, D_K, kept, batch=B)


def test_the_cache_of_mistral_stops_growing_at_its_window():
    mistral = next(model for model in PUBLISHED_MODELS if model.name == "Mistral-7B")
    assert [mistral.kv_cache_bytes(T) / 2**30 for T in (2048, 4096, 8192, 32_768)] == [0.25, 0.5, 0.5, 0.5]
    assert all(model.window is None for model in PUBLISHED_MODELS if model is not mistral)


CONTEXTS = {
    "GPT-2 small": 1024, "GPT-3 175B": 2048, "PaLM 540B": 2048, "Falcon-7B": 2048, "Falcon-40B": 2048,
    "Llama-2-7B": 4096, "Llama-2-70B": 4096, "Llama-3-8B": 8192, "Llama-3-70B": 8192, "Mistral-7B": 8192,
    "Gemma-2B": 8192, "Qwen2-7B": 32_768,
}  # fmt: skip


def test_published_models_have_the_published_context():
    assert {model.name: model.context for model in PUBLISHED_MODELS} == CONTEXTS


@pytest.mark.parametrize("model", PUBLISHED_MODELS, ids=lambda model: model.name)
def test_parameters_and_flops_of_every_published_model_are_those_of_its_four_matrices(model):
    d_q, d_kv = model.num_heads * model.d_k, model.num_kv_heads * model.d_k
    with torch.device("meta"):
        layer = {name: nn.Linear(model.d_model, d_q if name == "W_Q" else d_kv) for name in ("W_Q", "W_K", "W_V")}
        layer["W_O"] = nn.Linear(d_q, model.d_model)
        x, heads = torch.randn(T, model.d_model), torch.randn(model.num_heads, T, model.d_k)
        for bias in (True, False):
            count = attention_parameters(model.d_model, model.num_heads, model.num_kv_heads, bias=bias, d_k=model.d_k)
            assert count == {name: m.weight.numel() + bias * m.bias.numel() for name, m in layer.items()}
        with FlopCounterMode(display=False) as counter:
            for name in ("W_Q", "W_K", "W_V"):
                layer[name](x)
            layer["W_O"](torch.randn(T, d_q))
            (heads @ heads.mT) @ heads
    flops = attention_flops(model.d_model, model.num_heads, T, num_kv_heads=model.num_kv_heads, d_k=model.d_k)
    assert sum(flops.values()) == counter.get_total_flops()
    if d_q == model.d_model:
        assert flops == attention_flops(model.d_model, model.num_heads, T, num_kv_heads=model.num_kv_heads)


def test_published_models_have_the_published_cache_sizes():
    assert {model.name: model.kv_cache_bytes() for model in PUBLISHED_MODELS} == BYTES_A_TOKEN


def test_published_models_are_consistent_or_say_why_not():
    for model in PUBLISHED_MODELS:
        assert model.num_heads % model.num_kv_heads == 0 and model.source
        assert model.num_heads * model.d_k == model.d_model or "d_model" in model.note


def test_impossible_sizes_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match="d_model = 64, num_heads = 3"):
        attention_parameters(64, 3)
    with pytest.raises(ValueError, match="num_heads = 8, num_kv_heads = 3"):
        attention_flops(64, 8, 10, num_kv_heads=3)

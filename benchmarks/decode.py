"""One decoding step: how much faster than multi-head attention with fewer KV heads, and how near to the limit h/g.

    make bench

All variants are measured in turns within one run, and given as ratios to MHA of that run (`x 3.0` = three times as fast).
"attention" is what reads the cache: the new query against all keys and values. "step" is all of module(x, cache=cache),
where the four projections, which a cache does not make smaller, are added.

In float16, the usual type of a cache, GQA's attention ran at x 3.7 to 5.3 at 16,384 tokens, past the limit: PyTorch's
product of a single query is slow there, and MHA has h of them. In float32 it ran at x 2.8 to 3.8, mostly near x 3.1 (both
on two cores). Reading K and V is not what is missing: within one run one query a group, which reads as much, came to
x 3.95, two to x 3.3, four, as here, to x 2.8 to 3.1, eight to x 2.1. The rest goes into matrix products with so few rows,
q kᵀ above all. Nothing else that computes the same was faster than one F.scaled_dot_product_attention over folded groups:

    x 2.8 to 2.95    keys in chunks of 256 to 4,096 as batch, merged by their log-sum-exp (flash-decoding)
    x 1.8 to 2.5     the same with one or two query rows a product, to read each chunk again from the processor's cache
    x 2.1 to 2.3     two batched products and a softmax, also with keys times queries; x 2.7 with a cache that keeps kᵀ
    x 1.7            a product a head; a cache of (B, T, g, d_k)
"""

import torch
import torch.nn.functional as F

from multihead import GroupedQueryAttention, KVCache, MultiHeadAttention, MultiQueryAttention
from multihead.notebook import interleaved_medians

D, H, G = 4096, 32, 8
LENGTHS = (1024, 4096, 16_384)
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def filled_cache(module, length, dtype):
    cache = KVCache()
    shape = (1, module.num_kv_heads, length, module.d_k)
    cache.append(torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype))
    return cache


def attention_calls(modules, length, dtype):
    """The attention of each module, and two other ways to compute the same as the GQA module."""
    q = torch.randn(1, H, 1, D // H, dtype=dtype)
    calls = {}
    for name, module in modules.items():
        k, v = torch.randn(2, 1, module.num_kv_heads, length, module.d_k, dtype=dtype)
        calls[name] = lambda m=module, k=k, v=v: m._attend(q, k, v, None, False)
        if name == "GQA":
            repeats = H // module.num_kv_heads
            calls["enable_gqa"] = lambda k=k, v=v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            calls["repeat_interleave"] = lambda k=k, v=v: F.scaled_dot_product_attention(
                q, k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
            )
    return calls


def step_calls(modules, length, dtype):
    x = torch.randn(1, 1, D, dtype=dtype)
    caches = {name: filled_cache(module, length, dtype) for name, module in modules.items()}
    return {name: lambda m=module, c=caches[name]: m(x, cache=c) for name, module in modules.items()}


@torch.inference_mode()
def main():
    names = ("MHA", "GQA", "enable_gqa", "repeat_interleave", "MQA")
    print(f"d_model {D}, h {H}, g {G}, d_k {D // H}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    print(f"limit h/g: GQA x {H / G:.1f}, MQA x {H:.1f}\n")
    print(f"{'dtype':<10}{'tokens':>7}  {'measured':<10}" + "".join(f"{name:>19}" for name in names))
    for dtype in DTYPES:
        modules = {
            "MHA": MultiHeadAttention(D, H),
            "GQA": GroupedQueryAttention(D, H, G),
            "MQA": MultiQueryAttention(D, H),
        }
        modules = {name: module.to(dtype).eval() for name, module in modules.items()}
        for length in LENGTHS:
            for measured, calls in (("attention", attention_calls), ("step", step_calls)):
                times = interleaved_medians(calls(modules, length, dtype), rounds=21)
                ratios = [f"x {times['MHA'] / times[name]:.2f}" if name in times else "" for name in names]
                label = str(dtype).removeprefix("torch.")
                print(f"{label:<10}{length:>7,}  {measured:<10}" + "".join(f"{ratio:>19}" for ratio in ratios))


if __name__ == "__main__":
    main()

"""The three modules under PyTorch's own tools: any mix of grad, no_grad and inference_mode with a cache, frozen
parameters, half precision, empty batches, torch.func transforms, export, copies."""

import copy
import itertools

import pytest
import torch
from torch.export import Dim, export
from torch.func import functional_call, grad, hessian, jvp, vmap

from multihead import (
    GroupedQueryAttention,
    KVCache,
    MultiHeadAttention,
    MultiQueryAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)

# torch.func.jvp calls torch.jit.script itself.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

B, T, D, H = 2, 5, 24, 4
BUILDERS = {
    "MHA": lambda: MultiHeadAttention(D, H),
    "GQA": lambda: GroupedQueryAttention(D, H, 2),
    "MQA": lambda: MultiQueryAttention(D, H),
}


@pytest.fixture(params=BUILDERS)
def module(request):
    torch.manual_seed(0)
    return BUILDERS[request.param]()


def randn(*shape, **options):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), **options)


# ---------------------------------------------------------------- a cache in any mode

MODES = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}


def decode(module, steps, modes, cache=None):
    cache = cache or KVCache()
    outputs = []
    for x, mode in zip(steps, modes):
        with MODES[mode]():
            outputs.append(module(x, cache=cache)[0])
    return outputs


def expected(module, steps, modes):
    """The same from a list of keys and one of values: those that were computed without gradients are constants."""
    keys, values, outputs = [], [], []
    for x, mode in zip(steps, modes):
        for kept, W in ((keys, module.W_K), (values, module.W_V)):
            kept.append(W(x) if mode == "grad" else W(x).detach())
        q = split_heads(module.W_Q(x), H)
        k, v = (split_heads(torch.cat(kept, 1), module.num_kv_heads) for kept in (keys, values))
        k, v = (y.repeat_interleave(H // module.num_kv_heads, 1) for y in (k, v))
        heads, _ = scaled_dot_product_attention(q, k, v, causal_mask(q.shape[2], k.shape[2]))
        outputs.append(module.W_O(merge_heads(heads)))
    return outputs


FROZEN = {"nothing": (), "W_K and W_V": ("W_K", "W_V"), "all but W_Q": ("W_K", "W_V", "W_O"), "everything": ("W",)}


@pytest.mark.parametrize("frozen", FROZEN)
def test_every_mix_of_modes_has_the_outputs_and_gradients_of_plain_tensors(module, frozen):
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(not name.startswith(FROZEN[frozen]))
    parameters = [p for p in module.parameters() if p.requires_grad]
    steps = [randn(B, t, D) for t in (1, 2, 1)]
    for modes in itertools.product(MODES, repeat=len(steps)):
        got, want = decode(module, steps, modes), expected(module, steps, modes)
        for x, y in zip(got, want):
            torch.testing.assert_close(x.detach().clone(), y.detach(), msg=str(modes))
        if parameters and "grad" in modes:
            losses = (sum(out.sum() for out, mode in zip(outs, modes) if mode == "grad") for outs in (got, want))
            for x, y in zip(*(torch.autograd.grad(loss, parameters, allow_unused=True) for loss in losses)):
                torch.testing.assert_close(x, y, msg=str(modes))


def test_a_copy_of_a_cache_branches_off(module):
    for copied, mode in itertools.product((copy.copy, copy.deepcopy), MODES):
        start, left, right = randn(B, 3, D), randn(B, 1, D), -randn(B, 1, D)
        with MODES[mode]():
            cache = KVCache()
            module(start, cache=cache)
            module(left, cache=cache)  # now the buffer has room for more
            branch = copied(cache)
            a, b = module(left, cache=cache)[0], module(right, cache=branch)[0]
            c = module(right, cache=cache)[0]  # and once more, behind the branch
            whole = lambda *x: module(torch.cat(x, 1), mask=causal_mask(sum(y.shape[1] for y in x)))[0][:, -1:]
            torch.testing.assert_close(a, whole(start, left, left))
            torch.testing.assert_close(b, whole(start, left, right))
            torch.testing.assert_close(c, whole(start, left, left, right))
        assert cache.length == 6 and branch.length == 5


def test_the_gradient_goes_through_a_branch():
    module = BUILDERS["GQA"]()
    x = randn(B, 2, D, requires_grad=True)
    cache = KVCache()
    module(x, cache=cache)
    output = module(randn(B, 1, D), cache=copy.deepcopy(cache))[0]
    assert torch.autograd.grad(output.sum(), x)[0].abs().max() > 0


@pytest.mark.parametrize("mask", [torch.ones(2, 4), torch.ones(2, 3, dtype=torch.bool), torch.ones(1, 2, 4, dtype=torch.bool)])
def test_a_refused_mask_leaves_the_cache_as_it_was(module, mask):
    cache = KVCache()
    module(randn(B, 2, D), cache=cache)
    before = cache.length, cache.nbytes
    with pytest.raises(ValueError, match="마스크"):
        module(randn(B, 2, D), cache=cache, mask=mask)
    assert (cache.length, cache.nbytes) == before
    module(randn(B, 2, D), cache=cache)
    assert cache.length == 4


def test_a_cached_call_refuses_a_value_of_its_own(module):
    with pytest.raises(ValueError, match="cache"):
        module(randn(B, 2, D), value=randn(B, 2, D), cache=KVCache())


# ---------------------------------------------------------------- precision, emptiness, ambiguity


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mask", [None, causal_mask(T)])
def test_large_half_precision_inputs_give_the_same_on_both_paths(dtype, mask):
    d_k = 64  # scores of 100 · 100 · 64 / 8 = 80,000 are beyond float16
    for module in (MultiHeadAttention(2 * d_k, 2), GroupedQueryAttention(2 * d_k, 2, 1)):
        with torch.no_grad():
            for W in (module.W_Q, module.W_K, module.W_V, module.W_O):
                W.weight.copy_(torch.eye(*W.weight.shape))
                W.bias.zero_()
        module.to(dtype)
        x = 100 * randn(B, T, 2 * d_k).sign().to(dtype)
        fast, _ = module(x, mask=mask)
        slow, weights = module(x, mask=mask, need_weights=True)
        assert slow.dtype == weights.dtype == dtype and slow.isfinite().all()
        torch.testing.assert_close(fast, slow, atol=0.5, rtol=0.01)
        torch.testing.assert_close(weights.float().sum(-1), torch.ones(B, 2, T), atol=0.01, rtol=0)


@pytest.mark.parametrize("shape", [(0, T, D), (B, 0, D), (0, 0, D)])
@pytest.mark.parametrize("need_weights", [False, True])
def test_an_empty_batch_has_an_empty_output(module, shape, need_weights):
    output, weights = module(torch.zeros(shape), need_weights=need_weights)
    assert output.shape == shape
    assert not need_weights or weights.shape == (shape[0], H, shape[1], shape[1])
    mask = torch.ones(shape[0], H, shape[1], shape[1], dtype=torch.bool)
    assert module(torch.zeros(shape), mask=mask, need_weights=need_weights)[0].shape == shape


def test_the_padding_mask_of_no_sentences_is_empty():
    none = torch.tensor([], dtype=torch.long)
    assert padding_mask(none).shape == (0, 1, 1, 0)
    assert padding_mask(none, 7).shape == (0, 1, 1, 7)


def test_a_mask_that_may_belong_to_sentences_or_to_queries_is_refused(module):
    x, mask = randn(T, T, D), torch.ones(T, T, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"\[:, None, None\]"):
        module(x, mask=mask)
    for clear in (mask[None, None], mask[:, None, None]):
        module(x, mask=clear)
    module(x[:1], mask=mask)  # one sentence: no doubt
    module(x[:3], mask=mask)


def test_the_mask_of_a_tokenizer_is_refused_with_the_way_out(module):
    attention_mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    with pytest.raises(ValueError, match=r"\.bool\(\)\[:, None, None\]"):
        module(randn(B, T, D), mask=attention_mask)
    module(randn(B, T, D), mask=attention_mask.bool()[:, None, None])


# ---------------------------------------------------------------- torch.func and export


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask", [None, causal_mask(T)])
def test_the_weights_can_be_differentiated_forwards(mask, mode):
    q, k, v, tangent = (randn(T, 3) for _ in range(4))
    f = lambda q: scaled_dot_product_attention(q, k, v, mask)[0]
    with MODES[mode]():
        got = jvp(f, (q,), (tangent,))[1]
    step = 1e-6
    q, k, v, tangent = (x.double() for x in (q, k, v, tangent))
    torch.testing.assert_close(got.double(), (f(q + step * tangent) - f(q - step * tangent)) / (2 * step), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_vmap_over_sentences_or_over_masks_equals_a_loop(mode):
    q, k, v = randn(3, T, 7), randn(3, T, 7), randn(3, T, 7)
    masks = torch.stack([causal_mask(T), ~causal_mask(T), torch.ones(T, T, dtype=torch.bool)])
    with MODES[mode]():
        for got, want in zip(vmap(scaled_dot_product_attention)(q, k, v, masks), scaled_dot_product_attention(q, k, v, masks)):
            torch.testing.assert_close(got, want)
        got = vmap(lambda m: scaled_dot_product_attention(q, k, v, m)[0])(masks)
        torch.testing.assert_close(got, torch.stack([scaled_dot_product_attention(q, k, v, m)[0] for m in masks]))


def test_per_sample_gradients_and_second_derivatives(module):
    x = randn(3, T, D)
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    loss = lambda p, x: functional_call(module, p, (x[None],), {"need_weights": True})[0].pow(2).sum()
    each = vmap(grad(loss), (None, 0))(parameters, x)
    for name, gradient in grad(loss)(parameters, x[1]).items():
        torch.testing.assert_close(each[name][1], gradient, atol=1e-4, rtol=1e-4)
    curvature = hessian(lambda b: loss({**parameters, "W_Q.bias": b}, x[0]))(parameters["W_Q.bias"])
    assert curvature.shape == (D, D) and curvature.abs().max() > 0


@pytest.mark.parametrize("need_weights", [False, True])
def test_an_exported_module_takes_other_lengths_and_batches(module, need_weights):
    class Output(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = module

        def forward(self, x):
            return self.attention(x, need_weights=need_weights)[0]

    program = export(Output(), (randn(3, T, D),), dynamic_shapes={"x": {0: Dim("B"), 1: Dim("T")}}).module()
    for x in (randn(4, 11, D), randn(2, 1, D)):
        torch.testing.assert_close(program(x), module(x)[0])

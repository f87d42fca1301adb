"""Multi-head attention: how fast is ours against nn.MultiheadAttention and against the formula written out.

    make bench

All are measured in turns within one run and given as their time divided by ours (`1.20` = ours is 1.2 times as fast).

MHA          nn.MultiheadAttention(batch_first=True) with the same parameters, called as its users call it. If weights
             are wanted, then one map a head (average_attn_weights=False), which ours always gives.
slow path    the same without the C++ "fast path", which it takes for inference only, and not in every call
formula      softmax(q kᵀ / √d_k) v with four nn.Linear and nothing else; it has the weights whether asked for or not

inference    in torch.inference_mode
training     forward and backward, with gradients for the input and for every parameter
"""

import statistics

import torch
from torch import nn

from multihead import MultiHeadAttention
from multihead.notebook import interleaved_medians

D, H = 512, 8
SIZES = ((8, 128), (4, 512), (1, 2048))  # B, T
ROUNDS = {128: 81, 512: 31, 2048: 11}  # short calls vary more


def by_formula(m, x):
    q, k, v = (W(x).unflatten(-1, (H, -1)).transpose(1, 2) for W in (m.W_Q, m.W_K, m.W_V))  # (B, h, T, d_k)
    weights = (q @ k.transpose(-2, -1) / m.d_k**0.5).softmax(-1)
    return m.W_O((weights @ v).transpose(1, 2).flatten(2)), weights


def without_fast_path(call):
    def slow():
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return call()
        finally:
            torch.backends.mha.set_fastpath_enabled(True)

    return slow


def forward_calls(ours, theirs, x, need_weights):
    calls = {
        "ours": lambda: ours(x, need_weights=need_weights),
        "MHA": lambda: theirs(x, x, x, need_weights=need_weights, average_attn_weights=False),
        "formula": lambda: by_formula(ours, x),
    }
    return calls if theirs.training else {**calls, "slow path": without_fast_path(calls["MHA"])}


def checked(calls):
    """The calls, if they give the same."""
    want, want_weights = calls["formula"]()
    for call in calls.values():
        output, weights = call()
        torch.testing.assert_close(output, want, atol=1e-5, rtol=0)
        if weights is not None:
            torch.testing.assert_close(weights, want_weights, atol=1e-5, rtol=0)
    return calls


def with_backward(forward, parameters, gradient):
    """Gradients are returned, not added to .grad, which would measure that sum too."""
    return lambda: torch.autograd.grad(forward()[0], parameters, gradient)


def ratios(B, T, training, need_weights):
    """Time of each of the others, divided by ours."""
    theirs = nn.MultiheadAttention(D, H, batch_first=True).train(training)
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(B, T, D, requires_grad=training)
    calls = checked(forward_calls(ours, theirs, x, need_weights))
    if training:
        gradient = torch.randn(B, T, D)
        parameters = {name: [x, *(theirs if name == "MHA" else ours).parameters()] for name in calls}
        calls = {name: with_backward(call, parameters[name], gradient) for name, call in calls.items()}
    times = interleaved_medians(calls, rounds=ROUNDS[T])
    return {name: seconds / times["ours"] for name, seconds in times.items() if name != "ours"}


def main():
    torch.manual_seed(0)
    print(f"d_model {D}, h {H}, float32, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    sizes = "".join(f"{f'B {B}, T {T}':>14}" for B, T in SIZES)
    print(f"{'':<11}{'weights':<9}{'against':<11}{sizes}{'mean':>8}")
    for training in (False, True):
        for need_weights in (False, True):
            with torch.inference_mode(not training):
                columns = [ratios(B, T, training, need_weights) for B, T in SIZES]
            for name in columns[0]:
                row = [column[name] for column in columns]
                label = f"{'training' if training else 'inference':<11}{'yes' if need_weights else 'no':<9}{name:<11}"
                print(label + "".join(f"{ratio:>14.2f}" for ratio in row) + f"{statistics.mean(row):>8.2f}", flush=True)


if __name__ == "__main__":
    main()

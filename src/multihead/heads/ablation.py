"""A BERT without some of its heads, and one that has learnt nothing: what a score is compared with."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch

from ..models.bert import Bert
from .scores import Head

# -- without a head, and without training ----------------------------------------------------------------------------


@contextmanager
def ablate(bert: Bert, heads: Sequence[Head]) -> Iterator[None]:
    """Inside of the ``with`` these heads look evenly at every token and add nothing to the output of their layer.

    Works by hooks: transformers 5 takes ``head_mask`` and ignores it. Before the block starts, a run with and one
    without these heads are compared, so that an ablation that does nothing never passes silently.
    """
    probe = " ".join([bert.tokenizer.mask_token] * 4)
    before = bert.attend(probe)
    for layer, head in heads:
        before.map(layer, head)  # refuses numbers that do not exist
    width = bert.d_model // bert.num_heads
    hooks = []
    for layer in {layer for layer, _ in heads}:
        columns = [(head - 1) * width + i for of_layer, head in heads if of_layer == layer for i in range(width)]
        hooks += _switch_off(bert.model.encoder.layer[layer - 1].attention, columns)
    try:
        after = bert.attend(probe)
        even = all(torch.allclose(after.map(*head), torch.tensor(1 / len(after.tokens))) for head in heads)
        if not even or torch.equal(before.hidden_states[-1], after.hidden_states[-1]):
            raise RuntimeError(f"헤드를 껐지만 모델의 출력이 그대로입니다. 끄려던 헤드: {list(heads)}")
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _switch_off(attention: torch.nn.Module, columns: list[int]) -> list[torch.utils.hooks.RemovableHandle]:
    """Hooks on a BERT layer's attention that clear these columns of the queries and of the concatenated heads."""

    def cleared(tensor):
        tensor = tensor.clone()
        tensor[..., columns] = 0
        return tensor

    return [
        # Queries of 0 give scores of 0 and so an even map, whatever the keys are.
        attention.self.query.register_forward_hook(lambda module, inputs, output: cleared(output)),
        attention.output.dense.register_forward_pre_hook(lambda module, inputs: (cleared(inputs[0]),)),
    ]


def random_control(bert: Bert, seed: int = 0) -> Bert:
    """The same architecture and tokenizer with random weights: what a head scores that has learnt nothing."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = type(bert.model)(copy.deepcopy(bert.model.config))
    return replace(
        bert,
        model=model.eval(),
        name=f"{bert.name} (무작위)",
        description=f"{bert.name}과(와) 구조가 같지만 파라미터를 학습하지 않고 무작위로 채운 모델입니다.",
    )

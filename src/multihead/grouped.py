"""Fewer key-value heads: grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245) and multi-query attention
(Shazeer 2019, arXiv:1911.02150).

Letters as in attention.py, and g KV heads: query head i reads KV head i // (h/g), so h/g neighbours share one.
"""

import torch
from torch import Tensor, nn

from .attention import MultiHeadAttention


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention whose h query heads share g key-value heads: g = h is MHA, g = 1 is MQA.

    num_kv_heads   g, a divisor of num_heads

    W_K and W_V map D to g · d_k numbers, and a KVCache holds g heads. Everything else is as in
    :class:`MultiHeadAttention`; the weights are (B, h, T, S), one map for each query head.
    Raises ValueError for sizes that are not positive or do not divide.
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, *, bias: bool = True, dropout: float = 0.0):
        super().__init__(d_model, num_heads, bias=bias, dropout=dropout)
        check_kv_heads(num_heads, num_kv_heads)
        self.num_kv_heads = num_kv_heads
        self.W_K = nn.Linear(d_model, num_kv_heads * self.d_k, bias=bias)
        self.W_V = nn.Linear(d_model, num_kv_heads * self.d_k, bias=bias)

    def _attend(self, q, k, v, mask, need_weights):
        """The queries of a group lie one below the other, like one longer query: K and V are read once, never repeated."""
        h, g, T = self.num_heads, self.num_kv_heads, q.shape[2]
        if mask is not None:
            mask = _folded(mask, h, g, T)
        q = q.contiguous().unflatten(1, (g, h // g)).flatten(2, 3)  # (B, h, T, d_k) -> (B, g, h/g · T, d_k)
        heads, weights = super()._attend(q, k, v, mask, need_weights)
        if need_weights:
            weights = weights.unflatten(2, (h // g, T)).flatten(1, 2)  # (B, g, h/g · T, S) -> (B, h, T, S)
        return heads.unflatten(2, (h // g, T)).flatten(1, 2), weights

    @staticmethod
    def from_mha(mha: MultiHeadAttention, num_kv_heads: int) -> "GroupedQueryAttention":
        """Convert multi-head attention: a KV head becomes the mean of the K and V heads of its group.

        The first step of "uptraining" (section 2.1 of the paper), which goes on training for 5 % of the original steps.
        Equal to ``mha`` for num_kv_heads = num_heads, an approximation otherwise.
        """
        bias = mha.W_Q.bias is not None
        gqa = GroupedQueryAttention(mha.d_model, mha.num_heads, num_kv_heads, bias=bias, dropout=mha.dropout)
        gqa.to(mha.W_Q.weight).train(mha.training)
        with torch.no_grad():
            for name, original in mha.named_parameters():
                if name.startswith(("W_K", "W_V")):
                    groups = original.view(num_kv_heads, -1, mha.d_k, *original.shape[1:])  # (g, h/g, d_k, ...)
                    original = groups.mean(1).flatten(0, 1)  # (g · d_k, ...)
                gqa.get_parameter(name).copy_(original)
        return gqa


class MultiQueryAttention(GroupedQueryAttention):
    """All query heads share one key-value head: :class:`GroupedQueryAttention` with num_kv_heads = 1."""

    def __init__(self, d_model: int, num_heads: int, *, bias: bool = True, dropout: float = 0.0):
        super().__init__(d_model, num_heads, 1, bias=bias, dropout=dropout)


def check_kv_heads(num_heads: int, num_kv_heads: int) -> None:
    """ValueError that names both unless the h query heads fall into g groups of the same size."""
    if not 1 <= num_kv_heads <= num_heads or num_heads % num_kv_heads:
        raise ValueError(
            f"num_kv_heads는 num_heads의 약수여야 합니다: num_heads = {num_heads}, num_kv_heads = {num_kv_heads}"
        )


def _folded(mask: Tensor, h: int, g: int, T: int) -> Tensor:
    """A mask for (B, h, T, S) as one for (B, g, h/g · T, S). Repeats it only as far as it differs between heads."""
    mask = mask.expand(1, 1, *mask.shape) if mask.dim() == 2 else mask
    _, mask_heads, mask_T, _ = mask.shape
    if mask_heads == mask_T == 1:
        return mask
    groups = 1 if mask_heads == 1 else g
    return mask.expand(-1, groups * h // g, T, -1).unflatten(1, (groups, h // g)).flatten(2, 3)

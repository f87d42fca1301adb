"""Multi-head attention, written to be read: the package that every chapter of the book imports."""

from .attention import (
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from .cache import KVCache
from .grouped import GroupedQueryAttention, MultiQueryAttention

__all__ = [
    "GroupedQueryAttention",
    "KVCache",
    "MultiHeadAttention",
    "MultiQueryAttention",
    "causal_mask",
    "merge_heads",
    "padding_mask",
    "scaled_dot_product_attention",
    "split_heads",
]

"""The models of the book: those that it trains (neighbours, tiny_bert on the sentences of grammar) and real ones (bert)."""

from .bert import Attention, Bert, load_bert

__all__ = ["Attention", "Bert", "load_bert"]

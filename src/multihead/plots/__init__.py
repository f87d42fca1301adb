"""Static figures, each a plain matplotlib figure: maps of weights and scores, charts of costs and training runs.

matplotlib is loaded with the first figure: widgets want the palette alone.
"""

from importlib import import_module

_MODULES = {
    "accuracy_by_step": "charts",
    "all_maps": "maps",
    "attention_maps": "maps",
    "bars": "charts",
    "cost_by_length": "charts",
    "dot_products": "maps",
    "kv_sharing": "charts",
    "learning_curves": "charts",
    "mask_pictures": "maps",
    "neighbour_roles": "charts",
    "score_grids": "maps",
    "similarity_without_heads": "charts",
    "speedups": "charts",
    "time_ratios": "charts",
}
__all__ = list(_MODULES)


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)

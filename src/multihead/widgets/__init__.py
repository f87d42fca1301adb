"""Interactive widgets: the same class works in Jupyter, in Colab and on the book's static pages."""

from multihead.widgets.attention_playground import AttentionPlayground
from multihead.widgets.head_atlas import HeadAtlas
from multihead.widgets.head_splitter import HeadSplitter
from multihead.widgets.kv_cache_calculator import KVCacheCalculator
from multihead.widgets.lesion_lab import LesionLab
from multihead.widgets.parameter_counter import ParameterCounter
from multihead.widgets.sentence_explorer import SentenceExplorer
from multihead.widgets.timelapse import Timelapse
from multihead.widgets.training_lab import TrainingLab

__all__ = [
    "AttentionPlayground",
    "HeadAtlas",
    "HeadSplitter",
    "KVCacheCalculator",
    "LesionLab",
    "ParameterCounter",
    "SentenceExplorer",
    "Timelapse",
    "TrainingLab",
]

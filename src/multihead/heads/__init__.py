"""What a head does: annotated sentences, scores with their baselines, models without some heads."""

from .ablation import ablate, random_control
from .annotated import RELATIONS, AnnotatedSentence, load_sentences, parse_sentence
from .scores import (
    RelationScore,
    best_directions,
    best_offset,
    bootstrap_interval,
    entropy,
    positional_scores,
    readable_share,
    relation_accuracy,
    word_maps,
)

__all__ = [
    "RELATIONS",
    "AnnotatedSentence",
    "RelationScore",
    "ablate",
    "best_directions",
    "best_offset",
    "bootstrap_interval",
    "entropy",
    "load_sentences",
    "parse_sentence",
    "positional_scores",
    "random_control",
    "readable_share",
    "relation_accuracy",
    "word_maps",
]

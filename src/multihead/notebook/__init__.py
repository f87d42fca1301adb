"""What a cell needs around the lesson: surroundings, sliders, progress, comparable times."""

from .progress_bar import progress
from .slider_cell import sliders
from .surroundings import setup
from .timing import interleaved_medians

__all__ = ["interleaved_medians", "progress", "setup", "sliders"]

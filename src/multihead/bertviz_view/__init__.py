"""bertviz, safe everywhere: in Jupyter, in Colab and on a static page. The only place of the book that calls bertviz."""

from .views import head_view, model_view, neuron_view

__all__ = ["head_view", "model_view", "neuron_view"]

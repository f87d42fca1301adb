"""Interactive widgets: the same class works in Jupyter, in Colab and on the book's static pages."""

from multihead.widgets.head_splitter import HeadSplitter

__all__ = ["HeadSplitter"]

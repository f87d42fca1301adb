"""Fonts with what the pages use of them, and nothing else."""

import logging

from fontTools import subset
from fontTools.varLib import instancer

logging.getLogger("fontTools").setLevel(logging.ERROR)  # it has something to say of every table of every font


def cut_font(source, text, target, weights=None, **options):
    """``target``, packed as woff2, gets the characters of ``text`` and, of a variable font, a range of weights.

    A source that is packed as woff2 itself takes many times as long.
    """
    options = subset.Options(flavor="woff2", hinting=False, **options)
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, set(text)))
    subsetter.subset(font)
    if weights:
        font = instancer.instantiateVariableFont(font, {"wght": weights})
    target.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, target, options)

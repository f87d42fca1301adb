"""One colour for each head, the same in every figure and every widget.

The first seven are Okabe & Ito's colour-blind safe set (2008), the other five are taken from Martin Krzywinski's
12-colour palette for colour blindness. Head 12 starts again at the first colour.
"""

HEAD_COLOURS = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # green
    "#CC79A7",  # pink
    "#56B4E9",  # sky
    "#D55E00",  # vermilion
    "#F0E442",  # yellow
    "#8400CD",  # violet
    "#A40122",  # dark red
    "#00FCCF",  # turquoise
    "#FFB2FD",  # light pink
    "#005FCC",  # deep blue
)


def head_colour(head: int) -> str:
    """Colour of head ``head`` (0-based) as ``#RRGGBB``."""
    return HEAD_COLOURS[head % len(HEAD_COLOURS)]

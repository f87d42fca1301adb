"""What all figures share: sizes, colours, letters that a font has."""

import unicodedata

import matplotlib as mpl

from .fonts import drawable, korean_family
from .palette import head_colour

PAGE_WIDTH = 10.5  # inches
SIGNED = mpl.colors.LinearSegmentedColormap.from_list("signed", [head_colour(5), "white", head_colour(0)])


def literal(text: str) -> str:
    """Text that matplotlib draws as it stands: between two dollar signs it would read a formula."""
    return drawable(text).replace("$", r"\$")


def text_columns(text: str) -> int:
    """Columns that a text takes: Hangul is twice as wide as Latin."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def figure_style():
    return mpl.rc_context({"font.family": korean_family(), "font.size": 10})


def only_left_and_bottom(axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def badge(colour: str, shape: str) -> dict:
    box = {"boxstyle": f"{shape},pad=0.3", "facecolor": colour, "edgecolor": "none"}
    text = {"color": ink_on(colour), "fontsize": 9, "fontweight": "bold", "ha": "center", "va": "center"}
    return text | {"bbox": box, "zorder": 2}


def ink_on(background) -> str:
    """Black or white, whichever reads better on this colour (WCAG: white wins below a luminance of 0.18)."""
    red, green, blue = mpl.colors.to_rgb(background)
    return "white" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.18 else "black"

"""Sliders over ordinary PyTorch and matplotlib code, for readers who have a kernel."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import ipywidgets
from IPython.core.pylabtools import retina_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sliders(draw: Callable[..., "Figure"], **ranges: tuple[int, int, int, int]) -> ipywidgets.VBox:
    """One slider for each argument of ``draw``; the figure that it returns is replaced when a slider moves.

    ranges   name = (start, lowest, highest, step), for example ``h=(4, 1, 16, 1)``

    What ``draw`` refuses with a ValueError, an h that does not divide d_model for example, is said in its place.
    """
    controls = {
        name: ipywidgets.IntSlider(
            value=start, min=low, max=high, step=step, description=name, continuous_update=False
        )
        for name, (start, low, high, step) in ranges.items()
    }
    # An Output widget would be simpler, but it can stop a build: nbclient answers its messages on the channel on which
    # it waits for the end of the cell, and may then wait for ever.
    picture = ipywidgets.Image(format="png", layout={"max_width": "100%", "height": "auto"})
    refusal = ipywidgets.HTML()

    def update(_change=None):
        try:
            png, size = retina_figure(draw(**{name: control.value for name, control in controls.items()}))
        except ValueError as error:
            picture.value, picture.layout.display = b"", "none"
            refusal.value = f'<p role="alert">{escape(str(error))}</p>'
        else:
            refusal.value = ""
            picture.value, picture.layout.display = png, None
            picture.width, picture.height = str(size["width"]), str(size["height"])

    for control in controls.values():
        control.observe(update, names="value")
    update()
    return ipywidgets.VBox([*controls.values(), refusal, picture])

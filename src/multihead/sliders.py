"""Sliders over ordinary PyTorch and matplotlib code, for readers who have a kernel."""

from collections.abc import Callable

import ipywidgets
from IPython.display import display
from matplotlib.figure import Figure


def sliders(draw: Callable[..., Figure], **ranges: tuple[int, int, int, int]) -> ipywidgets.VBox:
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
    output = ipywidgets.Output()

    def update(_change=None):
        with output:
            output.clear_output(wait=True)  # the old figure stays until the new one is there
            try:
                display(draw(**{name: control.value for name, control in controls.items()}))
            except ValueError as error:
                print(error)

    for control in controls.values():
        control.observe(update, names="value")
    update()
    return ipywidgets.VBox([*controls.values(), output])

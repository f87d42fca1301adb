"""A bar that shows how far a long cell is."""

import sys
from collections.abc import Iterator


def progress(steps: range, label: str) -> Iterator[int]:
    """Yields the steps, under a bar that shows how far they are. Does nothing else outside of a notebook.

    At the end the output of the cell is empty, as if there had been no bar: a bar that stayed would be a dead one in
    the built page. So print after the loop, not before it.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not getattr(shell, "kernel", None):
        yield from steps
        return

    from IPython.display import HTML, clear_output, display

    def bar(step: int) -> HTML:
        return HTML(f'<label>{label} <progress max="{len(steps)}" value="{step}"></progress></label>')

    handle = display(bar(0), display_id=True)
    try:
        for count, step in enumerate(steps):
            if count % max(1, len(steps) // 20) == 0:
                handle.update(bar(count))
            yield step
    finally:
        clear_output()

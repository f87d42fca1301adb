"""``setup()``, called by the first cell of every notebook: the same surroundings in the book, Jupyter and Colab."""

import importlib.metadata
import os
import platform
import sys

import torch

TESTED_TRANSFORMERS = (4, 57), (6, 0)  # from, below


def setup(seed: int = 0) -> None:
    """Korean font, white figures, seed, quiet transformers; in Colab the widget manager and a line of versions.

    Prints nothing elsewhere, unless the installed transformers was never tested with the book.
    """
    from ..plots.fonts import use_korean_font  # with matplotlib: widgets do without it

    torch.manual_seed(seed)
    use_korean_font()
    use_white_paper()
    quieten_transformers()
    warn_if_transformers_is_untested()
    if enable_colab_widgets():
        print(f"Python {platform.python_version()}, torch {torch.__version__}, transformers {transformers_version()}")


def use_white_paper() -> None:
    """White figures, also on a dark page; crisp on high-density screens when a notebook shows them."""
    import matplotlib as mpl

    mpl.rcParams.update({"figure.facecolor": "white", "savefig.facecolor": "white", "savefig.transparent": False})
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell and getattr(shell, "kernel", None):
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("retina")


def quieten_transformers() -> None:
    """No progress bars and no warnings in the pages, no telemetry. Does not import transformers: that takes its time."""
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ["HF_HUB_VERBOSITY"] = "error"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # else a model from the cache would still ask the hub a question
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    # The variables are read on import, so what has been imported already is told directly.
    if "huggingface_hub" in sys.modules:
        from huggingface_hub.utils import disable_progress_bars, logging

        disable_progress_bars()
        logging.set_verbosity_error()
    if "transformers" in sys.modules:
        from transformers.utils import logging

        logging.disable_progress_bar()
        logging.set_verbosity_error()


def transformers_version() -> str | None:
    """Version of the installed transformers, or None: it belongs to the extra ``bert``."""
    try:
        return importlib.metadata.version("transformers")
    except importlib.metadata.PackageNotFoundError:
        return None


def warn_if_transformers_is_untested() -> None:
    version = transformers_version()
    first, end = TESTED_TRANSFORMERS
    if version and not first <= tuple(map(int, version.split(".")[:2])) < end:
        print(
            f"설치된 transformers {version} 버전은 이 책이 확인한 버전(4.57부터 5.x까지)이 아닙니다. "
            "BERT를 다루는 장에서 문제가 생기면 pip install 'transformers>=4.57,<6'으로 맞추십시오."
        )


def enable_colab_widgets() -> bool:
    """Lets Colab show anywidgets. False outside of Colab."""
    try:
        from google.colab import output
    except ImportError:
        return False
    output.enable_custom_widget_manager()
    return True

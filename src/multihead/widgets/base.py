"""What all widgets of the book share.

A widget is one ``.py`` and one ``.js`` file of the same name. The ``.py`` declares the synced traits, the ``.js`` draws
and computes, so that the widget also moves on a static page, without Python.
"""

import base64
import numbers
import re
from collections.abc import Iterable
from pathlib import Path

import anywidget
import torch
import traitlets
from torch import Tensor

from multihead.models.text import normalize_text
from multihead.plots.palette import HEAD_COLOURS

FOLDER = Path(__file__).parent
WEIGHT_STEP = 1e-4  # attention weights travel to the browser as 16-bit multiples of this


IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w./]+)";\n', re.MULTILINE)
DECLARATION = re.compile(r"^(?:export )?(?:async )?(?:const|let|class|function\*?) (\w+)", re.MULTILINE)


def join_module(name: str) -> str:
    """Return the file ``name`` and all that it imports, each file once, as one ES module.

    anywidget takes one self-contained module, whereas editors and ``node --test`` want to see where a name comes from.
    So the source files are ordinary modules with ``import { ... } from "./core.js";`` and with ``export`` at the start of
    a line. Joining drops these and nothing else; only ``name`` keeps its exports.
    Raises ValueError where two of the files declare the same name.
    """
    sources: dict[str, str] = {}

    def read(file: str) -> None:
        source = (FOLDER / file).read_text("utf-8")
        for imported in IMPORT.findall(source):
            if imported not in sources:
                read(imported)
        sources[file] = IMPORT.sub("", source)

    read(name)
    owner: dict[str, str] = {}
    for file, source in sources.items():
        for declared in DECLARATION.findall(source):
            if owner.setdefault(declared, file) != file:
                raise ValueError(f"{name}: {owner[declared]} and {file} both declare {declared}")
    own = sources.pop(name)
    return "\n".join([*(re.sub(r"^export ", "", source, flags=re.MULTILINE) for source in sources.values()), own])


def pack_weights(maps: Iterable[Tensor]) -> str:
    """Base 64 of attention weights of any shape, one tensor after the other; unpackWeights in core.js reads them."""
    steps = torch.cat([(weights / WEIGHT_STEP).round().to(torch.int32).flatten() for weights in maps])
    return base64.b64encode(steps.cpu().numpy().astype("<u2").tobytes()).decode()


def luminance(colour: str) -> float:
    """Relative luminance of ``#RRGGBB``, as WCAG 2 defines it."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink(colour: str) -> str:
    """Black or white, whichever reads better on ``colour``; the contrast is always at least 4.58 : 1."""
    return "#000000" if luminance(colour) > 0.179 else "#FFFFFF"


def palette_css() -> str:
    """Give the head colours, and a readable ink on each, to the style sheet."""
    lines = [f"  --head-{i}: {colour}; --ink-{i}: {ink(colour)};" for i, colour in enumerate(HEAD_COLOURS)]
    return "\n".join([".mh, .mh-still {", *lines, "}"])


class IntRange(traitlets.TraitType):
    """A synced whole number from ``low`` to ``high``; None too, if that is the default."""

    def __init__(self, default: int | None, low: int, high: int):
        super().__init__(default, allow_none=default is None)
        self.low, self.high = low, high
        self.tag(sync=True)

    def validate(self, obj, value):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise traitlets.TraitError(f"{self.name}에는 정수가 필요합니다. 받은 값: {value!r}")
        if not self.low <= value <= self.high:
            raise traitlets.TraitError(f"{self.name}의 범위는 {self.low}부터 {self.high}까지입니다. 받은 값: {value}")
        return int(value)


class Choice(traitlets.TraitType):
    """A synced value out of a few allowed ones."""

    def __init__(self, default, allowed: tuple):
        super().__init__(default)
        self.allowed = allowed
        self.tag(sync=True)

    def validate(self, obj, value):
        # A list would be no key of a set, and 1 equals True: compare type and value one by one.
        if not any(type(value) is type(option) and value == option for option in self.allowed):
            options = ", ".join(map(repr, self.allowed))
            raise traitlets.TraitError(f"{self.name}의 값은 {options} 가운데 하나입니다. 받은 값: {value!r}")
        return value


class Text(traitlets.TraitType):
    """A synced text, the same whatever its Unicode form."""

    def __init__(self, default: str):
        super().__init__(default)
        self.tag(sync=True)

    def validate(self, obj, value):
        if not isinstance(value, str):
            raise traitlets.TraitError(f"{self.name}에는 문자열이 필요합니다. 받은 값: {value!r}")
        return normalize_text(value)


class Widget(anywidget.AnyWidget):
    """Base of the book's widgets: shared look, and no typo passes silently."""

    _css = palette_css() + "\n" + (FOLDER / "widget.css").read_text("utf-8")

    def __init__(self, **settings):
        unknown = sorted(settings.keys() - {*self.settings(), "layout"})
        if unknown:
            raise TypeError(self._unknown(", ".join(unknown)))
        super().__init__(**settings)

    def __setattr__(self, name, value):
        # Plain Python would store `w.heads = 8` without a word, and no picture would change.
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(self._unknown(name))
        super().__setattr__(name, value)

    @classmethod
    def settings(cls) -> list[str]:
        """Names of the traits that the widget itself declares."""
        inherited = Widget.class_trait_names()
        return [name for name in cls.class_trait_names() if name not in inherited and not name.startswith("_")]

    @classmethod
    def _unknown(cls, names: str) -> str:
        return f"{cls.__name__}에 없는 설정입니다: {names}. 쓸 수 있는 설정: {', '.join(cls.settings())}"

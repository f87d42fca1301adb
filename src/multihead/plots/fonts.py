"""Korean glyphs in matplotlib: at once, without a restart, a network or a font on the system.

The package ``koreanize-matplotlib`` carries NanumGothic (SIL Open Font License), but importing it needs ``distutils``,
which Python 3.12 no longer has. So it is only searched for its font files, never imported.
"""

import functools
import importlib.util
import warnings
from pathlib import Path

import matplotlib as mpl
from matplotlib import font_manager

# Found on macOS, Windows and the usual Linux distributions, in case the font package is missing.
SYSTEM_FONTS = (
    "NanumGothic",
    "Apple SD Gothic Neo",
    "AppleGothic",
    "Malgun Gothic",
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "NanumBarunGothic",
    "UnDotum",
)


@functools.cache
def korean_family() -> list[str]:
    """Family list for matplotlib: a Korean font, then DejaVu Sans for signs such as ``−`` and ``ᵀ`` that it lacks."""
    package = importlib.util.find_spec("koreanize_matplotlib")
    if package and package.origin:
        folder = Path(package.origin).parent / "fonts"
        if (folder / "NanumGothic.ttf").is_file():
            # The bold file calls itself 600, so that matplotlib would log a warning whenever "bold" is asked for.
            bold = str(folder / "NanumGothicBold.ttf")
            font_manager.fontManager.ttflist.append(
                font_manager.FontEntry(fname=bold, name="NanumGothic", weight="bold", size="scalable")
            )
            font_manager.fontManager.addfont(folder / "NanumGothic.ttf")
            return ["NanumGothic", "DejaVu Sans"]

    installed = set(font_manager.get_font_names())
    for name in SYSTEM_FONTS:
        if name in installed:
            return [name, "DejaVu Sans"]

    warnings.warn(
        "한글 글꼴을 찾지 못해 그림의 한글이 네모로 보입니다. "
        "`pip install koreanize-matplotlib`으로 설치하고 커널을 다시 시작하십시오.",
        stacklevel=2,
    )
    return ["DejaVu Sans"]


@functools.cache
def _glyphs() -> frozenset[int]:
    fonts = map(font_manager.findfont, korean_family())
    return frozenset().union(*(font_manager.get_font(font).get_charmap() for font in fonts))


def drawable(text: str) -> str:
    """The text with □ for what no font can draw (an emoji, say), so that matplotlib does not warn about it."""
    return "".join(character if ord(character) in _glyphs() else "□" for character in text)


def use_korean_font() -> None:
    """Every figure drawn from now on has its Korean glyphs."""
    mpl.rcParams["font.family"] = korean_family()

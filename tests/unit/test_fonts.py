"""Korean glyphs in figures, on a system without any Korean font."""

import subprocess
import sys

import pytest

from multihead.plots import fonts

WITHOUT_SYSTEM_FONTS = """
import logging, sys, warnings
import matplotlib.pyplot as plt  # first, as in a notebook that has been running for a while
from matplotlib import font_manager, get_data_path
warnings.simplefilter("error")
manager = font_manager.fontManager
manager.ttflist = [font for font in manager.ttflist if font.fname.startswith(get_data_path())]

from multihead.plots.fonts import use_korean_font
use_korean_font()
figure, axes = plt.subplots()
axes.plot([-1, 1], [-1, 1])  # minus signs at the ticks
axes.set_title("어텐션 헤드의 가중치", fontweight="bold")
axes.set_xlabel("QKᵀ / √d_k × −1 → 1, 자모 난")
figure.savefig("/dev/null", format="png")
print(font_manager.findfont("NanumGothic"), "koreanize_matplotlib" in sys.modules, "distutils" in sys.modules)
"""


def test_korean_and_mathematical_signs_are_drawn_without_a_font_on_the_system():
    run = subprocess.run([sys.executable, "-c", WITHOUT_SYSTEM_FONTS], capture_output=True, text=True)
    assert run.stderr == ""  # neither "Glyph ... missing" nor "findfont: ..."
    assert run.stdout.strip().endswith("NanumGothic.ttf False False")


@pytest.fixture
def without_font_package(monkeypatch):
    monkeypatch.setattr(fonts.importlib.util, "find_spec", lambda name: None)


def test_a_korean_font_of_the_system_is_used_if_the_package_is_missing(without_font_package, monkeypatch):
    monkeypatch.setattr(fonts.font_manager, "get_font_names", lambda: ["Arial", "Malgun Gothic"])
    assert fonts.korean_family.__wrapped__() == ["Malgun Gothic", "DejaVu Sans"]


def test_without_any_korean_font_a_korean_sentence_says_what_to_install(without_font_package, monkeypatch):
    monkeypatch.setattr(fonts.font_manager, "get_font_names", lambda: ["Arial"])
    with pytest.warns(UserWarning, match="한글 글꼴을 찾지 못해.*koreanize-matplotlib"):
        assert fonts.korean_family.__wrapped__() == ["DejaVu Sans"]


def test_a_sign_that_no_font_has_becomes_a_box_instead_of_a_warning():
    assert fonts.drawable("고양이 🐈 ᄂ") == "고양이 □ ᄂ"

"""The theme's styles and icons are cut down to what the pages use, and nothing that they use is missing."""

import re

import pytest
from built_book import SITE
from fontTools.ttLib import TTFont

STATIC = SITE / "_static"
THEME = STATIC / "styles" / "pydata-sphinx-theme.css"
PAGES = [*SITE.glob("*.html"), *SITE.glob("chapters/*.html")]


def test_no_page_asks_for_the_script_that_draws_icons():
    assert PAGES and not any("fontawesome.js" in page.read_text("utf-8") for page in PAGES)


def test_every_icon_of_a_page_has_its_glyph():
    css = THEME.read_text("utf-8")
    glyphs = {
        style: TTFont(STATIC / "vendor/fontawesome/webfonts" / f"fa-{style}.woff2").getBestCmap()
        for style in ("solid-900", "brands-400")
    }
    icons = {
        icon
        for page in PAGES
        for icon in re.findall(r'class="[^"]*(fa-(?:solid|brands) +fa-[a-z-]+)', page.read_text("utf-8"))
    }
    assert len(icons) >= 5
    for icon in icons:
        style, name = icon.split()
        code = re.search(rf'\.{name}:before[^{{]*\{{content:\s*"\\([0-9a-f]+)"', css)
        assert code, f"no rule for {icon}"
        font = glyphs["solid-900" if style == "fa-solid" else "brands-400"]
        assert int(code[1], 16) in font, icon


@pytest.mark.parametrize(
    ("path", "at_most"),
    [(THEME, 110_000), (STATIC / "vendor/fontawesome/webfonts/fa-solid-900.woff2", 4_000)],
)
def test_what_no_page_uses_is_gone(path, at_most):
    assert path.stat().st_size <= at_most

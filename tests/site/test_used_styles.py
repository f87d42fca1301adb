"""The pages have one style sheet, it and the fonts are cut down to what the pages use, and nothing that they use is missing."""

import re

import pytest
from built_book import SITE, soup
from fontTools.ttLib import TTFont

STATIC = SITE / "_static"
PAGES = [*SITE.glob("*.html"), *SITE.glob("chapters/*.html")]
LINKING = [page for page in PAGES if page.name != "404.html"]  # which needs no other file


def styles():
    return (STATIC / "styles.css").read_text("utf-8")


def test_every_page_waits_for_one_style_sheet_and_no_script_before_it_shows():
    assert LINKING
    for page in LINKING:
        head = soup(page.relative_to(SITE)).head
        links = [link["href"].partition("?")[0] for link in head.select("link[rel=stylesheet]")]
        assert len(links) == 1 and (page.parent / links[0]).resolve() == STATIC / "styles.css", page
        assert [script["src"] for script in head.select("script[src]:not([defer], [type=module])")] == [], page


def test_every_file_that_the_style_sheet_names_is_there():
    """KaTeX names each font in three formats; a browser that runs the widgets takes the first, woff2."""
    names = [name for name in re.findall(r"""url\(["']?(?!["']?data:)(.+?)["']?\)""", styles()) if "woff2" in name]
    assert len(names) > 20 and [name for name in names if not (STATIC / name).exists()] == []


def test_no_page_asks_for_the_script_that_draws_icons():
    assert PAGES and not any("fontawesome.js" in page.read_text("utf-8") for page in PAGES)


def test_every_icon_of_a_page_has_its_glyph():
    css = styles()
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


def test_every_symbol_of_a_formula_has_its_glyph():
    """KaTeX names the fonts of some symbols by classes; each symbol must be in one of the fonts at least."""
    fonts = [TTFont(font).getBestCmap() for font in (STATIC / "vendor/katex/fonts").glob("*.woff2")]
    symbols = {char for page in LINKING for formula in soup(page.relative_to(SITE)).select(".katex-html") for char in formula.text}
    latin = {char for char in symbols if not re.match(r"[가-힣\s\u200b]", char)}
    assert len(latin) > 50 and [char for char in latin if not any(ord(char) in font for font in fonts)] == []


@pytest.mark.parametrize(
    ("name", "at_most"),
    [
        ("styles.css", 170_000),
        ("vendor/fontawesome/webfonts/fa-solid-900.woff2", 4_000),
        ("vendor/katex/fonts/KaTeX_Main-Regular.woff2", 14_000),
    ],
)
def test_what_no_page_uses_is_cut_away(name, at_most):
    assert (STATIC / name).stat().st_size <= at_most


@pytest.mark.parametrize("pattern", ["**/*.map", "**/*.ttf", "**/fontawesome.js*", "locales", "doctools.js", "searchtools.js"])
def test_what_no_page_asks_for_is_gone(pattern):
    assert list(STATIC.glob(pattern)) == []

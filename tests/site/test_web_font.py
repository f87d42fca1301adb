"""The web font is cut to the book, but no further."""

import re

from built_book import SITE
from fontTools.ttLib import TTFont
from web_font import FONT, characters


def test_font_has_every_syllable_that_pages_and_scripts_can_show():
    sources = [*SITE.rglob("*.html"), *SITE.glob("_static/*.js")]
    used = set().union(*(characters(path.read_text("utf-8")) for path in sources))
    assert {c for c in used if re.match("[가-힣]", c)} <= set(map(chr, TTFont(SITE / FONT).getBestCmap()))


def test_font_keeps_every_weight():
    weight = TTFont(SITE / FONT)["fvar"].axes[0]
    assert (weight.axisTag, weight.minValue, weight.maxValue) == ("wght", 45, 930)


def test_text_that_scripts_escape_counts():
    assert characters(r'{"label": "\ud5e4\ub4dc"} &#44050;') >= set("헤드값")

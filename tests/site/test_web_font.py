"""The web font is cut to the book, but no further."""

import re

from built_book import SITE
from fontTools.ttLib import TTFont
from web_font import FONT, characters

from multihead.widgets.base import Widget


def test_font_has_every_syllable_that_pages_and_scripts_can_show():
    sources = [*SITE.rglob("*.html"), *SITE.glob("_static/*.js"), *SITE.glob("_static/widgets/*.js")]
    used = set().union(*(characters(path.read_text("utf-8")) for path in sources))
    assert {c for c in used if re.match("[가-힣]", c)} <= set(map(chr, TTFont(SITE / FONT).getBestCmap()))


def test_font_has_every_weight_that_the_book_and_its_widgets_ask_for():
    axis = TTFont(SITE / FONT)["fvar"].axes[0]
    declared = re.search(r"font-weight: (\d+) (\d+);", (SITE / "_static/web_font.css").read_text("utf-8"))
    assert (axis.axisTag, axis.minValue, axis.maxValue) == ("wght", *map(int, declared.groups()))
    styles = (SITE / "_static/book.css").read_text("utf-8") + Widget._css
    asked = {int(weight) for weight in re.findall(r"font-weight: (\d+)", styles)}
    assert len(asked) > 2 and axis.minValue <= min(asked) and max(asked) <= axis.maxValue


def test_text_that_scripts_escape_counts():
    assert characters(r'{"label": "\ud5e4\ub4dc"} &#44050;') >= set("헤드값")

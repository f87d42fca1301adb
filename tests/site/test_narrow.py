"""No page scrolls sideways, from 320 px up, whatever a reader types; and no box makes an iPhone zoom in."""

import pytest
from built_book import ALL_PAGES, BOOK_PAGES, load

LONG = ["a_very_long_identifier_name_in_code_that_never_ends 나는", "가" * 200, "https://example.org/" + "x" * 120]
TOO_WIDE = """() => document.documentElement.scrollWidth > innerWidth && [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5 && node.checkVisibility())
    .slice(0, 4).map((node) => node.outerHTML.slice(0, 120))"""
SMALL = """() => [...document.querySelectorAll("input:not([type=range], [type=checkbox], [type=radio]), select, textarea")]
    .filter((box) => parseFloat(getComputedStyle(box).fontSize) < 16).map((box) => box.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize("width", [320, 390])
def test_no_page_scrolls_sideways_and_every_box_has_16_px(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    bad = {}
    for path in ALL_PAGES:
        load(page, path)
        if found := page.evaluate(TOO_WIDE) or page.evaluate(SMALL):
            bad[path] = found
    assert bad == {}


def test_no_typed_text_makes_a_page_scroll_sideways(page):
    page.set_viewport_size({"width": 320, "height": 800})
    bad, typed = {}, set()
    for path in ALL_PAGES:
        load(page, path)
        if path in BOOK_PAGES:
            page.keyboard.press("Control+k")
        for choice in page.locator("select:visible:has(option[value=own])").all():  # shows a box for an own sentence
            choice.select_option("own")
        for box in page.locator("input[type=text]:visible, input[type=search]:visible").all():
            typed.add(box.get_attribute("name"))
            for text in LONG:
                box.fill(text)
                page.wait_for_timeout(50)
                if found := page.evaluate(TOO_WIDE):
                    bad[path, text[:20]] = found
            box.fill("")
        while page.context.awaited:  # a search that is still on its way
            page.wait_for_timeout(50)
    assert bad == {} and typed == {"q", "sentence", "text", "compare"}

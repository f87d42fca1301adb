"""When a widget of a static page comes alive."""

from multihead.widgets import ParameterCounter

TALL_STILL = '<figure class="mh-still" style="height: 2000px">멈춘 그림</figure>'


def four_widgets():
    """Also when the first are alive, the last one is more than a screen below."""
    return [ParameterCounter() for _ in range(4)]


def test_a_widget_far_below_stays_a_still_until_the_reader_comes_near(show):
    page = show(*four_widgets(), still=TALL_STILL)
    last = page.locator(".afm-view").last
    page.wait_for_timeout(500)
    assert last.locator("[data-widget]").count() == 0 and last.locator(".mh-still").count() == 1
    last.scroll_into_view_if_needed()
    last.locator("[data-widget]").wait_for()
    assert last.locator(".mh-still").count() == 0


def test_an_address_that_speaks_to_a_widget_finds_it_alive_wherever_it_is(show):
    page = show(*four_widgets(), still=TALL_STILL)
    page.evaluate("location.hash = '#s=나는+사과를+먹었다'")
    page.reload()
    page.locator("[data-widget]").nth(3).wait_for()
    assert page.evaluate("scrollY") == 0


def test_tab_does_not_pass_over_a_widget_that_is_still_a_still(show):
    page = show(*four_widgets(), still=TALL_STILL)
    assert page.locator("[data-widget]").count() < 4
    page.keyboard.press("Tab")
    page.locator("[data-widget]").nth(3).wait_for()
    assert page.locator("[data-widget]").count() == 4
    page.locator(".afm-view").last.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert page.locator("[data-widget]").count() == 4, "a widget started twice"

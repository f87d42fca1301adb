"""The model view and the neuron view of chapter 08 in a real browser, on the built site."""

import pytest
from widget_page import LUMINANCE

CHAPTER = "chapters/08_bert_heads.html"
WHOLE = "document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def open_view(page):
    """Opens the chapter and returns the page inside the first view of this kind, drawn."""

    def open_view(view, selector):
        page.goto(CHAPTER)
        iframe = page.locator(f".attention-view[data-view={view}] iframe").first
        iframe.scroll_into_view_if_needed()  # they load lazily
        frame = iframe.element_handle().content_frame()
        frame.wait_for_selector(selector, state="attached")
        return frame

    return open_view


def lit(frame, group):
    """Numbers of the parts of this kind that are shown."""
    return frame.evaluate(
        "group => [...document.querySelectorAll('#expanded ' + group)].flatMap((g, i) => g.style.opacity > 0 ? [i] : [])",
        group,
    )


def test_the_model_view_draws_every_head_and_a_click_enlarges_one(open_view):
    frame = open_view("model_view", ".attn_background")
    assert frame.locator(".attn_background").count() == 6 * 12
    sums = frame.evaluate(
        "[...document.querySelectorAll('svg > g')].map(g => "
        "[...g.querySelectorAll('line')].reduce((sum, line) => sum + +line.getAttribute('stroke-opacity'), 0))"
    )
    assert sums == pytest.approx([13] * 72, abs=0.1)  # each of the 13 tokens has 1 to give in each head
    assert frame.evaluate(WHOLE)
    assert {"헤드", "층"} <= set(frame.locator("svg > text").all_text_contents())

    frame.locator("svg > g > rect:last-child").nth(2 * 12 + 8).click()
    assert frame.locator("text.detail").all_text_contents() == ["층 3, 헤드 9"]
    names = frame.locator(".detail .token").all_text_contents()
    assert names[:3] == ["[CLS]", "the", "cat"] and len(names) == 26
    inside, whole = (frame.locator(selector).first.bounding_box() for selector in ("rect.detail", "svg"))
    assert whole["x"] <= inside["x"] and inside["x"] + inside["width"] <= whole["x"] + whole["width"]
    assert whole["y"] <= inside["y"] and inside["y"] + inside["height"] <= whole["y"] + whole["height"]
    frame.locator("svg > g > rect:last-child").nth(2 * 12 + 8).click()
    assert frame.locator(".detail").count() == 0


def test_the_neuron_view_opens_with_a_token_and_follows_the_pointer_and_the_list_of_heads(open_view):
    frame = open_view("neuron_view", "#expanded #queries .element")
    assert frame.locator("#layer option").all_inner_texts() == ["1"]
    assert frame.locator("#att_head option").all_inner_texts() == [str(head) for head in range(1, 13)]
    assert frame.locator("#att_head").evaluate("list => list.selectedOptions[0].text") == "3"
    tokens = frame.locator("#expanded #leftText .token").all_text_contents()
    sat, mat = tokens.index("sat"), tokens.index("mat")
    assert lit(frame, ".qk-line-group") == [sat]
    assert frame.locator("#queries .vector").count() == 13 and frame.locator("#queries .element").count() == 13 * 32

    products = "[...document.querySelectorAll('#dotproducts .dotproduct')].map(node => +node.dataset.value)"
    scores = frame.evaluate(products)
    assert len(scores) == 13 and max(scores) == scores[tokens.index("cat")] == pytest.approx(22.5, abs=0.2)
    frame.locator("#expanded #leftText .token").nth(mat).hover()
    assert lit(frame, ".qk-line-group") == [mat] and frame.evaluate(products) != scores
    frame.locator("#vis").hover(position={"x": 400, "y": 20})
    assert lit(frame, ".qk-line-group") == [mat]  # stays until another token is pointed at
    frame.locator("#att_head").select_option(label="4")
    assert lit(frame, ".qk-line-group") == [mat]
    assert frame.evaluate(WHOLE)


def test_both_views_stay_on_white_paper_with_dark_text_in_dark_mode(open_view, page):
    for view, selector in (("model_view", "svg text"), ("neuron_view", "#expanded text")):
        frame = open_view(view, selector)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        [[text, paper]] = frame.locator("body").evaluate_all(LUMINANCE)
        assert paper > 0.95 and text < 0.05
        inks = set(frame.locator(selector).evaluate_all("nodes => nodes.map(node => getComputedStyle(node).fill)"))
        assert all(max(map(int, ink.removeprefix("rgb(").removesuffix(")").split(", "))) <= 40 for ink in inks), inks


def test_a_phone_scrolls_inside_a_view_and_not_the_page(open_context):
    page = open_context(viewport={"width": 390, "height": 800}).new_page()
    page.goto(CHAPTER)
    for view in ("model_view", "neuron_view"):
        box = page.locator(f".attention-view[data-view={view}] iframe").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.context.problems == []

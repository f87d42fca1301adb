"""The head views of chapter 08 in a real browser, on the built site."""

import pytest

CHAPTER = "chapters/08_bert_heads.html"
LINES = "[...document.querySelectorAll('#attention line')].map(line => +line.getAttribute('stroke-opacity'))"


def frames(page):
    """The pages inside the views' iframes, each drawn."""
    page.goto(CHAPTER)
    found = []
    for iframe in page.locator(".attention-view[data-view=head_view] iframe").all():
        iframe.scroll_into_view_if_needed()  # they load lazily
        frame = iframe.element_handle().content_frame()
        frame.wait_for_selector("#attention line", state="attached")
        found.append(frame)
    assert len(found) >= 2
    return found


def other_layer(frame):
    """A layer in the list that is not shown."""
    layers = frame.locator("#layer option").all_inner_texts()
    return next(layer for layer in layers if layer != frame.locator("#layer").input_value())


def test_lines_are_drawn_for_the_real_model(page):
    for frame in frames(page):
        tokens = frame.locator("#left text").all_text_contents()
        heads = frame.locator("#heads span").all_inner_texts()
        assert tokens[0] == "[CLS]" and tokens[-1] == "[SEP]"
        assert heads == [str(head) for head in range(1, 13)]
        opacities = frame.evaluate(LINES)
        assert len(opacities) == 12 * len(tokens) ** 2
        # Every token has 1 to give in every head, and bertviz divides by the number of heads that are on.
        assert sum(opacities) == pytest.approx(len(tokens), rel=0.02)


def test_changing_the_layer_changes_the_lines_of_this_view_only(page):
    first, second = frames(page)[:2]
    before, undisturbed = first.evaluate(LINES), second.evaluate(LINES)
    shown = first.locator("#layer").input_value()
    first.select_option("#layer", other_layer(first))
    assert first.evaluate(LINES) != before
    assert second.evaluate(LINES) == undisturbed
    first.select_option("#layer", shown)
    assert first.evaluate(LINES) == before


def test_a_head_is_switched_off_and_on_in_its_own_view_only(page):
    first, second = frames(page)[:2]
    before, undisturbed = first.evaluate(LINES), second.evaluate(LINES)
    switch = first.locator("svg > g > rect").nth(2)  # head 3
    switch.click()
    lines_of_a_head = len(before) // 12
    after = first.evaluate(LINES)
    assert not any(after[2 * lines_of_a_head : 3 * lines_of_a_head]) and any(after)
    assert second.evaluate(LINES) == undisturbed
    switch.click()
    assert first.evaluate(LINES) == before


def test_the_whole_view_fits_into_its_iframe(page):
    for frame in frames(page):
        assert frame.evaluate(
            "document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth"
        )


def test_the_views_load_nothing_into_the_page_around_them(page):
    frames(page)
    assert page.evaluate("[typeof require, typeof define, typeof d3, typeof jQuery]") == ["undefined"] * 4


def test_the_static_picture_stays_where_scripts_cannot_run(open_context):
    page = open_context(java_script_enabled=False).new_page()
    page.goto(CHAPTER)
    pictures = page.locator(".attention-view img")
    assert pictures.count() >= 2
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        assert picture.is_visible() and picture.bounding_box()["width"] > 200
        assert "헤드" in picture.get_attribute("alt")
    line = page.frame_locator(".attention-view iframe").first.locator("#missing")
    line.wait_for(state="visible")
    assert "정지 그림" in line.inner_text()


def test_the_korean_labels_in_the_iframe_are_drawn_with_the_web_font(page):
    for frame in frames(page):
        assert frame.evaluate("document.fonts.ready.then(fonts => [...fonts].map(f => f.family + f.status))") == [
            "Pretendardloaded"
        ]

"""HeadSplitter on a static page: the host revives it, and it answers as a good instrument does."""

import re

import ipywidgets
import pytest
from widget_page import COLAB, assert_readable, choose, is_dark, out, render_and_remove, use_theme

from multihead.widgets import HeadSplitter


def shapes(root):
    return [out(root, f"shape_{step}") for step in ("x", "view", "heads", "wrong")]


def chips(root):
    """Place, size, head colour and text of every chip: the picture as the reader sees it."""
    return root.locator(".mh-chip").evaluate_all("chips => chips.map(c => c.getAttribute('style') + c.innerText)")


def test_the_live_widget_takes_the_place_of_the_still(show):
    page = show(HeadSplitter())
    assert page.locator(".afm-view").inner_text().count("멈춘 그림") == 0
    assert page.locator("[data-widget=HeadSplitter]").count() == 1


def test_state_set_in_python_is_what_the_page_shows(show):
    page = show(HeadSplitter(h=8, d_model=512, T=3, step="heads", token=2))
    assert shapes(page) == ["(1, 3, 512)", "(1, 3, 8, 64)", "(1, 8, 3, 64)", "(1, 8, 3, 64)"]
    assert page.locator("input[name=h]").input_value() == "8"
    assert page.locator("input[name=step]:checked").input_value() == "heads"
    assert page.locator("input[name=token]:checked").input_value() == "2"


def test_h_d_model_and_T_change_every_number_and_the_picture_within_a_frame(show):
    page = show(HeadSplitter(h=4, d_model=64, T=5))
    pictures = [chips(page)]
    assert shapes(page) == ["(1, 5, 64)", "(1, 5, 4, 16)", "(1, 4, 5, 16)", "(1, 4, 5, 16)"]
    for name, value, d_k, expected in [
        ("h", 8, 8, ["(1, 5, 64)", "(1, 5, 8, 8)", "(1, 8, 5, 8)", "(1, 8, 5, 8)"]),
        ("d_model", 128, 16, ["(1, 5, 128)", "(1, 5, 8, 16)", "(1, 8, 5, 16)", "(1, 8, 5, 16)"]),
        ("T", 3, 16, ["(1, 3, 128)", "(1, 3, 8, 16)", "(1, 8, 3, 16)", "(1, 8, 3, 16)"]),
    ]:
        # Input, one frame, then look: in one go, so that no later frame can help.
        shown = page.evaluate(
            """async ([name, value]) => {
                const slider = document.querySelector(`input[name=${name}]`);
                slider.value = value;
                slider.dispatchEvent(new Event("input"));
                await new Promise(requestAnimationFrame);
                return document.querySelector("[data-out=d_k]").textContent;
            }""",
            [name, value],
        )
        assert shown == str(d_k)
        assert shapes(page) == expected
        pictures.append(chips(page))
    assert len({str(picture) for picture in pictures}) == 4
    assert [len(picture) for picture in pictures] == [20, 40, 40, 24]


@pytest.mark.parametrize(
    ("step", "code", "strides", "contiguous"),
    [
        ("x", "x = X @ W", "(320, 64, 1)", "예"),
        ("view", "x.view(1, 5, 4, 16)", "(320, 64, 16, 1)", "예"),
        ("heads", "x.view(1, 5, 4, 16).transpose(1, 2)", "(320, 16, 64, 1)", "아니요"),
        ("wrong", "x.view(1, 4, 5, 16)", "(320, 80, 16, 1)", "예"),
    ],
)
def test_each_step_shows_its_line_its_strides_and_the_followed_token(show, step, code, strides, contiguous):
    page = show(HeadSplitter())
    choose(page, "step", step)
    assert [out(page, name) for name in ("code", "strides", "contiguous")] == [code, strides, contiguous]
    choose(page, "token", 3)
    followed = page.locator(".mh-chip.is-followed").all_inner_texts()
    assert {text.split("\n")[0] for text in followed} == {"사과를"}
    assert {text.split("\n")[1] for text in followed} == {"0–15", "16–31", "32–47", "48–63"}
    assert "192번부터 255번" in out(page, "ranges")
    assert "사과를" in page.locator(".mh-stage").get_attribute("aria-label")


def test_the_wrong_view_marks_as_many_places_as_it_counts(show):
    page = show(HeadSplitter(step="wrong", h=4, T=5))
    assert page.locator(".mh-chip").count() == 40
    assert page.locator(".mh-chip.is-lost").count() == 16
    assert "20자리 가운데 16자리" in out(page, "explanation")


def test_chips_move_between_steps_unless_motion_is_unwelcome(show):
    durations = {}
    for motion in ("no-preference", "reduce"):
        page = show(HeadSplitter(), reduced_motion=motion)
        choose(page, "step", "heads")
        chip = page.locator(".mh-chip").nth(1)
        durations[motion] = chip.evaluate("chip => getComputedStyle(chip).transitionDuration")
    assert durations == {"no-preference": "0.5s", "reduce": "0s"}


def test_heads_that_do_not_divide_are_explained_and_nothing_stale_stays(show):
    page = show(HeadSplitter(d_model=64))
    page.locator("input[name=h]").fill("3")
    alert = page.get_by_role("alert")
    assert re.search("d_model = 64는 h = 3으로 나누어떨어지지 않습니다", alert.inner_text())
    assert page.locator(".mh-picture").is_hidden() and page.locator(".mh-chip").count() == 0
    assert [out(page, "d_k"), *shapes(page)] == ["–"] * 5
    for name, cleared in {"code": "–", "strides": "–", "contiguous": "–", "explanation": "", "ranges": ""}.items():
        assert page.locator(f"[data-out={name}]").text_content() == cleared
    page.locator("input[name=h]").fill("2")
    assert alert.count() == 0 and page.locator(".mh-chip").count() == 10
    assert out(page, "d_k") == "32"


@pytest.mark.parametrize(
    ("typed", "value", "said"),
    [
        ("99", "16", "99 대신 16을 씁니다"),
        ("0", "1", "0 대신 1을 씁니다"),
        ("-4", "1", "-4 대신 1을"),
        ("2.5", "3", "2.5 대신 3을"),
        ("", "4", "숫자를 읽을 수 없어"),
    ],
)
def test_a_typed_value_that_does_not_fit_is_corrected_and_the_page_says_so(show, typed, value, said):
    page = show(HeadSplitter(h=4, d_model=48))
    box = page.locator("input[name=h_box]")
    box.fill(typed)
    box.press("Enter")
    assert box.input_value() == value == page.locator("input[name=h]").input_value()
    assert said in out(page, "note")
    assert "NaN" not in page.inner_text("body") and out(page, "d_k") == str(48 // int(value))
    page.locator("input[name=h]").fill("2")
    assert out(page, "note") == ""


def test_the_keyboard_alone_suffices(show):
    page = show(HeadSplitter(h=4, d_model=64, T=5))
    focused = "document.activeElement.name"
    reached = []
    page.locator("a").focus()
    for _ in range(9):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(focused))
        if reached[-1] == "h":
            for _ in range(4):
                page.keyboard.press("ArrowRight")
        elif reached[-1] == "d_model":
            page.keyboard.press("ArrowRight")
        elif reached[-1] == "T_box":
            page.keyboard.type("6")
            page.keyboard.press("Enter")
        elif reached[-1] in ("step", "token"):
            page.keyboard.press("ArrowRight")
    assert reached[:8] == ["h", "h_box", "d_model", "d_model_box", "T", "T_box", "step", "token"]
    assert shapes(page)[2] == "(1, 8, 6, 9)"
    assert page.locator("input[name=step]:checked").input_value() == "heads"
    assert page.locator(".mh-chip.is-followed b").first.inner_text() == "어제"


def test_pointing_at_a_chip_follows_its_token_and_a_click_keeps_it(show):
    page = show(HeadSplitter())
    followed = page.locator(".mh-chip.is-followed b").first
    page.locator(".mh-chip", has_text="빨간").first.hover()
    assert followed.inner_text() == "빨간"
    page.mouse.move(5, 5)
    assert followed.inner_text() == "나는"
    page.locator(".mh-chip", has_text="빨간").first.click()
    page.mouse.move(5, 5)
    assert followed.inner_text() == "빨간"
    assert page.locator("input[name=token]:checked").input_value() == "2"


def test_two_widgets_on_one_page_are_independent(show):
    page = show(HeadSplitter(), HeadSplitter(h=2))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = chips(second)
    first.locator("input[name=h]").fill("16")
    choose(first, "step", "wrong")
    assert out(second, "d_k") == "32" and chips(second) == before
    assert second.locator("input[name=step]:checked").input_value() == "view"
    assert page.locator("style.afm-css").count() == 1


def test_two_views_of_one_widget_move_together(show):
    widget = HeadSplitter()
    page = show(widget, widget)
    page.locator("[data-widget]").nth(1).wait_for()
    page.locator("input[name=h]").first.fill("8")
    assert page.locator("[data-out=d_k]").all_inner_texts() == ["8", "8"]


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_the_picture_and_not_the_page_and_has_room_for_a_finger(show, width):
    page = show(HeadSplitter(h=16, d_model=512, T=8, step="wrong"), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    scroller = page.locator(".mh-scroll")
    assert scroller.evaluate("node => node.scrollWidth > node.clientWidth")
    assert scroller.get_attribute("tabindex") == "0"
    for target in page.locator("input").all():
        box = target.bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40, target.get_attribute("name")


@pytest.mark.parametrize(("h", "T"), [(16, 4), (8, 8), (16, 16)])
def test_words_fit_into_their_chips(show, h, T):
    page = show(HeadSplitter(h=h, d_model=512, T=T), viewport={"width": 390, "height": 800})
    assert page.locator(".mh-chip > *").evaluate_all("texts => texts.filter(t => t.scrollWidth > t.clientWidth)") == []


def test_the_wrong_result_stands_beside_the_right_one_while_there_is_room_for_both(show):
    page = show(HeadSplitter(h=8, d_model=512, T=8, step="wrong"))
    assert page.locator(".mh-chip").count() == 2 * 64
    page.fill("input[name=T]", "16")
    assert page.locator(".mh-chip").count() == 128 and page.locator(".mh-title").all_inner_texts()[0].startswith("틀린")
    assert "128자리 가운데" in out(page, "explanation")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes(show, theme):
    page = show(HeadSplitter(h=12, d_model=96, step="wrong"))
    use_theme(page, theme)
    assert_readable(page, (".mh-chip b", ".mh-chip span", ".mh-label", ".mh-axes", ".mh-row", "[data-out]:not(.mh-picture)"))


@pytest.mark.parametrize(
    ("scheme", "attribute", "dark"),
    [
        ("dark", "", True),  # an unknown page follows the system
        ("light", "html theme dark", True),  # Colab
        ("dark", "body data-jp-theme-light true", False),  # JupyterLab, light on a dark system
        ("light", "body data-jp-theme-light false", True),
    ],
)
def test_the_widget_follows_the_theme_of_the_notebook(show, scheme, attribute, dark):
    page = show(HeadSplitter(), color_scheme=scheme)
    page.evaluate(
        """attribute => {
            delete document.documentElement.dataset.theme;
            const [tag, name, value] = attribute.split(" ");
            if (tag) document.querySelector(tag).setAttribute(name, value);
        }""",
        attribute,
    )
    assert is_dark(page) is dark


def test_dragging_leaks_neither_nodes_nor_listeners(show):
    page = show(HeadSplitter(h=4, d_model=512, T=8))
    session = page.context.new_cdp_session(page)

    def drag():
        page.evaluate(
            """async () => {
                const sliders = ["h", "d_model", "T"].map((name) => document.querySelector(`input[name=${name}]`));
                const steps = document.querySelectorAll("input[name=step]");
                for (let i = 0; i < 120; i++) {
                    const slider = sliders[i % 3];
                    slider.value = i % 2 ? slider.min : slider.max;
                    slider.dispatchEvent(new Event("input"));
                    steps[i % 4].click();
                    await new Promise(requestAnimationFrame);
                }
                for (const [i, value] of [4, 512, 8].entries()) {
                    sliders[i].value = value;
                    sliders[i].dispatchEvent(new Event("input"));
                }
                steps[1].click();
            }"""
        )
        session.send("HeapProfiler.collectGarbage")
        counters = session.send("Memory.getDOMCounters")
        return counters["nodes"], counters["jsEventListeners"]

    drag()
    nodes, listeners = drag()
    assert drag() == (pytest.approx(nodes, abs=20), pytest.approx(listeners, abs=5))


def test_the_widget_cleans_up_after_itself(show):
    page = show(HeadSplitter())
    assert render_and_remove(page, HeadSplitter()) == [[1, 1], [0, 0]]



def test_compact_shows_h_d_model_and_three_steps(show):
    page = show(HeadSplitter(compact=True))
    assert page.locator("input[name=T], input[name=token]").count() == 0
    page.locator("input[name=h]").fill("8")
    choose(page, "step", "heads")
    assert out(page, "shape_heads") == "(1, 8, 5, 8)"
    assert page.locator("input[name=step]").count() == 3
    page.locator("input[name=h]").fill("3")
    assert page.get_by_role("alert").is_visible() and page.locator(".mh-chip").count() == 0


def test_a_broken_module_leaves_the_still_and_says_so(show):
    def spoil(state):
        for model in state.values():
            if model["model_module"] == "anywidget":
                model["state"]["_esm"] = "export default { render() { throw new Error('고장') } };"

    page = show(HeadSplitter(), change_state=spoil, wait_for=".afm-error")
    assert "멈춘 그림" in page.inner_text(".afm-view")
    assert "고장" in page.inner_text(".afm-error") and page.locator(".afm-error a").get_attribute("href") == COLAB
    assert page.locator(".afm-live").count() == 0


def test_a_view_without_state_says_so(show):
    page = show(HeadSplitter(), change_state=lambda state: state.clear(), wait_for=".afm-error")
    assert "저장된 상태가 없습니다" in page.inner_text(".afm-error") and "멈춘 그림" in page.inner_text(".afm-view")


def test_a_widget_that_needs_a_kernel_keeps_its_still(show):
    page = show(ipywidgets.VBox([ipywidgets.IntSlider()]), HeadSplitter())
    assert page.inner_text(".afm-view >> nth=0") == "멈춘 그림"


def test_paper_shows_the_still_of_the_current_settings_and_the_screen_the_widget_again(show):
    page = show(HeadSplitter(h=4))
    root = page.locator("[data-widget]")
    page.fill("input[name=h]", "8")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert "h = 8" in page.inner_text(".mh-still figcaption") and root.count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".mh-still").count() == 0
    page.fill("input[name=h]", "2")
    assert out(root, "d_k") == "32"

"""ParameterCounter on a static page: every control changes what depends on it, and nothing stale stays."""

import pytest
from widget_page import assert_readable, drag_sliders, out, render_and_remove, use_theme

from multihead.widgets import ParameterCounter

MATRICES = ("W_Q", "W_K", "W_V", "W_O")
SHAPES = tuple(f"shape_{name}" for name in MATRICES)
FLOPS = ("projections", "scores", "weighted_sum", "total_flops")
SHARES = ("projections_share", "scores_share", "weighted_sum_share")
SCORES = ("score_bytes", "score_memory")
EVERYTHING = (
    "division", "d_k", *MATRICES, *SHAPES, "total", *FLOPS, *SHARES, "crossover", *SCORES, "about_h", "about_T",
)  # fmt: skip


def readouts(root):
    shown = root.locator("[data-out]").evaluate_all(
        "nodes => Object.fromEntries(nodes.map(node => [node.dataset.out, node.textContent]))"
    )
    picture = root.locator(".mh-area").evaluate_all("areas => areas.map(area => area.getAttribute('style')).join()")
    # The number of the crossover is written on the line in the picture, what the areas stand for on the ruler.
    crossover, ruler = (root.locator(selector).inner_text() for selector in (".is-crossover", ".mh-ruler"))
    return {**shown, "crossover": crossover, "ruler": ruler, "areas": picture}


def set_slider(root, name, value):
    root.locator(f"input[name={name}]").fill(str(value))


def test_state_set_in_python_is_what_the_page_shows(show):
    page = show(ParameterCounter(h=12, d_model=768, bias=False, T=1024, g=4))
    assert [out(page, name) for name in ("d_k", *MATRICES, "total")] == [
        "64", "589,824개", "196,608개", "196,608개", "589,824개", "1,572,864개",
    ]  # fmt: skip
    assert [page.locator(f"input[name={name}_box]").input_value() for name in ("h", "d_model", "T", "g")] == [
        "12", "768", "1024", "4",
    ]  # fmt: skip
    assert not page.locator("input[name=bias]").is_checked() and not page.locator("input[name=g_is_h]").is_checked()


def test_the_size_of_the_paper_has_1050624_parameters_whatever_h_is(show):
    page = show(ParameterCounter(d_model=512))
    for h in (1, 2, 4, 8, 16, 32, 64):
        set_slider(page, "h", h)
        assert out(page, "total") == "1,050,624개" and out(page, "d_k") == str(512 // h)
        assert "h는 합계를 바꾸지 않고" in out(page, "about_h") and "1,050,624개" in out(page, "about_h")


@pytest.mark.parametrize(
    ("change", "changing"),
    [
        (lambda page: set_slider(page, "h", 16), ("division", "d_k", *SCORES, "about_h", "areas")),
        (
            lambda page: set_slider(page, "d_model", 1024),
            ("division", "d_k", *MATRICES, *SHAPES, "total", *FLOPS, *SHARES, "crossover", "about_h", "about_T",
             "ruler"),
        ),
        (lambda page: set_slider(page, "T", 40), ("T", *FLOPS, *SHARES, *SCORES, "about_T")),
        (
            lambda page: set_slider(page, "g", 2),
            ("W_K", "W_V", "shape_W_K", "shape_W_V", "total", "projections", "total_flops", *SHARES, "crossover",
             "about_h", "about_T", "areas"),
        ),
        (lambda page: page.locator("input[name=bias]").uncheck(), (*MATRICES, "total", "about_h")),
    ],
    ids=["h", "d_model", "T", "g", "bias"],
)  # fmt: skip
def test_a_control_changes_what_depends_on_it_and_nothing_else(show, change, changing):
    page = show(ParameterCounter(h=8, d_model=512, T=128))
    before = readouts(page)
    assert set(before) >= {*EVERYTHING, "T", "areas"}
    change(page)
    after = readouts(page)
    assert {name for name in before if before[name] != after[name]} - {"picture"} == set(changing)


def test_g_follows_h_until_it_is_set_and_again_when_asked(show):
    page = show(ParameterCounter())
    set_slider(page, "h", 16)
    assert page.locator("input[name=g]").input_value() == "16"
    set_slider(page, "g", 4)
    set_slider(page, "h", 32)
    assert page.locator("input[name=g]").input_value() == "4" and out(page, "W_K") == "32,832개"
    page.locator("input[name=g_is_h]").check()
    assert page.locator("input[name=g]").input_value() == "32" and out(page, "W_K") == "262,656개"


def test_areas_on_the_screen_are_to_scale(show):
    page = show(ParameterCounter(h=8, d_model=16, g=2))
    boxes = page.locator(".mh-area").evaluate_all(
        "areas => areas.map(area => { const { width, height } = area.getBoundingClientRect(); return width * height; })"
    )
    assert [area / boxes[0] for area in boxes] == pytest.approx([1, 1 / 4, 1 / 4, 1], rel=0.01)
    bias, whole = page.locator(".mh-bias, .mh-area").evaluate_all("b => [b[1], b[0]].map(x => x.clientHeight)")
    assert bias / whole == pytest.approx(1 / 17, abs=0.01)


@pytest.mark.parametrize(("T", "said"), [(1023, "투영이 50.0 %로"), (1024, "바로 그 T"), (1025, "점수와 가중합이 50.0 %")])
def test_the_side_of_the_crossover_is_named(show, T, said):
    page = show(ParameterCounter(h=8, d_model=512))
    page.locator("input[name=T_box]").fill(str(T))
    assert said in out(page, "about_T") and "T = 2 · d_model = 1,024에서" in out(page, "about_T")
    now, crossover = (page.locator(f".{kind}").bounding_box()["x"] for kind in ("is-now", "is-crossover"))
    assert abs(now - crossover) < 1


@pytest.mark.parametrize(
    ("box", "value", "said"),
    [("h_box", 3, "d_model = 512는 h = 3으로"), ("g_box", 3, "h = 8은 KV 헤드 수 g = 3으로"), ("g_box", 9, "g = 9가")],
)
def test_what_does_not_divide_is_explained_and_nothing_stale_stays(show, box, value, said):
    page = show(ParameterCounter())
    page.locator(f"input[name={box}]").fill(str(value))
    assert said in page.get_by_role("alert").inner_text()
    assert page.locator(".mh-picture *").count() == 0 and page.locator(".mh-spoken").text_content() == ""
    assert out(page, "d_k") == ("–" if box == "h_box" else "64")
    page.locator(f"input[name={box}]").fill("4")
    assert page.get_by_role("alert").count() == 0 and page.locator(".mh-area").count() == 4


@pytest.mark.parametrize(
    ("name", "typed", "value", "said"),
    [
        ("d_model", "5000", "4096", "8부터 4,096까지의 정수만 쓸 수 있어 5000 대신 4,096을"),
        ("d_model", "1", "8", "1 대신 8을"),
        ("T", "99999", "16384", "99999 대신 16,384를"),
        ("T", "1.5", "2", "1.5 대신 2를"),
        ("g", "0", "1", "0 대신 1을"),
        ("h", "", "8", "숫자를 읽을 수 없어"),
    ],
)
def test_a_typed_value_that_does_not_fit_is_corrected_and_the_page_says_so(show, name, typed, value, said):
    page = show(ParameterCounter())
    box = page.locator(f"input[name={name}_box]")
    box.fill(typed)
    box.press("Enter")
    assert box.input_value() == value and said in out(page, "note") and "NaN" not in page.inner_text("body")
    page.locator("input[name=bias]").click()
    assert out(page, "note") == ""


def test_the_keyboard_alone_suffices(show):
    page = show(ParameterCounter())
    reached = []
    page.locator("a").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name"))
        if reached[-1] in ("d_model", "T"):
            page.keyboard.press("ArrowRight")
        elif reached[-1] in ("g_is_h", "bias"):
            page.keyboard.press("Space")
    assert reached == ["h", "h_box", "d_model", "d_model_box", "T", "T_box", "g", "g_box", "g_is_h", "bias"]
    assert out(page, "division") == "520 ÷ 8" and out(page, "T") == "160"
    assert page.locator("input[name=T]").get_attribute("aria-valuetext") == "160"
    assert not page.locator("input[name=g_is_h]").is_checked() and not page.locator("input[name=bias]").is_checked()


def test_results_are_announced_and_pictures_are_told_in_words(show):
    page = show(ParameterCounter(g=2))
    assert page.locator("[aria-live=polite]").text_content().startswith("파라미터 656,640개. T²에 비례하는")
    labels = page.locator("[role=img]").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert labels[1] == "W_K: 가중치 512 × 128, 열이 헤드 2개로 나뉩니다. 편향까지 65,664개."
    assert "T = 640에서 절반씩" in labels[4]


def test_two_widgets_on_one_page_are_independent(show):
    page = show(ParameterCounter(), ParameterCounter(h=2))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = second.inner_html()
    set_slider(first, "h", 16)
    first.locator("input[name=bias]").uncheck()
    assert second.inner_html() == before and out(second, "d_k") == "256"


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_does_not_scroll_sideways_and_has_room_for_a_finger(show, width):
    page = show(ParameterCounter(h=64, d_model=4096, T=16384), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for target in page.locator("input").all():
        box = target.bounding_box()
        if target.get_attribute("type") == "checkbox":  # drawn small in a large label
            box = target.locator("xpath=ancestor::label").bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40, target.get_attribute("name")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes(show, theme):
    page = show(ParameterCounter())
    use_theme(page, theme)
    assert_readable(page, (
        ".mh-caption", ".mh-say", ".mh-small", ".mh-head", ".mh-flag span", "[data-out]", ".mh-check span", ".mh-ruler",
    ))


def test_dragging_leaks_neither_nodes_nor_listeners(show):
    page = show(ParameterCounter(d_model=512))
    resting = {"h": 8, "d_model": 512, "T": 30}
    drag_sliders(page, resting)
    nodes, listeners = drag_sliders(page, resting)
    assert drag_sliders(page, resting) == (pytest.approx(nodes, abs=20), pytest.approx(listeners, abs=5))


def test_the_widget_cleans_up_after_itself(show):
    page = show(ParameterCounter())
    assert render_and_remove(page, ParameterCounter()) == [[1, 1], [0, 0]]

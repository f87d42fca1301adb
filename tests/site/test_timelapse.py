"""Timelapse on a static page: the slider and the play button move maps, numbers and the mark on the curve."""

import pytest
import torch
from widget_page import assert_readable, drag_sliders, out, render_and_remove, use_theme

from multihead.models.neighbours import Accuracy, Recording
from multihead.widgets import Timelapse

STEPS = [0, 50, 100, 200]


def recording(h):
    """Heads that look more and more at one neighbour: even heads left, odd heads right."""
    T = 16
    goal = torch.stack([torch.eye(T).roll(1 if head % 2 else -1, 1) for head in range(h)])
    maps = torch.stack([step / 200 * goal + (1 - step / 200) / T for step in STEPS])
    return Recording(
        num_heads=h, tokens=torch.arange(T), steps=STEPS, maps=maps, shares=torch.zeros(4, h, 2),
        accuracy=[Accuracy(1, 1, step * h / 2000) for step in STEPS], losses=torch.tensor([7.0, 5.0, 3.0, h / 10]),
    )  # fmt: skip


RUNS = [recording(h) for h in (1, 2, 4, 8)]


def everything(root):
    readouts = root.locator("[data-out]").evaluate_all(
        "all => Object.fromEntries(all.map(node => [node.dataset.out, node.textContent]))"
    )
    maps = root.locator(".mh-run-maps svg").evaluate_all("all => all.map(svg => svg.innerHTML)")
    return {**readouts, "maps": maps, "mark": root.locator(".is-now").get_attribute("style")}


def test_a_step_set_in_python_is_what_the_page_shows(show):
    page = show(Timelapse(RUNS, step=100))
    assert out(page, "step") == "100 / 200걸음" and page.locator("input[name=step]").input_value() == "2"
    assert [out(page, f"both_{h}") for h in (1, 2, 4, 8)] == ["5.0 %", "10.0 %", "20.0 %", "40.0 %"]
    assert [out(page, f"loss_{h}") for h in (1, 2, 4, 8)] == ["3.00"] * 4
    assert [page.locator(f"[data-h='{h}'] .mh-tile").count() for h in (1, 2, 4, 8)] == [1, 2, 4, 8]
    assert page.locator("[data-h='2'] .mh-tile-text").all_text_contents() == [
        "왼쪽 0.53 오른쪽 0.03", "왼쪽 0.03 오른쪽 0.53",
    ]  # fmt: skip
    assert out(page, "roles_8").startswith("절반 넘게 왼쪽을 보는 헤드 4개, 오른쪽 4개")
    assert page.locator(".is-now").get_attribute("style") == "left:50%"


def test_the_slider_changes_maps_numbers_and_mark_and_back_again(show):
    page = show(Timelapse(RUNS))
    first = everything(page)
    page.locator("input[name=step]").fill("3")
    last = everything(page)
    same = {name for name in first if first[name] == last[name]}
    assert same == {"tokens"} and all(a != b for a, b in zip(first["maps"], last["maps"], strict=True))
    assert out(page, "both_8") == "80.0 %" and last["mark"] == "left:100%"
    page.locator("input[name=step]").fill("0")
    assert everything(page) == first


PLAY = "document.querySelector('button[name=play]')"


def test_playing_shows_every_step_in_turn_stops_at_the_last_and_starts_anew(show):
    page = show(Timelapse(RUNS))
    spoken = page.locator("[aria-live=polite]")
    assert page.locator("button[name=play]").inner_text() == "▶ 재생" and spoken.text_content().startswith("0걸음.")
    page.evaluate("""() => {
        window.seen = [];
        for (const selector of ["[data-out=step]", "button[name=play]"]) {
            const node = document.querySelector(selector);
            new MutationObserver(() => seen.push(node.textContent)).observe(node, { childList: true });
        }
    }""")
    for times in (1, 2):
        page.evaluate(f"{PLAY}.click()")
        page.wait_for_function(f"seen.filter((text) => text === '▶ 재생').length === {times}")
    steps = [f"{step} / 200걸음" for step in STEPS]
    seen = page.evaluate("seen")
    assert [text for text in seen if "걸음" in text] == [*steps[1:], *steps]
    assert [text for text in seen if "걸음" not in text] == ["❚❚ 멈춤", "▶ 재생"] * 2
    assert spoken.text_content().startswith("200걸음. 두 답이 모두 맞은 자리: h = 1에서 10.0 %")


@pytest.mark.parametrize(
    "stop", [f"{PLAY}.click()", "document.querySelector('input[name=step]').dispatchEvent(new Event('input'))"]
)
def test_playing_stops_when_asked_and_when_the_slider_is_moved(show, stop):
    page = show(Timelapse(RUNS, step=50))
    page.evaluate(f"() => {{ {PLAY}.click(); {stop}; }}")
    page.wait_for_timeout(400)
    assert page.locator("button[name=play]").inner_text() == "▶ 재생" and out(page, "step") == "50 / 200걸음"


def test_readers_who_want_less_motion_get_a_slower_pace(show):
    page = show(Timelapse(RUNS), reduced_motion="reduce")
    waited = page.evaluate(f"""() => new Promise((done) => {{
        const start = performance.now();
        new MutationObserver(() => done(performance.now() - start))
            .observe(document.querySelector("[data-out=step]"), {{ childList: true }});
        {PLAY}.click();
    }})""")
    assert waited > 500


def test_the_keyboard_alone_suffices(show):
    page = show(Timelapse(RUNS))
    page.locator("a").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "play"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert out(page, "step") == "50 / 200걸음"
    assert page.locator("input[name=step]").get_attribute("aria-valuetext") == "50걸음"
    page.keyboard.press("End")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    assert out(page, "step") == "0 / 200걸음"


def test_pictures_are_told_in_words(show):
    page = show(Timelapse(RUNS, step=200))
    labels = page.locator("[role=img]").evaluate_all("all => all.map(node => node.getAttribute('aria-label'))")
    assert labels[0].startswith("정답률 곡선. 200걸음. 두 답이 모두 맞은 자리: h = 1에서 10.0 %, h = 2에서 20.0 %")
    assert labels[3] == "h = 2, 헤드 1의 가중치 지도. 왼쪽 이웃에 0.00, 오른쪽 이웃에 1.00"
    assert len(labels) == 1 + 15 and all(labels)


def test_a_linked_slider_may_send_a_step_that_was_not_recorded(show):
    def between(models):
        for model in models.values():
            if "_maps" in model["state"]:
                model["state"]["step"] = 120

    page = show(Timelapse(RUNS), change_state=between)
    assert out(page, "step") == "100 / 200걸음"


def test_two_widgets_on_one_page_are_independent(show):
    page = show(Timelapse(RUNS), Timelapse(RUNS[:2], step=50))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = second.inner_html()
    first.locator("input[name=step]").fill("3")
    assert second.inner_html() == before and out(second, "step") == "50 / 200걸음"
    assert second.locator(".mh-tile").count() == 3


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_does_not_scroll_sideways_and_has_room_for_a_finger(show, width):
    page = show(Timelapse(RUNS, step=200), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for target in page.locator("input, button").all():
        box = target.bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40, target.get_attribute("name")
    assert min(svg.bounding_box()["width"] for svg in page.locator(".mh-run-maps svg").all()) >= 44


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes(show, theme):
    page = show(Timelapse(RUNS))
    use_theme(page, theme)
    assert_readable(page, (
        ".mh-small", "[data-out]", ".mh-head", ".mh-title", ".mh-play", ".mh-tile-text", ".mh-level", ".mh-axis span",
    ))


def test_dragging_leaks_neither_nodes_nor_listeners(show):
    page = show(Timelapse(RUNS))
    drag_sliders(page, {"step": 1})
    nodes, listeners = drag_sliders(page, {"step": 1})
    assert drag_sliders(page, {"step": 1}) == (pytest.approx(nodes, abs=20), pytest.approx(listeners, abs=5))


def test_the_widget_cleans_up_after_itself(show):
    assert render_and_remove(show(Timelapse(RUNS)), Timelapse(RUNS)) == [[1, 1], [0, 0]]

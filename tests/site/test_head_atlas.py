"""HeadAtlas on a static page: a click on a head draws its map, and every control changes what depends on it."""

from types import SimpleNamespace

import pytest
import torch
from widget_page import assert_readable, out, render_and_remove, use_theme

from multihead.widgets import HeadAtlas

L, H = 6, 12
TOKENS = ["[CLS]", "the", "story", "##teller", "saw", "a", "cat", ".", "[SEP]"]
KOREAN = ["[CLS]", "나는", "사과를", "먹었다", "[SEP]"]
SCORES = torch.linspace(0, 1, L * H).view(L, H)
ARCS = [(0, 1), (3, 4)]
RELATION = {
    "arcs": [ARCS, [(1, 2)]],
    "best": [
        {"layer": 2, "head": 8, "accuracy": 0.9, "low": 0.8, "high": 0.95},
        {"layer": 5, "head": 1, "accuracy": 0.5, "low": 0.4, "high": 0.6},
    ],
    "baseline": 0.4,
    "offset": 1,
}


def atlas(**settings):
    generator = torch.Generator().manual_seed(0)
    sentences = [
        SimpleNamespace(
            tokens=tokens, weights=(3 * torch.randn(L, H, len(tokens), len(tokens), generator=generator)).softmax(-1)
        )
        for tokens in (TOKENS, KOREAN)
    ]
    scores = {"이전 토큰": SCORES, "차이": 0.5 - SCORES}
    return HeadAtlas(**{"scores": scores, "sentences": sentences, "relations": {"관사 → 명사": RELATION}} | settings)


def parts(page):
    """What the widget shows, part by part, each of which may change or stay."""
    return page.evaluate(
        """() => {
            const all = (selector) => [...document.querySelectorAll(selector)];
            const text = (selector) => all(selector).map((node) => node.textContent).join("|");
            const markup = (selector) => all(selector).map((node) => node.outerHTML).join("");
            return {
                values: text(".mh-cell-value"), colours: markup(".mh-swatch"), legend: text(".mh-legend"),
                head: text("[data-out=head]"), value: text("[data-out=value]"), map: markup("svg > rect.mh-cell"),
                words: text(".mh-map text"), arcs: markup(".mh-arc"), said: text("[data-out=arcs]"),
                list: text(".mh-best"),
            };
        }"""
    )


@pytest.mark.parametrize(
    ("change", "changing"),
    [
        (lambda page: page.locator("input[value='3-4']").check(), {"head", "value", "map", "arcs", "said"}),
        (
            lambda page: page.locator("select[name=score]").select_option("차이"),
            {"values", "colours", "legend", "value"},
        ),
        (lambda page: page.locator("select[name=sentence]").select_option("1"), {"map", "words", "arcs", "said"}),
        (
            lambda page: page.locator("select[name=relation]").select_option(""),
            {"map", "arcs", "said", "list", "words"},
        ),
        (lambda page: page.locator("button[name=best]").nth(1).click(), {"head", "value", "map", "arcs", "said"}),
    ],
    ids=["head", "score", "sentence", "relation", "best"],
)
def test_a_control_changes_what_depends_on_it_and_nothing_else(show, change, changing):
    page = show(atlas(relation="관사 → 명사", layer=2, head=8))
    before = parts(page)
    change(page)
    after = parts(page)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"words"} == changing - {"words"}  # names move with the room for the arcs, their text stays
    assert ("words" in changed) is (before["words"] != after["words"])


def test_state_set_in_python_is_what_the_page_shows(show):
    widget = atlas(score="차이", layer=5, head=1, sentence=1, relation="관사 → 명사")
    page = show(widget)
    assert page.locator("input[name=cell]:checked").get_attribute("value") == "5-1" == out(page, "head")
    values = page.locator(".mh-cell-value").all_inner_texts()
    assert [float(value.replace("−", "-")) for value in values] == pytest.approx(
        (0.5 - SCORES).flatten().tolist(), abs=0.0051
    )
    opacities = page.locator(".mh-cell").evaluate_all("cells => cells.map(cell => +cell.getAttribute('fill-opacity'))")
    assert opacities == pytest.approx([w for w in widget.map().flatten().tolist() if w >= 0.005], abs=6e-4)
    [arc] = widget.arcs()
    assert page.locator(".mh-arc.is-missed").count() == int(not arc.found)
    assert page.locator("button[aria-pressed=true]").inner_text().startswith("5-1")
    assert page.locator("select[name=sentence] option").all_inner_texts() == [
        "the storyteller saw a cat .",
        "나는 사과를 먹었다",
    ]


def test_arcs_lie_beside_their_words_and_their_cells_are_framed(show):
    widget = atlas(relation="관사 → 명사", layer=2, head=8)
    page = show(widget)
    assert page.locator(".mh-arc").count() == 2
    frames = page.locator(".mh-related").evaluate_all(
        "nodes => nodes.map(n => [+n.getAttribute('x'), +n.getAttribute('y')])"
    )
    assert len(frames) == 3  # the storyteller has two pieces
    the, cat = (page.locator(".mh-map text[text-anchor=end]", has_text=word).bounding_box() for word in ("the", "cat"))
    ends = page.locator(".mh-arc .mh-tip").nth(1).bounding_box()
    assert cat["y"] - 4 < ends["y"] + ends["height"] / 2 < cat["y"] + cat["height"] + 4 and ends["x"] < cat["x"]
    hits = sum(arc.found for arc in widget.arcs())
    assert out(page, "arcs").startswith(f"화살표 2개 가운데 {hits}개를 맞혔습니다")


def test_bars_intervals_and_the_baseline_are_to_scale(show):
    page = show(atlas(relation="관사 → 명사"))
    track, bar, interval, baseline = (
        page.locator(f".mh-best li:first-child {part}").bounding_box()
        for part in (".mh-track", ".mh-bar", ".mh-interval", ".mh-baseline")
    )
    assert bar["width"] / track["width"] == pytest.approx(0.9, abs=0.01)
    assert interval["width"] / track["width"] == pytest.approx(0.15, abs=0.01)
    assert (interval["x"] - track["x"]) / track["width"] == pytest.approx(0.8, abs=0.01)
    assert (baseline["x"] - track["x"]) / track["width"] == pytest.approx(0.4, abs=0.01)


def test_pointing_at_a_cell_or_arrow_keys_tell_its_weight(show):
    widget = atlas()
    page = show(widget)
    page.locator(".mh-map svg").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    weight = widget.map()[1, 2].item()
    assert out(page, "cell") == f"‘the’ → ‘story’ 가중치 {weight:.2f}"
    page.locator(".mh-cell").last.hover()
    assert out(page, "cell").startswith("‘[SEP]’ → ")


def test_the_keyboard_alone_suffices(show):
    page = show(atlas(layer=2, head=8, relation="관사 → 명사"))
    reached = []
    page.locator("a").focus()
    for _ in range(7):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name ?? document.activeElement.tagName"))
        if reached[-1] == "cell":
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowRight")
            assert out(page, "head") == "3-9"
    assert reached == ["score", "sentence", "relation", "cell", "svg", "best", "best"]
    page.keyboard.press("Enter")
    assert out(page, "head") == "5-1"


def test_results_are_announced_and_pictures_are_told_in_words(show):
    page = show(atlas(layer=2, head=8, relation="관사 → 명사"))
    said = page.locator("[aria-live=polite]").text_content()
    assert said.startswith("헤드 2-8, 이전 토큰 0.27. 헤드 72개 가운데 53위.") and "화살표 2개" in said
    assert page.locator("[role=img]").get_attribute("aria-label").startswith("헤드 2-8의 어텐션 지도. 행마다 가장 큰")
    assert page.locator("input[value='2-8']").get_attribute("aria-label") == "헤드 2-8, 이전 토큰 0.27"
    assert page.locator("button[name=best]").first.get_attribute("title").startswith("헤드 2-8, 정확도 90")


def test_without_relations_there_is_no_control_for_them(show):
    page = show(atlas(relations=None))
    assert page.locator("select[name=relation]").is_hidden() and page.locator(".mh-arc").count() == 0
    assert page.locator(".mh-best li").count() == 5 and out(page, "list_title") == "‘이전 토큰’ 점수가 가장 큰 헤드"


def test_two_widgets_on_one_page_are_independent(show):
    page = show(atlas(), atlas(layer=1, head=1))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = second.inner_html()
    first.locator("input[value='4-4']").check()
    first.locator("select[name=sentence]").select_option("1")
    assert out(first, "head") == "4-4" and second.inner_html() == before and out(second, "head") == "1-1"


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_does_not_scroll_sideways_and_has_room_for_a_finger(show, width):
    page = show(atlas(relation="관사 → 명사"), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 390:  # six layers fit as columns; on the smallest phones the grid scrolls by itself
        assert page.locator(".mh-atlas-grid .mh-scroll").evaluate("node => node.scrollWidth <= node.clientWidth")
    for target in page.locator("select:visible, .mh-head-cell, button").all():
        box = target.bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes(show, theme):
    page = show(atlas(relation="관사 → 명사"))
    use_theme(page, theme)
    assert_readable(page, (
        ".mh-cell-value",
        ".mh-axis-label",
        ".mh-say",
        ".mh-small",
        ".mh-best button",
        "[data-out]",
        ".mh-legend",
    ))


def test_the_widget_cleans_up_after_itself(show):
    page = show(atlas())
    assert render_and_remove(page, atlas()) == [[1, 1], [0, 0]]

"""AttentionPlayground on a static page: each control moves all numbers that depend on it, and nothing stale stays."""

import pytest
from widget_page import assert_readable, choose, out, render_and_remove, use_theme

from multihead.widgets import AttentionPlayground

LONG = "나는 어제 시장에서 산 빨간 사과를 맛있게 먹었다 그것은 정말 달고 시원했다"  # 12 words

# Every readout outside of the maps, and the maps as drawn.
SHOWN = """root => ({
    ...Object.fromEntries([...root.querySelectorAll("[data-out]:not(.mh-maps, .mh-contributions)")]
        .map((node) => [node.dataset.out, node.textContent])),
    maps: [...root.querySelectorAll(".mh-map svg")].map((svg) => svg.innerHTML).join(),
    bars: [...root.querySelectorAll(".mh-bars")].map((path) => path.getAttribute("d")).join(),
})"""


def shown(page):
    return page.locator("[data-widget]").evaluate(SHOWN)


def weights(page, head=0):
    cells = page.locator(f".mh-map[data-head='{head}'] .mh-cell")
    return cells.evaluate_all("cells => cells.map(cell => Number(cell.getAttribute('fill-opacity')))")


def torch_weights(playground, head=0):
    return pytest.approx(playground.attention().weights[head].flatten().tolist(), abs=0.0006)


def test_state_set_in_python_is_what_the_page_shows(show):
    playground = AttentionPlayground(
        sentence="어제 나는 사과를 먹었다", h=2, d_model=24, mask="causal", scaled=False, seed=7, query=2
    )
    page = show(playground)
    assert page.locator("input[name=sentence]").input_value() == playground.sentence
    values = [page.locator(f"input[name={name}_box]").input_value() for name in ("h", "d_model", "seed")]
    assert values == ["2", "24", "7"]
    checked = [page.locator(f"input[name={name}]:checked").input_value() for name in ("mask", "scaled", "query")]
    assert checked == ["causal", "false", "2"]
    for head in range(2):
        assert weights(page, head) == torch_weights(playground, head)


NUMBERS = {"maps", "peak", "summary", "cell_weight", "norm_head_0", "share_head_0", "norm_output", "bars"}


@pytest.mark.parametrize(
    ("move", "setting", "changed"),
    [
        (lambda page: page.fill("input[name=sentence]", "그는 어제 사과를 샀다"), {"sentence": "그는 어제 사과를 샀다"},
         NUMBERS | {"contribution_title", "cell_query"}),
        (lambda page: page.fill("input[name=h]", "2"), {"h": 2}, NUMBERS | {"division", "root", "explanation"}),
        (lambda page: page.fill("input[name=d_model]", "64"), {"d_model": 64},
         NUMBERS | {"division", "root", "explanation", "cell_score"}),
        (lambda page: page.fill("input[name=seed]", "5"), {"seed": 5}, NUMBERS | {"cell_score"}),
        (lambda page: choose(page, "mask", "causal"), {"mask": "causal"}, {"maps", "peak", "explanation"}),
        (lambda page: choose(page, "mask", "padding"), {"mask": "padding"}, NUMBERS | {"explanation"}),
        (lambda page: choose(page, "scaled", "false"), {"scaled": False}, NUMBERS | {"explanation", "cell_score"}),
        (lambda page: choose(page, "query", "1"), {"query": 1},
         NUMBERS - {"peak"} | {"contribution_title", "cell_query", "cell_score"}),
    ],
    ids=["sentence", "h", "d_model", "seed", "causal", "padding", "scaled", "query"],
)  # fmt: skip
def test_every_control_changes_every_readout_that_depends_on_it_at_once(show, move, setting, changed):
    page = show(AttentionPlayground())
    before = shown(page)
    move(page)
    after = shown(page)
    assert changed <= {name for name in before if before[name] != after.get(name)}
    assert weights(page) == torch_weights(AttentionPlayground(**setting))
    assert "NaN" not in page.inner_text("body")


def test_padded_words_can_be_counted_up_to_a_fully_masked_row(show):
    page = show(AttentionPlayground(mask="padding"))
    page.locator("input[name=padding]").fill("2")
    assert weights(page) == torch_weights(AttentionPlayground(mask="padding", padding=2))
    assert page.locator(".mh-map[data-head='0'] .mh-word.is-padding").count() == 4  # two rows, two columns
    page.locator("input[name=padding_box]").fill("4")
    assert weights(page) == [0] * 16
    assert page.locator(".mh-map[data-head='0'] .mh-sum").all_text_contents() == ["0.00"] * 4 + ["합"]
    assert "모두 패딩입니다" in out(page, "explanation") and "NaN이 되지 않습니다" in out(page, "summary")
    assert [out(page, name) for name in ("norm_output", "share_head_0", "peak")] == ["0.000", "–", "0.000"]
    choose(page, "mask", "causal")
    assert page.locator("input[name=padding]").is_hidden()


def test_contributions_add_up_to_the_output_and_the_page_says_how_exactly(show):
    page = show(AttentionPlayground())
    said = out(page, "sum").replace("\u00a0", " ")
    assert "헤드의 기여를 더하면 출력과 같습니다" in said and "× 10⁻¹⁶" in said
    shares = [float(out(page, f"share_head_{head}").removesuffix(" %").replace("−", "-")) for head in range(4)]
    assert sum(shares) == pytest.approx(100, abs=0.2) and out(page, "share_output") == "100.0 %"
    _, _, _, contributions, _ = AttentionPlayground().attention()
    norms = [f"{norm:.3f}" for norm in contributions[:, 3].norm(dim=-1)]
    assert [out(page, f"norm_head_{head}") for head in range(4)] == norms


def point_at(page, head, query, key, T=4):
    page.locator(f".mh-map[data-head='{head}'] .mh-cell").nth(query * T + key).hover(force=True)


def cell(page):
    return [out(page, f"cell_{name}") for name in ("head", "query", "key", "score", "weight")]


def test_pointing_at_a_cell_reads_it_out_and_a_click_keeps_its_row(show):
    page = show(AttentionPlayground())
    _, scores, weights, _, _ = AttentionPlayground().attention()
    resting = cell(page)
    point_at(page, 2, 0, 1)
    expected = ["2", "나는", "빨간", f"÷ √8 = {scores[2, 0, 1]:.3f}", f"{weights[2, 0, 1]:.3f}"]
    assert cell(page) == expected
    assert page.locator(".mh-cell.is-pointed").count() == 1
    page.mouse.move(2, 2)
    assert cell(page) == resting
    point_at(page, 2, 0, 1)
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(2, 2)
    assert cell(page) == expected and page.locator("input[name=query]:checked").input_value() == "0"
    assert "나는" in out(page, "contribution_title")


def test_arrow_keys_walk_through_the_cells_and_stop_at_the_edge(show):
    page = show(AttentionPlayground(mask="causal", query=1))
    page.locator(".mh-map[data-head='1'] svg").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    assert cell(page)[:3] == ["1", "나는", "나는"] and out(page, "cell_weight") == "1.000"
    page.keyboard.press("ArrowRight")
    assert cell(page)[1:3] == ["나는", "빨간"] and out(page, "cell_weight") == "0.000 (가려짐)"
    assert page.evaluate("document.activeElement.closest('.mh-map').dataset.head") == "1"


@pytest.mark.parametrize(
    ("sentence", "words", "said"),
    [
        ("", None, "문장에 단어가 없습니다"),
        ("   ", None, "문장에 단어가 없습니다"),
        ("먹었다", ["먹었다"], ""),
        (" ".join(["사과를"] * 40), ["사과를"] * 12, "단어가 40개입니다. 앞의 12개만 씁니다."),
        ("😀 <b>굵게</b> &amp; 👨‍👩‍👧", ["😀", "<b>굵게</b>", "&amp;", "👨👩👧"], ""),
    ],
)
def test_a_sentence_of_any_kind_is_shown_as_it_is_or_explained(show, sentence, words, said):
    page = show(AttentionPlayground())
    page.fill("input[name=sentence]", sentence)
    text = page.inner_text("body")
    assert said in text and "NaN" not in text
    assert page.get_by_role("alert").count() == (words is None)
    assert page.locator("form b").count() == 0
    if words is None:
        assert page.locator(".mh-cell, .mh-contribution").count() == 0
        assert {out(page, name) for name in ("division", "root", "peak")} == {"–"}
        page.fill("input[name=sentence]", "나는 먹었다")
        assert page.locator(".mh-cell").count() == 4 * 4 and page.get_by_role("alert").count() == 0
    else:
        assert page.locator("input[name=query] + span").all_inner_texts() == words
        assert page.locator(".mh-map[data-head='0'] .mh-cell").count() == len(words) ** 2


def test_heads_that_do_not_divide_are_explained_and_nothing_stale_stays(show):
    page = show(AttentionPlayground())
    page.fill("input[name=h]", "3")
    assert "d_model = 32는 h = 3으로 나누어떨어지지 않습니다" in page.get_by_role("alert").inner_text()
    left = shown(page)
    numbers = {name for name, text in left.items() if text not in ("", "–")}
    assert numbers == set() and page.locator(".mh-results").is_hidden()
    page.fill("input[name=d_model_box]", "33")
    assert page.get_by_role("alert").count() == 0 and out(page, "division") == "33 ÷ 3 = 11"
    assert weights(page) == torch_weights(AttentionPlayground(h=3, d_model=33))
    assert page.locator("input[name=query]:checked").input_value() == "3"


@pytest.mark.parametrize(("name", "typed", "value"), [("h", "99", "8"), ("d_model", "4", "8"), ("seed", "-1", "0")])
def test_a_typed_value_out_of_range_is_corrected_and_the_page_says_so(show, name, typed, value):
    page = show(AttentionPlayground())
    box = page.locator(f"input[name={name}_box]")
    box.fill(typed)
    box.press("Enter")
    assert box.input_value() == value and f"{typed} 대신 {value}" in out(page, "note")


def test_two_widgets_on_one_page_are_independent(show):
    page = show(AttentionPlayground(), AttentionPlayground(h=2))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = second.evaluate(SHOWN)
    first.locator("input[name=sentence]").fill("그는 잤다")
    for name, value in (("mask", "causal"), ("scaled", "false"), ("query", "0")):
        choose(first, name, value)
    assert second.evaluate(SHOWN) == before
    assert second.locator("input[name=query]:checked").input_value() == "3"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes_and_fits_a_phone(show, theme):
    phone = {"width": 390, "height": 800}
    page = show(AttentionPlayground(sentence=LONG, h=8, d_model=64, mask="padding"), viewport=phone)
    use_theme(page, theme)
    assert_readable(page, (".mh-label", ".mh-row", ".mh-figure", ".mh-small", ".mh-title", ".mh-cell-readout [data-out]"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for target in page.locator("input:visible").all():
        box = target.bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40, target.get_attribute("name")


@pytest.mark.parametrize("settings", [{"h": 1, "d_model": 16}, {"sentence": LONG, "h": 8, "d_model": 64}])
@pytest.mark.parametrize("width", [320, 900])
def test_maps_stay_inside_of_the_widget_and_their_labels_inside_of_the_maps(show, settings, width):
    page = show(AttentionPlayground(**settings), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = """svgs => svgs.flatMap((svg) => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text, rect")].filter((node) => {
            const box = node.getBoundingClientRect();
            return box.left < frame.left - 2 || box.right > frame.right + 2
                || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
        }).map((node) => node.textContent || node.getAttribute("class"));
    })"""
    assert page.locator(".mh-map svg").evaluate_all(outside) == []
    words = page.locator(".mh-word.is-vertical")
    widths = words.evaluate_all("words => words.map((word) => word.getBoundingClientRect().width)")
    assert all(width <= 20 for width in widths)  # no word lies across its neighbours


def test_dragging_leaks_neither_nodes_nor_listeners(show):
    page = show(AttentionPlayground(sentence=LONG))
    session = page.context.new_cdp_session(page)

    def drag():
        page.evaluate(
            """async () => {
                const set = (name, value) => {
                    const input = document.querySelector(`input[name=${name}]`);
                    input.value = value;
                    input.dispatchEvent(new Event("input"));
                };
                for (let i = 0; i < 60; i++) {
                    set("h", [4, 3, 8, 1][i % 4]);
                    set("seed", i);
                    set("sentence", ["나는 먹었다", "", "나는 사과를 먹었다"][i % 3]);
                    await new Promise(requestAnimationFrame);
                }
                set("h", 4), set("seed", 0), set("sentence", "나는 사과를 먹었다");
            }"""
        )
        session.send("HeapProfiler.collectGarbage")
        counters = session.send("Memory.getDOMCounters")
        return counters["nodes"], counters["jsEventListeners"]

    drag()
    nodes, listeners = drag()
    assert drag() == (pytest.approx(nodes, abs=20), pytest.approx(listeners, abs=5))


def test_the_widget_cleans_up_after_itself(show):
    page = show(AttentionPlayground())
    assert render_and_remove(page, AttentionPlayground()) == [[1, 1], [0, 0]]

"""KVCacheCalculator on a static page: models, free sizes, GPUs, and who shares which K and V."""

import pytest
from widget_page import assert_readable, choose, drag_sliders, out, render_and_remove, use_theme

from multihead.counting import PUBLISHED_MODELS
from multihead.widgets import KVCacheCalculator
from multihead.widgets.kv_cache_calculator import GPUS

TOKEN = ("formula", "token_bytes", "token_memory")
TOTAL = ("total_formula", "total_bytes", "total_memory", "explanation")
FITS = tuple(f"gpu{i}_tokens" for i in range(len(GPUS)))
SHARES = tuple(f"gpu{i}_share" for i in range(len(GPUS)))
SHARING = ("token_g4", "token_g2", "token_g1", "total_g4", "total_g2", "total_g1")
OWN = {"model": "", "layers": 40, "h": 4, "g": 2, "d_k": 64, "T": 4096, "batch": 8}


def readouts(root):
    return root.locator("[data-out]:not(.mh-picture)").evaluate_all(
        "nodes => Object.fromEntries(nodes.map(node => [node.dataset.out, node.textContent]))"
    )


def set_slider(root, name, value):
    root.locator(f"input[name={name}]").fill(str(value))


def drawing(root, g):
    """Circles and squares of one variant, as it is drawn."""
    panel = root.locator(f'[data-variant="{g}"]')
    return panel.locator("i").count(), panel.locator(".mh-kv").count()


def test_state_set_in_python_is_what_the_page_shows(show):
    page = show(KVCacheCalculator(model="Llama-2-7B", T=2**20, batch=2, dtype="int8"))
    assert page.locator("select").input_value() == "Llama-2-7B"
    assert page.locator("input[name=dtype]:checked").input_value() == "int8"
    assert page.locator("input[name=T_box]").input_value() == "1048576"
    assert [out(page, name) for name in ("token_bytes", "token_memory", "total_memory")] == [
        "262,144바이트", "256 KiB", "512 GiB",
    ]  # fmt: skip


def test_every_model_can_be_chosen_and_says_where_its_numbers_come_from(show):
    page = show(KVCacheCalculator(model=""))
    for model in PUBLISHED_MODELS:
        page.locator("select").select_option(model.name)
        assert out(page, "token_bytes") == f"{model.kv_cache_bytes():,}바이트"
        assert out(page, "source") == f"출처: {model.source}"
        assert out(page, "model_note") == (f"참고: {model.note}" if model.note else "")
        sizes = [page.locator(f"input[name={name}_box]").input_value() for name in ("layers", "h", "g", "d_k")]
        assert sizes == [str(n) for n in (model.layers, model.num_heads, model.num_kv_heads, model.d_k)]


def test_another_size_makes_it_another_model_and_another_length_does_not(show):
    page = show(KVCacheCalculator(model="Llama-3-8B"))
    for name, value in (("T", 3), ("batch", 4)):
        set_slider(page, name, value)
    choose(page, "dtype", "float32")
    assert page.locator("select").input_value() == "Llama-3-8B"
    set_slider(page, "g", 16)
    assert page.locator("select").input_value() == "" and "직접 정한 값" in out(page, "source")
    set_slider(page, "g", 8)
    assert page.locator("select").input_value() == ""  # Mistral-7B has the same sizes
    set_slider(page, "g", 16)
    page.locator("select").select_option("Llama-3-8B")
    assert page.locator("input[name=g]").input_value() == "8"


@pytest.mark.parametrize(
    ("name", "value", "changing"),
    [
        ("layers", 80, (*TOKEN, *TOTAL, *SHARING, *FITS, *SHARES)),
        ("h", 8, ("explanation", "ratio_g2", "ratio_g1")),
        ("g", 1, (*TOKEN, *TOTAL, *FITS, *SHARES)),
        ("d_k", 128, (*TOKEN, *TOTAL, *SHARING, *FITS, *SHARES)),
        ("T", 60, (*TOTAL, *SHARING[3:], *SHARES)),
        ("batch", 9, (*TOTAL, *SHARING[3:], *FITS, *SHARES)),
    ],
)
def test_a_control_changes_what_depends_on_it_and_nothing_else(show, name, value, changing):
    page = show(KVCacheCalculator(**OWN))
    before = readouts(page)
    set_slider(page, name, value)
    after = readouts(page)
    assert {key for key in before.keys() & after.keys() if before[key] != after[key]} == set(changing) & after.keys()
    assert set(changing) <= before.keys()


def test_dtype_changes_every_size(show):
    page = show(KVCacheCalculator(**OWN))
    before = readouts(page)
    choose(page, "dtype", "float32")
    after = readouts(page)
    expected = {*TOKEN, *TOTAL, *SHARING, *FITS, *SHARES}
    assert {name for name in before if before[name] != after[name]} == expected


def test_who_shares_which_k_and_v_is_drawn_beside_mha_and_mqa(show):
    page = show(KVCacheCalculator(model="Llama-3-8B"))
    assert [drawing(page, g) for g in (32, 8, 1)] == [(32, 32), (32, 8), (32, 1)]
    assert page.locator(".is-current b").first.inner_text() == "GQA"
    assert page.locator('[data-variant="8"] [role=img]').get_attribute("aria-label") == (
        "쿼리 헤드 32개, KV 헤드 8개: 4개마다 하나를 함께 씁니다."
    )
    colours = page.locator('[data-variant="8"] .mh-group').evaluate_all(
        """groups => groups.map(group => [...group.querySelectorAll("i, .mh-kv")].map(
            node => getComputedStyle(node).backgroundColor))"""
    )
    assert all(len(set(group)) == 1 for group in colours) and len({group[0] for group in colours}) == 8
    set_slider(page, "g", 1)
    assert page.locator("[data-variant]").count() == 2 and page.locator(".is-current b").first.inner_text() == "MQA"
    set_slider(page, "h", 1)
    assert page.locator("[data-variant]").count() == 1 and drawing(page, 1) == (1, 1)


def test_many_heads_are_summarised(show):
    page = show(KVCacheCalculator(model="GPT-3 175B"))
    assert drawing(page, 96)[1] == 6 and "… 90개 더 …" in page.locator('[data-variant="96"]').inner_text()
    page.locator("select").select_option("Llama-3-70B")
    assert drawing(page, 8) == (8, 8) and page.locator('[data-variant="8"] i').first.inner_text() == "×8"


def test_bars_on_the_screen_are_to_scale_and_a_cache_that_does_not_fit_says_so(show):
    page = show(KVCacheCalculator(model="Llama-2-7B", T=65536))  # 32 GiB
    width = "nodes => nodes.map(node => node.getBoundingClientRect().width)"
    frames = page.locator(".mh-gpu .mh-track").evaluate_all(width)
    fills = page.locator(".mh-gpu .mh-bar").evaluate_all(width)
    pixels_a_gib = frames[-1] / (GPUS[-1][1] / 1024)
    assert frames == pytest.approx([mib / 1024 * pixels_a_gib for _, mib in GPUS], abs=1)
    assert fills == pytest.approx([min(32, mib / 1024) * pixels_a_gib for _, mib in GPUS], abs=1)
    assert page.locator(".mh-gpu.is-full b").all_inner_texts() == ["RTX 4090 24 GB"]
    assert out(page, "gpu0_share") == "메모리의 1.33배라 들어가지 않습니다" and out(page, "gpu1_share") == "메모리의 80.0 %"
    assert out(page, "gpu0_tokens") == "49,128토큰까지" and out(page, "gpu0_memory") == "24,564 MiB = 24.0 GiB"
    assert "가중치와 중간값도" in page.inner_text(".mh-gpus + p") and "1 GiB = 1,024³바이트" in page.inner_text(".mh-gpus + p")


@pytest.mark.parametrize(
    ("name", "value", "said"), [("g", 5, "h = 32는 KV 헤드 수 g = 5로"), ("g", 33, "g = 33이 헤드 수 h = 32보다")]
)
def test_heads_that_cannot_be_shared_evenly_are_explained_and_nothing_stale_stays(show, name, value, said):
    page = show(KVCacheCalculator())
    page.locator(f"input[name={name}_box]").fill(str(value))
    assert said in page.get_by_role("alert").inner_text()
    assert page.locator(".mh-picture *").count() == 0 and page.locator(".mh-spoken").text_content() == ""
    page.locator("select").select_option("PaLM 540B")
    assert page.get_by_role("alert").count() == 0 and out(page, "token_memory") == "118 KiB"


@pytest.mark.parametrize(
    ("name", "typed", "value", "said"),
    [
        ("T", "2000000", "1048576", "1부터 1,048,576까지의 정수만 쓸 수 있어 2000000 대신 1,048,576을"),
        ("batch", "1000", "256", "1000 대신 256을"),
        ("d_k", "0", "1", "0 대신 1을"),
        ("layers", "-2", "1", "-2 대신 1을"),
        ("T", "", "8192", "숫자를 읽을 수 없어"),
    ],
)
def test_a_typed_value_that_does_not_fit_is_corrected_and_the_page_says_so(show, name, typed, value, said):
    page = show(KVCacheCalculator())
    box = page.locator(f"input[name={name}_box]")
    box.fill(typed)
    box.press("Enter")
    assert box.input_value() == value and said in out(page, "note") and "NaN" not in page.inner_text("body")
    choose(page, "dtype", "int8")
    assert out(page, "note") == ""


def test_the_keyboard_alone_suffices(show):
    page = show(KVCacheCalculator())
    reached = []
    page.locator("a").focus()
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name"))
        if reached[-1] == "model":
            page.keyboard.type("Mis")
        elif reached[-1] in ("T", "dtype"):
            page.keyboard.press("ArrowRight")
    sizes = [name for size in ("layers", "h", "g", "d_k", "T", "batch") for name in (size, f"{size}_box")]
    assert reached == ["model", *sizes, "dtype"]
    assert page.locator("select").input_value() == "Mistral-7B"
    assert page.locator("input[name=T_box]").input_value() == "10240"
    assert page.locator("input[name=dtype]:checked").input_value() == "int8"


def test_two_widgets_on_one_page_are_independent(show):
    page = show(KVCacheCalculator(), KVCacheCalculator(model="Gemma-2B"))
    page.locator("[data-widget]").nth(1).wait_for()
    first, second = page.locator("[data-widget]").nth(0), page.locator("[data-widget]").nth(1)
    before = second.inner_html()
    first.locator("select").select_option("Falcon-7B")
    choose(first, "dtype", "int8")
    assert second.inner_html() == before and second.locator("select").input_value() == "Gemma-2B"
    assert second.locator("input[name=dtype]:checked").input_value() == "bfloat16"


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("model", ["Llama-2-7B", "GPT-3 175B", "Falcon-40B"])
def test_a_phone_does_not_scroll_sideways_and_has_room_for_a_finger(show, model, width):
    widget = KVCacheCalculator(model=model, T=2**20, batch=256)
    page = show(widget, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for target in page.locator("input, select").all():
        box = target.bounding_box()
        assert box["height"] >= 40 and box["width"] >= 40, target.get_attribute("name")
    outside = page.locator("[data-variant]").evaluate_all(
        """panels => panels.filter(panel => [...panel.querySelectorAll("i, .mh-kv")].some(
            node => node.getBoundingClientRect().right > panel.getBoundingClientRect().right))"""
    )
    assert outside == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_reads_well_in_both_themes(show, theme):
    page = show(KVCacheCalculator(model="Llama-3-70B", T=65536, batch=2))
    use_theme(page, theme)
    assert_readable(page, (".mh-say", ".mh-small", ".mh-head", ".mh-variant em", ".mh-gpu-size", "[data-out]", "select"))


def test_dragging_leaks_neither_nodes_nor_listeners(show):
    page = show(KVCacheCalculator())
    resting = {"layers": 32, "h": 32, "g": 8, "d_k": 128, "T": 40, "batch": 1}
    drag_sliders(page, resting)
    nodes, listeners = drag_sliders(page, resting)
    assert drag_sliders(page, resting) == (pytest.approx(nodes, abs=20), pytest.approx(listeners, abs=5))


def test_the_widget_cleans_up_after_itself(show):
    page = show(KVCacheCalculator())
    assert render_and_remove(page, KVCacheCalculator()) == [[1, 1], [0, 0]]

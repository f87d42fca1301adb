"""What holds for every page of the book, on every screen."""

import json
import re

import pytest
from built_book import ALL_PAGES, BOOK_PAGES, PHONE, ROOT, SITE, WIDE, read, soup, visible_text

every_page = pytest.mark.parametrize("path", ALL_PAGES)
every_book_page = pytest.mark.parametrize("path", BOOK_PAGES)


def load(page, path):
    """Open a page and scroll through it, so that what loads lazily has loaded."""
    page.goto("/" + path)
    page.evaluate(
        """async () => {
            for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
                scrollTo(0, y);
                await new Promise(requestAnimationFrame);
            }
            scrollTo(0, 0);
            await document.fonts.ready;
        }"""
    )
    page.wait_for_load_state("networkidle")


@every_page
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_page_needs_no_other_host_is_quiet_and_fits_the_screen_light_and_dark(page, path, width):
    page.set_viewport_size({"width": width, "height": 850})
    load(page, path)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        if path == "404.html":
            page.reload()  # it follows the system when it loads, without the theme's scripts
        page.wait_for_selector(f"html[data-theme={theme}]")
        assert page.context.problems == []
        too_wide = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
        assert too_wide <= 0, f"the page scrolls sideways by {too_wide} px"
    if width == WIDE:
        check_fonts(page)
        check_formulas(page, path)


def check_fonts(page):
    """Korean text is drawn with the web font."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("DOM.enable")
    devtools.send("CSS.enable")
    root = devtools.send("DOM.getDocument")["root"]["nodeId"]
    selector = ":is(h1, h2, h3, p, li, figcaption):not(:has(code, .katex, iframe, svg))"
    elements = page.eval_on_selector_all(selector, "all => all.map((e) => e.checkVisibility() ? e.innerText : '')")
    nodes = devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]
    korean = [(node, text) for node, text in zip(nodes, elements, strict=True) if re.search("[가-힣]", text)]
    assert korean
    for node, text in korean:
        fonts = devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        strangers = sum(font["glyphCount"] for font in fonts if not font["isCustomFont"])
        assert strangers <= len(re.findall(r"[^\x00-\x7f가-힣]", text)), (text, fonts)
        assert all("Pretendard" in font["familyName"] for font in fonts if font["isCustomFont"]), (text, fonts)


def check_formulas(page, path):
    formulas = page.locator("article .math")
    assert page.locator(".katex-error").count() == 0
    assert formulas.locator(".katex-html").count() >= formulas.count()
    assert not re.search(r"\$\$|\\\(|\\frac|\\sqrt", visible_text(path))
    if formulas.count():
        assert page.evaluate("document.fonts.check('16px KaTeX_Main')")


@every_book_page
def test_page_reads_without_javascript(open_context, path):
    page = open_context(java_script_enabled=False).new_page()
    page.goto("/" + path)
    assert page.locator("article h1").is_visible()
    assert page.locator("article p").first.is_visible()
    for still in page.locator(".afm-view").all() + page.locator("figure.attention-view").all():
        picture = still.locator("svg, img, table, figure").first
        assert picture.is_visible()
        assert picture.bounding_box()["height"] > 40


@every_page
def test_markdown_left_no_asterisks(path):
    assert "**" not in visible_text(path)


@every_page
def test_every_markdown_table_became_a_table(path):
    assert not re.search(r"\|\s*[-—]+\s*\|", visible_text(path)), "also what a cell shows as Markdown"


@every_book_page
def test_cells_left_no_warning(path):
    assert not re.search(r'class="output stderr|Glyph \d+|FloatProgressModel|it/s\]|unauthenticated', read(path))


@every_page
def test_page_is_at_most_one_and_a_half_megabytes(path):
    assert (SITE / path).stat().st_size <= 1_500_000


@every_page
def test_page_loads_neither_requirejs_nor_html_manager_nor_mathjax(path):
    scripts = " ".join(script.get("src", "") for script in soup(path)("script"))
    assert not re.search("require|html-manager|mathjax|thebe|https?:", scripts, re.I)


@every_book_page
def test_every_widget_has_its_state_and_its_module_or_says_that_it_needs_a_kernel(path):
    block = soup(path).find("script", type="application/vnd.jupyter.widget-state+json")
    state = json.loads(block.string)["state"] if block else {}
    for place in soup(path).select(".afm-view"):
        view = place.find("script", type="application/vnd.jupyter.widget-view+json")
        if view is None:
            assert place.select_one(".afm-line a[href*=colab]") and place.select_one("img")
            continue
        model_id = json.loads(view.string)["model_id"]
        assert place["data-model-id"] == model_id
        module = state.pop(model_id)["state"]["_esm_file"]
        assert "export default" in (SITE / path).parent.joinpath(module).read_text("utf-8")
    assert state == {}  # no reader waits for a widget that no place shows


@pytest.mark.parametrize("path", [page for page in BOOK_PAGES if (ROOT / page).with_suffix(".ipynb").exists()])
def test_colab_opens_the_notebook_of_this_page(path):
    links = set(re.findall(r'https://colab\.research\.google\.com/github/[^"]+', read(path)))
    assert len(links) == 1
    notebook = re.fullmatch(r"https://[^/]+/github/[^/]+/[^/]+/blob/main/(.+\.ipynb)", links.pop())[1]
    assert ROOT / notebook == (ROOT / path).with_suffix(".ipynb")


@pytest.mark.parametrize("path", [page for page in BOOK_PAGES if not (ROOT / page).with_suffix(".ipynb").exists()])
def test_a_page_that_is_no_notebook_offers_no_colab(path):
    assert "colab.research.google.com" not in read(path)


@every_book_page
def test_every_picture_is_described_in_korean(path):
    pictures = soup(path).select("article img")
    assert [image["src"][:60] for image in pictures if not re.search("[가-힣]", image.get("alt", ""))] == []


def test_pictures_keep_their_proportions_on_a_phone(open_context):
    page = open_context(viewport={"width": PHONE, "height": 800}).new_page()
    for path in BOOK_PAGES:
        page.goto(path)
        for width, height, natural_width, natural_height in page.evaluate(
            """() => Promise.all([...document.querySelectorAll(".bd-article .cell_output > img, .bd-article .cell_output > * > img")].map(async image => {
                image.loading = "eager";
                await image.decode();
                return [image.clientWidth, image.clientHeight, image.naturalWidth, image.naturalHeight];
            }))"""
        ):
            assert height / width == pytest.approx(natural_height / natural_width, rel=0.02), path

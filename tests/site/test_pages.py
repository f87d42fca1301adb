"""What holds for every page of the book, on every screen."""

import json
import re

import pytest
from bs4 import BeautifulSoup
from built_book import ALL_PAGES, BOOK_PAGES, PHONE, ROOT, SITE, load, read, soup, visible_text

every_page = pytest.mark.parametrize("path", ALL_PAGES)
every_book_page = pytest.mark.parametrize("path", BOOK_PAGES)


@every_page
def test_visit_on_a_wide_screen(page, path):
    load(page, path)
    check_quiet_light_and_dark(page, path)
    check_fonts(page)
    check_formulas(page, path)
    check_labels(page.content())


@every_page
def test_visit_on_a_phone(page, path):
    page.set_viewport_size({"width": PHONE, "height": 850})
    load(page, path)
    check_quiet_light_and_dark(page, path)
    check_proportions(page)
    if path in BOOK_PAGES:
        check_room_for_a_finger(page)


@pytest.mark.parametrize("path", ["index.html", "404.html"])
@pytest.mark.parametrize(("mode", "theme"), [("auto", "dark"), ("light", "light")])
def test_the_first_drawing_has_the_colours_of_now_and_not_of_the_last_visit(open_context, path, mode, theme):
    context = open_context(color_scheme="dark")
    context.add_init_script(f"localStorage.mode = '{mode}'; localStorage.theme = 'light'")
    context.route("**/*.js*", lambda route: route.abort())  # the theme's script comes later
    page = context.new_page()
    page.goto(f"/{path}")
    assert page.evaluate("document.documentElement.dataset.theme") == theme


def check_quiet_light_and_dark(page, path):
    """The page asks no other host for anything, logs nothing, and does not scroll sideways."""
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        if path == "404.html":
            page.reload()  # it follows the system when it loads, without the theme's scripts
        page.wait_for_selector(f"html[data-theme={theme}]")
        assert page.context.problems == []
        too_wide = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
        assert too_wide <= 0, f"the page scrolls sideways by {too_wide} px"


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


def check_labels(content):
    """Text around the article, and every tooltip and accessible name on the page, has Hangul in it."""
    html = BeautifulSoup(content, "html.parser")
    for element in html.select("script, style, kbd, iframe, .katex, .cell_output, noscript"):
        element.decompose()
    names = ["title", "aria-label", "data-bs-title", "data-bs-original-title", "data-tooltip", "placeholder", "alt"]
    labels = [element[name] for element in html.body.find_all(True) for name in names if element.get(name)]
    labels += [title.get_text() for title in html.select("svg title")] + [html.title.get_text()]
    for element in html.select("article > *"):
        element.decompose()
    labels += list(html.body.stripped_strings)
    labels = set(labels) - {"MLP"}  # Korean has no other word for it
    assert [label for label in labels if re.search("[A-Za-z]", label) and not re.search("[가-힣]", label)] == []


def check_proportions(page):
    pictures = page.locator(".bd-article .cell_output > img, .bd-article .cell_output > * > img")
    for width, height, natural_width, natural_height in pictures.evaluate_all(
        "all => all.map((e) => [e.clientWidth, e.clientHeight, e.naturalWidth, e.naturalHeight])"
    ):
        assert height / width == pytest.approx(natural_height / natural_width, rel=0.02)


def check_room_for_a_finger(page):
    """Everything around the text can be hit by a finger."""
    page.get_by_role("button", name="차례 열고 닫기").click()
    page.locator("#pst-primary-sidebar-modal nav a").first.wait_for()
    selector = """.bd-header-article :is(a, button), .prev-next-area a, .article-actions a,
                  #pst-primary-sidebar-modal nav a"""
    small = page.eval_on_selector_all(selector, """all => all
        .map(e => [e.textContent.trim() || e.ariaLabel, e.getBoundingClientRect()])
        .filter(([, box]) => box.width && (box.width < 40 || box.height < 40))
        .map(([name, box]) => `${name}: ${box.width}x${box.height}`)""")
    assert small == []


@every_page
def test_every_label_is_korean_without_scripts(path):
    check_labels(read(path))


@pytest.fixture(scope="module")
def context_without_javascript(open_shared_context):
    return open_shared_context(java_script_enabled=False)


@every_book_page
def test_page_reads_without_javascript(context_without_javascript, path):
    page = context_without_javascript.new_page()
    page.goto("/" + path)
    assert page.locator("article h1").is_visible()
    assert page.locator("article p").first.is_visible()
    for still in page.locator(".afm-view").all() + page.locator("figure.attention-view").all():
        picture = still.locator("svg, img, table, figure").first
        assert picture.is_visible()
        assert picture.bounding_box()["height"] > 40
    page.close()


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

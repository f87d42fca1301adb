"""Finding one's way: anchors, tables of contents, neighbours, a missing page, labels in Korean, print."""

import importlib.util
import re
from os.path import normpath
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from built_book import ALL_PAGES, BOOK_PAGES, PHONE, ROOT, SITE, read, soup

spec = importlib.util.spec_from_file_location("korean_anchors", ROOT / "site/korean_anchors.py")
korean_anchors = importlib.util.module_from_spec(spec)
spec.loader.exec_module(korean_anchors)

NOTEBOOKS = [path for path in BOOK_PAGES if (ROOT / path).with_suffix(".ipynb").exists()]
every_page = pytest.mark.parametrize("path", ALL_PAGES)
every_book_page = pytest.mark.parametrize("path", BOOK_PAGES)
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS)


def path_of(page):
    return unquote(urlsplit(page.url).path).lstrip("/") or "index.html"


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("헤드 나누기", "헤드-나누기"),
        ("1. 값을 모으기", "1-값을-모으기"),
        ("왜 $\\sqrt{d_k}$로 나누는가?", "왜-sqrt-d-k-로-나누는가"),
        ("BERT의 헤드 — 열두 관점", "bert의-헤드-열두-관점"),
        ("?!", ""),
    ],
)
def test_anchor_is_the_heading(heading, anchor):
    assert korean_anchors.slugify(heading) == anchor


def test_the_second_heading_of_a_name_gets_a_number():
    assert korean_anchors.unique("정리", {"정리", "정리-2"}) == "정리-3"
    assert korean_anchors.unique("정리", {"시작"}) == "정리"


@every_book_page
def test_every_heading_carries_a_readable_anchor(path):
    headings = soup(path).select("article :is(h2, h3, h4):has(a.headerlink)")
    unreadable = [h.get("id") for h in headings if not re.search("[가-힣]|[a-z]{2}", h.get("id", "")) or
                  re.fullmatch(r"id\d+|[a-z]", h["id"])]
    assert unreadable == []
    assert [h["id"] for h in headings] == [unquote(h.select_one("a.headerlink")["href"][1:]) for h in headings]


@every_book_page
def test_no_id_is_given_twice(path):
    ids = [element["id"] for element in soup(path).select("article [id]:not(svg [id])")]
    assert sorted({i for i in ids if ids.count(i) > 1}) == []


def test_links_between_pages_lead_to_a_heading_that_exists():
    missing = []
    for path in BOOK_PAGES:
        for link in soup(path).select("article a.reference.internal[href*='#']"):
            file, _, anchor = link["href"].partition("#")
            target = normpath(PurePosixPath(path).parent / file) if file else path
            if not soup(target).find(id=unquote(anchor)):
                missing.append((path, link["href"]))
    assert missing == []


@every_notebook
def test_the_table_of_contents_scrolls_to_each_heading(page, path):
    page.goto(f"/{path}")
    links = page.locator("#pst-page-toc-nav a")
    anchors = links.evaluate_all("all => all.map(link => link.getAttribute('href').slice(1))")
    assert anchors
    for anchor in anchors:  # in the order of the page: a section shows its subsections
        page.locator(f'#pst-page-toc-nav a[href="#{anchor}"]').click()
        page.wait_for_function("id => document.querySelector(':target')?.id === id", arg=unquote(anchor))
        page.wait_for_function(
            """() => {
                const { top } = document.querySelector(":target").getBoundingClientRect();
                const bottom = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
                return top >= 0 && (top < innerHeight / 3 || (bottom && top < innerHeight));
            }"""
        )


def test_next_reads_the_whole_book_and_previous_leads_back(page):
    page.goto(f"/{BOOK_PAGES[0]}")
    way = [path_of(page)]
    while page.locator("a.right-next").count():
        with page.expect_navigation():
            page.locator("a.right-next").click()
        way.append(path_of(page))
    assert way == BOOK_PAGES
    for path in reversed(BOOK_PAGES[:-1]):
        with page.expect_navigation():
            page.locator("a.left-prev").click()
        assert path_of(page) == path
    # Who goes on at once does not wait for the pictures.
    page.context.problems[:] = [problem for problem in page.context.problems if "ERR_ABORTED" not in problem]


@every_page
@pytest.mark.parametrize("scripts", [True, False])
def test_every_label_is_korean(open_context, path, scripts):
    """Text around the article, and every tooltip and accessible name on the page, has Hangul in it."""
    content = read(path)
    if scripts:
        page = open_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(f"/{path}", wait_until="networkidle")
        content = page.content()
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


@every_page
def test_the_theme_adds_no_author_date_or_generator(path):
    """Its Korean for "By ..." is "으로 ..."."""
    assert soup(path).select(".component-author, .copyright, .last-updated, meta[name=generator]") == []


@every_page
def test_the_page_says_that_it_is_korean(path):
    assert soup(path).html["lang"] == "ko"


@every_notebook
def test_the_title_of_a_notebook_has_a_visible_colab_button(page, path):
    page.goto(f"/{path}")
    button = page.locator(".article-actions").get_by_role("link", name="Colab에서 열기")
    assert button.get_attribute("href").endswith(path.replace(".html", ".ipynb"))
    title = page.locator("h1").bounding_box()
    below = button.bounding_box()["y"] - (title["y"] + title["height"])
    assert 0 <= below < 60


@every_notebook
def test_the_notebook_can_be_taken_along(page, path):
    page.goto(f"/{path}")
    with page.expect_download() as download:
        page.get_by_role("link", name="노트북 내려받기").click()
    assert download.value.suggested_filename.endswith(".ipynb")


@pytest.mark.parametrize("fixture, place", [("page", "/"), ("project_page", "/name/")])
@pytest.mark.parametrize("missing", ["nothing.html", "chapters/nothing.html", "a/b/c/"])
def test_a_missing_page_leads_back_into_the_book(request, fixture, place, missing):
    """The site may lie below a sub-path, and nothing but the site answers above it."""
    page = request.getfixturevalue(fixture)
    page.goto(place + missing, wait_until="networkidle")
    assert "페이지를 찾지 못했습니다" in page.locator("h1").inner_text()
    links = page.locator("nav a").evaluate_all("all => all.map(link => new URL(link.href).pathname)")
    assert links == [f"{place}{path}" for path in BOOK_PAGES]
    page.get_by_role("searchbox").fill("헤드")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{place}search.html?q=*")
    page.context.problems.clear()  # it was a missing page


@every_book_page
def test_on_a_phone_everything_around_the_text_has_room_for_a_finger(page, path):
    page.set_viewport_size({"width": PHONE, "height": 850})
    page.goto(f"/{path}")
    page.get_by_role("button", name="차례 열고 닫기").click()
    page.locator("#pst-primary-sidebar-modal nav a").first.wait_for()
    selector = """.bd-header-article :is(a, button), .prev-next-area a, .article-actions a,
                  #pst-primary-sidebar-modal nav a"""
    small = page.eval_on_selector_all(selector, """all => all
        .map(e => [e.textContent.trim() || e.ariaLabel, e.getBoundingClientRect()])
        .filter(([, box]) => box.width && (box.width < 40 || box.height < 40))
        .map(([name, box]) => `${name}: ${box.width}x${box.height}`)""")
    assert small == []


@every_notebook
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_print_is_the_article_alone_black_on_white(page, path, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(f"/{path}")
    page.emulate_media(media="print")
    assert page.locator("article h1").is_visible()
    around = ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer"
    assert page.locator(f":is({around}, .article-actions, .headerlink):visible").count() == 0
    style = page.locator("article p:not(.article-actions)").first.evaluate("""p => ({
        ink: getComputedStyle(p).color, paper: getComputedStyle(document.body).backgroundColor,
        address: getComputedStyle(p, "::after").content })""")
    assert style == {"ink": "rgb(0, 0, 0)", "paper": "rgb(255, 255, 255)", "address": "none"}

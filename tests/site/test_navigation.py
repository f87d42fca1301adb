"""Finding one's way: anchors, tables of contents, neighbours, a missing page, labels in Korean, print."""

import importlib.util
import re
from os.path import normpath
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from built_book import ALL_PAGES, BOOK_PAGES, ROOT, soup

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
def test_a_notebook_has_its_contents_a_colab_button_a_download_and_a_print(page, path):
    page.goto(f"/{path}")
    check_table_of_contents(page)
    check_colab_button(page, path)
    check_download(page)
    check_print(page)


def check_table_of_contents(page):
    """It scrolls to each heading."""
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


def check_colab_button(page, path):
    """It stands below the title."""
    button = page.locator(".article-actions").get_by_role("link", name="Colab에서 열기")
    assert button.get_attribute("href").endswith(path.replace(".html", ".ipynb"))
    # In one call: a widget that comes alive meanwhile may move the page.
    below = button.evaluate("""e => e.getBoundingClientRect().top
        - document.querySelector("h1").getBoundingClientRect().bottom""")
    assert 0 <= below < 60


def check_download(page):
    with page.expect_download() as download:
        page.get_by_role("link", name="노트북 내려받기").click()
    assert download.value.suggested_filename.endswith(".ipynb")


def check_print(page):
    """The article alone, black on white."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, media="print")
        page.wait_for_selector(f"html[data-theme={theme}]")
        assert page.locator("article h1").is_visible()
        around = ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer"
        assert page.locator(f":is({around}, .article-actions, .headerlink):visible").count() == 0
        style = page.locator("article p:not(.article-actions)").first.evaluate("""p => ({
            ink: getComputedStyle(p).color, paper: getComputedStyle(document.body).backgroundColor,
            address: getComputedStyle(p, "::after").content })""")
        assert style == {"ink": "rgb(0, 0, 0)", "paper": "rgb(255, 255, 255)", "address": "none"}


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
def test_the_theme_adds_no_author_date_or_generator(path):
    """Its Korean for "By ..." is "으로 ..."."""
    assert soup(path).select(".component-author, .copyright, .last-updated, meta[name=generator]") == []


@every_page
def test_the_page_says_that_it_is_korean(path):
    assert soup(path).html["lang"] == "ko"


@pytest.mark.parametrize("fixture, place", [("page", "/"), ("project_page", "/name/")])
@pytest.mark.parametrize("missing", ["nothing.html", "chapters/nothing.html", "a/b/c/"])
def test_a_missing_page_leads_back_into_the_book(request, fixture, place, missing):
    """The site may lie below a sub-path, and nothing but the site answers above it."""
    page = request.getfixturevalue(fixture)
    page.goto(place + missing)
    assert "페이지를 찾지 못했습니다" in page.locator("h1").inner_text()
    links = [f"{place}{path}" for path in BOOK_PAGES]  # once it has found out where the book lies
    reads = "links => `${links}` === `${[...document.querySelectorAll('nav a')].map((link) => new URL(link.href).pathname)}`"
    page.wait_for_function(reads, arg=links)
    page.get_by_role("searchbox").fill("헤드")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{place}search.html?q=*")
    page.context.problems.clear()  # it was a missing page

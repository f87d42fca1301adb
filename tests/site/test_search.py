"""Search as a reader uses it: shortcut, dialog, results page, all in Korean."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from built_book import BOOK_PAGES

FIRST = f"/{BOOK_PAGES[-1]}"  # the deepest page: links must lead out of its folder
WORDS = ["헤드", "값", "키", "쿼리", "행렬"]


def open_dialog(page, keys="Control+k"):
    page.goto(FIRST)
    page.keyboard.press(keys)
    dialog = page.locator("#book-search")
    dialog.wait_for()
    return dialog


def search_for(box, words):
    """Type the words and wait until the results are theirs."""
    box.get_by_role("searchbox").fill(words)
    box.get_by_role("status").filter(has_text=f"‘{words}’").wait_for()
    return box.locator("li a")


@pytest.mark.parametrize("keys", ["Control+k", "Meta+k", "/"])
def test_the_shortcut_opens_the_dialog_and_the_reader_can_type_at_once(page, keys):
    dialog = open_dialog(page, keys)
    page.keyboard.type("softmax")
    assert dialog.get_by_role("searchbox").input_value() == "softmax"


@pytest.mark.parametrize(
    ("key", "code", "opens"), [("ㅏ", "KeyK", True), ("л", "KeyK", True), ("k", "KeyV", True), ("t", "KeyK", False)]
)
def test_the_shortcut_is_the_letter_k_and_its_place_where_a_layout_has_no_latin_letters(page, key, code, opens):
    page.goto(FIRST)
    taken = page.evaluate(
        """init => !document.body.dispatchEvent(
            new KeyboardEvent("keydown", { ...init, ctrlKey: true, bubbles: true, cancelable: true }))""",
        {"key": key, "code": code},
    )
    assert taken == page.locator("#book-search").is_visible() == opens


def test_the_slash_is_a_slash_while_the_reader_types(page):
    dialog = open_dialog(page)
    page.keyboard.type("d/h")
    assert dialog.get_by_role("searchbox").input_value() == "d/h"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_visible_button_opens_the_dialog_and_escape_closes_it(page, width):
    page.set_viewport_size({"width": width, "height": 850})
    page.goto(FIRST)
    page.locator(".book-search-open:visible").click()
    page.locator("#book-search").wait_for()
    page.keyboard.press("Escape")
    page.locator("#book-search").wait_for(state="hidden")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_with_and_without_its_particle(page, word):
    page.goto("/search.html")  # lists all pages that have the word, the dialog only the best
    results = page.locator("main")
    plain = [link.get_attribute("href") for link in search_for(results, word).all()]
    assert plain
    particle = "을" if (ord(word[-1]) - 0xAC00) % 28 else "를"
    with_particle = [link.get_attribute("href") for link in search_for(results, word + particle).all()]
    assert {urlsplit(url).path for url in plain} == {urlsplit(url).path for url in with_particle}


def test_a_hit_marks_the_word_and_names_its_section(page):
    hit = search_for(open_dialog(page), "헤드").first
    assert hit.locator("strong").inner_text()
    assert "헤드" in hit.locator("mark").first.inner_text()


def test_enter_opens_the_best_hit(page):
    hit = search_for(open_dialog(page), "헤드").first
    target = hit.evaluate("link => link.href")
    page.keyboard.press("Enter")
    page.wait_for_url(target)


def test_arrow_keys_walk_through_the_hits_and_back_to_the_words(page):
    dialog = open_dialog(page)
    hits = search_for(dialog, "헤드")
    page.keyboard.press("ArrowDown")
    assert hits.first.evaluate("link => link === document.activeElement")
    page.keyboard.press("ArrowUp")
    assert dialog.get_by_role("searchbox").evaluate("input => input === document.activeElement")


def test_half_a_syllable_on_its_way_does_not_wipe_the_hits(page):
    dialog = open_dialog(page)
    search_for(dialog, "헤")
    box = dialog.get_by_role("searchbox")
    box.evaluate("""input => {
        input.value = "헫";
        input.dispatchEvent(new InputEvent("input", { isComposing: true, bubbles: true }));
    }""")
    page.wait_for_timeout(300)
    assert dialog.locator("li").count()


def test_nothing_found_is_said_in_korean(page):
    dialog = open_dialog(page)
    assert search_for(dialog, "뷁뷁").count() == 0
    assert "맞는 페이지가 없습니다" in dialog.get_by_role("status").inner_text()


@pytest.mark.parametrize("file", ["_static/text.js", "pagefind/pagefind.js"])
def test_a_search_whose_files_do_not_come_says_so(open_context, file):
    context = open_context()
    context.route(f"**/{file}", lambda route: route.abort())
    page = context.new_page()
    dialog = open_dialog(page)
    page.keyboard.type("헤드")
    dialog.get_by_role("status").filter(has_text="검색 자료를 읽지 못했습니다").wait_for()


def test_the_results_page_answers_its_address_and_keeps_it(page):
    page.goto("/search.html?q=쿼리")
    box = page.locator(".book-search--page")
    box.get_by_role("status").filter(has_text="‘쿼리’").wait_for()
    assert box.locator("li a").count()
    search_for(box, "행렬")
    assert parse_qs(urlsplit(page.url).query) == {"q": ["행렬"]}
    page.reload()
    box.get_by_role("status").filter(has_text="‘행렬’").wait_for()


def test_search_finds_pages_of_the_book_only(page):
    page.goto("/search.html?q=헤드")
    page.locator("li a").first.wait_for()
    paths = {urlsplit(link.get_attribute("href")).path for link in page.locator(".book-search li a").all()}
    assert paths <= {f"/{path}".removesuffix("index.html") for path in BOOK_PAGES}


def test_hits_lead_to_the_section(page):
    page.goto("/search.html?q=헤드")
    link = page.locator(".book-search li a[href*='#']").first
    title = link.locator("strong").inner_text()
    with page.expect_navigation():
        link.click()
    heading = page.locator(":target").inner_text()
    assert heading.removesuffix("#").strip() == title


def test_search_works_below_a_sub_path(project_page):
    project_page.goto(f"/name{FIRST}")
    project_page.keyboard.press("/")
    hit = search_for(project_page.locator("#book-search"), "헤드").first
    assert hit.evaluate("link => new URL(link.href).pathname").startswith("/name/")


@pytest.mark.parametrize("words", ["헤드", "뷁뷁"])
def test_search_says_no_english_of_its_own(page, words):
    dialog = open_dialog(page)
    search_for(dialog, words)
    said = page.eval_on_selector_all(
        "#book-search [role=status], #book-search input, #book-search",
        "all => all.flatMap(e => [e.placeholder, e.ariaLabel, e.role === 'status' ? e.textContent : ''])",
    )
    assert not re.search("[A-Za-z]", " ".join(text for text in said if text))

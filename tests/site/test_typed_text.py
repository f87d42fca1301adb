"""What readers type: one text in any Unicode form, a syllable on its way, the Korean layout of the keyboard."""

import unicodedata
from urllib.parse import urlsplit

import pytest
from test_search import open_dialog, search_for

from multihead.widgets import AttentionPlayground

PLAIN = "나는 빨간 사과를 먹었다"
FORMS = [
    unicodedata.normalize("NFD", PLAIN), PLAIN.replace("빨간", "\u200b빨\u2060간"), PLAIN.replace(" ", "\u2003"),
    f"\u3164 {PLAIN}\u200b", PLAIN.replace(" ", " \ufeff\u200e "),
]  # fmt: skip


def maps(page):
    return page.locator(".mh-map svg").evaluate_all("maps => maps.map((svg) => svg.innerHTML).join()")


def test_a_sentence_is_the_same_in_every_unicode_form(show):
    page = show(AttentionPlayground(sentence=PLAIN, query=0))
    before = maps(page)
    for form in FORMS:
        page.fill("input[name=sentence]", "다른 문장")
        assert maps(page) != before
        page.fill("input[name=sentence]", form)
        assert maps(page) == before


def test_a_sentence_of_nothing_that_is_seen_is_empty(show):
    page = show(AttentionPlayground(sentence=PLAIN))
    for nothing in ("\u200b", "\u3164", "\u2003\u00ad"):
        page.fill("input[name=sentence]", nothing)
        assert "단어" in page.get_by_role("alert").inner_text()


def test_a_space_at_the_end_stays_while_the_reader_types(show):
    page = show(AttentionPlayground(sentence=PLAIN))
    box = page.locator("input[name=sentence]")
    box.fill("")
    box.press_sequentially("나는 너")
    assert box.input_value() == "나는 너"


COMPOSE = """(box, [start, text]) => {
    box.focus();
    box.value = start;
    box.dispatchEvent(new InputEvent("input", { bubbles: true }));
    box.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
    const written = [];
    const { set, get } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    set.call(box, text);
    Object.defineProperty(box, "value", { configurable: true, get() { return get.call(box); }, set(v) { written.push(v); set.call(box, v); } });
    box.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, isComposing: true }));
    const during = [...written];
    box.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: text }));
    delete box.value;
    return during;
}"""


def test_nothing_is_written_into_a_box_while_a_syllable_is_on_its_way(show):
    page = show(AttentionPlayground(sentence=PLAIN))
    box = page.locator("input[name=sentence]")
    assert box.evaluate(COMPOSE, [" 고양", " 고양이"]) == []
    assert box.input_value() == " 고양이"


@pytest.mark.parametrize("query", ["마스크는", "헤드"])
def test_a_query_finds_the_same_pages_in_every_unicode_form(page, query):
    page.goto("/search.html")
    results = page.locator("main")

    def found(text):
        results.get_by_role("searchbox").fill("")
        results.get_by_role("searchbox").fill(text)
        results.get_by_role("status").filter(has_text=f"‘{query}’").wait_for()
        return {urlsplit(link.get_attribute("href")).path for link in results.locator("li a").all()}

    plain = found(query)
    assert len(plain) > 2
    for form in (unicodedata.normalize("NFD", query), f"\u200b{query}", query[0] + "\u2060" + query[1:] + "\u3000"):
        assert found(form) == plain


@pytest.mark.parametrize("modifier", ["ctrlKey", "metaKey"])
def test_the_shortcut_works_with_the_korean_layout(page, modifier):
    page.goto("/index.html")
    page.evaluate(
        """modifier => document.body.dispatchEvent(new KeyboardEvent("keydown",
            { key: "ㅏ", code: "KeyK", [modifier]: true, bubbles: true, cancelable: true }))""",
        modifier,
    )
    page.locator("#book-search").wait_for()


def test_search_works_in_the_dialog_with_text_of_any_form(page):
    dialog = open_dialog(page)
    dialog.get_by_role("searchbox").fill(unicodedata.normalize("NFD", "행렬"))
    dialog.get_by_role("status").filter(has_text="‘행렬’").wait_for()
    assert search_for(dialog, "행렬").count()

"""The book supports browsers of December 2023 (Chrome 120, Firefox 121, Safari 17.2): what is younger is not there."""

import re

import pytest
from built_book import BOOK_PAGES, ROOT, load, soup

# What browsers have got since, and a page might lean on.
DELETE = """
    for (const [owner, names] of [
        [globalThis.AbortSignal, ["any"]], [globalThis.Promise, ["withResolvers", "try"]], [globalThis.Array, ["fromAsync"]],
        [globalThis.Object, ["groupBy"]], [globalThis.Map, ["groupBy"]], [globalThis.URL, ["parse"]],
        [globalThis.Intl, ["Segmenter", "DurationFormat"]], [globalThis.RegExp, ["escape"]], [globalThis.Error, ["isError"]],
        [globalThis.Math, ["f16round", "sumPrecise"]], [globalThis.JSON, ["rawJSON"]],
        [Set.prototype, ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]],
        [Object.getPrototypeOf(Object.getPrototypeOf([].values())), ["map", "filter", "take", "drop", "flatMap", "reduce", "toArray", "forEach", "some", "every", "find"]],
        [Uint8Array, ["fromBase64", "fromHex"]], [Uint8Array.prototype, ["toBase64", "setFromBase64", "toHex"]],
        [globalThis.Element?.prototype ?? {}, ["moveBefore", "checkVisibility"]],
        [globalThis.Document?.prototype ?? {}, ["startViewTransition"]],
        [globalThis, ["Iterator", "Float16Array", "Temporal", "scheduler", "navigation", "cookieStore"]],
    ]) for (const name of names) if (owner) delete owner[name];
"""


@pytest.fixture
def older(open_context):
    """A page of a browser that lacks them, in its Workers too."""
    context = open_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(DELETE)
    worker = DELETE + (ROOT / "site" / "bert" / "worker.js").read_text("utf-8")
    context.route(re.compile(r"/bert/worker\.js"), lambda route: route.fulfill(body=worker, content_type="text/javascript"))
    yield context.new_page()
    assert context.problems == []


@pytest.mark.parametrize("path", [path for path in BOOK_PAGES if soup(path).select(".afm-view")])
def test_every_widget_wakes_and_answers_without_newer_apis(older, path):
    page = older
    load(page, path)
    for widget in page.locator("[data-widget]").all():
        shown = widget.inner_text()
        for control in widget.locator("input[type=range]:visible, select:visible").all()[:2]:
            if control.evaluate("node => node.type") == "range":
                control.evaluate("node => { node.value = node.value === node.max ? node.min : node.max; node.dispatchEvent(new Event('input', { bubbles: true })); }")
            else:
                control.select_option(index=control.locator("option").count() - 1)
        page.wait_for_timeout(50)
        assert widget.inner_text() != shown, widget.get_attribute("data-widget")


def test_an_own_sentence_is_computed_without_newer_apis(older):
    page = older
    load(page, "chapters/08_bert_heads.html")
    explorer = page.locator("[data-widget=SentenceExplorer]").first
    explorer.locator("select[name=text_choice]").select_option("own")
    explorer.locator("input[name=text]").fill("The old dog slept near the warm fire.")
    explorer.locator("button[name=text_compute]").click()
    explorer.get_by_text("slept").first.wait_for(timeout=30_000)


def test_no_style_uses_what_is_younger():
    young = re.compile(r"light-dark\(|field-sizing|anchor\(|@starting-style|interpolate-size|calc-size|@scope|if\(|@function")
    styles = [*ROOT.glob("site/*.css"), *ROOT.glob("src/multihead/widgets/*.css"), *ROOT.glob("site/templates/**/*.html")]
    assert len(styles) > 4
    found = {path.name: young.findall(re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.S)) for path in styles}
    assert {name: hits for name, hits in found.items() if hits} == {}

"""No page grows heavy unnoticed: what the browser fetches before the first scroll, on a phone, as packed by the host."""

import sys
from functools import partial

from built_book import BOOK_PAGES, ROOT, SITE, soup

sys.path.append(str(ROOT / "benchmarks"))
from page_weight import PHONE, file_below, weigh  # noqa: E402

WITH_WIDGETS, TEXT, FORMULAS = 370_000, 200_000, 25_000  # bytes; formulas in a text need KaTeX's fonts


def test_every_page_keeps_its_budget(open_context, origin):
    """In one test, since the pages share most of what they fetch: the browser keeps it, and it counts all the same."""
    context = open_context(viewport=PHONE)
    too_heavy = {}
    for path in BOOK_PAGES:
        page = context.new_page()
        critical, _ = weigh(page, f"{origin}/{path}", partial(file_below, SITE), scroll=False)
        page.close()
        budget = WITH_WIDGETS if soup(path).select(".afm-view") else TEXT + FORMULAS * bool(soup(path).select(".math"))
        if sum(critical.values()) > budget:
            too_heavy[path] = sorted(critical.items(), key=lambda item: -item[1])[:4]
    assert too_heavy == {}

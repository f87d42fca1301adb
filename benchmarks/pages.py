"""What each page costs a reader on a phone.

    make bench

*critical* and *total* are defined in page_weight.py, in KB (1000 bytes).
"""

import sys
from functools import partial
from pathlib import Path

from github_pages import serve
from page_weight import PHONE, file_below, weigh
from playwright.sync_api import sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "tests" / "site"))
from built_book import BOOK_PAGES, SITE  # noqa: E402
from find_chromium import FLAGS, find_chromium  # noqa: E402


def main():
    executable = find_chromium()
    print(f"{'KB':<36}{'critical':>9}{'total':>9}")
    with sync_playwright() as playwright, serve(SITE) as origin:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for path in BOOK_PAGES:
            page = browser.new_page(viewport=PHONE)
            critical, total = weigh(page, f"{origin}/{path}", partial(file_below, SITE))
            page.context.close()
            print(f"{path:<36}{sum(critical.values()) / 1000:>9.0f}{sum(total.values()) / 1000:>9.0f}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()

"""What a page costs a reader who comes to the book for the first time, on a phone.

*critical* is every byte that the browser fetches before the page is at rest, without scrolling; *total* adds what comes
when the reader scrolls through all of it. Text counts as packed by gzip, headers do not count.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from github_pages import as_sent
from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
SCROLL = """async () => {
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
        scrollTo(0, y);
        await new Promise((done) => setTimeout(done, 50));
    }
}"""


def file_below(site: Path, url: str) -> Path:
    """The file of ``site`` that a server of its root sends for ``url``."""
    path = site / unquote(urlsplit(url).path).lstrip("/")
    return path / "index.html" if path.is_dir() else path


def settle(page: Page, awaited: set) -> None:
    """Waits until nothing has been asked for in half a second.

    Playwright's "networkidle" may never come where an iframe loads lazily.
    """
    quiet = 0
    for _ in range(600):
        page.wait_for_timeout(50)
        quiet = 0 if awaited else quiet + 1
        if quiet == 10:
            return
    raise TimeoutError(f"still asking for {[request.url for request in awaited]}")


def weigh(page: Page, address: str, file_of: Callable[[str], Path], scroll: bool = True) -> tuple[dict[str, int], dict[str, int]]:
    """({address: bytes} of what is fetched before the first scroll, the same of everything)."""
    requested, awaited = set(), set()
    page.on("request", lambda request: requested.add(request.url.partition("#")[0]))
    page.on("request", lambda request: awaited.add(request))
    page.on("requestfinished", lambda request: awaited.discard(request))
    page.on("requestfailed", lambda request: awaited.discard(request))
    sizes = lambda: {url: len(as_sent(file_of(url))) for url in requested if url.startswith("http")}  # noqa: E731
    page.goto(address)
    settle(page, awaited)
    critical = sizes()
    if scroll:
        page.evaluate(SCROLL)
        settle(page, awaited)
    return critical, sizes()

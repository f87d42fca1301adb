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


def weigh(page: Page, address: str, file_of: Callable[[str], Path], scroll: bool = True) -> tuple[dict[str, int], dict[str, int]]:
    """({address: bytes} of what is fetched before the first scroll, the same of everything)."""
    requested = set()
    page.on("request", lambda request: requested.add(request.url.partition("#")[0]))
    sizes = lambda: {url: len(as_sent(file_of(url))) for url in requested if url.startswith("http")}  # noqa: E731
    page.goto(address, wait_until="networkidle")
    critical = sizes()
    if scroll:
        page.evaluate(SCROLL)
        page.wait_for_load_state("networkidle")
    return critical, sizes()

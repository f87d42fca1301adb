"""Where the built book lies, which pages it has, and what is in them."""

import time
from functools import cache
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"
WIDE, PHONE = 1280, 390


def toc_files(entry):
    """Every file that a part of _toc.yml names, in reading order."""
    if isinstance(entry, dict):
        own = [entry[key] for key in ("root", "file") if key in entry]
        return own + [file for value in entry.values() for file in toc_files(value)]
    return [file for item in entry for file in toc_files(item)] if isinstance(entry, list) else []


BOOK_PAGES = [f"{file}.html" for file in toc_files(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))]
ALL_PAGES = [*BOOK_PAGES, "search.html", "404.html"]


def read(path):
    return (SITE / path).read_text("utf-8")


@cache
def soup(path):
    """The built page, parsed once for all tests of a file: they look at it and change nothing."""
    return BeautifulSoup(read(path), "html.parser")


@cache
def visible_text(path):
    page = BeautifulSoup(read(path), "html.parser")
    for element in page(["script", "style", "pre", "code", "annotation"]):
        element.decompose()
    return page.get_text()


# All that the page shows, also further down, is there, and widgets have taken the place of their stills. A widget starts
# when a reader comes near.
LOADED = """() => document.readyState === "complete" && document.fonts.status === "loaded"
    && [...document.images].every((image) => image.complete)
    && [...document.querySelectorAll("iframe")].every(({ contentDocument: page }) =>
        page.URL !== "about:blank" && page.readyState === "complete" && page.fonts.status === "loaded")
    && [...document.querySelectorAll(".afm-view")].every((view) =>
        view.querySelector("[data-widget], .afm-line:not(.afm-error)") || void view.scrollIntoView())"""


def load(page, path):
    """Open a page of the site and wait until all of it has loaded, also what loads lazily.

    Not with Playwright's "networkidle", which an iframe that loads lazily may keep from ever coming, and not by
    scrolling from frame to frame in one script: `evaluate` waits without end for a frame that does not come.
    """
    page.goto(f"/{path}")
    page.evaluate("document.querySelectorAll('[loading=lazy]').forEach((e) => { e.loading = 'eager'; })")
    for _ in range(2):  # what has loaded may ask for more
        page.wait_for_function(LOADED, polling=50)
        page.wait_for_timeout(50)
    deadline = time.monotonic() + 30
    while page.context.awaited and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert not page.context.awaited
    page.evaluate("scrollTo(0, 0)")

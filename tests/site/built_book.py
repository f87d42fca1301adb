"""Where the built book lies, which pages it has, and what is in them."""

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

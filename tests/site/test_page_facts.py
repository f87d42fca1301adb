"""What a page says about itself: to search engines, to messengers, and to a reader who wants to answer."""

import json
import re
import struct
import subprocess
from urllib.parse import quote

import pytest
import yaml
from built_book import ALL_PAGES, BOOK_PAGES, ROOT, SITE, soup

every_book_page = pytest.mark.parametrize("path", BOOK_PAGES)
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]["url"]
OWNER, NAME = REPOSITORY.split("/")[-2:]
ADDRESS = f"https://{OWNER.lower()}.github.io/{NAME}/"
SOURCES = {path: next(p for p in ROOT.glob(path.replace(".html", ".*")) if p.suffix in (".ipynb", ".md")) for path in BOOK_PAGES}


def said(html, name):
    tag = html.find("meta", attrs={"name": name}) or html.find("meta", property=name)
    return tag["content"]


@every_book_page
def test_the_canonical_address_is_where_pages_serves_this_page(path):
    html = soup(path)
    assert html.find("link", rel="canonical")["href"] == said(html, "og:url") == ADDRESS + path


def test_each_page_has_a_description_of_its_own():
    descriptions = [said(soup(path), "description") for path in BOOK_PAGES]
    assert len(set(descriptions)) == len(descriptions)
    assert all(20 <= len(text) <= 160 and re.search("[가-힣]", text) for text in descriptions)
    assert descriptions == [said(soup(path), "og:description") for path in BOOK_PAGES]


@every_book_page
def test_the_picture_for_messengers_is_there_and_as_large_as_said(path):
    html = soup(path)
    picture = SITE / said(html, "og:image").removeprefix(ADDRESS)
    size = struct.unpack(">II", picture.read_bytes()[16:24])  # PNG: width and height
    assert size == (int(said(html, "og:image:width")), int(said(html, "og:image:height")))
    assert said(html, "og:title") == html.h1.get_text().removesuffix("#")


@every_book_page
def test_the_foot_leads_to_a_new_issue_about_this_page(path):
    html = soup(path)
    title = html.h1.get_text().removesuffix("#")
    link = html.find("a", string="이 페이지에 의견 보내기")["href"]
    assert link == f"{REPOSITORY}/issues/new?title={quote(title, safe='/')}"


@every_book_page
def test_the_last_change_is_that_of_the_source(path):
    command = ["git", "log", "-1", "--format=%cs", "--", SOURCES[path]]
    day = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    shown = soup(path).select("footer time")
    # A page is built before it is committed, so that it may name an earlier day.
    assert [time["datetime"] <= day for time in shown] == ([True] if day else [])


def test_the_cover_promises_the_time_that_each_chapter_takes():
    cover = (ROOT / "index.md").read_text("utf-8")
    for path, source in SOURCES.items():
        if source.suffix == ".ipynb":
            title = "".join(json.loads(source.read_text("utf-8"))["cells"][0]["source"])
            minutes = re.search(r"\*\*걸리는 시간:\*\* (\d+분)", title)[1]
            assert re.search(rf"\]\({re.escape(source.relative_to(ROOT).as_posix())}\) \|.*\| {minutes} \|", cover), path


def test_readme_and_colab_links_lead_to_every_notebook():
    readme = (ROOT / "README.md").read_text("utf-8")
    linked = re.findall(r"colab\.research\.google\.com/github/[^/]+/[^/]+/blob/main/([^)]+)\)", readme)
    assert linked == [str(p.relative_to(ROOT)) for p in SOURCES.values() if p.suffix == ".ipynb"]


@pytest.mark.parametrize("path", sorted(set(ALL_PAGES) - set(BOOK_PAGES)))
def test_pages_that_are_no_part_of_the_book_ask_for_no_answer(path):
    assert soup(path).find("a", string="이 페이지에 의견 보내기") is None

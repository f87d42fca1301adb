"""`make book` on a small book with our configuration: what must stop it, and what must change its page."""

import os
import shutil
import subprocess
import zipfile

import nbformat
import pytest
from built_book import ROOT
from fontTools.ttLib import TTFont


class SmallBook:
    """Two notebooks and one module below `folder`, built by our Makefile."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("Makefile", "_config.yml", "requirements.txt", "pyproject.toml", "package-lock.json"):
            shutil.copy(ROOT / name, folder)
        shutil.copytree(ROOT / "site", folder / "site", ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
        for name in (".venv", "node_modules"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n- file: second\n")
        text = "src/multihead/widgets/text.js"  # the search takes it too
        (folder / text).parent.mkdir(parents=True)
        shutil.copy(ROOT / text, folder / text)
        self.module = folder / "src" / "constants.py"

    def write(self, code, second="1 + 1"):
        self._write("index", code)
        self._write("second", second)

    def _write(self, name, code):
        cells = [nbformat.v4.new_markdown_cell("# 작은 책\n\n한 문단입니다."), nbformat.v4.new_code_cell(code)]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), self.folder / f"{name}.ipynb")

    def build(self):
        """Exit status and what the build printed."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        environment["PYTHONPATH"] = str(self.module.parent)
        installed = ["-o", ".venv/installed", "-o", "node_modules/installed"]
        make = subprocess.run(["make", "book", *installed], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return make.returncode, make.stdout

    @property
    def page(self):
        return (self.folder / "_build/html/index.html").read_text("utf-8")

    @property
    def icons(self):
        """The glyphs of the theme's icon font, cut to what the pages use."""
        return TTFont(self.folder / "_build/html/_static/vendor/fontawesome/webfonts/fa-solid-900.woff2").getBestCmap()


@pytest.fixture
def book(tmp_path):
    return SmallBook(tmp_path)


def test_notebooks_are_executed_side_by_side(book):
    """Each waits until the other has begun."""
    meet = """
from pathlib import Path
from time import sleep

Path("{own}").touch()
for _ in range(300):
    sleep(0.1)
    if Path("{other}").exists():
        break
assert Path("{other}").exists()
"""
    book.write(meet.format(own="a", other="b"), meet.format(own="b", other="a"))
    assert book.build()[0] == 0


def test_cell_that_raises_fails_the_build(book):
    book.write("1 / 0")
    status, printed = book.build()
    assert status != 0
    assert "ZeroDivisionError" in printed


def test_warning_on_stderr_fails_the_build_every_time(book):
    book.write("import warnings\nwarnings.warn('낡은 호출')")
    for _ in range(2):  # the second time the outputs come from the cache
        status, printed = book.build()
        assert status != 0
        assert "stderr" in printed


def test_changed_constant_in_src_changes_the_page_and_no_change_does_nothing(book):
    book.write("from constants import HEADS\nprint('heads:', HEADS)")
    book.module.write_text("HEADS = 7\n")
    assert book.build()[0] == 0
    assert "heads: 7" in book.page
    icons = book.icons
    status, printed = book.build()
    assert status == 0
    assert "no targets are out of date" in printed
    assert book.icons == icons != {}
    html = book.folder / "_build/html"
    names = ("chapters/old.html", "_images/0.png", "_static/widgets/0.json", "pagefind/fragment/ko_0.pf_fragment")
    left_the_book = [html / name for name in names]
    for file in left_the_book:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    book.module.write_text("HEADS = 8\n")
    assert book.build()[0] == 0
    assert "heads: 8" in book.page
    assert [file for file in left_the_book if file.exists()] == []


def test_zip_holds_the_site_and_how_to_open_it(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("tools/HOW-TO-OPEN.txt", "_build/html/index.html", "_build/html/chapters/a.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for _ in range(2):  # the second time an archive lies there already
        subprocess.run(["make", "-o", "book", "zip"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
        with zipfile.ZipFile(tmp_path / "_build/multihead-attention-ko.zip") as archive:
            files = sorted(name for name in archive.namelist() if not name.endswith("/"))
    assert files == ["HOW-TO-OPEN.txt", "html/chapters/a.html", "html/index.html"]

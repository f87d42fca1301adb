"""Sphinx extension: the search index, made by Pagefind from the finished pages."""

import subprocess
from pathlib import Path
from shutil import rmtree

from node import NODE
from sphinx.errors import ExtensionError

# parts of an article that are not its text; short formulas stay, but they are there twice, once for screen readers
LEFT_OUT = ".headerlink, .article-actions, .cell, .katex-display, .katex-mathml"


def index_pages(app, exception):
    outdir = Path(app.outdir)
    entry = outdir / "pagefind" / "pagefind-entry.json"
    if exception or app.builder.name != "html":
        return
    if entry.exists() and all(page.stat().st_mtime <= entry.stat().st_mtime for page in outdir.rglob("*.html")):
        return
    rmtree(entry.parent, ignore_errors=True)  # the names of its files follow from their content: old ones would stay
    command = [NODE, Path(app.confdir, "node_modules/.bin/pagefind"), "--site", outdir, "--exclude-selectors", LEFT_OUT]
    pagefind = subprocess.run(command, capture_output=True, text=True)
    if pagefind.returncode:
        raise ExtensionError(f"Pagefind failed:\n{pagefind.stdout}{pagefind.stderr}")


def setup(app):
    app.connect("build-finished", index_pages, priority=700)  # after used_styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}

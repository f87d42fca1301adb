"""Sphinx extension: a page that has left the book leaves the site too, before search or font count it."""

from pathlib import Path


def remove_pages(app, exception):
    if exception or app.builder.name != "html":
        return
    outdir = Path(app.outdir)
    names = [*app.env.found_docs, *app.config.html_additional_pages]
    pages = {Path(app.builder.get_outfilename(name)) for name in names}
    for page in outdir.rglob("*.html"):
        if page not in pages and page.relative_to(outdir).parts[0] not in ("_static", "pagefind"):
            page.unlink()


def setup(app):
    app.connect("build-finished", remove_pages, priority=400)  # the default is 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Sphinx extension: what has left the book leaves the site too, before search or font count it: pages, and the files of
pages whose names follow from their content."""

from pathlib import Path

NAMED_BY_CONTENT = ("_images", "_static/widgets", "_static/bertviz")


def remove_what_left(app, exception):
    if exception or app.builder.name != "html":
        return
    outdir = Path(app.outdir)
    names = [*app.env.found_docs, *app.config.html_additional_pages]
    pages = {Path(app.builder.get_outfilename(name)) for name in names}
    for page in outdir.rglob("*.html"):
        if page not in pages and page.relative_to(outdir).parts[0] not in ("_static", "pagefind"):
            page.unlink()
    asked_for = "".join(page.read_text("utf-8") for page in pages)
    for folder in NAMED_BY_CONTENT:
        for file in outdir.joinpath(folder).glob("*"):
            if file.name not in asked_for:
                file.unlink()


def setup(app):
    app.connect("build-finished", remove_what_left, priority=400)  # the default is 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Sphinx extension: what the book's templates need and what the theme gets wrong.

Pagefind searches the book (site/search.js), so Sphinx builds no index and no results page of its own; search.html and
404.html are pages made from our templates.
"""

import re

from docutils import nodes

# What Sphinx's own search and domain indexes need. Without them nothing reads the page's DOCUMENTATION_OPTIONS either.
UNUSED_SCRIPTS = {f"_static/{name}.js" for name in ("doctools", "sphinx_highlight", "translations")}


# Pagefind leads to a section only if its heading carries the id; docutils puts it on the <section>.
SECTION_ID = re.compile(r'<section([^>]*) id="([^"]*)">\s*<(h[2-6])>')


def replace_sphinx_search(app):
    app.builder.search = False
    app.config.html_additional_pages |= {"search": "search.html", "404": "404.html"}


def book_pages(app) -> list[dict[str, str]]:
    """Every page of the book in reading order, for the list in 404.html."""
    return [
        {"path": app.builder.get_target_uri(docname), "title": app.env.titles[docname].astext()}
        for docname, _ in app.builder.env.collect_relations().items()
        if docname in app.env.titles
    ]


def description(doctree) -> str:
    """The first paragraph of the text proper: the goals above it are a block quote."""
    texts = (node.astext() for node in doctree.findall(nodes.paragraph) if isinstance(node.parent, nodes.section))
    return " ".join(next(texts, "").split())[:160]


def used_scripts(scripts):
    """The scripts that the book needs, all of them after the page has been drawn."""
    for script in scripts:
        if script.filename in UNUSED_SCRIPTS or script.attributes.get("body", "").startswith("DOCUMENTATION_OPTIONS."):
            continue
        if script.filename:
            script.attributes["defer"] = "defer"
        yield script


def fill_context(app, pagename, templatename, context, doctree):
    context["script_files"] = list(used_scripts(context["script_files"]))
    if pagename == "404":
        context["book_pages"] = book_pages(app)
    if doctree is not None:
        context["page_description"] = description(doctree)
        body = SECTION_ID.sub(r'<section\1><\3 id="\2">', context["body"])
        # myst-nb's English label hides the Korean text of the fold from screen readers.
        context["body"] = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")


def setup(app):
    app.connect("builder-inited", replace_sphinx_search)
    app.connect("html-page-context", fill_context, priority=900)  # after the theme, whose description is replaced
    app.add_js_file("copybutton_korean.js", priority=900)  # after copybutton.js
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}

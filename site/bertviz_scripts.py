"""Sphinx extension: the iframes of bertviz take their three libraries and the Korean font from the site, not from a CDN.

A relative address inside `srcdoc` resolves against the page that holds the iframe.
"""

import re
from html import escape

from sphinx.util import logging

logger = logging.getLogger(__name__)

CDN = "https://cdnjs.cloudflare.com/ajax/libs/"
LIBRARY = re.compile(re.escape(CDN) + r"(?:(require)\.js|(d3)|(jquery))/[\d.]+/(?:require|d3|jquery)(?:\.min)?(\.js)?")
FILES = {"require": "require", "d3": "d3.min", "jquery": "jquery.min"}
END_OF_HEAD = "&lt;/head&gt;"  # of a document in an attribute; the page's own is not escaped


def serve_from_site(html, static):
    """Point every library that bertviz asks for at the folder `static`; RequireJS names files without `.js`."""
    font = escape(f'<link rel="stylesheet" href="{static}/web_font.css">')
    html = html.replace(END_OF_HEAD, font + END_OF_HEAD)
    return LIBRARY.sub(lambda url: f"{static}/vendor/{FILES[url[1] or url[2] or url[3]]}{url[4] or ''}", html)


def rewrite_page(app, pagename, templatename, context, doctree):
    if CDN in context.get("body", ""):
        context["body"] = serve_from_site(context["body"], context["pathto"]("_static", resource=True))
        if CDN in context["body"]:
            logger.warning("a script would come from %s", CDN, location=pagename)


def setup(app):
    app.connect("html-page-context", rewrite_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

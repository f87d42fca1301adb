"""Sphinx extension: bertviz's pages and their static pictures are files of the site, loaded when a reader comes near.

In the notebook they lie inside the cell's output, and the page asks a CDN for three libraries. On the site it takes
these, and the Korean font, from the site.
"""

import re
from base64 import b64decode
from html import unescape
from pathlib import Path

from sphinx.util import logging
from widget_stills import Files

logger = logging.getLogger(__name__)

CDN = "https://cdnjs.cloudflare.com/ajax/libs/"
LIBRARY = re.compile(re.escape(CDN) + r"(?:(require)\.js|(d3)|(jquery))/[\d.]+/(?:require|d3|jquery)(?:\.min)?(\.js)?")
FILES = {"require": "require", "d3": "d3.min", "jquery": "jquery.min"}
IFRAME = re.compile(r'<iframe srcdoc="([^"]*)"')
PICTURE = re.compile(r'<img src="data:image/png;base64,([^"]*)"')


def serve_from_site(html, static):
    """Point every library that bertviz asks for at the folder `static`; RequireJS names files without `.js`."""
    html = html.replace("</head>", f'<link rel="stylesheet" href="{static}/web_font.css"></head>')
    return LIBRARY.sub(lambda url: f"{static}/vendor/{FILES[url[1] or url[2] or url[3]]}{url[4] or ''}", html)


def rewrite_page(app, pagename, templatename, context, doctree):
    if not IFRAME.search(context.get("body", "")):
        return
    files = Files(Path(app.outdir, "_static", "bertviz"), context["pathto"]("_static/bertviz", resource=True))

    def frame(found):
        document = serve_from_site(unescape(found[1]), "..")
        if CDN in document:
            logger.warning("a script would come from %s", CDN, location=pagename)
        return f'<iframe src="{files.add(document.encode(), ".html")}"'

    body = IFRAME.sub(frame, context["body"])
    context["body"] = PICTURE.sub(lambda found: f'<img src="{files.add(b64decode(found[1]), ".png")}" loading="lazy"', body)


def setup(app):
    app.connect("html-page-context", rewrite_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Sphinx extension: Pretendard, cut down to the characters and the weights that the finished pages use."""

import re
from html import unescape
from pathlib import Path

from cut_font import cut_font

SOURCE = "node_modules/pretendard/dist/public/variable/PretendardVariable.ttf"
FONT = "_static/fonts/pretendard.woff2"
TEXTS = ("**/*.html", "_static/*.js", "_static/widgets/*.js*")
WEIGHTS = (400, 700)  # as in web_font.css
ALWAYS = "".join(map(chr, range(0x20, 0x7F))) + "·…–—‘’“”×−→←↑↓√≈≤≥"


def characters(html):
    """All that a page can show, also what scripts hold as \\uXXXX."""
    return set(unescape(re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), html)))


def preload_font(app, pagename, templatename, context, doctree):
    href = context["pathto"](FONT, resource=True)
    context["metatags"] = context.get("metatags", "") + (
        f'<link rel="preload" href="{href}" as="font" type="font/woff2" crossorigin>'
    )


def subset_font(app, exception):
    outdir = Path(app.outdir)
    texts = [path for pattern in TEXTS for path in outdir.glob(pattern)]
    font_file = outdir / FONT
    if exception or app.builder.name != "html":
        return
    if font_file.exists() and all(path.stat().st_mtime <= font_file.stat().st_mtime for path in texts):
        return
    used = set(ALWAYS).union(*(characters(path.read_text("utf-8")) for path in texts))
    source = Path(app.confdir, SOURCE)
    cut_font(source, "".join(used), font_file, weights=WEIGHTS, layout_features=["kern", "tnum"])


def setup(app):
    app.connect("html-page-context", preload_font)
    app.connect("build-finished", subset_font, priority=700)  # after used_styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}

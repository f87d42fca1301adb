"""Sphinx extension: of the theme's style sheets and icon fonts, only what the finished pages use.

The theme carries every rule of Bootstrap and every icon of Font Awesome. PurgeCSS (used_styles.mjs) keeps the rules whose
names occur in a page or a script, fontTools the glyphs of the icons.
"""

import re
import subprocess
from pathlib import Path

from fontTools import subset
from node import NODE
from sphinx.errors import ExtensionError

THEME = "styles/pydata-sphinx-theme.css"
STYLES = (THEME, "sphinx-design.min.css", "mystnb.*.css")
FONTS = "vendor/fontawesome/webfonts/*.woff2"
MARK = "/* what the pages use */\n"


def purge(styles, outdir):
    command = [NODE, Path(__file__).with_suffix(".mjs"), outdir, *styles]
    node = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if node.returncode:
        raise ExtensionError(f"PurgeCSS failed:\n{node.stderr}")
    for style in styles:
        style.write_text(MARK + style.read_text("utf-8"), "utf-8")


def icons(css):
    """The characters of the icons that a style sheet still names."""
    return "".join(chr(int(code, 16)) for code in re.findall(r'content:\s*"\\([0-9a-f]{4})"', css))


def cut_font(path, text):
    options = subset.Options(flavor="woff2", notdef_outline=True)
    font = subset.load_font(path, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(font)
    subset.save_font(font, path, options)


def keep_what_is_used(app, exception):
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir, "_static")
    # A file without the mark is whole. Sphinx copies the theme's styles and fonts whenever it writes pages; myst-nb
    # copies its own style even when no page has changed.
    whole = [
        path
        for pattern in STYLES
        for path in static.glob(pattern)
        if not path.read_text("utf-8").startswith(MARK)
    ]
    if whole:
        purge(whole, app.outdir)
    if static / THEME in whole:  # then the fonts are whole too
        text = icons((static / THEME).read_text("utf-8"))
        for font in static.glob(FONTS):
            cut_font(font, text)


def setup(app):
    app.connect("build-finished", keep_what_is_used)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

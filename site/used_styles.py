"""Sphinx extension: one style sheet for all pages, and in it and in the fonts of icons and formulas only what is used.

A page would wait for twelve style sheets before it shows anything, with every rule of Bootstrap, and then for fonts with
every icon and every symbol. PurgeCSS (used_styles.mjs) keeps the rules whose names occur in a page or a script, fontTools
the glyphs. What else the theme brings along and no page asks for leaves the site.
"""

import json
import re
import subprocess
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from shutil import rmtree

from cut_font import cut_font
from node import NODE
from sphinx.errors import ExtensionError

JOINED = "styles.css"
OWN = ("book.css", "web_font.css")  # every rule of these is meant
LINK = re.compile(r'\s*<link [^>]*rel="stylesheet"[^>]*>')
ADDRESS = re.compile(r'href="([^"]*_static/)([^"?]+)')
URL = re.compile(r"""url\(["']?(?!["']?data:)(.+?)["']?\)""")
UNUSED = (
    *("**/*.map", "**/*.ttf", "**/*webpack-macros.html", "scripts/fontawesome.js*", "styles/*.css"),
    *("basic.css", "locales", "searchtools.js", "language_data.js", "doctools.js", "sphinx_highlight.js", "translations.js"),
)


def style_names(html):
    """The style sheets of a page, below _static/, in their order."""
    return tuple(ADDRESS.search(link)[2] for link in LINK.findall(html))


def link_joined(html, version):
    """The page with one link in the place of all that it has."""
    first = LINK.search(html)
    static = ADDRESS.search(first[0])[1]
    link = f'\n<link rel="stylesheet" href="{static}{JOINED}?v={version}">'
    return html[: first.start()] + link + LINK.sub("", html[first.start() :])


def purge(styles, outdir):
    """{path: the rules that the site uses} of these style sheets."""
    command = [NODE, Path(__file__).with_suffix(".mjs"), outdir, *styles]
    node = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if node.returncode:
        raise ExtensionError(f"PurgeCSS failed:\n{node.stderr}")
    return json.loads(node.stdout)


def join_styles(names, static):
    """The used rules of these style sheets of ``static``, in one for ``static`` itself."""
    names = ["basic.css" if name == "styles/theme.css" else name for name in names]  # which only imports it
    used = purge([static / name for name in names if name not in OWN], static.parent)
    joined = []
    for name in names:
        css = used[str(static / name)] if name not in OWN else (static / name).read_text("utf-8")
        if "@import" in css:
            raise ExtensionError(f"{name} imports another style sheet, which would be left out")
        joined.append(URL.sub(lambda url: f"url({normpath(join(dirname(name), url[1]))})", css))
    return "\n".join(joined)


def icons(css):
    """The characters of the icons that a style sheet names."""
    return "".join(chr(int(code, 16)) for code in re.findall(r'content:\s*"\\([0-9a-f]{4})"', css))


def found(folder, pattern):
    """The files of a package, which may have moved them."""
    files = sorted(folder.glob(pattern))
    if not files:
        raise ExtensionError(f"no {pattern} in {folder}")
    return files


def keep_what_is_used(app, exception):
    if exception or app.builder.name != "html":
        return
    outdir = Path(app.outdir)
    static = outdir / "_static"
    pages = {path: path.read_text("utf-8") for path in outdir.rglob("*.html") if static not in path.parents}
    linking = {path: html for path, html in pages.items() if LINK.search(html)}
    # A page that has just been written links all style sheets, and with it Sphinx has copied the theme's files anew.
    lists = {style_names(html) for html in linking.values()} - {(JOINED,)}
    if len(lists) > 1:
        raise ExtensionError(f"pages differ in their style sheets: {lists}")
    for names in lists:
        css = join_styles(names, static)
        (static / JOINED).write_text(css, "utf-8")
        version = sha256(css.encode()).hexdigest()[:8]
        for path, html in linking.items():
            path.write_text(link_joined(html, version), "utf-8")
        for font in found(static, "vendor/fontawesome/webfonts/*.woff2"):
            cut_font(font, icons(css), font, notdef_outline=True)
        for font in found(Path(app.confdir), "node_modules/katex/dist/fonts/*.ttf"):
            target = static / "vendor/katex/fonts" / font.with_suffix(".woff2").name
            cut_font(font, "".join(pages.values()), target, notdef_outline=True)
    for path in {path for pattern in UNUSED for path in static.glob(pattern)}:
        rmtree(path) if path.is_dir() else path.unlink()


def setup(app):
    # after the theme and myst-nb, which write style sheets then, and before those that read the finished pages
    app.connect("build-finished", keep_what_is_used, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

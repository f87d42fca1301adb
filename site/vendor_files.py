"""Sphinx extension: front-end libraries from node_modules, served by the site itself.

They go straight into the output: Jupyter Book adds every script below a source folder `_static/` to every page.
"""

from pathlib import Path
from shutil import copy2

import sphinxcontrib.katex
from node import NODE

# what, and where below _static/
FILES = {
    "katex/dist/katex.min.css": "vendor/katex",
    # only the iframes of bertviz ask for these three
    "requirejs/require.js": "vendor",
    "d3/dist/d3.min.js": "vendor",
    "jquery/dist/jquery.min.js": "vendor",
    "pretendard/dist/LICENSE.txt": "fonts",
}


def copy_vendor_files(app):
    for pattern, folder in FILES.items():
        target = Path(app.outdir, "_static", folder)
        target.mkdir(parents=True, exist_ok=True)
        for path in Path(app.confdir, "node_modules").glob(pattern):
            copy2(path, target)


def setup(app):
    # Formulas are drawn at build time, by our Node; a mistake in one stops the build, a busy machine does not.
    sphinxcontrib.katex.NODEJS_BINARY = NODE
    sphinxcontrib.katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    sphinxcontrib.katex.STARTUP_TIMEOUT = sphinxcontrib.katex.RENDER_TIMEOUT = 60.0
    # Its Unix socket exists a moment before it listens, and a connection in that moment fails; over TCP it retries.
    server = sphinxcontrib.katex.KaTeXServer
    server.start_server_process = server.start_network_socket
    app.connect("builder-inited", copy_vendor_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

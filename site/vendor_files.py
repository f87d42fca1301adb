"""Sphinx extension: front-end libraries from node_modules, served by the site itself.

They go straight into the output: Jupyter Book adds every script below a source folder `_static/` to every page.
"""

import socket
import time
from pathlib import Path
from shutil import copy2
from subprocess import PIPE, Popen

from node import NODE
from sphinxcontrib import katex

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
    for name, folder in FILES.items():
        target = Path(app.outdir, "_static", folder)
        target.mkdir(parents=True, exist_ok=True)
        copy2(Path(app.confdir, "node_modules", name), target)  # fails where a package has moved its file


def start_server(folder, timeout):
    """The server that draws formulas, and a Unix socket to it, which exists a moment before anybody listens.

    sphinxcontrib-katex connects in that moment and fails, or tries again over TCP, where a formula waits 80 ms for
    acknowledgements.
    """
    path = str(folder / "katex.sock")
    process = Popen(katex.KaTeXServer.build_command(socket=path), stdin=PIPE, stdout=PIPE, cwd=folder)
    connection = socket.socket(socket.AF_UNIX)
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            connection.connect(path)
            return process, connection
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.001)
    raise katex.KaTeXServer.timeout_error(timeout)


def setup(app):
    # Formulas are drawn at build time, by our Node; a mistake in one stops the build, a busy machine does not.
    katex.NODEJS_BINARY = NODE
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    katex.KaTeXServer.start_server_process = start_server
    app.connect("builder-inited", copy_vendor_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

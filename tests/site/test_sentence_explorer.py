"""SentenceExplorer on a page of the book, where the reader's browser computes, and in a kernel, where Python does.

The page, the host, the model's files and the worker come from a real server, which can also serve them badly.
"""

import json
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy2

import numpy
import pytest
from bert_files import get_model_path, write_model
from widget_page import HOST, STILL, page_html

from multihead.bert import load_bert
from multihead.widgets import SentenceExplorer

SCRIPTS = Path(__file__).parents[2] / "site" / "bert"
OWN = "My friend wrote a long letter to her teacher."
CUT = "[data-out=text_status]"


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder; `server.faults` says what goes wrong with a file, `server.sent` how many bytes of each were sent."""

    def do_GET(self):
        name = self.path.split("?")[0].removeprefix("/")
        body = (Path(self.directory) / name).read_bytes() if (Path(self.directory) / name).is_file() else b""
        fault = next((fault for part, fault in self.server.faults.items() if part in name), None)
        if fault == "missing" or not body:
            return self.send_error(404)
        if fault == "truncated":
            body = body[:-1000]
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(name))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        for header in self.server.headers.items():
            self.send_header(*header)
        self.end_headers()
        if fault in ("interrupted", "stuck"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if fault == "stuck":
                self.server.go_on.wait(20)
            self.close_connection = True
            return
        self.wfile.write(body)
        self.server.sent[name] = self.server.sent.get(name, 0) + len(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a browser that stops a download hangs up


@pytest.fixture(scope="module")
def bert():
    return load_bert()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_model(get_model_path(), folder / "_static" / "bert")
    for script in ("bert.js", "worker.js"):
        copy2(SCRIPTS / script, folder / "_static" / "bert")
    (folder / "chapters").mkdir()
    copy2(HOST, folder / "chapters")
    return folder


@pytest.fixture(scope="module")
def server(site):
    with Server(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server:
        server.go_on = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.go_on.set()
        server.shutdown()


@pytest.fixture
def open_page(browser, site, server, bert):
    """Opens a page of the book with the widget in it; each test starts with an empty cache and a server in order."""
    contexts = []

    def open_page(address="", bert=bert, init="", expected=(), **settings):
        html = page_html([SentenceExplorer(bert, **settings)], STILL, lambda state: None)
        html = html.replace("<html ", '<html data-content_root="../" ')
        (site / "chapters" / "page.html").write_text(html, "utf-8")
        context = browser.new_context(viewport={"width": 1000, "height": 900})
        context.problems, context.expected = [], expected
        contexts.append(context)
        context.add_init_script(init)
        page = context.new_page()
        note = context.problems.append
        page.on("console", lambda message: message.type in ("error", "warning") and note(message.text))
        page.on("pageerror", lambda error: note(str(error)))
        page.goto(f"http://127.0.0.1:{server.server_port}/chapters/page.html{address}")
        page.wait_for_selector("[data-widget=SentenceExplorer]")
        return page

    server.faults, server.headers, server.sent = {}, {}, {}
    server.go_on.clear()
    yield open_page
    server.go_on.set()
    problems = [
        problem
        for context in contexts
        for problem in context.problems
        if not any(word in problem for word in context.expected)
    ]
    for context in contexts:
        context.close()
    assert problems == []

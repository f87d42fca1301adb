"""The built book behind a local server, and a browser that reaches nothing else."""

import sys
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from built_book import ROOT, SITE, WIDE
from find_chromium import FLAGS, find_chromium
from playwright.sync_api import sync_playwright
from widget_page import show, used_page  # noqa: F401, the fixtures of the widget tests

sys.path.append(str(ROOT / "site"))  # the Sphinx extensions, tested here as plain modules


class Handler(SimpleHTTPRequestHandler):
    """Serves the site as GitHub Pages does: 404.html stands for what is missing."""

    def send_error(self, code, *args, **kwargs):
        if code != 404:
            return super().send_error(code, *args, **kwargs)
        body = (SITE / "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # a browser that has seen enough hangs up
            super().handle_error(request, client_address)


@contextmanager
def serve(folder):
    with Server(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def origin():
    """Address of the built site."""
    assert (SITE / "index.html").exists(), "no site in _build/html: run `make book` first"
    with serve(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def project_origin(tmp_path_factory):
    """Address of a host that has the site at /name/, as GitHub Pages has, and nothing else."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "name").symlink_to(SITE)
    with serve(folder) as address:
        yield address


@pytest.fixture(scope="session")
def executable():
    """Path of Chromium; looked for before Playwright runs, which cannot run twice."""
    executable = find_chromium()
    assert executable, "no Chromium: run `python tests/site/find_chromium.py --install`"
    return executable


@pytest.fixture(scope="session")
def browser(executable):
    with sync_playwright() as playwright:
        # No name leads anywhere. Asking Python about every request would do too, but takes half of a test's time.
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        chromium = playwright.chromium.launch(executable_path=executable, args=[*FLAGS, nowhere])
        yield chromium
        chromium.close()


@contextmanager
def context_opener(browser, origin):
    """Opens browser contexts that refuse every host but the site; what goes wrong in them lands in `.problems`."""
    contexts = []

    def open_context(base_url=origin, **options):
        context = browser.new_context(base_url=base_url, **options)
        contexts.append(context)
        context.problems, context.awaited = [], set()
        note = context.problems.append

        at_home = (base_url + "/", "data:", "blob:")
        context.on("request", lambda r: r.url.startswith(at_home) or note(f"request to {r.url}"))
        context.on("request", lambda request: context.awaited.add(request))
        context.on("requestfinished", lambda request: context.awaited.discard(request))
        context.on("requestfailed", lambda request: context.awaited.discard(request))
        context.on("requestfailed", lambda request: note(f"failed: {request.url} {request.failure}"))
        context.on("response", lambda response: response.status >= 400 and note(f"{response.status}: {response.url}"))
        context.on("console", lambda m: m.type in ("error", "warning") and note(f"console {m.type}: {m.text}"))
        context.on("weberror", lambda error: note(f"exception: {error.error}"))
        return context

    yield open_context
    for context in contexts:
        context.close()


@pytest.fixture
def open_context(browser, origin):
    with context_opener(browser, origin) as open_context:
        yield open_context


@pytest.fixture(scope="module")
def open_shared_context(browser, origin):
    """Like `open_context`, for all tests of a file."""
    with context_opener(browser, origin) as open_context:
        yield open_context


@pytest.fixture(scope="module")
def site_page(open_shared_context):
    """The page that `page` lends: a new window for every test would take longer than many a test."""
    return open_shared_context().new_page()


@pytest.fixture
def page(site_page):
    """A page of the site, wide and light. A test that uses it also claims that nothing went wrong meanwhile.

    A test that provokes something on purpose takes it out of `page.context.problems`. What the browser has fetched for
    one test it keeps for the next ones of the file; what a page has stored, it does not.
    """
    page = site_page
    page.set_viewport_size({"width": WIDE, "height": 900})
    page.emulate_media(media="null", color_scheme="light", reduced_motion="no-preference")
    yield page
    problems = page.context.problems.copy()
    page.evaluate("if (location.host) { localStorage.clear(); sessionStorage.clear(); }")
    page.goto("about:blank")
    page.context.problems.clear()  # what was still on its way
    page.context.awaited.clear()
    assert problems == []


@pytest.fixture
def project_page(open_context, project_origin):
    """Like `page`, where the site lies below a sub-path."""
    page = open_context(project_origin, viewport={"width": WIDE, "height": 900}).new_page()
    yield page
    assert page.context.problems == []

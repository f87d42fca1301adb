"""Widgets on a static page without a kernel, revived by the host, for the tests of every widget.

The page is made here from the state that ipywidgets embeds, so that these tests need no built book. The
fixture ``show`` is for every test of this folder (conftest.py).
"""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from ipywidgets.embed import dependency_state, embed_data

HOST = Path(__file__).parents[2] / "site" / "afm-host.js"
URL = "http://book.test/"
STILL = '<figure class="mh-still">멈춘 그림</figure>'
COLAB = "https://colab.research.google.com/github/a/b/blob/main/c.ipynb"


def page_html(widgets, still, change_state):
    # Only these widgets: by default the page would hold every widget that any test has made so far.
    data = embed_data(views=widgets, state=dependency_state(widgets, drop_defaults=False))
    change_state(data["manager_state"]["state"])
    views = [
        f'<div class="afm-view" data-model-id="{view["model_id"]}">{still}'
        f'<script type="application/vnd.jupyter.widget-view+json">{json.dumps(view)}</script></div>'
        for view in data["view_specs"]
    ]
    state = json.dumps(data["manager_state"]).replace("</", "<\\/")
    return f"""<!doctype html><html lang="ko" data-theme="light"><head><meta charset="utf-8"><title>위젯</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
        <script type="module" src="afm-host.js"></script></head>
        <body><p>앞 문단 <a href="{COLAB}">Colab</a></p>{"<p>사이 문단</p>".join(views)}<p>뒤 문단</p>
        <script type="application/vnd.jupyter.widget-state+json">{state}</script></body></html>"""


def open_page(context):
    """A page whose `problems` are what goes wrong in it and each address that it should not ask for."""
    page = context.new_page()
    page.problems = []
    page.on("console", lambda message: message.type in ("error", "warning") and page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    return page


def show_in(page, widgets, still=STILL, change_state=lambda state: None, wait_for="[data-widget]"):
    """Shows these widgets in an open page."""
    pages = {
        URL: {"body": page_html(widgets, still, change_state), "content_type": "text/html"},
        URL + "afm-host.js": {"body": HOST.read_text("utf-8"), "content_type": "text/javascript"},
    }

    def answer(route):
        if route.request.url not in pages:
            page.problems.append(route.request.url)
            return route.abort()
        route.fulfill(**pages[route.request.url])

    page.route("http*://**/*", answer)
    page.goto(URL)
    page.wait_for_selector(wait_for)


@pytest.fixture(scope="module")
def used_page(browser):
    """A page for all tests of a file: a new window takes longer than the rest of a short test."""
    page = open_page(browser.new_context())
    yield page
    page.context.close()


@pytest.fixture
def show(browser, used_page):
    """Shows widgets on a static page without a kernel; claims that nothing was requested but the page and the host.

    The first page of a test has served other tests, unless it is asked for with `fresh` or with options of a context.
    """
    pages = []

    def show(*widgets, viewport={"width": 900, "height": 900}, fresh=False, **options):
        how = {name: options.pop(name) for name in ("still", "change_state", "wait_for") if name in options}
        if pages or fresh or options:
            page = open_page(browser.new_context(**options))
        else:
            page = used_page
        pages.append(page)
        page.set_viewport_size(viewport)
        show_in(page, widgets, **how)
        return page

    yield show
    problems = [problem for page in pages for problem in page.problems]
    for page in pages:
        if page is not used_page:
            page.context.close()
    used_page.goto("about:blank")
    used_page.mouse.move(0, 0)
    used_page.unroute_all(behavior="ignoreErrors")
    used_page.problems.clear()
    assert problems == []


def out(root, name):
    return root.locator(f'[data-out="{name}"]').inner_text()


def choose(root, name, value):
    root.locator(f'input[name="{name}"][value="{value}"]').check()


# Relative luminance (WCAG 2) of the text of each node and of the ground that it stands on.
LUMINANCE = """nodes => {
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const read = (colour) => {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    };
    return nodes.map((node) => {
        let ground = node;
        while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
        return [read(getComputedStyle(node).color), read(getComputedStyle(ground).backgroundColor)];
    });
}"""


def is_dark(page):
    [[_, ground]] = page.locator("[data-widget]").evaluate_all(LUMINANCE)
    assert ground < 0.05 or ground > 0.9
    return ground < 0.05


def use_theme(page, theme):
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    assert is_dark(page) is (theme == "dark")


def assert_readable(page, selectors):
    """The text that each selector finds, and there is some, stands out from its ground by at least 4.5 : 1."""
    for selector in selectors:
        pairs = [sorted(pair) for pair in page.locator(selector).evaluate_all(LUMINANCE)]
        assert pairs and min((light + 0.05) / (dark + 0.05) for dark, light in pairs) >= 4.5, selector


def tasks_of_threads(browser, page, act):
    """{"CrRendererMain": [ms, ...], "DedicatedWorker thread": [...], ...}: the tasks of the browser while `act` runs.

    In processor time: what else the machine does meanwhile makes none longer. A browser calls a task above 50 ms long.
    """
    browser.start_tracing(page=page, categories=["toplevel"])
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    tasks = defaultdict(list)
    for e in events:
        if "RunTask" in e["name"]:
            tasks[names.get((e["pid"], e["tid"]))].append(e.get("tdur", 0) / 1000)
    return tasks


def drag_sliders(page, resting):
    """Drags each slider from end to end and lets it rest at its value; the nodes and listeners that there are then."""
    page.evaluate(
        """async (resting) => {
            const sliders = Object.keys(resting).map((name) => document.querySelector(`input[name=${name}]`));
            const put = (slider, value) => { slider.value = value; slider.dispatchEvent(new Event("input")); };
            for (let i = 0; i < 45; i++) {
                const slider = sliders[i % sliders.length];
                put(slider, i % 2 ? slider.min : slider.max);
                await new Promise(requestAnimationFrame);
            }
            for (const slider of sliders) put(slider, resting[slider.name]);
        }""",
        resting,
    )
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    counters = session.send("Memory.getDOMCounters")
    session.detach()
    return counters["nodes"], counters["jsEventListeners"]


def render_and_remove(page, widget):
    """How many listeners and children there are while the widget is shown, and after it has been removed."""
    return page.evaluate(
        """async ({ _esm, ...state }) => {
            const url = URL.createObjectURL(new Blob([_esm], { type: "text/javascript" }));
            const { render } = (await import(url)).default;
            const listening = new Set();
            const model = {
                get: (name) => state[name], on: (event, f) => listening.add(f), off: (event, f) => listening.delete(f),
            };
            const el = document.createElement("div");
            const stop = render({ model, el });
            const during = [listening.size, el.childElementCount];
            stop();
            return [during, [listening.size, el.childElementCount]];
        }""",
        widget.get_state(),
    )

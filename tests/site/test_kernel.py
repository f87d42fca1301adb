"""The widgets in a real JupyterLab: Python and the picture move each other."""

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request

import pytest


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Serves notebooks in a JupyterLab that asks nobody else anything: `lab(cells)` is the address of one."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    settings = folder / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"checkForUpdates": false, "fetchNews": "false"}')
    token = secrets.token_hex(16)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Own folders, so that the reader's settings and workspaces stay as they are; the kernel is this very Python.
    folders = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    folders += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    environment = os.environ | {name: str(folder / name) for name in folders}
    options = [
        "--no-browser", "--allow-root",
        "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder / 'work'}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly", "--MappingKernelManager.default_kernel_name=python3",
    ]  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", *options]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"

    def notebook(name, cells):
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [{**code, "id": f"cell-{i}", "source": source} for i, source in enumerate(cells)]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
        (folder / "work" / name).write_text(json.dumps(content), "utf-8")
        return f"{address}/doc/tree/{name}?token={token}"

    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{address}/api/status?token={token}", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.2)
        yield notebook
    finally:
        # The server ends its kernels when it is asked to stop.
        server.terminate()
        server.wait(timeout=60)


@pytest.fixture
def open_notebook(lab, browser):
    """Opens a notebook with these cells; returns the page, its cells and a function that runs one of them."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    foreign = []

    def stay_at_home(route):
        if re.match(r"(https?://127\.0\.0\.1:|data:|blob:)", route.request.url):
            return route.continue_()
        foreign.append(route.request.url)
        route.abort()

    def open_notebook(name, sources):
        context.route("**/*", stay_at_home)
        page = context.new_page()
        page.set_default_timeout(180_000)  # importing torch alone may take long on a busy machine
        page.goto(lab(name, sources))
        cells = page.locator(".jp-Notebook .jp-CodeCell")

        def run(index):
            # JupyterLab drops keys that come before the notebook is wired up, so press until the cell has been taken.
            prompt = cells.nth(index).locator(".jp-InputArea-prompt")
            for _ in range(60):
                cells.nth(index).locator(".cm-content").click()
                page.keyboard.press("Control+Enter")
                page.wait_for_timeout(500)
                if prompt.inner_text() != "[ ]:":
                    return
            raise AssertionError(f"cell {index} does not run")

        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        return page, cells, run

    yield open_notebook
    context.unroute_all(behavior="ignoreErrors")
    context.close()
    assert foreign == []


def test_python_and_the_widget_move_each_other(open_notebook):
    page, cells, run = open_notebook(
        "head_splitter.ipynb",
        [
            "import ipywidgets\nfrom multihead.widgets import HeadSplitter\nw = HeadSplitter(h=4, d_model=64)\nw",
            "w.h = 8",
            "print('h in Python:', w.h, w.step)",
            "slider = ipywidgets.IntSlider(8, 1, 16, description='연결')\n"
            "ipywidgets.jslink((slider, 'value'), (w, 'h'))\nslider",
        ],
    )
    run(0)
    widget = page.locator("[data-widget=HeadSplitter]")
    widget.wait_for()
    d_k = widget.locator("[data-out=d_k]")
    assert d_k.inner_text() == "16" and widget.locator(".mh-chip").count() == 20

    # Python to picture.
    run(1)
    widget.locator("[data-out=d_k]", has_text=re.compile("^8$")).wait_for()
    assert widget.locator(".mh-chip").count() == 40

    # Widget to Python.
    widget.locator("input[name=h]").fill("2")
    widget.locator("input[name=step][value=heads]").check()
    run(2)
    cells.nth(2).locator(".jp-OutputArea-output", has_text="h in Python: 2 heads").wait_for()

    # An ipywidgets slider, linked in the browser.
    run(3)
    handle = cells.nth(3).locator(".noUi-handle")
    handle.wait_for()
    handle.focus()
    page.keyboard.press("Home")
    widget.locator("[data-out=d_k]", has_text=re.compile("^64$")).wait_for()


# What Python sets, what the reader then chooses, and what Python must read afterwards.
SET = {
    "AttentionPlayground": {
        "sentence": "학생이 책을 읽었다", "d_model": 48, "h": 3, "mask": "causal", "padding": 2, "scaled": False, "seed": 7,
        "query": 2,
    },
    "ParameterCounter": {"h": 4, "d_model": 256, "bias": False, "T": 1000, "g": 2},
    "KVCacheCalculator": {"model": "", "layers": 10, "h": 16, "g": 4, "d_k": 64, "T": 1000, "batch": 3, "dtype": "int8"},
}  # fmt: skip
CHOSEN = {
    "AttentionPlayground": {
        "sentence": "비가 그치자 아이들이 밖으로 나갔다", "d_model": 40, "h": 5, "mask": "padding", "padding": 1,
        "scaled": True, "seed": 8, "query": 3,
    },
    "ParameterCounter": {"h": 8, "d_model": 512, "bias": True, "T": 2000, "g": 4},
    "KVCacheCalculator": {
        "model": "", "layers": 12, "h": 24, "g": 8, "d_k": 128, "T": 2000, "batch": 5, "dtype": "float32",
    },
}  # fmt: skip


def choose(widget, name, value):
    """As a reader does: type into the box, press the radio button or tick the box."""
    box = widget.locator(f"[name={name}_box]:visible, input[type=text][name={name}]:visible")
    if box.count():
        box.first.fill(str(value))
        box.first.press("Enter")
    elif isinstance(value, bool) and widget.locator(f"input[type=checkbox][name={name}]").count():
        widget.locator(f"input[name={name}]").set_checked(value)
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        widget.locator(f"input[name={name}][value='{text}']").check(force=True)


def test_every_trait_of_the_other_widgets_is_set_and_read_by_python(open_notebook):
    names = list(SET)
    page, cells, run = open_notebook(
        "widgets.ipynb",
        [
            f"import json\nfrom multihead.widgets import {', '.join(names)}\n"
            f"widgets = {{'{names[0]}': {names[0]}(), '{names[1]}': {names[1]}(), '{names[2]}': {names[2]}()}}\n"
            "for widget in widgets.values(): display(widget)",
            f"for name, values in {SET!r}.items():\n"
            "    for trait, value in values.items(): setattr(widgets[name], trait, value)",
            "print('READ' + json.dumps({n: {t: getattr(w, t) for t in w.settings()} for n, w in widgets.items()}))",
        ],
    )
    run(0)
    roots = {name: page.locator(f"[data-widget={name}]") for name in names}
    for root in roots.values():
        root.wait_for()

    run(1)
    roots["AttentionPlayground"].get_by_text("학생이").first.wait_for()
    roots["ParameterCounter"].locator("[data-out=d_k]", has_text=re.compile("^64$")).wait_for()
    roots["KVCacheCalculator"].locator("input[name=layers_box]").wait_for()
    page.wait_for_function(
        "() => document.querySelector('[data-widget=KVCacheCalculator] [name=layers_box]').value === '10'"
    )
    for name, values in SET.items():
        for trait, value in values.items():
            box = roots[name].locator(f"[name={trait}_box]")
            if box.count():
                assert box.input_value() == str(value), (name, trait)

    for name, values in CHOSEN.items():
        for trait, value in values.items():
            if (trait, value) != ("model", ""):  # what a model is called once its sizes have been changed
                choose(roots[name], trait, value)
    run(2)
    said = cells.nth(2).locator(".jp-OutputArea-output", has_text="READ")
    said.wait_for()
    assert json.loads(said.inner_text().split("READ")[1]) == CHOSEN


ATLAS = """
import torch
from types import SimpleNamespace
from multihead.widgets import HeadAtlas
sentences = [SimpleNamespace(tokens=["[CLS]", *words, "[SEP]"], weights=torch.ones(2, 3, 4, 4) / 4) for words in ("ab", "cd")]
relation = {"arcs": [[(0, 1)], []], "best": [{"layer": 2, "head": 1, "accuracy": 0.9, "low": 0.8, "high": 1}],
            "baseline": 0.5, "offset": 1}
w = HeadAtlas({"가": torch.rand(2, 3), "나": torch.rand(2, 3)}, sentences, {"r": relation})
w
"""


def test_every_trait_of_the_head_atlas_is_set_and_read_by_python(open_notebook):
    page, cells, run = open_notebook(
        "head_atlas.ipynb",
        [
            ATLAS,
            "w.score, w.layer, w.head, w.sentence, w.relation = '나', 1, 3, 1, 'r'",
            "print('READ', w.score, w.layer, w.head, w.sentence, w.relation, len(w.arcs()))",
        ],
    )
    run(0)
    widget = page.locator("[data-widget=HeadAtlas]")
    widget.wait_for()
    run(1)
    widget.locator("[data-out=head]", has_text="1-3").wait_for()
    values = {name: widget.locator(f"select[name={name}]").input_value() for name in ("score", "sentence", "relation")}
    assert values == {"score": "나", "sentence": "1", "relation": "r"}

    widget.locator("select[name=score]").select_option("가")
    widget.locator("select[name=sentence]").select_option("0")
    widget.locator("button[name=best]").click()
    run(2)
    cells.nth(2).locator(".jp-OutputArea-output", has_text="READ 가 2 1 0 r 1").wait_for()


def test_a_sentence_of_the_reader_is_answered_by_the_kernel(open_notebook):
    page, cells, run = open_notebook("explorer.ipynb", ["from multihead.widgets import SentenceExplorer\nSentenceExplorer()"])
    run(0)
    widget = page.locator("[data-widget=SentenceExplorer]")
    widget.locator("[name=text_choice]").select_option("own")
    widget.locator("[name=text]").fill("My friend wrote a letter.")
    widget.locator("[name=text_compute]").click()
    widget.locator(".mh-sentence-title", has_text="My friend wrote a letter.").wait_for()
    assert "friend → my" in widget.locator(".mh-picture .mh-scroll svg").first.get_attribute("aria-label")  # head 1-3


def test_a_run_trained_in_the_browser_can_be_taken_to_python(open_notebook):
    page, cells, run = open_notebook(
        "training_lab.ipynb",
        [
            "from multihead.widgets import TrainingLab\nw = TrainingLab(h=2, d_model=8)\nw",
            "w.compare = 1",
            "last = w.history[-2:]\n"
            "print('READ', [(row['step'] > 0, row['h'], len(row['shares'])) for row in last], w.history[0]['step'])",
        ],
    )
    run(0)
    widget = page.locator("[data-widget=TrainingLab]")
    run(1)
    widget.locator("section[data-run='1']").wait_for()
    widget.locator("button[name=play]").click()
    widget.locator("[data-out=step]", has_text=re.compile("^[1-9]")).wait_for()
    widget.locator("button[name=play]").click()
    run(2)
    cells.nth(2).locator(".jp-OutputArea-output", has_text="READ [(True, 2, 2), (True, 1, 1)] 0").wait_for()

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
from playwright.sync_api import TimeoutError

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
NAMES = list(SET)
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
# The cells of every test, in one notebook, so that JupyterLab and its kernel start once.
CELLS = {
    "HeadSplitter": [
        "import ipywidgets\nfrom multihead.widgets import HeadSplitter\nw = HeadSplitter(h=4, d_model=64)\nw",
        "w.h = 8",
        "print('h in Python:', w.h, w.step)",
        "slider = ipywidgets.IntSlider(8, 1, 16, description='연결')\n"
        "ipywidgets.jslink((slider, 'value'), (w, 'h'))\nslider",
    ],
    "others": [
        f"import json\nfrom multihead.widgets import {', '.join(NAMES)}\n"
        f"widgets = {{'{NAMES[0]}': {NAMES[0]}(), '{NAMES[1]}': {NAMES[1]}(), '{NAMES[2]}': {NAMES[2]}()}}\n"
        "for widget in widgets.values(): display(widget)",
        f"for name, values in {SET!r}.items():\n"
        "    for trait, value in values.items(): setattr(widgets[name], trait, value)",
        "print('READ' + json.dumps({n: {t: getattr(w, t) for t in w.settings()} for n, w in widgets.items()}))",
    ],
    "HeadAtlas": [
        ATLAS,
        "w.score, w.layer, w.head, w.sentence, w.relation = '나', 1, 3, 1, 'r'",
        "print('READ', w.score, w.layer, w.head, w.sentence, w.relation, len(w.arcs()))",
    ],
    "LesionLab": [
        "from multihead.models.grammar import Clause, Sentence\nfrom multihead.widgets import LesionLab\nw = LesionLab()\nw",
        "w.sentence = Sentence((Clause('동생', '우산', '내일'),))\nw.masked, w.off = 2, [(1, 2), (2, 4)]",
        "print('READ', w.sentence.surface, w.masked, w.off, next(iter(w.answers)))",
    ],
    "Timelapse": [
        "from multihead.models.neighbours import NeighbourModel, train\nfrom multihead.widgets import Timelapse\n"
        "w = Timelapse([train(NeighbourModel(2, seed=0), seed=0, steps=20, record_at=[0, 10, 20])])\nw",
        "w.step = 20",
        "print('READ', w.step)",
    ],
    "SentenceExplorer": ["from multihead.widgets import SentenceExplorer\nSentenceExplorer()"],
    "TrainingLab": [
        "from multihead.widgets import TrainingLab\nw = TrainingLab(h=2, d_model=8)\nw",
        "w.compare = 1",
        "last = w.history[-2:]\n"
        "print('READ', [(row['step'] > 0, row['h'], len(row['shares'])) for row in last], w.history[0]['step'])",
    ],
}


def write_notebook(path):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    sources = [source for sources in CELLS.values() for source in sources]
    cells = [{**code, "id": f"cell-{i}", "source": source} for i, source in enumerate(sources)]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    path.write_text(json.dumps(notebook), "utf-8")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of the notebook in a JupyterLab that asks nobody else anything."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    write_notebook(folder / "work" / "widgets.ipynb")
    settings = {
        "apputils-extension/notification": {"checkForUpdates": False, "fetchNews": "false"},
        "notebook-extension/tracker": {"windowingMode": "none"},  # else cells out of sight are not in the page
    }
    for name, values in settings.items():
        path = folder / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(values))
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
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{address}/api/status?token={token}", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.2)
        yield f"{address}/doc/tree/widgets.ipynb?token={token}"
    finally:
        # The server ends its kernels when it is asked to stop. After that it may itself wait for ever for a thread.
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()


class Cells:
    """The neighbouring cells of the open notebook that belong to one test."""

    def __init__(self, page, first):
        self.page, self.first = page, first

    def __getitem__(self, index):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(self.first + index)

    def run(self, index):
        # JupyterLab drops keys that come before the notebook is wired up, so press until the cell has been taken.
        prompt = self[index].locator(".jp-InputArea-prompt")
        for _ in range(60):
            self[index].locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            self.page.wait_for_timeout(500)
            if prompt.inner_text() != "[ ]:":
                return
        raise AssertionError(f"cell {index} does not run")

    def show(self, name):
        """Runs the first cell; the widget that it puts out."""
        self.run(0)
        widget = self.page.locator(f"[data-widget={name}]")
        widget.wait_for()
        return widget


def wait_for_kernel(page):
    """JupyterLab now and then does not notice that its kernel is ready, and does once it is loaded again."""
    for _ in range(3):
        try:
            return page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
        except TimeoutError:
            status = page.locator("#jp-main-statusbar").inner_text()
            page.reload()
    raise AssertionError(f"no kernel: {status!r}")


@pytest.fixture(scope="module")
def notebook(lab, browser):
    """The open notebook: {name: its `Cells`} for the names in CELLS."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    foreign = []

    def stay_at_home(route):
        if re.match(r"(https?://127\.0\.0\.1:|data:|blob:)", route.request.url):
            return route.continue_()
        foreign.append(route.request.url)
        route.abort()

    context.route("**/*", stay_at_home)
    page = context.new_page()
    page.set_default_timeout(180_000)  # importing torch alone may take long on a busy machine
    page.goto(lab)
    wait_for_kernel(page)
    first, notebook = 0, {}
    for name, sources in CELLS.items():
        notebook[name] = Cells(page, first)
        first += len(sources)
    yield notebook
    context.unroute_all(behavior="ignoreErrors")
    context.close()
    assert foreign == []


def test_python_and_the_widget_move_each_other(notebook):
    cells = notebook["HeadSplitter"]
    page = cells.page
    widget = cells.show("HeadSplitter")
    d_k = widget.locator("[data-out=d_k]")
    assert d_k.inner_text() == "16" and widget.locator(".mh-chip").count() == 20

    # Python to picture.
    cells.run(1)
    widget.locator("[data-out=d_k]", has_text=re.compile("^8$")).wait_for()
    assert widget.locator(".mh-chip").count() == 40

    # Widget to Python.
    widget.locator("input[name=h]").fill("2")
    widget.locator("input[name=step][value=heads]").check()
    cells.run(2)
    cells[2].locator(".jp-OutputArea-output", has_text="h in Python: 2 heads").wait_for()

    # An ipywidgets slider, linked in the browser.
    cells.run(3)
    handle = cells[3].locator(".noUi-handle")
    handle.wait_for()
    handle.focus()
    page.keyboard.press("Home")
    widget.locator("[data-out=d_k]", has_text=re.compile("^64$")).wait_for()


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


def test_every_trait_of_the_other_widgets_is_set_and_read_by_python(notebook):
    cells = notebook["others"]
    page = cells.page
    cells.run(0)
    roots = {name: page.locator(f"[data-widget={name}]") for name in NAMES}
    for root in roots.values():
        root.wait_for()

    cells.run(1)
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
    cells.run(2)
    said = cells[2].locator(".jp-OutputArea-output", has_text="READ")
    said.wait_for()
    assert json.loads(said.inner_text().split("READ")[1]) == CHOSEN


def test_every_trait_of_the_head_atlas_is_set_and_read_by_python(notebook):
    cells = notebook["HeadAtlas"]
    widget = cells.show("HeadAtlas")
    cells.run(1)
    widget.locator("[data-out=head]", has_text="1-3").wait_for()
    values = {name: widget.locator(f"select[name={name}]").input_value() for name in ("score", "sentence", "relation")}
    assert values == {"score": "나", "sentence": "1", "relation": "r"}

    widget.locator("select[name=score]").select_option("가")
    widget.locator("select[name=sentence]").select_option("0")
    widget.locator("button[name=best]").click()
    cells.run(2)
    cells[2].locator(".jp-OutputArea-output", has_text="READ 가 2 1 0 r 1").wait_for()


def test_a_sentence_and_heads_switched_off_go_both_ways(notebook):
    cells = notebook["LesionLab"]
    widget = cells.show("LesionLab")
    cells.run(1)
    widget.locator("[data-out=written]", has_text="동생이").wait_for()
    widget.locator("[name=masked][value='2']:checked").wait_for(state="attached")
    assert widget.locator("[name^=head_]:not(:checked)").evaluate_all("all => all.map((box) => box.name)") == [
        "head_1-2", "head_2-4",
    ]  # fmt: skip

    widget.locator("select[name=object_0]").select_option("편지")
    widget.locator("[name='head_1-2']").check()
    answer = widget.locator("[data-out=answer_0]").inner_text()
    cells.run(2)
    cells[2].locator(".jp-OutputArea-output", has_text=re.compile(rf"READ .*편지.* 2 \(\(2, 4\),\) {answer}")).wait_for()


def test_the_step_of_a_recording_goes_both_ways(notebook):
    cells = notebook["Timelapse"]
    widget = cells.show("Timelapse")
    cells.run(1)
    widget.locator("[data-out=step]", has_text="20 / 20걸음").wait_for()
    widget.locator("input[name=step]").fill("1")
    cells.run(2)
    cells[2].locator(".jp-OutputArea-output", has_text="READ 10").wait_for()


def test_a_sentence_of_the_reader_is_answered_by_the_kernel(notebook):
    cells = notebook["SentenceExplorer"]
    widget = cells.show("SentenceExplorer")
    widget.locator("[name=text_choice]").select_option("own")
    widget.locator("[name=text]").fill("My friend wrote a letter.")
    widget.locator("[name=text_compute]").click()
    widget.locator(".mh-sentence-title", has_text="My friend wrote a letter.").wait_for()
    assert "friend → my" in widget.locator(".mh-picture .mh-scroll svg").first.get_attribute("aria-label")  # head 1-3


def test_a_run_trained_in_the_browser_can_be_taken_to_python(notebook):
    cells = notebook["TrainingLab"]
    widget = cells.show("TrainingLab")
    cells.run(1)
    widget.locator("section[data-run='1']").wait_for()
    widget.locator("button[name=play]").click()
    widget.locator("[data-out=step]", has_text=re.compile("^[1-9]")).wait_for()
    widget.locator("button[name=play]").click()
    cells.run(2)
    cells[2].locator(".jp-OutputArea-output", has_text="READ [(True, 2, 2), (True, 1, 1)] 0").wait_for()

"""HeadSplitter in a real JupyterLab: Python and the picture move each other."""

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

NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "cells": [
        {"id": f"cell-{i}", "cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
        for i, code in enumerate(
            [
                "import ipywidgets\nfrom multihead.widgets import HeadSplitter\nw = HeadSplitter(h=4, d_model=64)\nw",
                "w.h = 8",
                "print('h in Python:', w.h, w.step)",
                "slider = ipywidgets.IntSlider(8, 1, 16, description='연결')\n"
                "ipywidgets.jslink((slider, 'value'), (w, 'h'))\nslider",
            ]
        )
    ],
}


@pytest.fixture
def lab(tmp_path):
    """Address of a JupyterLab that opens the notebook, asks nobody else anything, and stops with the test."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "widget.ipynb").write_text(json.dumps(NOTEBOOK), "utf-8")
    settings = tmp_path / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"checkForUpdates": false, "fetchNews": "false"}')
    token = secrets.token_hex(16)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Own folders, so that the reader's settings and workspaces stay as they are; the kernel is this very Python.
    folders = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    folders += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    environment = os.environ | {name: str(tmp_path / name) for name in folders}
    options = [
        "--no-browser", "--allow-root",
        "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={tmp_path / 'work'}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly", "--MappingKernelManager.default_kernel_name=python3",
    ]  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", *options]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{address}/api/status?token={token}", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()
                time.sleep(0.2)
        yield f"{address}/doc/tree/widget.ipynb?token={token}"
    finally:
        # The server ends its kernels when it is asked to stop.
        server.terminate()
        server.wait(timeout=20)


def test_python_and_the_widget_move_each_other_in_jupyterlab(lab, browser):
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
    context.close()
    assert foreign == []

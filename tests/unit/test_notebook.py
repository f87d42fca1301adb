"""setup(), in the places where a first cell runs."""

import importlib.metadata
import os
import subprocess
import sys
import types
from unittest import mock

import matplotlib as mpl
import nbformat
import pytest
import torch
from nbclient import NotebookClient

from multihead.notebook import setup


@pytest.fixture(autouse=True)
def leave_no_trace():
    with mpl.rc_context(), mock.patch.dict(os.environ):
        yield


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_the_seed_makes_random_numbers_repeat():
    setup()
    first = torch.rand(3)
    setup()
    assert torch.equal(torch.rand(3), first)
    setup(seed=1)
    assert not torch.equal(torch.rand(3), first)


def test_nothing_is_printed_outside_of_colab(capfd):
    setup()
    assert capfd.readouterr() == ("", "")


def test_figures_stand_on_white_paper():
    with mpl.rc_context({"figure.facecolor": "none", "savefig.transparent": True}):
        setup()
        assert mpl.rcParams["figure.facecolor"] == mpl.rcParams["savefig.facecolor"] == "white"
        assert not mpl.rcParams["savefig.transparent"]


def test_colab_gets_its_widget_manager_and_a_line_of_versions(monkeypatch, capsys):
    calls = []
    output = types.SimpleNamespace(enable_custom_widget_manager=lambda: calls.append(1))
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", types.SimpleNamespace(output=output))
    setup()
    assert calls == [1]
    assert f"torch {torch.__version__}" in capsys.readouterr().out


@pytest.mark.parametrize("version", ["4.56.2", "6.0.1"])
def test_an_untested_transformers_is_reported_in_one_korean_line(version, monkeypatch, capsys):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    setup()
    out = capsys.readouterr().out
    assert out.count("\n") == 1 and version in out and "transformers>=4.57,<6" in out


@pytest.mark.parametrize("version", ["4.57.0", "5.24.0", "5.0.0rc1"])
def test_a_tested_transformers_is_not_mentioned(version, monkeypatch, capsys):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    setup()
    assert capsys.readouterr().out == ""


def test_the_extra_for_bert_is_not_needed(monkeypatch, capsys):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    setup()
    assert capsys.readouterr().out == ""


def test_transformers_is_not_imported_and_later_loads_a_model_in_silence():
    run = python(
        "import sys; from multihead.notebook import setup; setup(); assert 'transformers' not in sys.modules\n"
        "from multihead.models.bert import load_bert; load_bert().attend('A cat.')"
    )
    assert (run.stdout, run.stderr) == ("", "")


def test_a_transformers_that_is_already_imported_becomes_silent_too():
    run = python(
        "from transformers import BertModel; from multihead.notebook import setup; setup()\n"
        "from multihead.models.bert import load_bert; load_bert()"
    )
    assert (run.stdout, run.stderr) == ("", "")


def test_in_a_kernel_a_figure_appears_once_and_crisp():
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("from multihead.notebook import setup\nsetup()"),
            nbformat.v4.new_code_cell(
                "import torch\nfrom multihead.plots import attention_maps\n"
                "attention_maps(torch.eye(3).repeat(2, 1, 1), ['나는', '사과를', '먹었다'])"
            ),
        ]
    )
    NotebookClient(notebook, kernel_name="python3").execute()
    first, second = (cell.outputs for cell in notebook.cells)
    assert first == []
    assert len(second) == 1 and "image/png" in second[0].data
    assert second[0].metadata["image/png"]["width"] > 0  # half of its pixels: drawn for dense screens

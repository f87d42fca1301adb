"""Every notebook as Colab runs it: alone in an empty folder, under Colab's versions, the package as a wheel.

`make test-colab` makes the environment (.venv-colab) that these tests drive from outside.
"""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "chapters").glob("*.ipynb"))
COLAB = ROOT / ".venv-colab" / "bin"
every_notebook = pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])


def environment():
    """Nothing of the project's own environment, Colab's module on the path, one thread for each of two notebooks."""
    ours = ("PYTHON", "JUPYTER", "VIRTUAL_ENV")
    keep = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    stand_in = str(Path(__file__).with_name("stand_in"))
    return keep | {"PYTHONPATH": stand_in, "OMP_NUM_THREADS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def execute(text, folder):
    """The notebook after Colab's Jupyter has run it in a folder where nothing else is."""
    folder.mkdir()
    path = folder / "notebook.ipynb"
    path.write_text(text, "utf-8")
    command = [COLAB / "jupyter-execute", "--inplace", "--timeout=300", path.name]
    run = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return nbformat.read(path, as_version=4)


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """The executed notebook of a name; two run at a time, from the start."""
    folder = tmp_path_factory.mktemp("colab")
    with ThreadPoolExecutor(2) as pool:
        runs = {path.stem: pool.submit(execute, path.read_text("utf-8"), folder / path.stem) for path in NOTEBOOKS}
        yield lambda name: runs[name].result()


def test_the_package_is_installed_and_not_linked():
    code = "import multihead; print(multihead.__file__)"
    run = subprocess.run([COLAB / "python", "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert Path(run.stdout.strip()).is_relative_to(COLAB.parent / "lib")


@every_notebook
def test_notebook_runs_alone_to_its_end_without_a_warning(executed, name):
    for cell in code_cells(executed(name)):
        assert [output.text for output in cell.outputs if output.get("name") == "stderr"] == [], cell.source


@every_notebook
def test_the_first_cell_turns_on_colabs_widgets_and_names_the_versions(executed, name):
    said = printed(code_cells(executed(name))[0])
    assert "google.colab.output.enable_custom_widget_manager()" in said
    assert re.search(r"Python 3\.\d+\.\d+, torch 2\.\d+.*, transformers \d", said)


@every_notebook
def test_every_widget_is_shown(executed, name):
    for cell in code_cells(executed(name)):
        if "widget" in cell.metadata.get("tags", []):
            shown = [kind for output in cell.outputs for kind in output.get("data", {})]
            assert "application/vnd.jupyter.widget-view+json" in shown, cell.source


@every_notebook
def test_who_solves_nothing_reads_what_to_do_and_every_solution_passes(executed, name):
    cells = code_cells(executed(name))
    exercises = [cell for cell in cells if "return ..." in cell.source]
    solutions = [cell for cell in cells if cell.source.startswith("# @title 해답")]
    assert len(exercises) == len(solutions) > 0
    for exercise in exercises:
        assert "아직 비어 있습니다" in printed(exercise)
    for solution in solutions:
        assert printed(solution).startswith("✓ 맞습니다"), solution.source


# Every widget class with its own settings, moved from Python and then, as the page does it, by a message.
WIDGETS = [
    """
import json
from types import SimpleNamespace

import torch

from multihead import widgets
from multihead.models import neighbours
from multihead.widgets.base import Choice, IntRange, Text

run = neighbours.train(neighbours.NeighbourModel(1, seed=0), seed=0, steps=1, record_at=[0, 1])
sentence = SimpleNamespace(tokens=list("가나다"), weights=torch.full((2, 2, 3, 3), 1 / 3))
grid = [[0.1, 0.2], [0.3, 0.4]]
NEEDED = {  # what a widget has to be given
    "HeadAtlas": [
        {"점수": grid, "점수 끝": grid},
        [sentence, sentence],
        {" 끝": {"arcs": [[(0, 1)], [(0, 1)]], "best": [], "baseline": 0.5, "offset": 1}},
    ],
    "Timelapse": [[run]],
}
shown = {name: getattr(widgets, name)(*NEEDED.get(name, [])) for name in widgets.__all__}


def other(widget, name):
    trait, value = widget.traits()[name], getattr(widget, name)
    if isinstance(trait, Choice):
        return next((option for option in trait.allowed if option != value), value)
    if isinstance(trait, IntRange):
        return trait.low if value != trait.low else trait.low + 1
    if isinstance(trait, Text):
        return value + " 끝"
    return int(not value) if type(value) is int else value


def settings(widget):
    return widget.get_state(widget.settings())
""",
    """
changed = {name: 0 for name in shown}
for name, widget in shown.items():
    for trait in widget.settings():
        value = other(widget, trait)
        changed[name] += value != getattr(widget, trait)
        setattr(widget, trait, value)
print(json.dumps({w.model_id: [name, changed[name], settings(w)] for name, w in shown.items()}))
""",
    """
for name, widget in shown.items():
    trait = next(t for t in widget.settings() if other(widget, t) != getattr(widget, t))
    value = other(widget, trait)
    data = {"method": "update", "state": {trait: value}, "buffer_paths": []}
    widget.comm.handle_msg({"content": {"data": data}, "buffers": []})
    print(name, getattr(widget, trait) == value)
""",
]


def test_every_widget_class_follows_python_and_the_page(tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in WIDGETS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = execute(nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata=kernel)), tmp_path / "widgets")
    state = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    widgets = json.loads(printed(notebook.cells[1]))
    assert len(widgets) >= 4
    for model, (name, changes, settings) in widgets.items():
        assert changes and {trait: state[model]["state"][trait] for trait in settings} == settings, name
    answers = printed(notebook.cells[2]).split("\n")
    assert answers[:-1] == [f"{name} True" for name, *_ in widgets.values()]

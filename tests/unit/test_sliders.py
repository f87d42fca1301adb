"""The sliders in a real kernel, as a notebook shows them."""

import nbformat
import pytest
from nbclient import NotebookClient

SETUP = """
from matplotlib.figure import Figure
from multihead import notebook
from multihead.attention import check_divisible
from multihead.sliders import sliders

notebook.setup()
drawn = []

def draw(h, d_model):
    drawn.append((h, d_model, check_divisible(d_model, h)))
    figure = Figure(figsize=(1, 1))
    figure.subplots()
    return figure

def shown():
    return [output.get("text") or sorted(output["data"]) for output in panel.children[-1].outputs]

panel = sliders(draw, h=(4, 1, 16, 1), d_model=(64, 8, 128, 8))
h, d_model, _ = panel.children
"""
FIGURE = "[['image/png', 'text/plain']]"


@pytest.fixture(scope="module")
def results():
    """What each cell after the set-up gave, and all outputs of the notebook."""
    moves = ["h.value = 8", "d_model.value = 96", "d_model.value = 64; h.value = 3", "h.value = 2"]
    # Two cells a move: what an Output widget caught arrives when the cell that moved the slider has ended.
    sources = [SETUP, "shown()", *(cell for move in moves for cell in (move, "shown()")), "drawn"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name="python3", timeout=120, startup_timeout=120).execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    texts = [output.data["text/plain"] for output in outputs if output.output_type == "execute_result"]
    return texts, outputs


def test_a_move_draws_once_and_replaces_the_figure(results):
    texts, _ = results
    assert texts[:3] == [FIGURE] * 3
    assert texts[-1] == "[(4, 64, 16), (8, 64, 8), (8, 96, 12), (8, 64, 8), (2, 64, 32)]"


def test_a_bad_combination_is_explained_in_place_of_the_figure(results):
    texts, _ = results
    assert "d_model = 64, num_heads = 3" in texts[3] and "image/png" not in texts[3]


def test_the_figure_comes_back_when_the_combination_is_good_again(results):
    texts, _ = results
    assert texts[4] == FIGURE


def test_no_figure_leaks_out_of_the_widget(results):
    _, outputs = results
    assert all(output.output_type == "execute_result" for output in outputs)

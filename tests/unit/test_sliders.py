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

panel = sliders(draw, h=(4, 1, 16, 1), d_model=(64, 8, 128, 8))
h, d_model, output = panel.children
"""


@pytest.fixture(scope="module")
def run():
    """Runs cells after the set-up, each in turn; returns the output of the last one and what the Output widget holds."""

    def run(*cells):
        cells = [SETUP, *cells, "[o.get('text') or sorted(o['data']) for o in output.outputs]"]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        NotebookClient(notebook, kernel_name="python3").execute()
        assert not any(output.output_type == "display_data" for cell in notebook.cells for output in cell.outputs), (
            "a figure leaked out of the widget"
        )
        shown = notebook.cells[-1].outputs[0].data["text/plain"]
        return notebook.cells[-2].outputs, shown

    return run


def test_a_move_draws_once_and_replaces_the_figure(run):
    (result,), shown = run("h.value = 8\nd_model.value = 96\ndrawn")
    assert result.data["text/plain"] == "[(4, 64, 16), (8, 64, 8), (8, 96, 12)]"
    assert shown == "[['image/png', 'text/plain']]"


def test_a_bad_combination_is_explained_in_place_of_the_figure(run):
    _, shown = run("h.value = 3")
    assert "d_model = 64, num_heads = 3" in shown and "image/png" not in shown


def test_the_figure_comes_back_when_the_combination_is_good_again(run):
    _, shown = run("h.value = 3\nh.value = 2")
    assert shown == "[['image/png', 'text/plain']]"

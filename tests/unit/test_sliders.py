"""The sliders: a move draws once, and what stands there belongs to the settings that stand beside it."""

import nbformat
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient

from multihead.attention import check_divisible
from multihead.notebook import sliders

PNG = b"\x89PNG"


@pytest.fixture
def panel():
    drawn = []

    def draw(h, d_model):
        drawn.append((h, d_model, check_divisible(d_model, h)))
        figure = Figure(figsize=(1, 1))
        figure.subplots().set_title(f"{h} {d_model}")
        return figure

    panel = sliders(draw, h=(4, 1, 16, 1), d_model=(64, 8, 128, 8))
    panel.drawn = drawn
    return panel


def test_a_move_draws_once_and_replaces_the_figure(panel):
    h, d_model, refusal, picture = panel.children
    pictures = [bytes(picture.value)]
    for slider, value in ((h, 8), (d_model, 96)):
        slider.value = value
        pictures.append(bytes(picture.value))
    assert len(set(pictures)) == 3 and all(png.startswith(PNG) for png in pictures)
    assert panel.drawn == [(4, 64, 16), (8, 64, 8), (8, 96, 12)] and refusal.value == ""


def test_a_bad_combination_is_explained_in_place_of_the_figure(panel):
    h, _, refusal, picture = panel.children
    h.value = 3
    assert "d_model = 64, num_heads = 3" in refusal.value and 'role="alert"' in refusal.value
    assert picture.value == b"" and picture.layout.display == "none"
    h.value = 2
    assert refusal.value == "" and bytes(picture.value).startswith(PNG) and picture.layout.display is None


def test_the_reason_of_a_refusal_is_text_and_no_markup():
    def draw(h):
        raise ValueError("<b>")

    assert "&lt;b&gt;" in sliders(draw, h=(1, 1, 2, 1)).children[1].value


def test_an_error_that_is_no_refusal_is_not_swallowed():
    def draw(h):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        sliders(draw, h=(1, 1, 2, 1))


def test_in_a_notebook_only_the_panel_is_put_out():
    source = """
    from matplotlib.figure import Figure
    from multihead import notebook
    from multihead.notebook import sliders
    notebook.setup()
    def draw(h):
        figure = Figure()
        figure.subplots()
        return figure
    panel = sliders(draw, h=(4, 1, 16, 1))
    panel.children[0].value = 2
    panel
    """
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source.replace("\n    ", "\n"))])
    NotebookClient(notebook, kernel_name="python3", timeout=120, startup_timeout=120).execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "execute_result" and "application/vnd.jupyter.widget-view+json" in output.data

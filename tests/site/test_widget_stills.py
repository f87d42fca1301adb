"""The pictures that stand in a page until, and unless, its widgets are alive."""

import json

import ipywidgets
import pytest
from bs4 import BeautifulSoup
from ipywidgets.embed import dependency_state, embed_data
from matplotlib.figure import Figure
from sphinx.errors import ExtensionError
from widget_stills import Files, draw_stills, find_still, slim

from multihead.attention import check_divisible
from multihead.notebook import sliders
from multihead.widgets import ParameterCounter


def widget(esm):
    return {"state": {"_esm": esm, "h": 4}}


def test_the_still_of_a_widget_is_drawn_by_its_own_module_from_its_own_state():
    models = {"a": widget("export const still = (state) => `<b>헤드 ${state.h}개</b>`")}
    assert draw_stills(models) == {"a": "<b>헤드 4개</b>"}


def test_a_widget_that_draws_no_still_stops_the_build():
    with pytest.raises(ExtensionError, match="still"):
        draw_stills({"a": widget("export default {}")})


def test_a_widget_of_another_kind_keeps_what_it_showed_last(tmp_path):
    models = {
        "box": {"state": {"children": ["IPY_MODEL_slider", "IPY_MODEL_output", "IPY_MODEL_live"]}},
        "slider": {"state": {"description": "h", "value": 4}},
        "output": {"state": {"outputs": [{"text": "1 < 2"}, {"data": {"image/png": "aGk="}}]}},
        "live": widget(""),
    }
    still = find_still("box", models, stills={"live": "<b>헤드</b>"}, files=Files(tmp_path, "../files"))
    assert still.startswith("<p>h = 4</p><pre>1 &lt; 2</pre><img ")
    (picture,) = tmp_path.iterdir()
    assert picture.read_bytes() == b"hi" and f'src="../files/{picture.name}"' in still
    assert still.endswith("<b>헤드</b>")


def drawn(h, d_model):
    figure = Figure(figsize=(2, 1))
    figure.subplots().set_title(str(check_divisible(d_model, h)))
    return figure


@pytest.mark.parametrize(("h", "shown"), [(8, ["p", "img"]), (3, ["p", "p"])])
def test_sliders_keep_their_figure_or_their_refusal_and_the_settings_it_belongs_to(tmp_path, h, shown):
    panel = sliders(drawn, h=(h, 1, 16, 1), d_model=(64, 8, 128, 8))
    data = embed_data(views=[panel], state=dependency_state([panel], drop_defaults=False))
    still = find_still(panel.model_id, data["manager_state"]["state"], stills={}, files=Files(tmp_path, "."))
    nodes = BeautifulSoup(still, "html.parser").find_all(True, recursive=False)
    assert [node.name for node in nodes] == shown
    assert nodes[0].text == f"h = {h}, d_model = 64"
    if h == 8:
        assert (tmp_path / nodes[1]["src"]).read_bytes() == panel.children[-1].value and nodes[1]["alt"] == "h = 8, d_model = 64일 때의 그림"
    else:
        assert nodes[1]["role"] == "alert" and "num_heads = 3" in nodes[1].text


def test_the_page_keeps_of_its_widgets_what_the_host_reads(tmp_path):
    slider, widget, unseen = ipywidgets.IntSlider(), ParameterCounter(h=4), ParameterCounter(h=8)
    views = [widget, slider, unseen]
    models = embed_data(views=views, state=dependency_state(views, drop_defaults=False))["manager_state"]["state"]
    kept = slim(models, [widget.model_id], Files(tmp_path, "../files"))
    assert list(kept) == [widget.model_id]
    state = kept[widget.model_id]["state"]
    (module,) = tmp_path.iterdir()
    assert module.read_text("utf-8") == ParameterCounter._esm and state["_esm_file"] == f"../files/{module.name}"
    assert state["h"] == 4 and "_esm" not in state and "_css" not in state


def test_a_large_state_is_a_file_beside_the_page(tmp_path):
    state = {"_esm": "export default {}", "_weights": "0" * 5_000, "sentence": "나는 사과를 먹었다"}
    kept = slim({"a": {"model_module": "anywidget", "state": state}}, ["a"], Files(tmp_path, "../files"))
    (file,) = tmp_path.glob("*.json")
    assert kept["a"]["state"].keys() == {"_esm_file", "_state_file"}
    assert kept["a"]["state"]["_state_file"] == f"../files/{file.name}"
    assert json.loads(file.read_text("utf-8")) == {"_weights": state["_weights"], "sentence": state["sentence"]}

"""The pictures that stand in a page until, and unless, its widgets are alive."""

import pytest
from sphinx.errors import ExtensionError
from widget_stills import draw_stills, find_still


def widget(esm):
    return {"state": {"_esm": esm, "h": 4}}


def test_the_still_of_a_widget_is_drawn_by_its_own_module_from_its_own_state():
    models = {"a": widget("export const still = (state) => `<b>헤드 ${state.h}개</b>`")}
    assert draw_stills(models) == {"a": "<b>헤드 4개</b>"}


def test_a_widget_that_draws_no_still_stops_the_build():
    with pytest.raises(ExtensionError, match="still"):
        draw_stills({"a": widget("export default {}")})


def test_a_widget_of_another_kind_keeps_what_it_showed_last():
    models = {
        "box": {"state": {"children": ["IPY_MODEL_slider", "IPY_MODEL_output", "IPY_MODEL_live"]}},
        "slider": {"state": {"value": 4}},
        "output": {"state": {"outputs": [{"text": "1 < 2"}, {"data": {"image/png": "aGk="}}]}},
        "live": widget(""),
    }
    still = find_still("box", models, stills={"live": "<b>헤드</b>"})
    assert still.startswith("<pre>1 &lt; 2</pre><img ")
    assert "base64,aGk=" in still
    assert still.endswith("<b>헤드</b>")

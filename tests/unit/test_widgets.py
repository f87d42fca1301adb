"""The Python side of the widgets: settings, validation, observe and links."""

import unicodedata

import ipywidgets
import pytest
from traitlets import TraitError

from multihead.plots.palette import HEAD_COLOURS
from multihead.widgets import AttentionPlayground, HeadSplitter, base
from multihead.widgets.base import ink, join_module, luminance

ALLOWED = {
    "h": range(1, 17),
    "d_model": range(8, 513),
    "T": range(2, 17),
    "step": ("x", "view", "heads", "wrong"),
    "token": range(5),
    "compact": (False, True),
}
REFUSED = [
    ("h", 0), ("h", 17), ("h", "4"), ("h", 4.0), ("h", True), ("h", None),
    ("d_model", 7), ("d_model", 513), ("T", 1), ("T", 17), ("token", -1), ("token", 5),
    ("step", "transpose"), ("step", ["view"]), ("compact", 1),
]


@pytest.mark.parametrize("name", ALLOWED)
def test_every_allowed_value_is_taken_and_reported_to_observers(name):
    widget = HeadSplitter()
    seen = []
    widget.observe(lambda change: seen.append(change.new), name)
    for value in ALLOWED[name]:
        setattr(widget, name, value)
        assert getattr(widget, name) == value
    assert set(seen) | {getattr(HeadSplitter(), name)} == set(ALLOWED[name])


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    widget = HeadSplitter()
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=rf"{name}.*입니다\. 받은 값|{name}에는 정수가 필요합니다"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before
    with pytest.raises(TraitError, match=name):
        HeadSplitter(**{name: value})


def test_heads_that_do_not_divide_are_a_state_and_no_exception():
    widget = HeadSplitter(h=3, d_model=64)
    assert (widget.h, widget.d_model) == (3, 64)


def test_an_unknown_setting_raises_and_names_the_known_ones():
    with pytest.raises(TypeError, match=r"heads.*쓸 수 있는 설정: .*d_model.*h"):
        HeadSplitter(heads=4)
    with pytest.raises(AttributeError, match=r"heads.*쓸 수 있는 설정"):
        HeadSplitter().heads = 4


def test_a_broken_observer_is_not_swallowed():
    widget = HeadSplitter()
    widget.observe(lambda change: 64 // (change.new - 3), "h")
    with pytest.raises(ZeroDivisionError):
        widget.h = 3


def test_a_shorter_sentence_takes_the_followed_token_along():
    widget = HeadSplitter(T=8, token=7)
    widget.T = 3
    assert widget.token == 2


def test_what_the_browser_sends_arrives_in_python():
    widget = HeadSplitter(T=8, token=7)
    widget.set_state({"h": 8, "T": 2, "token": 1})
    assert (widget.h, widget.T, widget.token) == (8, 2, 1)


def test_the_state_for_the_browser_holds_every_setting_module_and_style():
    state = HeadSplitter(h=8, compact=True).get_state()
    assert {name: state[name] for name in ALLOWED} == {
        "h": 8, "d_model": 64, "T": 5, "step": "view", "token": 0, "compact": True,
    }  # fmt: skip
    assert "export default" in state["_esm"] and "./core.js" not in state["_esm"]
    assert "--head-0: #0072B2" in state["_css"]


def test_two_widgets_share_no_state():
    first, second = HeadSplitter(), HeadSplitter()
    first.h = 8
    assert second.h == 4


def test_links_accept_the_widget():
    slider, widget = ipywidgets.IntSlider(4, 1, 16), HeadSplitter()
    link = ipywidgets.jslink((slider, "value"), (widget, "h"))
    assert link.target == (widget, "h")
    ipywidgets.link((slider, "value"), (widget, "h"))
    slider.value = 8
    assert widget.h == 8


def test_a_module_is_joined_with_all_that_it_imports_each_file_once(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "FOLDER", tmp_path)
    (tmp_path / "low.js").write_text("export const low = 1;\n")
    (tmp_path / "left.js").write_text('import { low } from "./low.js";\nexport const left = low + 1;\n')
    (tmp_path / "right.js").write_text('import { low } from "./low.js";\nexport const right = low + 2;\n')
    (tmp_path / "top.js").write_text(
        'import { left } from "./left.js";\nimport {\n    right,\n} from "./right.js";\nexport const sum = left + right;\n'
    )
    lines = [line for line in join_module("top.js").splitlines() if line]
    assert lines == ["const low = 1;", "const left = low + 1;", "const right = low + 2;", "export const sum = left + right;"]
    (tmp_path / "right.js").write_text('import { low } from "./low.js";\nconst left = 3;\nexport const right = left;\n')
    with pytest.raises(ValueError, match=r"left\.js and right\.js both declare left"):
        join_module("top.js")
    (tmp_path / "low.js").unlink()
    with pytest.raises(FileNotFoundError):
        join_module("top.js")


def test_a_text_is_kept_in_one_unicode_form():
    widget = AttentionPlayground(sentence=unicodedata.normalize("NFD", " 나는\u200b\u2003사과 "))
    assert widget.sentence == "나는 사과"


@pytest.mark.parametrize("colour", HEAD_COLOURS)
def test_ink_on_every_head_colour_reads_well(colour):
    light, dark = sorted((luminance(colour), luminance(ink(colour))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_javascript_knows_how_many_colours_there_are():
    assert f"const HEAD_COLOURS = {len(HEAD_COLOURS)};" in HeadSplitter._esm

"""Steps of the build that would else do nothing, or half of it, without a word."""

import shutil
from types import SimpleNamespace

import pytest
from execution_fingerprint import fingerprint
from page_facts import name_the_address
from sphinx.errors import ExtensionError
from used_styles import found
from vendor_files import FILES, copy_vendor_files
from widget_stills import LARGE, Files, slim


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("MyName/book", "https://myname.github.io/book/"),
        ("MyName/Book", "https://myname.github.io/Book/"),
        ("myname/myname.github.io", "https://myname.github.io/"),
        ("MyName/MyName.github.io", "https://myname.github.io/"),
        ("MyName/myname.github.io", "https://myname.github.io/"),
        ("myname/MyName.GitHub.io/", "https://myname.github.io/"),
        ("myname/yourname.github.io", "https://myname.github.io/yourname.github.io/"),
    ],
)
def test_the_address_is_the_one_at_which_pages_serves_the_repository(repository, address):
    theme = {"repository_url": f"https://github.com/{repository}"}
    config = SimpleNamespace(html_baseurl="", html_theme_options=theme)
    name_the_address(None, config)
    assert config.html_baseurl == address


@pytest.fixture
def app(tmp_path):
    """A project with every file that the site takes from node_modules."""
    for name in FILES:
        file = tmp_path / "node_modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return SimpleNamespace(confdir=tmp_path, outdir=tmp_path / "out")


def test_libraries_are_copied_from_their_packages(app):
    copy_vendor_files(app)
    for name, folder in FILES.items():
        assert (app.outdir / "_static" / folder / name.split("/")[-1]).read_text() == name


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_its_package_has_moved_stops_the_build(app, name):
    file = app.confdir / "node_modules" / name
    shutil.move(file, file.with_suffix(".moved"))
    with pytest.raises(FileNotFoundError, match=file.name):
        copy_vendor_files(app)


def test_fonts_that_their_package_has_moved_stop_the_build(tmp_path):
    (tmp_path / "b.ttf").touch()
    (tmp_path / "a.ttf").touch()
    assert [path.name for path in found(tmp_path, "*.ttf")] == ["a.ttf", "b.ttf"]
    with pytest.raises(ExtensionError, match=r"no fonts/\*\.ttf"):
        found(tmp_path, "fonts/*.ttf")


@pytest.mark.parametrize("name", ["a.model.py", ".models/a.py", "x.mo.py", "x.module.js", "a.egg-info.py", "my__pycache__.py"])
def test_every_source_counts_in_the_fingerprint_whatever_its_name(tmp_path, name):
    file = tmp_path / "src" / name
    file.parent.mkdir(parents=True)
    file.write_text("1")
    before = fingerprint(tmp_path, "src")
    file.write_text("2")
    assert fingerprint(tmp_path, "src") != before


@pytest.mark.parametrize("name", ["__pycache__/a.pyc", "multihead.egg-info/PKG-INFO", "locale/ko/sphinx.mo"])
def test_what_builds_make_does_not_count(tmp_path, name):
    (tmp_path / "src").mkdir()
    before = fingerprint(tmp_path, "src")
    file = tmp_path / "src" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("1")
    assert fingerprint(tmp_path, "src") == before


def test_the_page_keeps_the_models_that_a_shown_one_names_with_their_state_in_the_page(tmp_path):
    """afm-host.js finds them by get(); only of a model that is shown it reads a file with the state."""

    def widget(**state):
        return {"model_module": "anywidget", "model_name": "AnyModel", "state": {"_esm": "export default {}", **state}}

    models = {
        "shown": widget(parts=[["IPY_MODEL_part"]], layout="IPY_MODEL_layout"),
        "part": widget(source="IPY_MODEL_plain", weights="0" * 2 * LARGE, back="IPY_MODEL_shown"),
        "plain": {"model_name": "IntSliderModel", "state": {"value": 3, "layout": "IPY_MODEL_layout"}},
        "layout": {"model_name": "LayoutModel", "state": {"width": None}},
        "unseen": widget(text="IPY_MODEL_shown"),
    }
    kept = slim(models, ["shown"], Files(tmp_path, "../files"))
    assert list(kept) == ["shown", "part", "plain"]
    assert kept["part"]["state"]["weights"] == "0" * 2 * LARGE and kept["plain"]["state"]["value"] == 3
    assert "_esm_file" in kept["part"]["state"] and not any("_state_file" in model["state"] for model in kept.values())

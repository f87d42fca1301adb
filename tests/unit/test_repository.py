"""The book's own address stands in several files, and they agree."""

import json
import shutil
from pathlib import Path

import pytest
import repository
import yaml

ROOT = Path(__file__).parents[2]


def configured(root):
    return yaml.safe_load((root / "_config.yml").read_text("utf-8"))["repository"]["url"]


@pytest.fixture
def copy(tmp_path):
    (tmp_path / "chapters").mkdir()
    for path in repository.files(ROOT):
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    return tmp_path


@pytest.mark.parametrize("path", repository.files(ROOT), ids=lambda path: path.name)
def test_file_gives_the_address_of_the_configuration(path):
    assert {f"https://github.com/{name}" for name in repository.addresses(path)} <= {configured(ROOT)}


@pytest.mark.parametrize("path", [ROOT / "README.md", *ROOT.glob("chapters/*.ipynb")], ids=lambda path: path.name)
def test_file_that_installs_the_package_is_among_those_that_are_rewritten(path):
    assert repository.addresses(path)


@pytest.mark.parametrize("url", ["https://github.com/me/my-book.v2", "https://github.com/me/my-book.v2.git"])
def test_a_new_address_is_written_everywhere_and_changes_nothing_else(copy, url):
    before = {path: path.read_text("utf-8") for path in repository.files(copy)}
    changed = repository.write(url, copy)
    assert configured(copy) == "https://github.com/me/my-book.v2"
    assert {name for path in before for name in repository.addresses(path)} == {"me/my-book.v2"}
    assert {path for path in before if path.suffix == ".ipynb"} <= set(changed)
    for path in copy.glob("chapters/*.ipynb"):
        json.loads(path.read_text("utf-8"))
    repository.write(configured(ROOT), copy)
    assert {path: path.read_text("utf-8") for path in before} == before


def test_one_file_that_disagrees_is_set_right(copy):
    path = next(copy.glob("chapters/*.ipynb"))
    path.write_text(path.read_text("utf-8").replace(repository.addresses(path)[0], "someone/else"), "utf-8")
    assert repository.addresses(path) == ["someone/else"]
    repository.write("https://github.com/me/my-book", copy)
    assert set(repository.addresses(path)) == {"me/my-book"}


@pytest.mark.parametrize("url", ["", "me/my-book", "http://github.com/me/my-book", "https://github.com/me"])
def test_what_is_no_address_is_refused_in_korean_and_changes_nothing(copy, url):
    with pytest.raises(ValueError, match="주소가 필요합니다"):
        repository.write(url, copy)
    assert configured(copy) == configured(ROOT)

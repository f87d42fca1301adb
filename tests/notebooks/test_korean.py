"""hanlint over everything that a reader reads: its errors fail, its remarks are left to the author."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "chapters").glob("*.md")), *sorted((ROOT / "chapters").glob("*.ipynb"))]


def prose(path: Path) -> str:
    """The Markdown of a page; of a notebook its Markdown cells, with the code between them as fenced blocks."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return text
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_hanlint_finds_no_error(path, tmp_path):
    copy = tmp_path / f"{path.stem}.md"
    copy.write_text(prose(path), "utf-8")
    command = [sys.executable, "-m", "hanlint", copy, "--config", ROOT / "pyproject.toml", "--no-color"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr

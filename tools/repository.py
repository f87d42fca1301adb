"""``make repository URL=https://github.com/owner/name``: writes the book's address wherever it stands.

_config.yml holds the address; the Colab links of the site, the feedback link and the canonical address follow it by
themselves. Notebooks and README cannot read it: they are shown as they are.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = ("_config.yml", "*.md", "chapters/*.md", "chapters/*.ipynb")
# What comes before the owner and the name where the book speaks of its own repository, and of no other one.
ADDRESS = re.compile(
    r"((?:\n  url: |git\+|git clone )https://github\.com/|colab\.research\.google\.com/github/)([\w.-]+/[\w.-]+)"
)


def files(root: Path) -> list[Path]:
    return sorted(path for pattern in FILES for path in root.glob(pattern))


def addresses(path: Path) -> list[str]:
    """Each ``owner/name`` that a file gives as the book's own."""
    return [name for _, name in ADDRESS.findall(path.read_text("utf-8"))]


def write(url: str, root: Path = ROOT) -> list[Path]:
    """Make ``url`` the address everywhere; returns the files that changed."""
    repository = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", url)
    if not repository:
        raise ValueError(f"https://github.com/owner/name 꼴의 주소가 필요합니다. 받은 값: {url!r}")
    changed = []
    for path in files(root):
        old = path.read_text("utf-8")
        new = ADDRESS.sub(rf"\g<1>{repository[1]}", old)
        if new != old:
            path.write_text(new, "utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    try:
        for path in write(sys.argv[1]):
            print(path.relative_to(ROOT))
    except ValueError as error:
        sys.exit(str(error))

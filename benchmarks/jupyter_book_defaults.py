"""The same chapters as Jupyter Book builds them by default, and the files that such pages load from CDNs.

The outputs of the notebooks are those of our own build. A CDN's files are taken from the npm packages of the same names.
"""

import re
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path
from shutil import copy2, copytree

import yaml

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "site"))
from execution_fingerprint import fingerprint  # noqa: E402

JSDELIVR = re.compile(r"https://cdn\.jsdelivr\.net/npm/((?:@[\w.-]+/)?[\w.-]+)@([^/]+)/([^?]+)")
# The npm packages of what cdnjs holds. RequireJS is there without being minified, and jQuery only from 2.1.0 on.
CDNJS = {
    "require.js": ("requirejs@{}", "require.js"),
    "d3": ("d3@{}", "dist/d3.min.js"),
    "jquery": ("jquery@2.1.0", "dist/jquery.min.js"),
}


def build_defaults(folder: Path) -> Path:
    """Builds the book's pages in ``folder`` with a configuration that says nothing; returns the site."""
    ours = ROOT / "_build" / ".jupyter_cache" / fingerprint(ROOT, "src", "requirements.txt")
    config = {
        "title": "Defaults",
        "only_build_toc_files": True,
        "execute": {"execute_notebooks": "cache", "cache": str(ours)},
    }
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    copytree(ROOT / "chapters", folder / "chapters")
    for name in ("_toc.yml", "index.md"):
        copy2(ROOT / name, folder)
    subprocess.run(["jupyter-book", "build", folder], check=True, capture_output=True)
    return folder / "_build" / "html"


@cache
def npm_package(spec: str, folder: Path) -> Path:
    """The unpacked files of an npm package, such as ``mathjax@3``."""
    target = folder / re.sub(r"\W+", "-", spec)
    target.mkdir()
    packed = subprocess.run(["npm", "pack", "--silent", spec], cwd=target, check=True, capture_output=True, text=True)
    with tarfile.open(target / packed.stdout.split()[-1]) as archive:
        archive.extractall(target, filter="data")
    return target / "package"


def file_of_cdn(url: str, folder: Path) -> Path:
    """The file that a CDN sends for this address; packages are unpacked below ``folder``."""
    if found := JSDELIVR.match(url):
        name, version, path = found.groups()
        package = f"{name}@{version}"
    else:
        library, version = re.match(r"https://cdnjs\.cloudflare\.com/ajax/libs/([^/]+)/([^/]+)/", url).groups()
        package, path = CDNJS[library]
        package = package.format(version)
    file = npm_package(package, folder) / path
    return file if file.suffix else file.with_suffix(".js")

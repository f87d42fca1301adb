"""Sphinx extension: outputs are only as fresh as the code and versions that made them.

Jupyter Book looks up cached outputs by the cells alone and keeps old numbers after `src` changes. Here the cache folder
is named after a hash of `src` and the pins, and a second hash makes Sphinx read every page again when `site/` changes.
"""

from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

MADE_BY_BUILDS = ("__pycache__", "*.egg-info", "*.mo")


def fingerprint(root, *names):
    digest = sha256()
    for name in names:
        top = root / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            shown = path.relative_to(root)
            if path.is_file() and not any(fnmatch(part, made) for part in shown.parts for made in MADE_BY_BUILDS):
                digest.update(f"{shown}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def name_the_cache(app, config):
    root = Path(app.confdir)
    code = fingerprint(root, "src", "requirements.txt")
    config.nb_execution_cache_path = str(Path(app.outdir).parent / ".jupyter_cache" / code)
    config.site_fingerprint = fingerprint(root, "site", "package-lock.json")


def setup(app):
    app.add_config_value("site_fingerprint", "", "env")
    app.connect("config-inited", name_the_cache)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

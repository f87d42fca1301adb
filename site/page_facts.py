"""Sphinx extension: what a page says about itself to search engines and messengers, and when its text last changed.

GitHub Pages serves https://github.com/owner/name at https://owner.github.io/name/; that is the canonical address, unless
_config.yml names another one (`html: baseurl`).
"""

import subprocess
from datetime import date
from pathlib import Path


def name_the_address(app, config):
    if not config.html_baseurl:
        owner, name = config.html_theme_options["repository_url"].rstrip("/").split("/")[-2:]
        host = f"{owner.lower()}.github.io"  # also the name of the repository of the owner's own site, in any letter case
        config.html_baseurl = f"https://{host}/" + ("" if name.lower() == host else f"{name}/")


def last_change(path: Path) -> date | None:
    """Day of the last commit that changed the file; None where there is no history, as in an unpacked archive."""
    command = ["git", "log", "-1", "--format=%cs", "--", path.name]
    try:
        day = subprocess.run(command, cwd=path.parent, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:  # no git
        return None
    return date.fromisoformat(day) if day else None


def fill_context(app, pagename, templatename, context, doctree):
    if doctree is not None:
        context["last_change"] = last_change(Path(app.env.doc2path(pagename)))
        context["picture"] = f"{app.config.html_baseurl}_static/social.png"


def setup(app):
    app.connect("config-inited", name_the_address)
    app.connect("html-page-context", fill_context)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Sphinx extension: every widget gets a still picture, which readers see without JavaScript and until it is live.

The still of an anywidget is drawn by its own module (`still(state)`, run in Node by stills.mjs), that of another widget
is what it last showed in the kernel. afm-host.js replaces the stills that it can revive.

What many pages share, or no reader needs at first, goes into files of its own below ``_static/widgets/``: the modules of
the widgets, pictures, and large states. Of the widgets' state a page keeps what afm-host.js reads.
"""

import base64
import json
import re
import subprocess
from hashlib import sha256
from html import escape
from pathlib import Path

from myst_nb.sphinx_ import NbMetadataCollector
from node import NODE
from sphinx.errors import ExtensionError

LARGE = 4_000  # characters of a widget's state; a smaller one is not worth a request of its own
NAMED = re.compile(r'"IPY_MODEL_([^"]+)"')  # how the state of one model refers to another
VIEW = re.compile(r'<script type="application/vnd\.jupyter\.widget-view\+json">(.*?)</script>', re.S)


class Files:
    """Contents under names that follow from them, in ``folder``, which one page reaches at ``address``."""

    def __init__(self, folder: Path, address: str):
        self.folder, self.address = folder, address

    def add(self, content: bytes, suffix: str) -> str:
        name = sha256(content).hexdigest()[:16] + suffix
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(content)
        return f"{self.address}/{name}"


def draw_stills(models):
    """{model id: html} for every anywidget among the models of one page."""
    widgets = {model_id: model["state"] for model_id, model in models.items() if "_esm" in model["state"]}
    if not widgets:
        return {}
    command = [NODE, Path(__file__).with_name("stills.mjs")]
    node = subprocess.run(command, input=json.dumps(widgets), capture_output=True, text=True, encoding="utf-8")
    if node.returncode:
        raise ExtensionError(f"no still for a widget:\n{node.stderr}")
    return json.loads(node.stdout)


def image(data, size, settings, files):
    size = "".join(f' {name}="{size[name]}"' for name in ("width", "height") if size.get(name))
    address = files.add(base64.b64decode(data), ".png")
    return f'<img src="{address}" loading="lazy"{size} alt="{escape(settings)}일 때의 그림">'


def shown(model, settings, files):
    """What one widget without a module shows: its text or picture, or what was put out into it."""
    state = model["state"]
    pictures = [
        image(buffer["data"], state, settings, files) for buffer in model.get("buffers", ()) if buffer["data"]
    ]
    texts = [state["value"]] if state.get("_model_name") == "HTMLModel" else []
    for output in state.get("outputs", ()):
        data = output.get("data", {})
        if "image/png" in data:
            pictures.append(image(data["image/png"], output.get("metadata", {}).get("image/png", {}), settings, files))
        else:
            texts.append(data.get("text/html") or f"<pre>{escape(output.get('text') or data.get('text/plain', ''))}</pre>")
    return "".join(texts + pictures)


def inside(model_id, models):
    """The ids of a widget and of all widgets in it."""
    children = [child.removeprefix("IPY_MODEL_") for child in models[model_id]["state"].get("children", ())]
    return [model_id, *(found for child in children for found in inside(child, models))]


def find_still(model_id, models, stills, files):
    """The drawn still of an anywidget; of another widget what it, and the widgets in it, showed at these settings."""
    ids = inside(model_id, models)
    states = [models[found]["state"] for found in ids]
    settings = ", ".join(f"{state['description']} = {state['value']}" for state in states if state.get("description"))
    caption = f"<p>{escape(settings)}</p>" if settings else ""
    return caption + "".join(stills.get(found) or shown(models[found], settings, files) for found in ids)


def kernel_line(app, pagename):
    """Says where the controls of a widget move that no static page can revive."""
    source = Path(app.env.doc2path(pagename, base=False))
    line = "이 슬라이더는 파이썬이 실행되는 곳에서 움직입니다."
    if source.suffix == ".ipynb":
        theme = app.config.html_theme_options
        repository = theme["repository_url"].removeprefix("https://github.com/")
        colab = f"https://colab.research.google.com/github/{repository}/blob/{theme['repository_branch']}/{source}"
        line += f' <a href="{colab}">Colab에서 열기</a>'
    return f'<p class="afm-line">{line}</p>'


def named(model, models):
    """The ids of the models that the host finds in the traits of this one. Layouts are for Jupyter's own pages."""
    ids = dict.fromkeys(NAMED.findall(json.dumps(model["state"])))
    return [found for found in ids if found in models and models[found].get("model_name") != "LayoutModel"]


def slim(models, shown, files):
    """Of the models those that a place of the page shows, and those that they name, as deep as it goes.

    Their style is in the page, the rest of weight in files; afm-host.js reads the state of a model that is shown from its
    file, that of one that is only named from the page.
    """
    ids, parts = list(shown), set()
    for model_id in ids:  # which grows
        parts.update(named(models[model_id], models))
        ids += parts.difference(ids)
    kept = {}
    for model_id in ids:
        state = dict(models[model_id]["state"])
        module = state.pop("_esm", None)
        state.pop("_css", None)
        text = json.dumps(state, ensure_ascii=False)
        if len(text) > LARGE and model_id not in parts:
            state = {"_state_file": files.add(text.encode(), ".json")}
        if module:
            state["_esm_file"] = files.add(module.encode(), ".js")
        kept[model_id] = models[model_id] | {"state": state}
    return kept


def wrap_views(app, pagename, templatename, context, doctree):
    body = context.get("body", "")
    if not VIEW.search(body):
        return
    scripts = NbMetadataCollector.get_js_files(app.env, pagename)
    if "ipywidgets_state" not in scripts:
        raise ExtensionError(f"{pagename}: the page has widgets, but not their state")
    block = scripts["ipywidgets_state"][1]
    whole = json.loads(block["body"])
    models = whole["state"]
    views = dict.fromkeys(json.loads(view)["model_id"] for view in VIEW.findall(body))
    stills = draw_stills({found: models[found] for view in views for found in inside(view, models)})
    files = Files(Path(app.outdir, "_static", "widgets"), context["pathto"]("_static/widgets", resource=True))

    def wrap(view):
        model_id = json.loads(view[1])["model_id"]
        still = find_still(model_id, models, stills, files)
        rest = view[0] if model_id in stills else kernel_line(app, pagename)
        return f'<div class="afm-view" data-model-id="{model_id}">{still}{rest}</div>'

    css = dict.fromkeys(models[model_id]["state"].get("_css", "") for model_id in stills)  # each text once
    styles = "".join(f'<style class="afm-css">{text}</style>' for text in css if text)
    context["body"] = VIEW.sub(wrap, body).replace('<div class="afm-view"', styles + '<div class="afm-view"', 1)
    block["body"] = json.dumps(whole | {"state": slim(models, [view for view in views if view in stills], files)}, ensure_ascii=False).replace("</", "<\\/")


def setup(app):
    app.connect("html-page-context", wrap_views, priority=400)  # before myst-nb puts the state into the page
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Every view of every kind of input draws in a real browser: one page with all of them, served as the site serves them."""

import bertviz_scripts
import pytest
import torch
from built_book import ROOT
from transformers import BertConfig, BertModel

from multihead.bertviz_view import head_view, model_view, neuron_view
from multihead.models.bert import load_bert

URL = "http://book.test/"
TOKENS, KEYS = list("가나다라마"), list("abcdefg")
L, H, T = 2, 3, 5
LIBRARIES = {
    "require.js": "requirejs/require.js", "d3.min.js": "d3/dist/d3.min.js", "jquery.min.js": "jquery/dist/jquery.min.js",
}  # fmt: skip


def inputs(bert):
    """name -> what a view of attention is given, and how many queries and keys it then shows."""
    weights = torch.rand(L, H, T, T, generator=torch.Generator().manual_seed(0)).softmax(-1)
    config = BertConfig(hidden_size=6, num_hidden_layers=L, num_attention_heads=H, intermediate_size=5, vocab_size=60)
    model = BertModel._from_config(config, attn_implementation="eager").eval()
    padded = model(
        torch.arange(10).view(2, 5), attention_mask=torch.tensor([[1] * 5, [1, 1, 1, 0, 0]]), output_attentions=True
    )
    pair = bert.attend("A cat sat.", "It slept.")
    return {
        "attend": (dict(attention=bert.attend("A cat sat.")), 6, 6),
        "pair": (dict(attention=pair, layers=[1, 6]), len(pair.tokens), len(pair.tokens)),
        "transformers": (dict(attention=model(torch.arange(5)[None], output_attentions=True), tokens=TOKENS), T, T),
        "tuple": (dict(attention=tuple(weights[:, None]), tokens=TOKENS), T, T),
        "list": (dict(attention=list(weights), tokens=TOKENS), T, T),
        "all layers": (dict(attention=weights.clone().requires_grad_(), tokens=TOKENS), T, T),
        "one layer": (dict(attention=weights[0].bfloat16(), tokens=TOKENS), T, T),
        "sample": (dict(attention=padded, tokens=[TOKENS, [*"가나다", "[PAD]", "[PAD]"]], sample=1), 3, 3),
        "cross": (
            dict(attention=torch.rand(L, H, T, 7).softmax(-1), tokens=TOKENS, key_tokens=KEYS), T, 7,
        ),
    }  # fmt: skip


@pytest.fixture(scope="module")
def drawn(browser):
    """The iframes of all views by (view, input), and how many queries and keys each shows."""
    bert = load_bert()
    shown, sizes = {}, {}
    for name, (given, queries, keys) in inputs(bert).items():
        for view in (head_view, model_view):
            shown[view.__name__, name], sizes[view.__name__, name] = view(**given), (queries, keys)
    for name, texts in {"one text": ["A cat sat."], "pair": ["A cat sat.", "It slept."]}.items():
        shown["neuron_view", name] = neuron_view(bert, *texts, layer=2)
        sizes["neuron_view", name] = (len(bert.attend(*texts).tokens),) * 2
    body = bertviz_scripts.serve_from_site("".join(figure.data for figure in shown.values()), ".")
    pages = {
        URL: {"body": f'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">{body}', "content_type": "text/html"},
        URL + "web_font.css": {"body": "", "content_type": "text/css"},
        **{f"{URL}vendor/{name}": {"path": ROOT / "node_modules" / path} for name, path in LIBRARIES.items()},
    }
    problems = []

    def answer(route):
        if route.request.url not in pages:
            problems.append(route.request.url)
            return route.abort()
        route.fulfill(**pages[route.request.url])

    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.route("http*://**/*", answer)
    page = context.new_page()
    page.on("console", lambda message: message.type in ("error", "warning") and problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(URL)
    frames = {}
    for key, iframe in zip(shown, page.locator("iframe").all(), strict=True):
        iframe.scroll_into_view_if_needed()  # they load lazily
        frames[key] = iframe.element_handle().content_frame()
        frames[key].wait_for_selector("#vis svg", state="attached")
    yield frames, sizes
    context.close()
    assert problems == []


def test_every_view_draws_every_kind_of_input(drawn):
    frames, sizes = drawn
    for (view, name), (queries, keys) in sizes.items():
        frame = frames[view, name]
        lines = frame.locator({"head_view": "#attention line", "model_view": "svg > g line"}.get(view, "#collapsed line"))
        layers_shown = 1 if view != "model_view" else frame.locator("svg > text").count() - 2 - heads_of(frame)
        assert lines.count() == queries * keys * (heads_of(frame) if view != "neuron_view" else 1) * layers_shown, (view, name)
        strengths = lines.evaluate_all("lines => lines.map(line => +line.getAttribute('stroke-opacity'))")
        assert all(0 <= strength <= 1 for strength in strengths) and sum(strengths) == pytest.approx(
            queries * layers_shown * (heads_of(frame) if view == "model_view" else 1), rel=0.02
        ), (view, name)


def heads_of(frame):
    """How many heads the view offers."""
    if frame.locator("#heads span").count():
        return frame.locator("#heads span").count()
    if frame.locator("#att_head option").count():
        return frame.locator("#att_head option").count()
    # Numbers above the columns lie higher than those beside the rows.
    return frame.locator("svg > text[y='20']").count()


@pytest.mark.parametrize("view", ["head_view", "model_view", "neuron_view"])
def test_a_pair_of_texts_is_cut_into_its_four_directions(drawn, view):
    frames, sizes = drawn
    frame, (whole, _) = frames[view, "pair"], sizes[view, "pair"]
    lines = frame.locator({"head_view": "#attention line", "model_view": "svg > g line"}.get(view, "#collapsed line"))
    all_of_them = lines.count()
    first, second = 6, whole - 6  # [CLS] a cat sat . [SEP]
    sizes_by_name = {
        "전체": whole * whole, "글 A → 글 A": first * first, "글 A → 글 B": first * second,
        "글 B → 글 A": second * first, "글 B → 글 B": second * second,
    }  # fmt: skip
    assert set(frame.locator("#filter option").all_inner_texts()) == set(sizes_by_name)
    for name, size in sizes_by_name.items():
        frame.locator("#filter").select_option(label=name)
        assert lines.count() * whole * whole == all_of_them * size, name

"""bertviz, safe everywhere: in Jupyter, in Colab and on a static page.

bertviz loads RequireJS, d3 and jQuery into the page that shows it, writes its data twice and does not escape the
tokens. Here its page goes into an iframe of its own, with one compact copy of the data, and a static picture stands
beside it for readers whose browser runs no scripts. Layers and heads are counted from 1, as in the book.
"""

import base64
import html
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.figure import Figure
from PIL import Image

from ..heads.weights import as_numbers
from ..models.bert import Bert
from ..models.text import normalize_text
from ..plots import all_maps, attention_maps, dot_products
from ..plots.style import text_columns
from .page import (
    MODEL_VIEW_WIDTH,
    NEURON_MATRIX_WIDTH,
    PAGE_MARGIN,
    head_view_document,
    model_view_document,
    neuron_view_document,
    neuron_view_page,
)
from .reading import read_maps

if TYPE_CHECKING:
    from IPython.display import HTML

MAX_NEURON_NUMBERS = 80_000  # about 400 KB too: one layer of 12 heads of 64 numbers for 40 tokens


def head_view(
    attention: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    layers: Sequence[int] | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    sample: int | None = None,
) -> "HTML":
    """bertviz's head view: lines from every query token (left) to the key tokens (right), coloured by head.

    attention    what ``Bert.attend`` returns; the output of a transformers model; a list of tensors, one a layer,
                 (h, T, S) or (B, h, T, S); or one tensor (layers, h, T, S), (layers, B, h, T, S) or (h, T, S)
    tokens       T names (for a batch: one list a sample); known already if ``attention`` comes from ``attend``
    key_tokens   S names, where the keys are other tokens than the queries (cross attention)
    layers       layers to include, all by default
    layer        layer to show first;  heads: heads to switch on first, all by default
    sample       which sample of a batch, from 0
    """
    maps = read_maps(attention, tokens, key_tokens, layers, sample)
    layer = maps.layers[0] if layer is None else layer
    if layer not in maps.layers:
        raise ValueError(f"처음 보일 층은 {maps.layers} 가운데 하나여야 합니다. 받은 값: {layer}")
    numbers = range(1, maps.weights.shape[1] + 1)
    heads = as_numbers(numbers if heads is None else heads, numbers, "헤드")
    shown = maps.weights[maps.layers.index(layer)]
    picture = attention_maps(shown, maps.tokens, maps.key_tokens, heads=heads, layer=layer)
    token_width = max(110, 12 + 9 * max(map(text_columns, (*maps.tokens, *maps.key_tokens))))
    return _figure(
        "head_view",
        title="어텐션 선 그림: 층과 헤드를 바꿀 수 있습니다",
        document=head_view_document(maps, layer, heads, token_width),
        width=max(2 * token_width + 115, 20 * maps.weights.shape[1]) + 2 * PAGE_MARGIN,
        height=75 + 23 * max(len(maps.tokens), len(maps.key_tokens)) + 2 * PAGE_MARGIN,
        picture=_picture(
            picture, f"층 {layer}, 헤드 {', '.join(map(str, heads))}의 어텐션 지도. 토큰: {' '.join(maps.tokens)}"
        ),
        caption=(
            "왼쪽 쿼리 토큰에서 오른쪽 키 토큰으로 그은 선이 진할수록 가중치가 큽니다. 목록에서 층을 바꾸고, "
            "색 칸을 눌러 헤드를 켜고 끕니다. 두 번 누르면 그 헤드만 남습니다. "
            f"지도는 층 {layer}의 헤드를 하나씩 그린 정지 그림입니다."
        ),
    )


def model_view(
    attention: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    layers: Sequence[int] | None = None,
    sample: int | None = None,
) -> "HTML":
    """bertviz's model view: every head of every layer as a small picture of lines, one row a layer.

    Takes what ``head_view`` takes.
    """
    maps = read_maps(attention, tokens, key_tokens, layers, sample)
    num_layers, num_heads, T, S = maps.weights.shape
    token_width = 12 + 8 * max(map(text_columns, (*maps.tokens, *maps.key_tokens)))
    thumbnails = num_layers * (84 / num_heads * max(T, S) + 10)
    detail = 18 * max(T, S) + 55
    selector = 30 if maps.pair_start is not None else 0
    return _figure(
        "model_view",
        title="모든 층과 헤드의 선 그림: 그림을 누르면 커집니다",
        document=model_view_document(maps, token_width),
        width=max(MODEL_VIEW_WIDTH, 2 * token_width + 200) + 2 * PAGE_MARGIN,
        height=round(max(thumbnails + 45, detail)) + selector + 2 * PAGE_MARGIN + 8,
        picture=_picture(
            all_maps(maps.weights, maps.layers),
            f"층 {', '.join(map(str, maps.layers))}의 헤드 {num_heads}개씩, 모두 {num_layers * num_heads}개의 "
            f"어텐션 지도. 토큰: {' '.join(maps.tokens)}",
            colours=32,  # 16 shades of one hue for up to 130,000 cells, and the letters
        ),
        caption=(
            "행이 층, 열이 헤드입니다. 작은 그림마다 왼쪽이 쿼리, 오른쪽이 키이고, 누르면 토큰과 함께 커집니다. "
            "다시 누르면 닫힙니다. 정지 그림은 같은 헤드들의 지도입니다."
        ),
    )


def neuron_view(
    bert: Bert, text: str, pair: str | None = None, *, layer: int = 1, head: int = 1, query: int = 1
) -> "HTML":
    """bertviz's neuron view of one layer: how the numbers of a query and of each key make the weights.

    bert        what ``load_bert`` returns. bertviz computes with a BertModel class of its own, which shares its weights
    layer       the layer, from 1;  head: the head to show first, from 1
    query       token whose computation is shown first, from 0 ([CLS])
    """
    if not isinstance(bert, Bert):
        raise TypeError(f"neuron_view에는 load_bert()가 돌려준 모델을 넣으십시오. 받은 값: {type(bert).__name__}")
    attention = bert.attend(text, pair)
    text, pair = normalize_text(text), pair and normalize_text(pair)  # what attend has read
    weights = attention.map(layer, head)  # checks both numbers
    T = len(attention.tokens)
    if query not in range(T):
        raise ValueError(f"쿼리 토큰의 번호는 0부터 {T - 1}까지입니다. 받은 값: {query}")
    d_k = bert.d_model // bert.num_heads
    numbers = bert.num_heads * T * (T + 2 * d_k)
    if numbers > MAX_NEURON_NUMBERS:
        raise ValueError(
            f"한 그림에 넣기에 너무 큽니다: 헤드 {bert.num_heads} × 토큰 {T} × (토큰 {T} + 쿼리와 키 {2 * d_k}) = "
            f"{numbers:,}개로, 한계인 {MAX_NEURON_NUMBERS:,}개를 넘습니다. 글을 줄이십시오."
        )
    params, before, after = neuron_view_page(bert, text, pair, layer, head)
    vectors = params["attention"]["all"]
    q, k = (torch.tensor(vectors[name][0][head - 1]) for name in ("queries", "keys"))  # (T, d_k) each
    token_width = max(80, 30 + 9 * max(map(text_columns, attention.tokens)))
    width = 2 * token_width + 3 * NEURON_MATRIX_WIDTH + 165
    strongest = weights[query].argmax().item()
    return _figure(
        "neuron_view",
        title="쿼리와 키의 곱 그림: 토큰과 헤드를 바꿀 수 있습니다",
        document=neuron_view_document(params, before, after, attention, layer, query, token_width, width),
        width=width + 2 * PAGE_MARGIN,
        height=26 * T + 90 + 2 * PAGE_MARGIN,
        picture=_picture(
            dot_products(q[query], k, weights[query], attention.tokens, query),
            f"헤드 {layer}-{head}에서 쿼리 {attention.tokens[query]}와 키의 곱. 가중치가 가장 큰 키는 "
            f"{attention.tokens[strongest]}, {weights[query, strongest]:.2f}. 토큰: {' '.join(attention.tokens)}",
        ),
        caption=(
            "왼쪽 토큰에 포인터를 올리면 그 토큰의 쿼리 q와 모든 키 k를 원소별로 곱하고 더합니다. "
            "파란 칸은 양수, 주황 칸은 음수이고 진할수록 큽니다. −와 + 기호는 이 그림과 선 그림을 오갑니다. "
            f"정지 그림은 헤드 {layer}-{head}에서 ‘{html.escape(attention.tokens[query])}’가 쿼리일 때입니다."
        ),
    )


# -- writing the page inside the iframe ------------------------------------------------------------------------------

CSS_DPI = 90  # pixels of the page for an inch of a figure
MAX_PIXELS = 2_000_000  # of a static picture: crisp on a dense screen as long as it is not huge


def _figure(view, *, title, document, width, height, picture, caption) -> "HTML":
    """The iframe, and below it (or beside it, where there is room) the static picture."""
    from IPython.display import HTML

    return HTML(
        f'<figure class="attention-view" data-view="{view}"'
        ' style="display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; margin: 1em 0">'
        f'<iframe srcdoc="{html.escape(document)}" loading="lazy" title="{title}"'
        f' width="{width}" height="{height}" style="border: 0; max-width: 100%; background: #fff; color-scheme: light">'
        "</iframe>"
        f'<div style="overflow-x: auto; max-width: 100%">{picture}</div>'
        f'<figcaption style="flex: 1 0 100%">{caption}</figcaption></figure>'
    )


def _picture(figure: Figure, alternative: str, colours: int = 256) -> str:
    """A figure as a small inline picture: flat colours need no more than a palette."""
    width, height = figure.get_size_inches()
    raw = io.BytesIO()
    figure.savefig(raw, format="png", dpi=min(2 * CSS_DPI, math.sqrt(MAX_PIXELS / (width * height))))
    flat = Image.open(raw).convert("RGB").quantize(colours)
    small = io.BytesIO()
    flat.save(small, format="png", optimize=True)
    data = base64.b64encode(small.getvalue()).decode()
    width, height = round(width * CSS_DPI), round(height * CSS_DPI)
    return (
        f'<img src="data:image/png;base64,{data}" width="{width}" height="{height}" alt="{html.escape(alternative)}"'
        f' style="width: {width}px; max-width: max(100%, 36rem); height: auto">'
    )

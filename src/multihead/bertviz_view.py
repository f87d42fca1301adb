"""bertviz, safe everywhere: in Jupyter, in Colab and on a static page.

bertviz loads RequireJS, d3 and jQuery into the page that shows it, writes its data twice and does not escape the
tokens. Here its page goes into an iframe of its own, with one compact copy of the data, and a static picture stands
beside it for readers whose browser runs no scripts. Layers and heads are counted from 1, as in the book.
"""

import base64
import html
import io
import json
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from matplotlib.figure import Figure
from PIL import Image

from .bert import Attention, Bert
from .models.text import normalize_text
from .palette import HEAD_COLOURS
from .plots import all_maps, as_names, as_numbers, as_weights, attention_maps, check_weights, dot_products, text_columns

if TYPE_CHECKING:
    from IPython.display import HTML

MAX_WEIGHTS = 130_000  # about 400 KB of page: 12 layers of 12 heads for 30 tokens
MAX_NEURON_NUMBERS = 80_000  # about 400 KB too: one layer of 12 heads of 64 numbers for 40 tokens
PADDING = {"[PAD]", "<pad>"}
EAGER_ADVICE = (
    "어텐션 가중치가 들어 있지 않습니다. 모델을 이렇게 읽고 output_attentions=True로 실행하십시오: "
    'AutoModel.from_pretrained(이름, attn_implementation="eager")'
)


class Maps(NamedTuple):
    """What a view draws, whatever form it was given in."""

    weights: torch.Tensor  # (layers, h, T, S) float32, the chosen layers only
    tokens: list[str]  # T queries
    key_tokens: list[str]  # S keys
    layers: list[int]  # true number of each layer, from 1
    pair_start: int | None  # where the second text of a pair starts


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
        document=_head_view_document(maps, layer, heads, token_width),
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
        document=_model_view_document(maps, token_width),
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
    params, before, after = _neuron_view_page(bert, text, pair, layer, head)
    vectors = params["attention"]["all"]
    q, k = (torch.tensor(vectors[name][0][head - 1]) for name in ("queries", "keys"))  # (T, d_k) each
    token_width = max(80, 30 + 9 * max(map(text_columns, attention.tokens)))
    width = 2 * token_width + 3 * NEURON_MATRIX_WIDTH + 165
    strongest = weights[query].argmax().item()
    return _figure(
        "neuron_view",
        title="쿼리와 키의 곱 그림: 토큰과 헤드를 바꿀 수 있습니다",
        document=_neuron_view_document(params, before, after, attention, layer, query, token_width, width),
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


# -- reading what we are given ---------------------------------------------------------------------------------------


def read_maps(attention, tokens, key_tokens, layers, sample) -> Maps:
    """Any of the accepted forms as ``Maps``: chosen layers, one sample, no padding. Checks that they are attention."""
    pair_start = None
    if isinstance(attention, Attention):
        tokens = attention.tokens if tokens is None else tokens
        pair_start = attention.pair_start
        attention = attention.weights
    elif hasattr(attention, "attentions"):
        attention = attention.attentions
    elif hasattr(attention, "cross_attentions"):
        raise ValueError(
            "인코더와 디코더가 있는 모델입니다. output.cross_attentions처럼 어느 어텐션인지 골라 넣으십시오."
        )
    if tokens is None:
        raise ValueError("토큰 목록이 필요합니다. 가중치 다음에 넣으십시오: head_view(attention, tokens)")

    stack = [_one_sample(weights, sample) for weights in _layer_tensors(attention)]
    numbers = range(1, len(stack) + 1)
    layers = list(numbers) if layers is None else as_numbers(layers, numbers, "층")
    shapes = {tuple(weights.shape) for weights in stack}
    if len(shapes) > 1:
        raise ValueError(f"층마다 가중치의 모양이 같아야 합니다. 받은 모양: {sorted(shapes)}")
    weights = torch.stack([stack[number - 1] for number in layers])

    tokens = _tokens_of_sample(tokens, sample)
    key_tokens = tokens if key_tokens is None else _tokens_of_sample(key_tokens, sample)
    weights, tokens, key_tokens = _without_padding(weights, tokens, key_tokens)
    if weights.shape[2:] != (len(tokens), len(key_tokens)):
        raise ValueError(
            f"가중치의 모양 {tuple(weights.shape[1:])}과 토큰 수가 맞지 않습니다: "
            f"쿼리 토큰 {len(tokens)}개, 키 토큰 {len(key_tokens)}개."
        )
    check_weights(weights)
    if weights.numel() > MAX_WEIGHTS:
        num_layers, num_heads, num_queries, num_keys = weights.shape
        fitting = MAX_WEIGHTS // weights[0].numel()
        advice = f"layers=로 층을 {fitting}개까지 고르십시오." if fitting else "글을 줄이십시오."
        raise ValueError(
            f"한 그림에 넣기에 너무 큽니다: 층 {num_layers} × 헤드 {num_heads} × 쿼리 {num_queries} × 키 {num_keys} = "
            f"{weights.numel():,}개로, 한계인 {MAX_WEIGHTS:,}개를 넘습니다. {advice}"
        )
    return Maps(weights, tokens, key_tokens, layers, pair_start)


def _layer_tensors(attention) -> list[torch.Tensor]:
    """One tensor a layer."""
    if hasattr(attention, "ndim"):
        attention = as_weights(attention)
        if attention.ndim not in (3, 4, 5):
            raise ValueError(
                f"텐서는 (층, 헤드, 쿼리, 키)나 (헤드, 쿼리, 키) 모양이어야 하는데 {tuple(attention.shape)}입니다."
            )
        return [attention] if attention.ndim == 3 else list(attention)
    if _is_empty(attention):
        raise ValueError(EAGER_ADVICE)
    if not isinstance(attention, (tuple, list)):
        raise ValueError(
            "어텐션 가중치가 아닙니다. bert.attend(글)의 결과나 모델의 output.attentions를 넣으십시오. "
            f"받은 값: {type(attention).__name__}"
        )
    if isinstance(attention[0], Attention):
        raise ValueError(f"글이 {len(attention)}개 있습니다. attentions[0]처럼 하나를 골라 넣으십시오.")
    if isinstance(attention[0], (tuple, list)) and hasattr(attention[0][0], "ndim") and attention[0][0].ndim == 4:
        raise ValueError(
            f"generate()의 어텐션은 걸음마다 따로 있고, 여기에는 {len(attention)}걸음이 있습니다. attentions[0]처럼 한 걸음을 고르거나, "
            "만든 글 전체를 model(ids, output_attentions=True)에 다시 넣어 한 번에 얻으십시오."
        )
    return [as_weights(layer) for layer in attention]


def _is_empty(attention) -> bool:
    """None, (), (None, None) and ((), ()): what models and generate() return without eager attention."""
    return attention is None or isinstance(attention, (tuple, list)) and (
        not attention or any(map(_is_empty, attention))
    )


def _one_sample(weights: torch.Tensor, sample: int | None) -> torch.Tensor:
    """(h, T, S) of one layer."""
    if weights.ndim not in (3, 4):
        raise ValueError(
            f"층마다 (배치, 헤드, 쿼리, 키)나 (헤드, 쿼리, 키) 모양이어야 하는데 {tuple(weights.shape)}입니다. "
            "헤드의 평균이 아니라 헤드마다의 가중치가 필요합니다."
        )
    if weights.ndim == 3:
        if sample is not None:
            raise ValueError(
                f"배치가 없는 가중치라 sample={sample!r}을 고를 수 없습니다. 한 층의 배치라면 [output.attentions[0]]처럼 "
                "목록에 담으십시오."
            )
        return weights
    batch = len(weights)
    if sample is None and batch != 1:
        raise ValueError(f"배치에 글이 {batch}개 있습니다. sample=0부터 sample={batch - 1}까지에서 하나를 고르십시오.")
    if sample is not None and sample not in range(batch):
        raise ValueError(f"sample은 0부터 {batch - 1}까지입니다. 받은 값: {sample}")
    return weights[sample or 0]


def _tokens_of_sample(tokens, sample: int | None) -> list[str]:
    if isinstance(tokens, (list, tuple)) and tokens and isinstance(tokens[0], (list, tuple)):
        if len(tokens) <= (sample or 0) or sample is None and len(tokens) > 1:
            raise ValueError(f"토큰 목록이 {len(tokens)}개 있습니다. 글마다 하나씩 넣고 sample=로 고르십시오. 받은 sample: {sample}")
        tokens = tokens[sample or 0]
    return as_names(tokens)


def _without_padding(weights, tokens, key_tokens):
    """Drops padded positions: those whose token says so and to which no head attends."""
    if weights.shape[2:] != (len(tokens), len(key_tokens)):
        return weights, tokens, key_tokens  # reported by the caller
    attended = weights.sum((0, 1, 2)) > 0
    keys = [i for i, token in enumerate(key_tokens) if token not in PADDING or attended[i]]
    queries = keys if tokens == key_tokens else [i for i, token in enumerate(tokens) if token not in PADDING]
    return weights[:, :, queries][..., keys], [tokens[i] for i in queries], [key_tokens[i] for i in keys]


# -- writing the page inside the iframe ------------------------------------------------------------------------------

CSS_DPI = 90  # pixels of the page for an inch of a figure
MAX_PIXELS = 2_000_000  # of a static picture: crisp on a dense screen as long as it is not huge
PAGE_MARGIN = 10
MODEL_VIEW_WIDTH = 660  # bertviz draws 970, wider than a page of the book
NEURON_MATRIX_WIDTH = 104  # a query or a key; bertviz draws 200
PAGE_STYLE = f"""
:root {{ color-scheme: light }}
body {{ margin: {PAGE_MARGIN}px; background: #fff; color: #1a1a1a; font: 15px Pretendard, NanumGothic,
  "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", sans-serif }}
#bertviz {{ font-family: inherit !important }}
select {{ font: inherit; padding: 1px 4px; margin-right: 8px }}
#heads {{ display: flex; margin-top: 8px; font-size: 11px; line-height: 16px }}
#heads span {{ width: 20px; text-align: center }}
svg {{ display: block; overflow: visible }}
#bertviz[data-view=neuron_view] {{ padding: 0 !important }}
/* Until something is drawn there is nothing to control, and after a while the reader is told why. */
#bertviz:has(#vis:empty) > :not(#vis) {{ display: none }}
#missing {{ visibility: hidden; animation: tell 0s 2s forwards; margin: 0; line-height: 1.6 }}
#missing:has(~ #bertviz > #vis:not(:empty)) {{ display: none }}
@keyframes tell {{ to {{ visibility: visible }} }}
"""
BERTVIZ = "1.4.1"  # the version whose pages are rewritten here
MISSING = "움직이는 그림을 불러오지 못했습니다. 스크립트나 네트워크가 막힌 곳에서는 정지 그림을 보십시오."
LAYER_LABELS = {"Layer: ": "층 ", '<select id="layer"': '<select id="layer" aria-label="층"'}
HEAD_LABELS = {"Head: ": "헤드 ", '<select id="att_head"': '<select id="att_head" aria-label="헤드"'}
PAIR_LABELS = {
    "Attention: ": "방향 ",
    '<select id="filter"': '<select id="filter" aria-label="방향"',
    ">All<": ">전체<",
    "Sentence": "글",
    " -> ": " → ",
}

# One copy of the weights, in thousandths; the views of a pair of texts are cut out of it in the browser.
UNPACK = """(packed => {
  const all = packed.attention[0];
  all.attn = all.attn.map(layer => layer.map(head => head.map(row => row.map(weight => weight / 1000))));
  if (packed.pair_start !== null) {
    const first = [0, packed.pair_start], second = [packed.pair_start];
    const part = (rows, columns) => ({
      attn: all.attn.map(layer => layer.map(head => head.slice(...rows).map(row => row.slice(...columns)))),
      left_text: all.left_text.slice(...rows), right_text: all.right_text.slice(...columns)
    });
    packed.attention.push(part(first, first), part(second, second), part(first, second), part(second, first));
  }
  return packed;
})"""

# The same for the neuron view, whose queries and keys come in hundredths and whose parts have names.
UNPACK_NEURONS = """(packed => {
  const all = packed.attention.all;
  const shrink = (numbers, size) => Array.isArray(numbers) ? numbers.map(n => shrink(n, size)) : numbers / size;
  all.attn = shrink(all.attn, 1000);
  all.queries = shrink(all.queries, 100);
  all.keys = shrink(all.keys, 100);
  if (packed.pair_start !== null) {
    const ranges = { a: [0, packed.pair_start], b: [packed.pair_start] };
    for (const [rows, columns] of ["aa", "ab", "ba", "bb"].map(pair => [...pair])) {
      const cut = (numbers, range) => numbers.map(layer => layer.map(head => head.slice(...range)));
      packed.attention[rows + columns] = {
        attn: cut(all.attn, ranges[rows]).map(layer =>
          layer.map(head => head.map(row => row.slice(...ranges[columns])))),
        queries: cut(all.queries, ranges[rows]), keys: cut(all.keys, ranges[columns]),
        left_text: all.left_text.slice(...ranges[rows]), right_text: all.right_text.slice(...ranges[columns])
      };
    }
  }
  return packed;
})"""


def _bertviz():
    try:
        import bertviz
    except ImportError as error:
        raise ImportError("이 그림에는 bertviz가 필요합니다: pip install bertviz") from error
    return bertviz


def _take_params(write, marker: str, **given) -> tuple[dict, str, str]:
    """The parameters in the page that a function of bertviz writes, the page before them, and the page after them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # bertviz leaves the file of its script to be closed by Python
        page = write(**given, html_action="return").data
    before, marked, rest = page.partition(marker)
    if not marked:
        raise _another_bertviz(marker)
    params, end = json.JSONDecoder().raw_decode(rest)
    # On the same line the parameters may follow once more, in a comment.
    after = rest[rest.index("\n", end) :]
    # Instead of a random name: equal pages for equal input.
    before = _replace(before, {params["root_div_id"]: "bertviz"})
    params["root_div_id"] = "bertviz"
    return params, before, after


def _replace(text: str, changes: dict[str, str]) -> str:
    """Each of these is there: a page of another bertviz would else be half translated, or draw wrong numbers."""
    for old, new in changes.items():
        if old not in text:
            raise _another_bertviz(old)
        text = text.replace(old, new)
    return text


def _another_bertviz(missing: str) -> RuntimeError:
    from importlib.metadata import version

    return RuntimeError(
        f"설치된 bertviz {version('bertviz')} 버전의 그림에는 이 책이 고칠 곳이 없습니다: {missing!r}. "
        f"pip install bertviz=={BERTVIZ}으로 맞추십시오."
    )


def _document(title: str, before: str, unpack: str, params: dict, after: str) -> str:
    data = json.dumps(params, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<!doctype html><html lang="ko"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{PAGE_STYLE}</style></head><body><p id='missing'>{MISSING}</p>"
        f"{before}{unpack}({data});{after}</body></html>"
    )


def _given(maps: Maps) -> dict:
    """The arguments that head_view and model_view of bertviz share."""
    thousandths = list((maps.weights * 1000).round().int()[:, None])
    given = {"prettify_tokens": False}
    if maps.key_tokens == maps.tokens:
        return given | {"attention": thousandths, "tokens": maps.tokens, "sentence_b_start": maps.pair_start}
    return given | {
        "cross_attention": thousandths,
        "decoder_tokens": maps.tokens,
        "encoder_tokens": maps.key_tokens,
    }


def _pair_labels(pair_start: int | None) -> dict[str, str]:
    return {} if pair_start is None else PAIR_LABELS


def _head_view_document(maps: Maps, layer: int, heads: list[int], token_width: int) -> str:
    params, before, after = _take_params(_bertviz().head_view, "const params = ", **_given(maps))
    params |= {
        "attention": params["attention"][:1],
        "pair_start": maps.pair_start,
        "include_layers": maps.layers,
        "layer": layer,
        "heads": [head - 1 for head in heads],
    }
    numbers = "".join(f"<span>{head}</span>" for head in range(1, maps.weights.shape[1] + 1))
    switches = {"<div id='vis'>": f"<div id='heads'>{numbers}</div><div id='vis'>"}
    before = _replace(before, LAYER_LABELS | _pair_labels(maps.pair_start) | switches)
    after = _replace(
        after,
        {
            "d3.schemeCategory10": json.dumps(HEAD_COLOURS),
            "const BOXWIDTH = 110;": f"const BOXWIDTH = {token_width};",
        },
    )
    return _document("bertviz head view", before + "const params = ", UNPACK, params, after)


def _model_view_document(maps: Maps, token_width: int) -> str:
    params, before, after = _take_params(_bertviz().model_view, "const params = ", **_given(maps), display_mode="light")
    params |= {
        "attention": params["attention"][:1],
        "pair_start": maps.pair_start,
        "include_layers": maps.layers,
        "include_heads": list(range(1, maps.weights.shape[1] + 1)),
    }
    before = _replace(before, _pair_labels(maps.pair_start))
    after = _replace(
        after,
        {
            # Colours stand for heads in this book, and bertviz would give one to each layer.
            "d3.schemeCategory10": f"Array(10).fill({HEAD_COLOURS[0]!r})",
            "const DIV_WIDTH = 970;": f"const DIV_WIDTH = {max(MODEL_VIEW_WIDTH, 2 * token_width + 200)};",
            "const DETAIL_WIDTH = 300;": f"const DETAIL_WIDTH = {2 * token_width + 140};",
            "const DETAIL_BOX_WIDTH = 80;": f"const DETAIL_BOX_WIDTH = {token_width};",
            '"Heads"': '"헤드"',
            '"Layers"': '"층"',
            "'Layer '": "'층 '",
            '", Head "': '", 헤드 "',
            'console.log("x", x, y)': "",
        },
    )
    return _document("bertviz model view", before + "const params = ", UNPACK, params, after)


def _neuron_view_page(bert: Bert, text: str, pair: str | None, layer: int, head: int) -> tuple[dict, str, str]:
    """What bertviz's neuron view writes about one layer: its parameters, and the page before and after them."""
    _bertviz()
    from bertviz.neuron_view import show
    from bertviz.transformers_neuron_view import BertConfig, BertModel
    from transformers.activations import ACT2FN

    config = bert.model.config
    with torch.device("meta"):  # no memory and no random numbers for weights that are replaced at once
        model = BertModel(
            BertConfig(
                config.vocab_size,
                hidden_size=config.hidden_size,
                num_hidden_layers=layer,
                num_attention_heads=config.num_attention_heads,
                intermediate_size=config.intermediate_size,
                hidden_act=ACT2FN[config.hidden_act],
                max_position_embeddings=config.max_position_embeddings,
                type_vocab_size=config.type_vocab_size,
                layer_norm_eps=config.layer_norm_eps,
                output_attentions=True,
            )
        )
    state = bert.model.state_dict()
    model.load_state_dict({name: state[name].float().cpu() for name in model.state_dict()}, assign=True)

    class LastLayer(torch.nn.Module):
        """bertviz writes every layer that the model returns."""

        def forward(self, *inputs, **options):
            return (model.eval()(*inputs, **options)[-1][-1:],)

    with torch.no_grad():
        return _take_params(
            show,
            "window.bertviz_params = ",
            model=LastLayer(),
            model_type="bert",
            tokenizer=bert.tokenizer,
            sentence_a=text,
            sentence_b=pair,
            display_mode="light",
            layer=0,
            head=head - 1,
        )


def _neuron_view_document(
    params: dict, before: str, after: str, attention: Attention, layer: int, query: int, token_width: int, width: int
) -> str:
    def rounded(name: str, size: int) -> list:
        return (torch.tensor(params["attention"]["all"][name]) * size).round().int().tolist()

    names = {"left_text": attention.tokens, "right_text": attention.tokens}
    numbers = {"attn": rounded("attn", 1000), "queries": rounded("queries", 100), "keys": rounded("keys", 100)}
    params |= {"attention": {"all": numbers | names}, "pair_start": attention.pair_start, "query": query}
    places = {
        "<div id=bertviz": "<div id=bertviz data-view=neuron_view",
        "<div id='vis'>": f"<div id='vis' style='min-width: {width}px'>",
    }
    before = _replace(before, LAYER_LABELS | HEAD_LABELS | _pair_labels(attention.pair_start) | places)
    after = _replace(
        after,
        {
            # The list of layers has one entry. Heads count from 1.
            'layerSelect.append($("<option />").val(i).text(i))': f'layerSelect.append(new Option({layer}, i))',
            'headSelect.append($("<option />").val(i).text(i))': "headSelect.append(new Option(i + 1, i))",
            # Opens with the numbers of one token, which stay until another one is pointed at.
            "config.expanded = false;\n            config.bidirectional": (
                "config.expanded = true;\n            config.index = params['query'];\n            config.bidirectional"
            ),
            "config.index = null;": "return;",
            "const MATRIX_WIDTH = 200;": f"const MATRIX_WIDTH = {NEURON_MATRIX_WIDTH};",
            "const HEIGHT_PADDING = 100;": "const HEIGHT_PADDING = 50;",
            "const BOXWIDTH = TEXT_SIZE * 8;": f"const BOXWIDTH = {token_width};",
            "posQueries + 68": "posQueries + 28",
            "posKeys + 73": "posKeys + 36",
            "posProduct + 28": "posProduct - 7",
            "'Query '": "'쿼리 '",
            "'Key '": "'키 '",
            "(elementwise)": "(원소별 곱)",
            '"Softmax"': '"소프트맥스"',
            '"No token selected"': '"토큰을 고르십시오"',
        },
    )
    return _document("bertviz neuron view", before + "window.bertviz_params = ", UNPACK_NEURONS, params, after)


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

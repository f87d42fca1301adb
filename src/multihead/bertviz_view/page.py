"""Surgery on bertviz's page: one compact copy of the data, safe tokens, our size and colours, Korean labels."""

import json
import warnings

import torch

from ..models.bert import Attention, Bert
from ..plots.palette import HEAD_COLOURS
from .reading import Maps

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


def head_view_document(maps: Maps, layer: int, heads: list[int], token_width: int) -> str:
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


def model_view_document(maps: Maps, token_width: int) -> str:
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


def neuron_view_page(bert: Bert, text: str, pair: str | None, layer: int, head: int) -> tuple[dict, str, str]:
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


def neuron_view_document(
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

"""head_view(): what it accepts, what it writes, and that nothing leaks out of its iframe.

That lines are drawn and follow the list of layers is shown in a real browser, in tests/site.
"""

import base64
import html
import io
import json
import sys
from html.parser import HTMLParser

import pytest
import torch
from PIL import Image
from transformers import BertConfig, BertModel
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqModelOutput

from multihead.bert import load_bert
from multihead.bertviz_view import head_view
from multihead.palette import HEAD_COLOURS

L, H, T, S = 2, 3, 5, 7
TOKENS, KEY_TOKENS = list("가나다라마"), list("abcdefg")
EVIL = [
    "</script>",
    "<img src=x>",
    "&lt;b>",
    "PYTHON_PARAMS",
    "[UNK]",
    "##다",
    "▁안녕",
    "Ġhi",
    "// HACK: x",
    "'\"\\",
    "$x$",
]


def some_weights(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0)).softmax(-1)


@pytest.fixture(scope="module")
def bert():
    return load_bert()


class Figure(HTMLParser):
    """The parts of a view, read as a browser reads them."""

    def __init__(self, view):
        super().__init__()
        self.source, self.tags, self.text = view._repr_html_(), [], ""
        self.feed(self.source)
        self.iframe, self.img = (dict(attributes) for tag, attributes in self.tags if tag in ("iframe", "img"))
        self.document = self.iframe["srcdoc"]
        script = self.document.partition("const params = ")[2]
        self.params, _ = json.JSONDecoder().raw_decode(script[script.index("})({") + 3 :])
        self.data = self.params["attention"][0]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, attributes))

    def handle_data(self, data):
        self.text += data


# -- what it accepts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        lambda w: w,
        lambda w: w.requires_grad_(),
        lambda w: w.half(),
        lambda w: w.bfloat16(),
        lambda w: w.double(),
        lambda w: w.numpy(),
        lambda w: list(w),
        lambda w: tuple(w[:, None]),
        lambda w: BaseModelOutput(attentions=tuple(w[:, None])),
        lambda w: tuple(w[:, None].repeat(1, 4, 1, 1, 1)),
    ],
    ids=["tensor", "gradient", "fp16", "bf16", "fp64", "numpy", "layers", "batch of 1", "transformers", "batch of 4"],
)
def test_every_form_gives_the_same_weights(form):
    weights = some_weights(L, H, T, T)
    given = form(weights.clone())
    figure = Figure(head_view(given, TOKENS, sample=2 if isinstance(given, tuple) and len(given[0]) == 4 else None))
    shown = torch.tensor(figure.data["attn"]) / 1000
    assert torch.allclose(shown, weights, atol=0.003)  # thousandths, of half precision
    assert figure.data["left_text"] == figure.data["right_text"] == TOKENS


def test_one_layer_may_come_alone():
    weights = some_weights(H, T, T)
    assert torch.allclose(torch.tensor(Figure(head_view(weights, TOKENS)).data["attn"][0]) / 1000, weights, atol=5e-4)


def test_what_attend_returns_needs_no_tokens(bert):
    attention = bert.attend("A cat sat.")
    assert Figure(head_view(attention)).data["left_text"] == attention.tokens


def test_cross_attention_shows_queries_left_and_keys_right():
    weights = some_weights(L, H, T, S)
    figure = Figure(head_view(weights, TOKENS, KEY_TOKENS))
    assert (figure.data["left_text"], figure.data["right_text"]) == (TOKENS, KEY_TOKENS)
    assert torch.allclose(torch.tensor(figure.data["attn"]) / 1000, weights, atol=5e-4)


def test_a_batch_asks_which_sample_and_its_padding_is_left_out():
    config = BertConfig(hidden_size=6, num_hidden_layers=L, num_attention_heads=H, intermediate_size=5, vocab_size=60)
    model = BertModel._from_config(config, attn_implementation="eager").eval()
    mask = torch.tensor([[1] * 5, [1, 1, 1, 0, 0]])
    output = model(torch.arange(10).view(2, 5), attention_mask=mask, output_attentions=True)
    tokens = [TOKENS, ["가", "나", "다", "[PAD]", "[PAD]"]]
    with pytest.raises(ValueError, match="글이 2개.*sample=0부터 sample=1까지"):
        head_view(output, tokens)
    with pytest.raises(ValueError, match="sample은 0부터 1까지입니다. 받은 값: 2"):
        head_view(output, tokens, sample=2)
    figure = Figure(head_view(output, tokens, sample=1))
    assert figure.data["left_text"] == figure.data["right_text"] == ["가", "나", "다"]
    shown = torch.tensor(figure.data["attn"]) / 1000
    assert torch.allclose(shown, torch.stack(output.attentions)[:, 1, :, :3, :3], atol=5e-4)


def test_a_pair_of_texts_can_be_looked_at_by_direction_with_its_data_written_once(bert):
    attention = bert.attend("A cat sat.", "It slept.")
    figure = Figure(head_view(attention))
    assert figure.params["pair_start"] == attention.pair_start
    assert len(figure.params["attention"]) == 1
    assert "글 A → 글 B" in figure.document


# -- what it refuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "empty", [(), None, [], (None, None), BaseModelOutput(attentions=()), BaseModelOutput(attentions=None)]
)
def test_a_model_without_eager_attention_is_answered_with_the_line_to_type(empty):
    with pytest.raises(ValueError, match=r'가중치가 들어 있지 않습니다.*attn_implementation="eager"'):
        head_view(empty, TOKENS)


def test_the_default_of_transformers_is_such_a_model():
    config = BertConfig(hidden_size=6, num_hidden_layers=L, num_attention_heads=H, intermediate_size=5, vocab_size=60)
    output = BertModel(config).eval()(torch.arange(5)[None], output_attentions=True)
    with pytest.raises(ValueError, match="eager"):
        head_view(output, TOKENS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (torch.stack([some_weights(H, T, T), torch.rand(H, T, T) + 1]), "합이 1이어야 하는데"),  # in a hidden layer
        (some_weights(L, H, T, S), r"\(3, 5, 7\).*쿼리 토큰 5개, 키 토큰 5개"),
        (some_weights(T, T), r"\(5, 5\)"),
        ([some_weights(T, T)] * L, r"\(5, 5\).*헤드마다의 가중치"),
        ([some_weights(1, H, T, T), some_weights(1, H + 1, T, T)], "층마다 가중치의 모양이 같아야"),
        (Seq2SeqModelOutput(cross_attentions=()), "output.cross_attentions"),
    ],
)
def test_what_is_not_attention_is_refused_with_its_numbers(weights, message):
    with pytest.raises(ValueError, match=message):
        head_view(weights, TOKENS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": [0]}, "1부터 2까지"),
        ({"layers": [3]}, "1부터 2까지"),
        ({"layers": []}, "1부터 2까지"),
        ({"layers": [2], "layer": 1}, r"\[2\] 가운데 하나.*받은 값: 1"),
        ({"heads": [4]}, "1부터 3까지"),
        ({"tokens": None}, "토큰 목록이 필요합니다"),
    ],
)
def test_layers_and_heads_that_do_not_exist_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        head_view(some_weights(L, H, T, T), **{"tokens": TOKENS} | options)


def test_too_large_a_view_is_refused_with_the_limit_and_the_way_out():
    weights = some_weights(1, 12, 40, 40).expand(12, 12, 40, 40)
    with pytest.raises(ValueError, match=r"12 × 헤드 12 × 쿼리 40 × 키 40 = 230,400.*130,000.*층을 6개까지"):
        head_view(weights, ["한국"] * 40)
    assert head_view(weights, ["한국"] * 40, layers=range(1, 7), heads=[1])
    with pytest.raises(ValueError, match="글을 줄이십시오"):
        head_view(some_weights(1, 12, 110, 110), ["한국"] * 110)


def test_a_missing_bertviz_is_answered_with_the_line_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "bertviz", None)
    with pytest.raises(ImportError, match="pip install bertviz"):
        head_view(some_weights(L, H, T, T), TOKENS)


# -- what it writes ----------------------------------------------------------------------------------------------


def test_layers_are_numbered_as_in_the_book():
    figure = Figure(head_view(some_weights(6, H, T, T), TOKENS, layers=[2, 5], layer=5, heads=[1, 3]))
    assert figure.params["include_layers"] == [2, 5] and figure.params["layer"] == 5
    assert figure.params["heads"] == [0, 2]  # switches of bertviz count from 0 ...
    assert "<span>1</span><span>2</span><span>3</span>" in figure.document  # ... but carry their numbers
    assert len(figure.data["attn"]) == 2


def test_heads_have_the_colours_of_the_book():
    document = Figure(head_view(some_weights(L, H, T, T), TOKENS)).document
    assert json.dumps(HEAD_COLOURS) in document and "schemeCategory10" not in document


def test_nothing_but_the_iframe_runs_scripts_or_asks_for_libraries():
    view = head_view(some_weights(L, H, T, T), TOKENS)
    outside = view._repr_html_().replace(html.escape(Figure(view).document), "")
    assert {tag for tag, _ in Figure(view).tags} == {"figure", "iframe", "div", "img", "figcaption"}
    assert "require" not in outside and "cdnjs" not in outside and "<script" not in outside
    for library in ("require.js/2.3.6/require.min.js", "d3/5.7.0/d3.min", "jquery/2.0.0/jquery.min"):
        assert Figure(view).document.count(f"https://cdnjs.cloudflare.com/ajax/libs/{library}") == 1


def test_tokens_are_shown_exactly_and_never_read_as_markup():
    weights = some_weights(L, H, len(EVIL), len(EVIL))
    evil, tame = Figure(head_view(weights, EVIL)), Figure(head_view(weights, ["가"] * len(EVIL)))
    assert evil.data["left_text"] == evil.data["right_text"] == EVIL
    for sign in ("</script", "<script", "<img", "<b"):
        assert evil.document.count(sign) == tame.document.count(sign)
    assert [tag for tag, _ in evil.tags] == [tag for tag, _ in tame.tags]
    assert evil.img["alt"].endswith(" ".join(EVIL))


def test_the_data_is_written_once_in_thousandths():
    document = Figure(head_view(torch.eye(T).repeat(L, H, 1, 1), TOKENS)).document
    assert document.replace(" ", "").count("[1000,0,0,0,0]") == L * H


def test_all_layers_of_the_packaged_model_fit_into_a_page(bert):
    view = head_view(bert.attend("The cat sat on the mat because it was tired."))
    assert len(view._repr_html_().encode()) < 200_000


def test_twelve_layers_of_twelve_heads_for_thirty_tokens_stay_below_500_kilobytes():
    layers = [some_weights(1, 12, 30, 30) for _ in range(12)]
    assert len(head_view(layers, ["한국"] * 30)._repr_html_().encode()) < 500_000


def test_the_static_picture_shows_the_same_heads_in_the_same_colours_and_is_small():
    figure = Figure(head_view(some_weights(6, 12, T, T), TOKENS, layer=3, heads=[2, 9]))
    data = base64.b64decode(figure.img["src"].removeprefix("data:image/png;base64,"))
    assert len(data) < 75_000  # 100 KB in base 64
    pixels = Image.open(io.BytesIO(data)).convert("RGB")
    colours = {"#" + bytes(colour).hex().upper() for _, colour in pixels.getcolors(1 << 20)}
    assert {HEAD_COLOURS[1], HEAD_COLOURS[8]} <= colours
    assert figure.img["alt"] == "층 3, 헤드 2, 9의 어텐션 지도. 토큰: 가 나 다 라 마"
    assert "정지 그림" in figure.text


def test_it_is_readable_on_a_dark_page_and_tells_who_sees_nothing_why():
    figure = Figure(head_view(some_weights(L, H, T, T), TOKENS))
    assert "background: #fff" in figure.iframe["style"]
    assert "color-scheme: light" in figure.document and "background: #fff; color: #1a1a1a" in figure.document
    assert "움직이는 그림을 불러오지 못했습니다" in figure.document
    assert figure.iframe["loading"] == "lazy" and "어텐션" in figure.iframe["title"]


def test_longer_texts_get_a_taller_iframe_and_longer_tokens_a_wider_one():
    short = Figure(head_view(some_weights(L, H, T, T), TOKENS)).iframe
    tall = Figure(head_view(some_weights(L, H, 20, 20), TOKENS * 4)).iframe
    wide = Figure(head_view(some_weights(L, H, T, T), ["아주긴토큰하나입니다", *TOKENS[1:]])).iframe
    assert int(tall["height"]) - int(short["height"]) >= 15 * 22.5
    assert int(wide["width"]) > int(short["width"]) and wide["height"] == short["height"]


def test_equal_input_gives_an_equal_page():
    weights = some_weights(L, H, T, T)
    assert head_view(weights, TOKENS)._repr_html_() == head_view(weights, TOKENS)._repr_html_()

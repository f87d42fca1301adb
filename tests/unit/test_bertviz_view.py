"""bertviz's three views: what they accept, what they write, and that nothing leaks out of their iframes.

That something is drawn and follows its controls is shown in a real browser, in tests/site.
"""

import base64
import html
import io
import json
import sys
import unicodedata
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqModelOutput

from multihead.bertviz_view import head_view, model_view, neuron_view
from multihead.bertviz_view import page as bertviz_page
from multihead.models.bert import Attention, Bert, load_bert
from multihead.plots import attention_maps
from multihead.plots.palette import HEAD_COLOURS

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


REPLACE = bertviz_page._replace


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
        self.params, _ = json.JSONDecoder().raw_decode(self.document[self.document.index("})({") + 3 :])
        attention = self.params["attention"]
        self.data = attention["all"] if "all" in attention else attention[0]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, attributes))

    def handle_data(self, data):
        self.text += data


# -- what they accept --------------------------------------------------------------------------------------------


@pytest.fixture(params=[head_view, model_view], ids=lambda view: view.__name__)
def view(request):
    """The two views that take attention; the neuron view takes a model."""
    return request.param


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
def test_every_form_gives_the_same_weights(view, form):
    weights = some_weights(L, H, T, T)
    given = form(weights.clone())
    figure = Figure(view(given, TOKENS, sample=2 if isinstance(given, tuple) and len(given[0]) == 4 else None))
    shown = torch.tensor(figure.data["attn"]) / 1000
    assert torch.allclose(shown, weights, atol=0.003)  # thousandths, of half precision
    assert figure.data["left_text"] == figure.data["right_text"] == TOKENS


def test_one_layer_may_come_alone(view):
    weights = some_weights(H, T, T)
    assert torch.allclose(torch.tensor(Figure(view(weights, TOKENS)).data["attn"][0]) / 1000, weights, atol=5e-4)


def test_what_attend_returns_needs_no_tokens(view, bert):
    attention = bert.attend("A cat sat.")
    assert Figure(view(attention)).data["left_text"] == attention.tokens


def test_cross_attention_shows_queries_left_and_keys_right(view):
    weights = some_weights(L, H, T, S)
    figure = Figure(view(weights, TOKENS, KEY_TOKENS))
    assert (figure.data["left_text"], figure.data["right_text"]) == (TOKENS, KEY_TOKENS)
    assert torch.allclose(torch.tensor(figure.data["attn"]) / 1000, weights, atol=5e-4)


def test_a_batch_asks_which_sample_and_its_padding_is_left_out(view):
    config = BertConfig(hidden_size=6, num_hidden_layers=L, num_attention_heads=H, intermediate_size=5, vocab_size=60)
    model = BertModel._from_config(config, attn_implementation="eager").eval()
    mask = torch.tensor([[1] * 5, [1, 1, 1, 0, 0]])
    output = model(torch.arange(10).view(2, 5), attention_mask=mask, output_attentions=True)
    tokens = [TOKENS, ["가", "나", "다", "[PAD]", "[PAD]"]]
    with pytest.raises(ValueError, match="글이 2개.*sample=0부터 sample=1까지"):
        view(output, tokens)
    with pytest.raises(ValueError, match="sample은 0부터 1까지입니다. 받은 값: 2"):
        view(output, tokens, sample=2)
    figure = Figure(view(output, tokens, sample=1))
    assert figure.data["left_text"] == figure.data["right_text"] == ["가", "나", "다"]
    shown = torch.tensor(figure.data["attn"]) / 1000
    assert torch.allclose(shown, torch.stack(output.attentions)[:, 1, :, :3, :3], atol=5e-4)


def test_a_pair_of_texts_can_be_looked_at_by_direction_with_its_data_written_once(view, bert):
    attention = bert.attend("A cat sat.", "It slept.")
    figure = Figure(view(attention))
    assert figure.params["pair_start"] == attention.pair_start
    assert len(figure.params["attention"]) == 1
    assert "글 A → 글 B" in figure.document


# -- what they refuse --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "empty", [(), None, [], (None, None), BaseModelOutput(attentions=()), BaseModelOutput(attentions=None)]
)
def test_a_model_without_eager_attention_is_answered_with_the_line_to_type(view, empty):
    with pytest.raises(ValueError, match=r'가중치가 들어 있지 않습니다.*attn_implementation="eager"'):
        view(empty, TOKENS)


def test_a_model_as_transformers_loads_it_by_default_gives_its_weights_or_that_line():
    config = BertConfig(hidden_size=6, num_hidden_layers=L, num_attention_heads=H, intermediate_size=5, vocab_size=60)
    output = BertModel(config).eval()(torch.arange(5)[None], output_attentions=True)
    if output.attentions:  # transformers 4 falls back to eager attention when it is asked for the weights
        shown = torch.tensor(Figure(head_view(output, TOKENS)).data["attn"]) / 1000
        assert torch.allclose(shown, torch.cat(output.attentions), atol=5e-4)
    else:
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
def test_what_is_not_attention_is_refused_with_its_numbers(view, weights, message):
    with pytest.raises(ValueError, match=message):
        view(weights, TOKENS)


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


@pytest.fixture(scope="module")
def generated():
    """What generate() of a small language model returns: 3 steps of 2 layers of (B, h, T, S)."""
    config = GPT2Config(
        vocab_size=60, n_positions=20, n_embd=6, n_layer=L, n_head=H, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    model = GPT2LMHeadModel._from_config(config, attn_implementation="eager").eval()
    return model.generate(
        torch.arange(T)[None], max_new_tokens=3, do_sample=False, pad_token_id=0,
        output_attentions=True, return_dict_in_generate=True,
    )  # fmt: skip


def test_what_generate_returns_is_answered_with_both_ways_out_and_each_step_can_be_drawn(view, generated):
    for given in (generated, generated.attentions):
        with pytest.raises(ValueError, match=r"3걸음이 있습니다. attentions\[0\]처럼.*output_attentions=True"):
            view(given, TOKENS)
    assert Figure(view(generated.attentions[0], TOKENS)).data["left_text"] == TOKENS
    step = Figure(view(generated.attentions[1], TOKENS[-1:], TOKENS + ["바"]))  # one query
    assert (step.data["left_text"], len(step.data["right_text"])) == (["마"], T + 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("가나다", "어텐션 가중치가 아닙니다.*output.attentions.*str"),
        (3, "어텐션 가중치가 아닙니다.*int"),
        ({"attentions": [some_weights(H, T, T)]}, "어텐션 가중치가 아닙니다.*dict"),
        (torch.nn.Linear(2, 2), "어텐션 가중치가 아닙니다.*Linear"),
        (["가"], "텐서나 숫자 배열이어야 합니다. 받은 값: str"),
        ([[some_weights(T, T)] * H] * L, "받은 값: list. .*torch.stack"),
        (np.array([[["가"]]]), "텐서나 숫자 배열"),
        (some_weights(1, 1, L, H, T, T), r"\(1, 1, 2, 3, 5, 5\)"),
        (torch.zeros(L, 0, T, T), r"가중치가 하나도 없습니다. 받은 모양: \(2, 0, 5, 5\)"),
        ([torch.zeros(0, H, T, T)], "가중치가 하나도 없습니다"),
        (((), ()), "eager"),
        ([some_weights(H, T, T), None], "eager"),
        ([Attention(TOKENS, some_weights(L, H, T, T), torch.zeros(1))] * 2, r"글이 2개 있습니다. attentions\[0\]"),
    ],
)
def test_every_wrong_form_of_attention_gets_one_korean_sentence(view, given, message):
    with pytest.raises(ValueError, match=message):
        view(given, TOKENS)


IDS = [101, 7, 8, 9, 102]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (IDS, "이름이 필요한데 int.*convert_ids_to_tokens"),
        (torch.tensor(IDS), "이름이 필요한데 Tensor.*convert_ids_to_tokens"),
        (torch.tensor([IDS]), "이름이 필요한데 Tensor"),
        (np.array(IDS), "이름이 필요한데 int64"),
        ("가나다라마", "목록으로 넣으십시오.*split"),
        (5, "목록으로 넣으십시오"),
        ([None] * T, "이름이 필요한데 NoneType"),
        ([b"a"] * T, "이름이 필요한데 bytes"),
        ([], "토큰이 하나도 없습니다"),
        ([TOKENS, TOKENS], "토큰 목록이 2개 있습니다"),
        (TOKENS[:3], "쿼리 토큰 3개, 키 토큰 3개"),
    ],
)
def test_every_wrong_form_of_tokens_gets_one_korean_sentence(view, tokens, message):
    with pytest.raises(ValueError, match=message):
        view(some_weights(L, H, T, T), tokens)
    if "쿼리" not in message and "목록이" not in message:
        with pytest.raises(ValueError, match=message):
            view(some_weights(L, H, T, T), TOKENS, tokens)
        with pytest.raises(ValueError, match=message):
            attention_maps(some_weights(H, T, T), tokens)


@pytest.mark.parametrize(
    "options",
    [{"layers": 1}, {"layers": "1"}, {"layers": [1.5]}, {"layers": [None]}, {"layer": "1"}, {"layer": [1]}, {"heads": 1}, {"heads": [[1]]},
     {"heads": []}, {"heads": [1.5]}, {"sample": "0"}, {"sample": 0}],
)  # fmt: skip
def test_every_wrong_form_of_a_number_gets_one_korean_sentence(options):
    with pytest.raises(ValueError, match="받은 값|배치가 없는 가중치라 sample="):
        head_view(some_weights(L, H, T, T), TOKENS, **options)


def test_a_sample_needs_its_list_of_tokens(view):
    with pytest.raises(ValueError, match="토큰 목록이 2개 있습니다.*받은 sample: 2"):
        view([some_weights(3, H, T, T)], [TOKENS, TOKENS], sample=2)


def test_all_layers_of_a_batch_may_be_one_tensor(view):
    weights = some_weights(L, 4, H, T, T)
    shown = torch.tensor(Figure(view(weights, TOKENS, sample=2)).data["attn"]) / 1000
    assert torch.allclose(shown, weights[:, 2], atol=5e-4)


def test_names_written_in_jamo_or_with_what_is_not_seen_are_shown_as_syllables(view):
    names = [unicodedata.normalize("NFD", token) for token in TOKENS[:-1]] + [f"\ud83d{TOKENS[-1]}\u200b"]
    assert Figure(view(some_weights(L, H, T, T), names)).data["left_text"] == TOKENS


@pytest.mark.parametrize("draw", ["head_view", "model_view", "neuron_view"])
def test_another_bertviz_whose_page_is_written_otherwise_is_refused(monkeypatch, bert, draw):
    """Of the places that are replaced some are taken away, one at a time: nothing is drawn half translated."""
    places = []
    monkeypatch.setattr(bertviz_page, "_replace", lambda text, changes: places.extend(changes) or REPLACE(text, changes))
    attention = bert.attend("A cat sat.", "It slept.")

    def write():
        return neuron_view(bert, "A cat sat.", "It slept.") if draw == "neuron_view" else globals()[draw](attention)

    write()
    for place in (places[1], places[len(places) // 2], places[-1]):  # [0] is a name, another one each time

        def without(text, changes, place=place):
            return REPLACE(text.replace(place, "") if place in changes else text, changes)

        monkeypatch.setattr(bertviz_page, "_replace", without)
        with pytest.raises(RuntimeError, match=r"bertviz 1\.4\.1 버전.*고칠 곳이 없습니다.*pip install bertviz==1\.4\.1"):
            write()


def test_too_large_a_view_is_refused_with_the_limit_and_the_way_out():
    weights = some_weights(1, 12, 40, 40).expand(12, 12, 40, 40)
    with pytest.raises(ValueError, match=r"12 × 헤드 12 × 쿼리 40 × 키 40 = 230,400.*130,000.*층을 6개까지"):
        head_view(weights, ["한국"] * 40)
    assert head_view(weights, ["한국"] * 40, layers=range(1, 7), heads=[1])
    with pytest.raises(ValueError, match="글을 줄이십시오"):
        head_view(some_weights(1, 12, 110, 110), ["한국"] * 110)


def test_a_missing_bertviz_is_answered_with_the_line_to_type(monkeypatch, view, bert):
    monkeypatch.setitem(sys.modules, "bertviz", None)
    with pytest.raises(ImportError, match="pip install bertviz"):
        view(some_weights(L, H, T, T), TOKENS)
    with pytest.raises(ImportError, match="pip install bertviz"):
        neuron_view(bert, "A cat sat.")


# -- what they write ----------------------------------------------------------------------------------------------


def test_layers_are_numbered_as_in_the_book():
    figure = Figure(head_view(some_weights(6, H, T, T), TOKENS, layers=[2, 5], layer=5, heads=[1, 3]))
    assert figure.params["include_layers"] == [2, 5] and figure.params["layer"] == 5
    assert figure.params["heads"] == [0, 2]  # switches of bertviz count from 0 ...
    assert "<span>1</span><span>2</span><span>3</span>" in figure.document  # ... but carry their numbers
    assert len(figure.data["attn"]) == 2


def test_heads_have_the_colours_of_the_book():
    document = Figure(head_view(some_weights(L, H, T, T), TOKENS)).document
    assert json.dumps(HEAD_COLOURS) in document and "schemeCategory10" not in document


def draw_every_view(bert):
    weights = some_weights(L, H, T, T)
    return [head_view(weights, TOKENS), model_view(weights, TOKENS), neuron_view(bert, "A cat sat.")]


@pytest.fixture(scope="module")
def every_view(bert):
    return draw_every_view(bert)


def test_nothing_but_the_iframe_runs_scripts_or_asks_for_libraries(every_view):
    for shown in every_view:
        outside = shown._repr_html_().replace(html.escape(Figure(shown).document), "")
        assert {tag for tag, _ in Figure(shown).tags} == {"figure", "iframe", "div", "img", "figcaption"}
        assert "require" not in outside and "cdnjs" not in outside and "<script" not in outside
        for library in ("require.js/2.3.6/require.min.js", "d3/5.7.0/d3.min", "jquery/2.0.0/jquery.min"):
            assert Figure(shown).document.count(f"https://cdnjs.cloudflare.com/ajax/libs/{library}") == 1


def test_tokens_are_shown_exactly_and_never_read_as_markup(view):
    weights = some_weights(L, H, len(EVIL), len(EVIL))
    evil, tame = Figure(view(weights, EVIL)), Figure(view(weights, ["가"] * len(EVIL)))
    assert evil.data["left_text"] == evil.data["right_text"] == EVIL
    for sign in ("</script", "<script", "<img", "<b"):
        assert evil.document.count(sign) == tame.document.count(sign)
    assert [tag for tag, _ in evil.tags] == [tag for tag, _ in tame.tags]
    assert evil.img["alt"].endswith(" ".join(EVIL))


def test_the_data_is_written_once_in_thousandths(view):
    document = Figure(view(torch.eye(T).repeat(L, H, 1, 1), TOKENS)).document
    assert document.replace(" ", "").count("[1000,0,0,0,0]") == L * H


def test_all_layers_of_the_packaged_model_fit_into_a_page(view, bert):
    shown = view(bert.attend("The cat sat on the mat because it was tired."))
    assert len(shown._repr_html_().encode()) < 200_000


def test_twelve_layers_of_twelve_heads_for_thirty_tokens_stay_below_500_kilobytes(view):
    layers = [some_weights(1, 12, 30, 30) for _ in range(12)]
    assert len(view(layers, ["한국"] * 30)._repr_html_().encode()) < 500_000


def test_the_static_picture_shows_the_same_heads_in_the_same_colours_and_is_small():
    figure = Figure(head_view(some_weights(6, 12, T, T), TOKENS, layer=3, heads=[2, 9]))
    data = base64.b64decode(figure.img["src"].removeprefix("data:image/png;base64,"))
    assert len(data) < 75_000  # 100 KB in base 64
    pixels = Image.open(io.BytesIO(data)).convert("RGB")
    colours = {"#" + bytes(colour).hex().upper() for _, colour in pixels.getcolors(1 << 20)}
    assert {HEAD_COLOURS[1], HEAD_COLOURS[8]} <= colours
    assert figure.img["alt"] == "층 3, 헤드 2, 9의 어텐션 지도. 토큰: 가 나 다 라 마"
    assert "정지 그림" in figure.text


def test_they_are_readable_on_a_dark_page_and_tell_who_sees_nothing_why(every_view):
    for figure in map(Figure, every_view):
        assert "background: #fff" in figure.iframe["style"]
        assert "color-scheme: light" in figure.document and "background: #fff; color: #1a1a1a" in figure.document
        assert "움직이는 그림을 불러오지 못했습니다" in figure.document
        assert figure.iframe["loading"] == "lazy" and "그림" in figure.iframe["title"]
        assert "정지 그림" in figure.text


def test_longer_texts_get_a_taller_iframe_and_longer_tokens_a_wider_one():
    short = Figure(head_view(some_weights(L, H, T, T), TOKENS)).iframe
    tall = Figure(head_view(some_weights(L, H, 20, 20), TOKENS * 4)).iframe
    wide = Figure(head_view(some_weights(L, H, T, T), ["아주긴토큰하나입니다", *TOKENS[1:]])).iframe
    assert int(tall["height"]) - int(short["height"]) >= 15 * 22.5
    assert int(wide["width"]) > int(short["width"]) and wide["height"] == short["height"]


def test_equal_input_gives_an_equal_page(every_view, bert):
    assert [shown.data for shown in every_view] == [shown.data for shown in draw_every_view(bert)]


def test_no_english_label_of_bertviz_is_left(every_view):
    for figure in map(Figure, every_view):
        for label in ("Layer: ", "Head: ", "'Layer '", '"Heads"', '"Layers"', "elementwise", "'Query '", "No token", "All<"):
            assert label not in figure.document


def test_the_picture_of_the_model_view_names_its_layers_and_holds_every_map():
    figure = Figure(model_view(some_weights(6, H, T, T), TOKENS, layers=[2, 5]))
    assert figure.params["include_layers"] == [2, 5] and figure.params["include_heads"] == [1, 2, 3]
    assert figure.img["alt"] == "층 2, 5의 헤드 3개씩, 모두 6개의 어텐션 지도. 토큰: 가 나 다 라 마"


# -- the neuron view ---------------------------------------------------------------------------------------------

SENTENCE, REPLY = "The cat sat on the mat.", "It was tired."


@pytest.mark.parametrize("layer", [1, 6])
def test_the_neuron_view_holds_the_numbers_of_the_loaded_model(bert, layer):
    attention = bert.attend(SENTENCE)
    data = Figure(neuron_view(bert, SENTENCE, layer=layer)).data
    assert data["left_text"] == data["right_text"] == attention.tokens
    assert len(data["attn"]) == 1
    assert torch.allclose(torch.tensor(data["attn"][0]) / 1000, attention.weights[layer - 1], atol=6e-4)
    q, k = (torch.tensor(data[name][0]) / 100 for name in ("queries", "keys"))  # (h, T, d_k)
    x, self_attention = attention.hidden_states[layer - 1], bert.model.encoder.layer[layer - 1].attention.self
    for numbers, projection in ((q, self_attention.query), (k, self_attention.key)):
        expected = projection(x).unflatten(-1, (12, 32)).transpose(0, 1)
        assert torch.allclose(numbers, expected, atol=6e-3)
    weights = (q @ k.mT / 32**0.5).softmax(-1)
    assert torch.allclose(weights, attention.weights[layer - 1], atol=0.05)


def test_another_model_with_other_sizes_gets_its_neuron_view_too(bert):
    config = BertConfig(
        hidden_size=24, num_hidden_layers=12, num_attention_heads=12, intermediate_size=7, hidden_act="gelu_new",
        vocab_size=bert.tokenizer.vocab_size, max_position_embeddings=19,
    )  # fmt: skip
    other = Bert(BertModel._from_config(config, attn_implementation="eager").eval(), bert.tokenizer, "tiny")
    figure = Figure(neuron_view(other, SENTENCE, layer=12, head=7))
    expected = other.attend(SENTENCE).weights[11]
    assert torch.allclose(torch.tensor(figure.data["attn"][0]) / 1000, expected, atol=6e-4)
    assert figure.params["head"] == 6


def test_the_neuron_view_reads_what_attend_reads(bert):
    strange = "\ud83d" + SENTENCE.replace(" ", "\u2003") + "\u200b"
    assert neuron_view(bert, strange, REPLY + "\ufeff")._repr_html_() == neuron_view(bert, SENTENCE, REPLY)._repr_html_()


def test_the_neuron_view_of_a_pair_can_be_looked_at_by_direction_with_its_data_written_once(bert):
    figure = Figure(neuron_view(bert, SENTENCE, REPLY))
    assert list(figure.params["attention"]) == ["all"]
    assert figure.params["pair_start"] == bert.attend(SENTENCE, REPLY).pair_start
    assert "글 A → 글 B" in figure.document


def test_the_neuron_view_changes_neither_the_model_nor_the_random_numbers(bert):
    state, before = torch.random.get_rng_state(), bert.attend(SENTENCE).weights
    neuron_view(bert, SENTENCE, layer=3)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(bert.attend(SENTENCE).weights, before)
    assert not bert.model.training and bert.model.device.type == "cpu"


def test_the_neuron_view_stays_below_500_kilobytes_or_says_what_is_too_large(bert):
    assert len(neuron_view(bert, "cat " * 50)._repr_html_().encode()) < 500_000
    with pytest.raises(ValueError, match=r"헤드 12 × 토큰 102 × .*한계인 80,000개를 넘습니다. 글을 줄이십시오"):
        neuron_view(bert, "cat " * 100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": 7}, "층은 1부터 6까지"),
        ({"head": 0}, "헤드는 1부터 12까지"),
        ({"query": 9}, "0부터 8까지입니다. 받은 값: 9"),
        ({"text": ""}, "글이 비어 있습니다"),
    ],
)
def test_the_neuron_view_refuses_what_does_not_exist(bert, options, message):
    with pytest.raises(ValueError, match=message):
        neuron_view(bert, **{"text": SENTENCE} | options)


def test_the_neuron_view_asks_for_a_loaded_model(bert):
    with pytest.raises(TypeError, match=r"load_bert\(\).*BertModel"):
        neuron_view(bert.model, SENTENCE)

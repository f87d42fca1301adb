"""The small Korean BERT: what the shipped weights can do, what each head is for, and that training goes on as recorded."""

import itertools

import pytest
import torch

from multihead.models.grammar import MASK, PAD, RELATIONS, TOKEN_ID, Clause, Sentence
from multihead.models.tiny_bert import (
    D_MODEL,
    IGNORED,
    WEIGHTS_FILE,
    TinyBert,
    Training,
    every_head,
    load_tiny_bert,
    make_probes,
    recorded_runs,
    right_answers,
    save_weights,
    slot_accuracy,
    test_sentences,
    training_batch,
    without_heads,
)


@pytest.fixture(scope="module")
def probes():
    return make_probes(test_sentences(150))


@pytest.fixture(scope="module")
def model():
    return load_tiny_bert()


@pytest.fixture(scope="module")
def cost(model, probes):
    """What each slot loses without each head."""
    intact = slot_accuracy(model, probes)
    return {
        head: {slot: intact[slot] - left for slot, left in slot_accuracy(without_heads(model, [head]), probes).items()}
        for head in every_head(model)
    }


def random_model(num_heads=4, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return TinyBert(num_heads).eval()


def test_shipped_weights_fill_every_slot_of_sentences_never_seen_in_training(model, probes):
    assert min(slot_accuracy(model, probes).values()) >= 0.99
    assert right_answers(model, probes)[probes.refers].float().mean() >= 0.99 and probes.refers.sum() > 20


def test_random_weights_fill_none(probes):
    assert max(slot_accuracy(random_model(), probes).values()) < 0.2


def test_each_relation_has_a_head_of_its_own_whose_removal_breaks_it_alone(cost):
    for slot in RELATIONS:
        assert any(
            lost[slot] >= 0.3 and max(lost[other] for other in RELATIONS if other != slot) <= 0.05
            for lost in cost.values()
        ), slot


def test_the_file_is_small_and_rounding_to_it_loses_nothing(model, tmp_path):
    assert WEIGHTS_FILE.stat().st_size < 600_000
    save_weights(model, tmp_path / "again.safetensors")
    again = load_tiny_bert(tmp_path / "again.safetensors")
    for (name, ours), theirs in zip(model.state_dict().items(), again.state_dict().values(), strict=True):
        torch.testing.assert_close(ours, theirs, msg=name)


def test_a_head_that_is_off_adds_nothing_and_the_model_itself_keeps_its_weights(model):
    before = {name: values.clone() for name, values in model.state_dict().items()}
    layer = without_heads(model, [(1, 2), (1, 4)]).layers[0].attention
    full = model.layers[0].attention
    x = torch.randn(2, 7, D_MODEL, generator=torch.Generator().manual_seed(0))
    d_k = D_MODEL // 4
    _, weights = full(x, need_weights=True)
    v = full.W_V(x).view(2, 7, 4, d_k).transpose(1, 2)
    W_O = full.W_O.weight.T.reshape(4, d_k, D_MODEL)
    contributions = weights @ v @ W_O  # (B, h, T, D)
    torch.testing.assert_close(layer(x)[0], contributions[:, [0, 2]].sum(1) + full.W_O.bias, atol=1e-5, rtol=1e-5)
    assert all(before[name].equal(values) for name, values in model.state_dict().items())


@pytest.mark.parametrize("head", [(0, 1), (3, 1), (1, 0), (1, 5)])
def test_a_head_that_there_is_not_is_refused(model, head):
    with pytest.raises(ValueError, match=f"받은 값: {head[0]}-{head[1]}"):
        without_heads(model, [head])


def test_padding_changes_no_answer(model):
    short = Sentence((Clause("할머니", "편지", "어제"),)).ids
    alone = model(torch.tensor([short]))[0]
    beside = model(torch.tensor([short + [TOKEN_ID[PAD]] * 9]))[0][:, : len(short)]
    torch.testing.assert_close(alone, beside, atol=1e-5, rtol=1e-5)


def test_a_longer_sentence_than_the_longest_is_refused(model):
    with pytest.raises(ValueError, match="20개까지입니다: 21개"):
        model(torch.zeros(1, 21, dtype=torch.long))


def test_a_fifth_of_the_real_tokens_is_masked_and_only_these_count():
    batches = [training_batch(0, step) for step in range(20)]
    for ids, targets in batches:
        masked = ids == TOKEN_ID[MASK]
        assert masked.equal(targets != IGNORED) and not (targets == TOKEN_ID[PAD]).any()
    share = sum((t != IGNORED).sum() for _, t in batches) / sum((i != TOKEN_ID[PAD]).sum() for i, _ in batches)
    assert 0.19 < share < 0.21
    assert not batches[0][0].equal(training_batch(1, 0)[0]) and batches[0][0].equal(training_batch(0, 0)[0])


def test_a_stopped_training_goes_on_as_if_it_had_never_stopped(tmp_path):
    straight, stopped = Training(2, seed=3, steps=40), Training(2, seed=3, steps=40)
    straight.run()
    stopped.run(7)
    stopped.save(tmp_path / "training.pt")
    resumed = Training.load(tmp_path / "training.pt")
    resumed.run()
    assert resumed.losses == straight.losses and len(resumed.losses) == 40
    assert all(a.equal(b) for a, b in zip(resumed.model.parameters(), straight.model.parameters()))
    assert len(resumed.run() and resumed.losses) == 40  # nothing left to do


def test_a_short_training_falls_along_the_recorded_curve():
    shipped = recorded_runs()["shipped"]
    training = Training(shipped["num_heads"], shipped["seed"])
    training.run(60)
    means = [sum(training.losses[i : i + 20]) / 20 for i in (0, 20, 40)]
    assert means == pytest.approx(shipped["first_losses"][:3], rel=0.01) and means == sorted(means, reverse=True)


def test_progress_is_shown_only_when_asked_for(capsys):
    Training(1, steps=4).run(2)
    assert capsys.readouterr().err == ""
    Training(1, steps=4).run(2, progress=True)
    assert "학습: 100%" in capsys.readouterr().err


def test_the_record_says_how_it_was_made_and_hides_no_run(cost):
    record = recorded_runs()
    assert record["command"] == "python tools/train_tiny_bert.py" and record["torch"]
    fours = [run for run in record["runs"] if run["num_heads"] == 4]
    assert [run["seed"] for run in fours] == list(range(len(fours))) and len(fours) >= 3
    assert {run["num_heads"] for run in record["runs"]} == {1, 2, 4, 8}
    shipped = record["shipped"]
    assert min(shipped["accuracy"].values()) >= 0.99 and max(shipped["untrained"].values()) < 0.2
    pairs = itertools.combinations([f"{layer}-{head}" for layer, head in cost], 2)
    assert list(shipped["pairs"]) == [" ".join(pair) for pair in pairs]
    for head, lost in cost.items():
        recorded = shipped["without"][f"{head[0]}-{head[1]}"]
        for slot in RELATIONS:
            assert shipped["accuracy"][slot] - recorded[slot] == pytest.approx(lost[slot], abs=0.12)


def test_probes_name_the_place_of_the_token_that_decides():
    sentence = Sentence((Clause("할머니", "편지", "어제", order=("subject", "time", "object")),))
    probes = make_probes([sentence])
    assert probes.slot == ["verb", "honorific", "tense"] and probes.place.tolist() == [5, 6, 7]
    assert probes.source.tolist() == [3, 0, 2] and (probes.ids == TOKEN_ID[MASK]).nonzero()[:, 1].tolist() == [5, 6, 7]
    assert [TOKEN_ID[form] for form in ("읽", "시", "었")] == probes.answer.tolist() and not probes.refers.any()

"""The two-neighbours experiment: the task, the model, the numbers that are recorded, and the bar that shows the way."""

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from torch import nn

from multihead.models.neighbours import (
    LENGTH,
    VOCABULARY,
    NeighbourModel,
    accuracy,
    answers,
    held_out_sequences,
    inner,
    neighbour_loss,
    neighbour_shares,
    specialisation,
    train,
)
from multihead.notebook import progress

V = len(VOCABULARY)


class Oracle(nn.Module):
    """Knows the neighbours, but answers wrongly at these positions."""

    def __init__(self, wrong_left=(), wrong_right=()):
        super().__init__()
        self.wrong = wrong_left, wrong_right

    def forward(self, tokens):
        said = tokens.roll(1, 1), tokens.roll(-1, 1)
        for answer, wrong in zip(said, self.wrong):
            answer[:, list(wrong)] += 1
        return tuple(20.0 * nn.functional.one_hot(answer % V, V) for answer in said)


def test_every_number_of_heads_has_the_same_number_of_parameters():
    counts = {h: sum(p.numel() for p in NeighbourModel(h, seed=0).parameters()) for h in (1, 2, 4, 8, 16, 32)}
    assert set(counts.values()) == {V * 32 + 16 * 32 + 4 * (32 * 32 + 32) + 2 * 32 + 2 * (32 * V + V)}


def test_the_tokens_are_24_different_ones():
    assert len(set(VOCABULARY)) == V == 24


def test_the_answers_are_the_neighbours_of_the_inner_positions():
    tokens = torch.arange(2 * LENGTH).view(2, LENGTH)
    left, right = answers(tokens)
    assert torch.equal(left, tokens[:, 1:-1] - 1) and torch.equal(right, tokens[:, 1:-1] + 1)
    assert torch.equal(inner(tokens[..., None])[..., 0], tokens[:, 1:-1])


def test_both_counts_only_positions_where_both_answers_are_right():
    assert accuracy(Oracle()) == (1, 1, 1)
    result = accuracy(Oracle(wrong_left=(1, 2, 3), wrong_right=(3, 4)))
    assert result == pytest.approx((11 / 14, 12 / 14, 10 / 14))
    assert accuracy(Oracle(wrong_left=(0, 15), wrong_right=(0, 15))) == (1, 1, 1)  # the ends are not asked


def test_the_loss_of_a_guess_is_twice_the_logarithm_of_the_vocabulary():
    class Blank(nn.Module):
        def forward(self, tokens):
            return torch.zeros(*tokens.shape, V), torch.zeros(*tokens.shape, V)

    assert neighbour_loss(Blank(), held_out_sequences()).item() == pytest.approx(2 * torch.tensor(V).log().item())


def test_shares_are_what_inner_queries_give_to_either_side():
    T = 7
    to_left, to_right = torch.eye(T).roll(-1, 1), torch.eye(T).roll(1, 1)  # row i looks at i - 1, at i + 1
    weights = torch.stack([to_left, to_right, 0.75 * to_left + 0.25 * to_right])
    expected = torch.tensor([[1, 0], [0, 1], [0.75, 0.25]])
    assert torch.allclose(neighbour_shares(weights), expected)
    assert torch.allclose(specialisation(expected), torch.tensor([1, 1, 0.5]))
    batch = torch.stack([weights, torch.zeros(3, T, T)])
    assert torch.allclose(neighbour_shares(batch), expected / 2)
    ends = torch.zeros(1, T, T)
    ends[0, 0, 1] = ends[0, -1, -2] = 1
    assert neighbour_shares(ends).abs().max() == 0


def test_two_runs_give_the_same_numbers_and_leave_the_global_generator_alone():
    before = torch.get_rng_state()
    first, second = (train(NeighbourModel(4, seed=3), seed=5, steps=7, record_at=[0, 7]) for _ in range(2))
    assert torch.equal(first.maps, second.maps) and torch.equal(first.losses, second.losses)
    assert torch.equal(torch.get_rng_state(), before)
    other_start = train(NeighbourModel(4, seed=4), seed=5, steps=7, record_at=[0, 7])
    other_data = train(NeighbourModel(4, seed=3), seed=6, steps=7, record_at=[0, 7])
    assert not torch.equal(first.maps[0], other_start.maps[0])
    assert torch.equal(first.maps[0], other_data.maps[0]) and not torch.equal(first.maps[1], other_data.maps[1])


def test_a_recording_holds_the_chosen_steps_and_the_last_one_is_the_trained_model():
    model = NeighbourModel(2, seed=0)
    untrained = accuracy(model)
    recording = train(model, seed=0, steps=9, record_at=[9, 0, 4])
    assert recording.steps == [0, 4, 9] and recording.num_heads == 2
    assert recording.maps.shape == (3, 2, LENGTH, LENGTH) and recording.shares.shape == (3, 2, 2)
    assert recording.accuracy[0] == untrained and recording.accuracy[2] == accuracy(model)
    _, weights = model.hidden(recording.tokens[None], need_weights=True)
    assert torch.allclose(recording.maps[2], weights[0], atol=1e-6)
    assert recording.losses[2].item() == pytest.approx(neighbour_loss(model, held_out_sequences()).item())


@pytest.mark.parametrize("record_at", [[-1], [10], []])
def test_steps_that_do_not_exist_cannot_be_recorded(record_at):
    with pytest.raises(ValueError, match="0부터 9까지"):
        train(NeighbourModel(2, seed=0), seed=0, steps=9, record_at=record_at)


def test_training_gives_the_threads_back():
    torch.set_num_threads(2)
    train(NeighbourModel(2, seed=0), seed=0, steps=1)
    assert torch.get_num_threads() == 2


def test_one_head_divides_itself_and_two_heads_divide_the_work():
    one, two = (train(NeighbourModel(h, seed=0), seed=0, record_at=[500]) for h in (1, 2))
    assert one.accuracy[-1].both < 0.3 and one.shares[-1].min() > 0.4
    assert two.accuracy[-1].both > 0.99 and specialisation(two.shares[-1]).min() > 0.9
    assert two.shares[-1].argmax(1).unique().numel() == 2


def test_without_a_notebook_there_is_no_bar(capsys):
    assert list(progress(range(5), "학습")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the client's own
def test_in_a_notebook_the_bar_moves_and_leaves_nothing():
    shown = []

    class Watching(NotebookClient):
        def process_message(self, message, cell, index):
            shown.append((message["msg_type"], message["content"].get("data", {}).get("text/html", "")))
            return super().process_message(message, cell, index)

    source = "from multihead.notebook import progress\nfor step in progress(range(40), 'h = 4'): pass"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    Watching(notebook, kernel_name="python3", timeout=120).execute()
    bars = [html for kind, html in shown if kind in ("display_data", "update_display_data")]
    assert len(bars) > 10 and "h = 4" in bars[0] and 'max="40" value="20"' in "".join(bars)
    assert notebook.cells[0].outputs == []

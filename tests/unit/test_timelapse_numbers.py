"""Timelapse: what it takes, and that the browser shows the very numbers that were recorded."""

import re

import pytest
import torch
from run_node import evaluate
from traitlets import TraitError

from multihead.models.neighbours import VOCABULARY, Accuracy, Recording, neighbour_shares
from multihead.widgets import Timelapse

STEPS = [0, 10, 25, 40]
T = 16


def recording(h, steps=STEPS):
    generator = torch.Generator().manual_seed(h)
    n = len(steps)
    weights = (4 * torch.randn(n, h, T, T, generator=generator)).softmax(-1)
    both = torch.rand(n, generator=generator).tolist()
    return Recording(
        num_heads=h, tokens=torch.arange(T), steps=list(steps), maps=weights, shares=torch.zeros(n, h, 2),
        accuracy=[Accuracy(1, 1, share) for share in both], losses=torch.rand(n, generator=generator) * 7,
    )  # fmt: skip


RUNS = [recording(h) for h in (1, 2, 3)]


def state_of(widget):
    return {name: getattr(widget, name) for name in ("step", "_recording", "_maps")}


def call(script, widget=None):
    return evaluate("timelapse.js", f"const data = module.unpack(given); {script}", state_of(widget or Timelapse(RUNS)))


def test_the_browser_reads_the_weights_that_python_recorded():
    read = call("return data.steps.map((_, f) => data.runs.map(({ h }, r) => "
                "Array.from({ length: h }, (_, i) => [...data.map(f, r, i)])));")  # fmt: skip
    for frame in range(len(STEPS)):
        for run, maps in zip(RUNS, read[frame], strict=True):
            assert torch.allclose(torch.tensor(maps).view(-1, T, T) / 255, run.maps[frame], atol=0.5 / 255 + 1e-6)


def test_shares_accuracy_and_loss_on_the_screen_are_those_of_python():
    shown = call("return data.steps.map((_, frame) => module.readouts(data, frame));")
    for frame, cards in enumerate(shown):
        for run, card in zip(RUNS, cards, strict=True):
            assert card["h"] == run.num_heads
            assert float(card["both"].removesuffix(" %")) == pytest.approx(100 * run.accuracy[frame].both, abs=0.06)
            assert float(card["loss"]) == pytest.approx(run.losses[frame].item(), abs=0.006)
            shares = neighbour_shares(run.maps[frame]).tolist()
            for head, (left, right) in zip(card["heads"], shares, strict=True):
                assert (float(head["left"]), float(head["right"])) == (
                    pytest.approx(left, abs=0.0075), pytest.approx(right, abs=0.0075),
                )  # fmt: skip


def test_roles_count_heads_that_give_more_than_half_to_one_side():
    left, right = torch.eye(T).roll(-1, 1), torch.eye(T).roll(1, 1)
    maps = torch.stack([left, left, right, 0.5 * left + 0.5 * right])[None]
    run = Recording(4, torch.arange(T), [0], maps, torch.zeros(1, 4, 2), [Accuracy(0, 0, 0)], torch.zeros(1))
    [card] = call("return module.readouts(data, 0);", Timelapse([run]))
    assert card["roles"].startswith("절반 넘게 왼쪽을 보는 헤드 2개, 오른쪽 1개, 어느 쪽도 아닌 헤드 1개")


@pytest.mark.parametrize(("step", "frame"), [(0, 0), (9, 0), (10, 1), (39, 2), (40, 3), (999, 3), (-5, 0)])
def test_a_step_that_was_not_recorded_shows_the_last_one_before_it(step, frame):
    assert call(f"return module.frameOf(data, {step});") == frame


def test_a_map_has_every_cell_at_its_place_in_its_shade():
    for cells, place in ([255, 0, 0, 0], "0,0"), ([0, 255, 0, 0], "1,0"), ([0, 0, 255, 0], "0,1"):
        markup = evaluate("core.js", "return module.shadesMarkup(given, 2);", cells)
        assert re.findall(r'fill-opacity="([\d.]+)" d="([^"]+)"', markup) == [("1", f"M{place}h1v1h-1z")]
    assert evaluate("core.js", "return module.shadesMarkup(given, 2);", [128, 0, 128, 0]).count("<path") == 1


def test_the_still_shows_the_first_and_the_last_step_and_all_heads():
    html = evaluate("timelapse.js", "return module.still(given);", state_of(Timelapse(RUNS)))
    assert "0걸음" in html and "40걸음" in html and "10걸음" not in html
    assert html.count("mh-tile-text\"><span>왼쪽") == 2 * (1 + 2 + 3) and html.count("<polyline") == 3
    assert f"지도의 문장: {' '.join(VOCABULARY[:T])}" in html
    assert "NaN" not in html and "undefined" not in html


def test_the_data_of_the_chapter_take_at_most_300_kilobytes():
    steps = [*range(0, 300, 10), *range(300, 501, 25)]
    widget = Timelapse([recording(h, steps) for h in (1, 2, 4, 8)])
    assert len(widget._maps) + len(str(widget._recording)) <= 300_000


def test_python_sets_and_reads_the_step_and_starts_at_the_first_one():
    widget = Timelapse(RUNS)
    assert widget.step == 0 and Timelapse(RUNS, step=25).step == 25
    seen = []
    widget.observe(lambda change: seen.append(change.new), "step")
    for step in STEPS[1:]:
        widget.step = step
    widget.set_state({"step": 10})  # as the browser sends it
    assert seen == [10, 25, 40, 10] and widget.step == 10


@pytest.mark.parametrize(("step", "nearest"), [(11, 10), (-1, 0), (500, 40)])
def test_a_step_that_was_not_recorded_raises_and_names_the_nearest(step, nearest):
    widget = Timelapse(RUNS, step=25)
    with pytest.raises(TraitError, match=rf"step.*받은 값: {step}, 가장 가까운 걸음: {nearest}"):
        widget.step = step
    assert widget.step == 25


def test_recordings_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="기록이 하나도 없습니다"):
        Timelapse([])
    with pytest.raises(ValueError, match=r"h = 1의 기록은 0부터 40까지 4번, h = 2의 기록은 0부터 20까지 2번"):
        Timelapse([recording(1), recording(2, [0, 20])])
    other = recording(2)
    object.__setattr__(other, "tokens", torch.arange(T) + 1)
    with pytest.raises(ValueError, match="문장이 서로 다릅니다"):
        Timelapse([recording(1), other])


def test_an_unknown_setting_raises():
    with pytest.raises(TypeError, match=r"speed.*쓸 수 있는 설정: step"):
        Timelapse(RUNS, speed=2)

"""TrainingLab and neighbours.js: gradients derived by hand are those of autograd, and AdamW is that of torch."""

import re

import pytest
import torch
from run_node import WIDGETS, evaluate
from traitlets import TraitError

import multihead.models.neighbours as neighbours
from multihead.models.neighbours import VOCABULARY, NeighbourModel, accuracy, neighbour_loss, neighbour_shares
from multihead.widgets import TrainingLab
from multihead.widgets.training_lab import LEARNING_RATES

T = 16
JOBS = """return given.map(({ h, d_model, scaling, parameters, batches }) => {
    const model = module.createModel({ h, d_model, scaling, seed: 0 });
    for (const [name, values] of Object.entries(parameters)) model.parameters[name].set(values);
    const lists = (arrays) => Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, [...values]]));
    const first = module.forward(model, Uint8Array.from(batches[0]));
    const gradients = lists(module.backward(model, first));
    const { maps, ...measured } = module.measure(model, Uint8Array.from(batches[0]));
    const update = module.createAdamW(model, 3e-3);
    for (const batch of batches) update(module.backward(model, module.forward(model, Uint8Array.from(batch))));
    return { loss: first.loss, gradients, measured, maps: [...maps], updated: lists(model.parameters) };
});"""


def in_torch(monkeypatch, h, d_model, scaling, seed):
    """NeighbourModel in double precision, with random numbers in every parameter, and ten batches."""
    monkeypatch.setattr(neighbours, "D_MODEL", d_model)
    model = NeighbourModel(h, seed=seed).double()
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    if not scaling:  # undo the division by √d_k
        attend = model.attention._attend
        model.attention._attend = lambda q, *rest: attend(q * model.attention.d_k**0.5, *rest)
    batches = torch.randint(len(VOCABULARY), (10, 5, T), generator=generator)
    return model, batches


CASES = [(h, 32, scaling) for h in (1, 2, 4, 8) for scaling in (True, False)] + [(3, 24, True), (5, 40, False)]
NAMES = [f"h={h}, d_model={d_model}, {'scaled' if scaling else 'unscaled'}" for h, d_model, scaling in CASES]


@pytest.fixture(scope="module")
def compared():
    """For each case: torch's model and batches, and what the browser's code returns for the same numbers."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        ours = [in_torch(monkeypatch, *case, seed) for seed, case in enumerate(CASES)]
    given = [
        {
            "h": h, "d_model": d_model, "scaling": scaling, "batches": batches.flatten(1).tolist(),
            "parameters": {name: values.flatten().tolist() for name, values in model.state_dict().items()},
        }
        for (h, d_model, scaling), (model, batches) in zip(CASES, ours)
    ]  # fmt: skip
    return [(*pair, answer) for pair, answer in zip(ours, evaluate("neighbours.js", JOBS, given), strict=True)]


@pytest.mark.parametrize("case", range(len(CASES)), ids=NAMES)
def test_gradients_are_those_of_autograd_and_ten_steps_of_adamw_end_where_torch_ends(compared, case):
    model, batches, answer = compared[case]
    assert answer["measured"]["both"] == pytest.approx(accuracy(model, batches[0]).both, abs=1e-6)
    with torch.no_grad():
        _, weights = model.hidden(batches[0], need_weights=True)
    assert torch.allclose(torch.tensor(answer["maps"]), weights[0].flatten().float(), atol=1e-6)
    shares = torch.tensor(answer["measured"]["shares"], dtype=torch.float64)
    assert torch.allclose(shares, neighbour_shares(weights), atol=1e-9)

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, batch in enumerate(batches):
        optimizer.zero_grad()
        loss = neighbour_loss(model, batch)
        loss.backward()
        if step == 0:
            assert answer["loss"] == pytest.approx(loss.item(), rel=1e-9)
            for name, parameter in model.named_parameters():
                compare(answer["gradients"][name], parameter.grad, name, 1e-9)
        optimizer.step()
    for name, parameter in model.named_parameters():
        compare(answer["updated"][name], parameter.detach(), name, 1e-6)


def compare(ours, theirs, name, tolerance):
    """Largest difference over the largest number, both in double precision.

    W_K's bias moves all scores of a row alike: its gradient is 0.
    """
    ours = torch.tensor(ours, dtype=torch.float64).view_as(theirs)
    largest = theirs.abs().max().item()
    if largest < 1e-12:
        assert name == "attention.W_K.bias" and ours.abs().max() < 1e-12
    else:
        assert (ours - theirs).abs().max().item() <= tolerance * largest, name


def test_names_and_shapes_of_the_parameters_are_those_of_the_model():
    shapes = evaluate("neighbours.js", "return module.shapes(32);", None)
    assert shapes == {name: list(values.shape) for name, values in NeighbourModel(2, seed=0).state_dict().items()}


def test_the_task_has_the_sizes_of_the_experiment():
    ours = evaluate("neighbours.js", "return [module.VOCABULARY.join(''), module.T, module.BATCH, module.STEPS];", None)
    assert ours == [VOCABULARY, neighbours.LENGTH, neighbours.BATCH, neighbours.STEPS]


def test_first_weights_have_the_spread_of_the_recipe_and_follow_the_seed():
    drawn = evaluate("neighbours.js", """return [0, 0, 1].map((seed) => {
        const { parameters } = module.createModel({ h: 2, d_model: 32, scaling: true, seed });
        return Object.fromEntries(Object.entries(parameters).map(([name, values]) => [name, [...values]]));
    });""", None)  # fmt: skip
    assert drawn[0] == drawn[1] != drawn[2]
    for name, theirs in NeighbourModel(2, seed=0).state_dict().items():
        ours = torch.tensor(drawn[0][name])
        if theirs.dim() == 1:
            assert torch.equal(ours, theirs), name
        else:
            assert ours.std().item() == pytest.approx(theirs.std().item(), rel=0.12) and abs(ours.mean()) < 0.06, name


def test_tokens_are_drawn_evenly_and_independently_of_the_one_before():
    tokens = evaluate("neighbours.js", "return [...module.randomSequences(4000, module.randomNumbers(6))];", None)
    tokens = torch.tensor(tokens)
    counts = torch.bincount(tokens, minlength=24) / len(tokens)
    assert len(counts) == 24 and (counts - 1 / 24).abs().max() < 0.004
    pairs = torch.bincount(tokens[:-1] * 24 + tokens[1:], minlength=576) / len(tokens)
    assert (pairs - 1 / 576).abs().max() < 0.0012


def test_all_heads_counts_see_the_same_sequences_and_other_seeds_see_others():
    first = evaluate("neighbours.js", """return [0, 1, 2].map((seed) =>
        [...module.randomSequences(2, module.randomNumbers(2 * seed + 2))]);""", None)  # fmt: skip
    assert len({tuple(tokens) for tokens in first}) == 3


# ---- the widget itself: what Python takes, and what the browser tells it ---------------------------------------------

ROW = {
    "step": 10, "h": 2, "loss": 6.31, "left": 0.05, "right": 0.04, "both": 0.0023, "shares": [[0.61, 0.1], [0.2, 0.7]],
}  # fmt: skip


def test_what_the_browser_has_measured_is_the_history_in_python():
    widget = TrainingLab()
    assert widget.history == []
    widget.set_state({"_history": [ROW]})  # as the browser sends it
    assert widget.history == [ROW]
    with pytest.raises(AttributeError):
        widget.history = []


@pytest.mark.parametrize(
    ("name", "value"),
    [("h", 0), ("h", 9), ("compare", 0), ("d_model", 4), ("d_model", 128), ("learning_rate", 0.5), ("seed", -1),
     ("scaling", 1)],
)  # fmt: skip
def test_a_wrong_value_raises_in_korean_and_changes_nothing(name, value):
    widget = TrainingLab()
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=rf"{name}의 (범위|값)"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_the_choices_and_sizes_in_the_browser_are_those_of_python_and_of_the_lesson():
    source = (WIDGETS / "training_lab.js").read_text("utf-8")
    assert f"const LEARNING_RATES = {list(LEARNING_RATES)};" in source
    assert f"const STEPS = {neighbours.STEPS}, T = {T};" in source and f"Math.log({len(VOCABULARY)})" in source
    widget = TrainingLab()
    for rate in LEARNING_RATES:
        widget.set_state({"learning_rate": rate})
        assert widget.learning_rate == rate


def test_the_browser_shows_the_numbers_of_a_row():
    shown = evaluate("training_lab.js", "return module.readouts(given);", ROW)
    assert shown == {
        "h": 2, "both": "0.2 %", "loss": "6.31",
        "roles": "절반 넘게 왼쪽을 보는 헤드 1개, 오른쪽 1개, 어느 쪽도 아닌 헤드 0개",
        "heads": [{"left": "0.61", "right": "0.10"}, {"left": "0.20", "right": "0.70"}],
    }  # fmt: skip


@pytest.mark.parametrize(("loss", "told"), [(50.62, "50.6까지 커졌습니다"), (None, "셀 수 없는 수가 되었습니다")])
def test_divergence_is_told_with_its_loss(loss, told):
    script = "return module.divergedText({ step: 7, h: 2, learning_rate: 1, loss: given ?? NaN });"
    text = evaluate("training_lab.js", script, loss)
    assert text.startswith(f"h = 2의 손실이 7걸음에서 {told}.") and "학습률 1보다 작은 값" in text


@pytest.mark.parametrize(
    ("loss", "diverged"), [(7.6, False), (19.0, False), (19.1, True), ("NaN", True), ("Infinity", True)]
)
def test_a_loss_has_diverged_where_it_is_three_times_that_of_guessing_or_no_number(loss, diverged):
    assert evaluate("neighbours.js", f"return module.hasDiverged({loss});", None) is diverged


def test_the_still_shows_the_settings_and_once_trained_the_last_numbers():
    state = {name: getattr(TrainingLab(h=1, compare=2), name) for name in (*TrainingLab.settings(), "_history")}
    before = evaluate("training_lab.js", "return module.still(given);", state)
    assert "h = 1" in before and "h = 2" in before and "시드 0" in before
    one = {**ROW, "h": 1, "shares": [[0.4, 0.4]]}
    after = evaluate("training_lab.js", "return module.still(given);", {**state, "_history": [one, ROW]})
    assert after.count("<polyline") == 4 and "헤드 1: 왼쪽 0.20, 오른쪽 0.70" in after
    assert "NaN" not in before + after and "undefined" not in before + after


def test_the_worker_stands_alone():
    worker = TrainingLab().get_state()["_worker"]
    assert "import " not in worker and "export " not in worker and "const STEPS = 500;" in worker


def test_the_code_in_the_appendix_is_that_of_the_lesson():
    appendix = (WIDGETS.parents[2] / "chapters" / "appendix_gradient.md").read_text("utf-8")
    blocks = re.findall(r"```javascript\n(.*?)```", appendix, re.S)
    lesson = re.sub(r"(?m)^ +", "", (WIDGETS / "neighbours.js").read_text("utf-8"))
    assert len(blocks) == 8
    for block in blocks:
        assert re.sub(r"(?m)^ +", "", block) in lesson, block

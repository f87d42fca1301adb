"""neighbours.js: the gradients derived by hand are those of autograd, and its AdamW is that of torch."""

import pytest
import torch
from run_node import evaluate

import multihead.neighbours as neighbours
from multihead.neighbours import VOCABULARY, NeighbourModel, accuracy, neighbour_loss, neighbour_shares

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
def test_every_gradient_is_that_of_autograd_and_ten_steps_of_adamw_end_where_torch_ends(compared, case):
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
                compare(answer["gradients"][name], parameter.grad, name, 1e-4)
        optimizer.step()
    for name, parameter in model.named_parameters():
        compare(answer["updated"][name], parameter.detach(), name, 1e-3)


def compare(ours, theirs, name, tolerance):
    """Largest difference over the largest number. W_K's bias moves all scores of a row alike: its gradient is 0."""
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

"""The JavaScript of the widgets, checked in Node against numbers that torch writes now."""

import itertools
import json
from pathlib import Path

import torch
from run_node import node

from multihead.widgets import HeadSplitter

CORE_TEST = Path(__file__).parents[1] / "js" / "core.test.mjs"


def describe(tensor):
    return {"shape": tensor.shape, "strides": tensor.stride(), "contiguous": tensor.is_contiguous()}


def torch_split(T, h, d_k):
    """What torch makes of one sentence whose numbers count from 0, so that a number tells where it came from."""
    x = torch.arange(T * h * d_k).view(1, T, h * d_k)
    view = x.view(1, T, h, d_k)
    wrong = x.view(1, h, T, d_k)
    tokens, heads = wrong[0, :, :, 0] // (h * d_k), wrong[0, :, :, 0] % (h * d_k) // d_k
    return {
        "setting": {"h": h, "d_model": h * d_k, "T": T},
        "steps": {k: describe(v) for k, v in dict(x=x, view=view, heads=view.transpose(1, 2), wrong=wrong).items()},
        "wrong_tokens": int((tokens != torch.arange(T)).sum()),
        "wrong_chips": torch.stack([tokens, heads], dim=-1).tolist(),
    }


def test_shapes_strides_and_misplaced_tokens_in_javascript_equal_torch(tmp_path):
    splits = tmp_path / "splits.json"
    settings = itertools.product(range(2, 17), range(1, 17), (1, 3, 16))
    splits.write_text(json.dumps([torch_split(T, h, d_k) for T, h, d_k in settings]))
    run = node("--test", "--test-reporter=tap", CORE_TEST, env={"TORCH_SPLITS": str(splits)})
    assert run.returncode == 0, run.stdout
    assert "# skipped 0" in run.stdout


def test_joined_module_stands_alone_and_draws_the_still(tmp_path):
    (tmp_path / "joined.mjs").write_text(HeadSplitter._esm, "utf-8")
    state = HeadSplitter(h=8).get_state(["h", "d_model", "T", "step", "token", "compact"])
    script = f"""
        const joined = await import({json.dumps((tmp_path / "joined.mjs").as_uri())});
        console.log(JSON.stringify([Object.keys(joined).sort(), joined.still({json.dumps(state)})]));
    """
    run = node("--input-type=module", "--eval", script)
    assert run.returncode == 0, run.stderr
    names, still = json.loads(run.stdout)
    assert names == ["default", "still"]
    assert still.count("mh-chip") == 3 * 8 * 5

"""Graders: plausible mistakes get the fitting hint, differently written right answers pass, and nothing ever raises."""

import pytest
import torch

from multihead.checks import check_merge_heads, check_split_heads, check_strongest_head

SPLIT_RIGHT = [
    lambda x, h: x.view(*x.shape[:2], h, -1).transpose(1, 2),
    lambda x, h: torch.stack(x.chunk(h, -1), 1),
    lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3),
]
SPLIT_WRONG = {
    "토큰이 섞였습니다": lambda x, h: x.view(x.shape[0], h, x.shape[1], -1),
    "건너뛰며": lambda x, h: x.view(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
    "모양이 다릅니다": lambda x, h: x.view(*x.shape[:2], h, -1),
    "값이 다릅니다": lambda x, h: torch.stack(x.chunk(h, -1), 1).flip(1),
    "아직 비어 있습니다": lambda x, h: None,
    "텐서여야 하는데 list": lambda x, h: list(x.chunk(h, -1)),
    "ZeroDivisionError": lambda x, h: x / (1 // 0),
}
MERGE_RIGHT = [
    lambda heads: heads.transpose(1, 2).flatten(2),
    lambda heads: torch.cat(heads.unbind(1), -1),
    lambda heads: heads.permute(0, 2, 1, 3).contiguous().view(heads.shape[0], heads.shape[2], -1),
]
MERGE_WRONG = {
    "다른 토큰의 숫자": lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1),
    "한 칸씩 번갈아": lambda heads: heads.permute(0, 2, 3, 1).flatten(2),
    "모양이 다릅니다": lambda heads: heads.transpose(1, 2),
    "값이 다릅니다": lambda heads: torch.cat(heads.unbind(1)[::-1], -1),
    "아직 비어 있습니다": lambda heads: ...,
    "RuntimeError": lambda heads: heads.view(heads.shape[0], heads.shape[2], -1),
}


def by_divmod(weights, query, key):
    layer, head = divmod(weights[:, :, query, key].argmax().item(), weights.shape[1])
    return layer + 1, head + 1


def by_unravel(weights, query, key):
    return tuple(i + 1 for i in torch.unravel_index(weights[..., query, key].argmax(), weights.shape[:2]))


STRONGEST_RIGHT = [by_divmod, by_unravel]
STRONGEST_WRONG = {
    "0부터 센": lambda w, q, k: tuple(i - 1 for i in by_divmod(w, q, k)),
    "뒤바뀌었습니다": lambda w, q, k: by_divmod(w, k, q),
    "다른 토큰": lambda w, q, k: by_divmod(w.amax((-1, -2))[..., None, None], 0, 0),
    "있어야 할 답은": lambda w, q, k: (2, 3),
    "아직 비어 있습니다": lambda w, q, k: None,
    "TypeError": lambda w, q, k: 4,
}

EXERCISES = [
    (check_split_heads, SPLIT_RIGHT, SPLIT_WRONG),
    (check_merge_heads, MERGE_RIGHT, MERGE_WRONG),
    (check_strongest_head, STRONGEST_RIGHT, STRONGEST_WRONG),
]


@pytest.mark.parametrize("grade, answer", [(grade, answer) for grade, right, _ in EXERCISES for answer in right])
def test_right_answers_pass_however_they_are_written(grade, answer, capsys):
    grade(answer)
    assert capsys.readouterr().out.startswith("✓ 맞습니다")


@pytest.mark.parametrize(
    "grade, hint, answer", [(grade, hint, answer) for grade, _, wrong in EXERCISES for hint, answer in wrong.items()]
)
def test_mistakes_get_the_fitting_hint(grade, hint, answer, capsys):
    grade(answer)
    said = capsys.readouterr().out
    assert said.startswith("✗ ") and hint in said

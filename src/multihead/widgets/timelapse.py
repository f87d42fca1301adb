"""Timelapse: attention maps and accuracy of recorded training runs, from the first step to the last."""

import base64
from collections.abc import Sequence

import torch
import traitlets

from multihead.models.neighbours import VOCABULARY, Recording
from multihead.widgets.base import Widget, join_module


class Timelapse(Widget):
    """헤드 수가 다른 학습을 나란히 되감아 보며, 헤드마다 어텐션 지도가 생겨나는 과정을 봅니다.

    recordings  multihead.models.neighbours.train()이 돌려준 기록. 헤드 수마다 하나씩, 같은 걸음에 기록한 것이어야 합니다.
    step        보여 줄 걸음. 기록한 걸음 가운데 하나입니다.

    기록에 든 숫자를 그대로 보여 줍니다. 가중치는 0부터 255까지의 정수 하나로 줄여 페이지에 담습니다.
    """

    _esm = join_module("timelapse.js")

    step = traitlets.Int().tag(sync=True)
    # {"steps": [n], "tokens": [T], "runs": [{"h", "both": [n], "losses": [n]}]}
    _recording = traitlets.Dict(read_only=True).tag(sync=True)
    # base64 of uint8 weights · 255, by step, run, head, query, key: 39 steps of h = 1, 2, 4, 8 with T = 16 are 200 kB
    _maps = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(self, recordings: Sequence[Recording], **settings):
        recordings = list(recordings)
        if not recordings:
            raise ValueError("기록이 하나도 없습니다. train()이 돌려준 기록을 하나 이상 넣으십시오.")
        first = recordings[0]
        for other in recordings[1:]:
            if other.steps != first.steps:
                raise ValueError(
                    f"기록한 걸음이 서로 다릅니다: {_span(first)}, {_span(other)}. 모두 같은 record_at으로 기록하십시오."
                )
            if not torch.equal(other.tokens, first.tokens):
                raise ValueError("지도를 기록한 문장이 서로 다릅니다. 같은 버전의 train()으로 기록하십시오.")
        self.set_trait("_recording", _summary(recordings))
        self.set_trait("_maps", _packed(recordings))
        super().__init__(**{"step": first.steps[0], **settings})

    @traitlets.validate("step")
    def _step_was_recorded(self, proposal):
        steps = self._recording["steps"]
        if proposal.value not in steps:
            nearest = min(steps, key=lambda step: abs(step - proposal.value))
            raise traitlets.TraitError(
                f"step의 값은 기록한 걸음 가운데 하나입니다. 받은 값: {proposal.value}, 가장 가까운 걸음: {nearest}"
            )
        return proposal.value


def _span(recording: Recording) -> str:
    steps = recording.steps
    return f"h = {recording.num_heads}의 기록은 {steps[0]}부터 {steps[-1]}까지 {len(steps)}번"


def _summary(recordings: list[Recording]) -> dict:
    return {
        "steps": recordings[0].steps,
        "tokens": [VOCABULARY[token] for token in recordings[0].tokens.tolist()],
        "runs": [
            {
                "h": recording.num_heads,
                "both": [round(accuracy.both, 4) for accuracy in recording.accuracy],
                "losses": [round(loss, 3) for loss in recording.losses.tolist()],
            }
            for recording in recordings
        ],
    }


def _packed(recordings: list[Recording]) -> str:
    maps = torch.cat([recording.maps for recording in recordings], dim=1)  # (n, h of all runs, T, T)
    return base64.b64encode((maps * 255).round().to(torch.uint8).numpy().tobytes()).decode()

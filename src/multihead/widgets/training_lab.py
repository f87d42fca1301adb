"""TrainingLab: the two-neighbours experiment of chapter 02, trained in the reader's browser."""

import traitlets

from multihead.widgets.base import Choice, IntRange, Widget, join_module

LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1)  # the last one is too large for any seed


class TrainingLab(Widget):
    """양쪽 이웃의 이름을 대는 모델을 브라우저에서 학습하며, 헤드가 일을 나누어 맡는 과정을 봅니다.

    h              헤드 수 (1~8)
    compare        나란히 학습할 다른 헤드 수 (1~8). None이면 견주지 않습니다.
    d_model        모델 차원 (8~64). h로 나누어떨어지지 않으면 위젯이 그 까닭을 설명합니다.
    learning_rate  학습률. 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1 가운데 하나
    seed           처음 파라미터와 학습할 문장의 시드 (0~99)
    scaling        False이면 점수를 √d_k로 나누지 않습니다.

    계산은 언제나 브라우저가 합니다. 커널에서는 history로 숫자를 가져올 수 있습니다.
    난수 생성기가 달라서 같은 시드라도 multihead.models.neighbours.train()과 숫자가 똑같지는 않습니다.
    """

    _esm = join_module("training_lab.js")

    h = IntRange(2, 1, 8)
    compare = IntRange(None, 1, 8)
    d_model = IntRange(32, 8, 64)
    learning_rate = Choice(0.003, LEARNING_RATES)
    seed = IntRange(0, 0, 99)
    scaling = Choice(True, (False, True))
    _history = traitlets.List().tag(sync=True)
    # The Worker's module as text: no file beside the page is needed, so that a kernel and a page work alike.
    _worker = traitlets.Unicode(join_module("training_worker.js")).tag(sync=True)

    @property
    def history(self) -> list[dict]:
        """What was measured so far: a dict for each measured step and run, as ``pandas.DataFrame`` takes them.

        step, h, loss (nats, both answers), left, right, both (shares of right answers, 0 to 1) on held-out sequences,
        shares: [left, right] of each head, as neighbour_shares() of multihead.models.neighbours. Empty before the first step.
        """
        return [dict(row) for row in self._history]

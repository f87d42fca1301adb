"""ParameterCounter: how many parameters, FLOPs and bytes multi-head attention takes, drawn to scale."""

from multihead.widgets.base import Choice, IntRange, Widget, join_module


class ParameterCounter(Widget):
    """멀티헤드 어텐션 한 층의 파라미터 수, 계산량, 점수 메모리를 넓이와 길이로 보여 줍니다.

    h        헤드 수 (1~64)
    d_model  모델 차원 (8~4096). h로 나누어떨어지지 않으면 위젯이 그 까닭을 설명합니다.
    bias     True이면 투영마다 편향을 둡니다.
    T        토큰 수 (1~16384)
    g        KV 헤드 수 (1~64). None이면 언제나 h와 같습니다(MHA).
    """

    _esm = join_module("parameter_counter.js")

    h = IntRange(8, 1, 64)
    d_model = IntRange(512, 8, 4096)
    bias = Choice(True, (False, True))
    T = IntRange(128, 1, 16384)
    g = IntRange(None, 1, 64)

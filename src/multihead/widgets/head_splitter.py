"""HeadSplitter: how view and transpose turn (B, T, D) into (B, h, T, d_k)."""

import traitlets

from multihead.widgets.base import Choice, IntRange, Widget, join_module


class HeadSplitter(Widget):
    """d_model개의 숫자를 h개의 헤드로 나누는 과정을 한 단계씩 보여 줍니다.

    h        헤드 수 (1~16)
    d_model  토큰 하나의 숫자 수 (8~512). h로 나누어떨어지지 않으면 위젯이 그 까닭을 설명합니다.
    T        토큰 수 (2~16)
    step     "x": X·W, "view": view, "heads": view와 transpose, "wrong": transpose를 빠뜨린 view
    token    따라갈 토큰의 번호 (0~T-1)
    compact  True이면 h와 d_model, 처음 세 단계만 보여 줍니다.
    """

    _esm = join_module("head_splitter.js")

    h = IntRange(4, 1, 16)
    d_model = IntRange(64, 8, 512)
    T = IntRange(5, 2, 16)
    step = Choice("view", ("x", "view", "heads", "wrong"))
    token = IntRange(0, 0, 15)
    compact = Choice(False, (False, True))

    @traitlets.observe("T")
    def _keep_token_inside(self, change):
        self.token = min(self.token, change.new - 1)

    @traitlets.validate("token")
    def _token_in_sentence(self, proposal):
        if proposal.value >= self.T:
            raise traitlets.TraitError(
                f"T = {self.T}일 때 token의 범위는 0부터 {self.T - 1}까지입니다. 받은 값: {proposal.value}"
            )
        return proposal.value

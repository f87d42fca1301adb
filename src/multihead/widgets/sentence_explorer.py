"""SentenceExplorer: a sentence of the reader's own, and what every head of a real BERT does with it."""

import traitlets
from torch import Tensor

from multihead.heads.annotated import is_word
from multihead.models.bert import PACKAGED, Attention, Bert, load_bert
from multihead.models.text import normalize_text
from multihead.widgets.base import Choice, IntRange, Text, Widget, join_module, pack_weights

MAX_TOKENS = 64  # of one sentence; the model in the browser has no more positions (site/bert_files.py)

# At most 14 tokens each. Two of them differ in one word, and so do the next two.
PREPARED = [
    "The cat sat on the mat because it was tired.",
    "The cat sat on the mat because it was soft.",
    "The key to the cabinets is on the table.",
    "The keys to the cabinets are on the table.",
    "Mina bought a red apple and ate it slowly.",
    "When the rain stopped, two children ran outside.",
]


class SentenceExplorer(Widget):
    """문장을 쓰면 진짜 BERT의 모든 헤드가 그 문장을 어떻게 보는지 그립니다. 두 문장을 견줄 수도 있습니다.

    bert      load_bert()가 돌려준 모델. 없으면 책의 기본 모델을 읽습니다.
    text      볼 문장. 토큰 64개까지 됩니다.
    compare   견줄 문장. ""이면 견주지 않습니다.
    layer     보일 헤드의 층, 1부터
    head      보일 헤드의 번호, 1부터
    specials  False이면 [CLS]와 [SEP]의 행과 열을 그리지 않습니다.

    준비된 문장은 만들 때 계산해 둡니다. 다른 문장은 커널이 있으면 이 모델이, 책의 페이지에서는 브라우저가 계산합니다.
    """

    _esm = join_module("sentence_explorer.js")

    text = Text(PREPARED[0])
    compare = Text("")
    layer = IntRange(1, 1, 999)
    head = IntRange(3, 1, 999)
    specials = Choice(True, (False, True))
    _recorded = traitlets.Dict().tag(sync=True)
    _weights = traitlets.Unicode().tag(sync=True)  # the maps of the prepared sentences, (layers, h, T, T) each

    def __init__(self, bert: Bert | None = None, **settings):
        self._bert = bert or load_bert()
        attentions = [self._bert.attend(text) for text in PREPARED]
        self._recorded = {
            "layers": self._bert.num_layers,
            "heads": self._bert.num_heads,
            "packaged": self._bert.name == PACKAGED,  # the model that the page's own files hold
            "most": self._most_tokens,
            "sentences": [{"text": text, "tokens": a.tokens} for text, a in zip(PREPARED, attentions)],
        }
        self._weights = pack_weights(attention.weights for attention in attentions)
        super().__init__(**settings)
        self.on_msg(self._answer)

    @property
    def _most_tokens(self) -> int:
        return min(MAX_TOKENS, self._bert.max_length)

    @traitlets.validate("layer", "head")
    def _exists(self, proposal):
        count = self._recorded[f"{proposal.trait.name}s"]
        if proposal.value > count:
            raise traitlets.TraitError(
                f"{proposal.trait.name}의 범위는 1부터 {count}까지입니다. 받은 값: {proposal.value}"
            )
        return proposal.value

    def _answer(self, _, question, buffers) -> None:
        """Answers ``{"id", "text"}`` as worker.js does: with the tokens and the maps, or with what is wrong."""
        try:
            reply, maps = self._attend(question["text"])
        except Exception as error:  # whatever it is, the reader must not wait in vain
            reply, maps = {"error": {"kind": "fault", "message": str(error)}}, []
        self.send({"id": question["id"], **reply}, maps)

    def _attend(self, text: str) -> tuple[dict, list[bytes]]:
        count = len(self._bert.tokenizer.tokenize(normalize_text(text), verbose=False)) + 2  # [CLS] and [SEP]
        if count == 2:
            return {"error": {"kind": "empty"}}, []
        if count > self._most_tokens:
            return {"error": {"kind": "too_long", "count": count, "most": self._most_tokens}}, []
        attention = self._bert.attend(text)
        return {"tokens": attention.tokens}, [attention.weights.numpy().astype("<f4").tobytes()]


def matched_tokens(first: list[str], second: list[str]) -> list[tuple[int, int]]:
    """Pairs (token of first, token of second): the longest common beginning and, behind it, the longest common end."""
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return [(i, i) for i in range(start)] + [(len(first) - i, len(second) - i) for i in range(end, 0, -1)]


def head_reactions(first: Attention, second: Attention) -> Tensor:
    """How much each head's rows change from one sentence to the other: (layers, h), 0 to 1.

    Let M be the matched tokens of the two sentences, a and b the two rows of a matched query. Their distance is the
    total variation, where the keys without a partner count as one key, the changed part of the sentence:

        ½ (Σ_{(k, l) in M} |a_k − b_l| + |Σ_{k not in M} a_k − Σ_{l not in M} b_l|)

    A head's reaction is the mean over the matched queries that are words. Raises ValueError if there are none.
    """
    pairs = matched_tokens(first.tokens, second.tokens)
    rows = [pair for pair in pairs if is_word(first.tokens[pair[0]])]
    if not rows:
        raise ValueError("두 문장의 처음과 끝에 같은 낱말이 없어 견줄 행이 없습니다.")
    keys_a, keys_b = (list(keys) for keys in zip(*pairs))
    rows_a, rows_b = (list(queries) for queries in zip(*rows))
    a = first.weights[:, :, rows_a].double()  # (layers, h, rows, keys)
    b = second.weights[:, :, rows_b].double()
    a_matched, b_matched = a[..., keys_a], b[..., keys_b]
    changed = (a.sum(-1) - a_matched.sum(-1)) - (b.sum(-1) - b_matched.sum(-1))
    return (((a_matched - b_matched).abs().sum(-1) + changed.abs()) / 2).mean(-1)

"""What a head does, in numbers: where it looks, how sharply, which words it joins, and what is lost without it.

Tensors count layers and heads from 0. A head that is named to a reader, such as (6, 12), counts from 1::

    bert = load_bert()
    scores = relation_accuracy(bert, load_sentences("en"))
    det = scores["det", "dependent"]              # does a determiner look at its noun?
    det.best, det.accuracy.max(), det.baseline

The method is that of Clark et al. (2019), "What Does BERT Look At?", section 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..models.bert import Attention, Bert, composed
from ..models.text import normalize_text
from .annotated import RELATIONS, AnnotatedSentence, is_word

Head = tuple[int, int]  # (layer, head), both from 1
# -- where a head looks, and how sharply -----------------------------------------------------------------------------


def positional_scores(attentions: Sequence[Attention]) -> dict[str, torch.Tensor]:
    """Mean weight (layers, h) that a word piece gives to a place, over all pieces but [CLS] and [SEP].

    previous, next    the neighbouring piece; pieces at the edge of a text have none and are left out
    self              itself
    first, separator  the first token ([CLS]); all [SEP] of the text together
    """
    places = {name: [] for name in ("previous", "next", "self", "first", "separator")}
    for attention in attentions:
        inside, separators = _inside(attention), _separators(attention)
        rows = attention.weights[:, :, inside]  # (layers, h, pieces, T)
        places["self"].append(rows[..., inside].diagonal(dim1=-2, dim2=-1))
        places["first"].append(rows[..., 0])
        places["separator"].append(rows[..., separators].sum(-1))
        for name, step in (("previous", -1), ("next", 1)):
            queries = [i for i in inside if i + step in inside]
            places[name].append(attention.weights[:, :, queries, [i + step for i in queries]])
    return {name: torch.cat(weights, -1).mean(-1) for name, weights in places.items()}


def entropy(attentions: Sequence[Attention]) -> torch.Tensor:
    """Mean entropy (layers, h) in nats of a word piece's weights. 0: all on one token; ln T: evenly on all T."""
    rows = [attention.weights[:, :, _inside(attention)] for attention in attentions]
    return torch.cat([-torch.xlogy(weights, weights).sum(-1) for weights in rows], -1).mean(-1)


def _separators(attention: Attention) -> list[int]:
    last = len(attention.tokens) - 1
    return [last] if attention.pair_start is None else [attention.pair_start - 1, last]


def _inside(attention: Attention) -> list[int]:
    """Places of the word pieces: neither [CLS] nor [SEP]."""
    return [i for i in range(1, len(attention.tokens)) if i not in _separators(attention)]


# -- from word pieces to words ---------------------------------------------------------------------------------------


def word_maps(bert: Bert, sentences: Sequence[AnnotatedSentence]) -> list[torch.Tensor]:
    """For each sentence of W words the weights (layers, h, W, W) between its words.

    A word cut into pieces receives what its pieces receive together and gives what they give on average (Clark et al.,
    section 4.1). [CLS] and [SEP] are left out, so that a row sums to less than 1.
    """
    attentions = bert.attend_all([sentence.text for sentence in sentences])
    return [_word_map(bert, attention, sentence.words) for attention, sentence in zip(attentions, sentences)]


def _word_map(bert: Bert, attention: Attention, words: Sequence[str]) -> torch.Tensor:
    pieces = bert.tokenizer([normalize_text(word) for word in words], is_split_into_words=True)
    inside = [token for token, word in enumerate(pieces.word_ids()) if word is not None]
    word_of_piece = torch.tensor([pieces.word_ids()[token] for token in inside])
    if composed(pieces.tokens()) != attention.tokens or len(word_of_piece.unique()) != len(words):
        raise ValueError(f"토큰을 낱말에 맞추지 못했습니다. 낱말: {words}, 토큰: {attention.tokens}")
    between_pieces = attention.weights[:, :, inside][..., inside]
    layers, h, num_pieces, _ = between_pieces.shape
    received = torch.zeros(layers, h, num_pieces, len(words)).index_add_(3, word_of_piece, between_pieces)
    given = torch.zeros(layers, h, len(words), len(words)).index_add_(2, word_of_piece, received)
    return given / word_of_piece.bincount()[:, None]  # the mean over the pieces of the source


def readable_share(bert: Bert, sentences: Sequence[AnnotatedSentence]) -> float:
    """Share of words that the tokenizer keeps readable; punctuation is no word.

    An English model breaks Korean into jamo or into [UNK]. A piece is whole letters: jamo of different pieces do not
    make a syllable again, those of one piece do, as in vocabularies that are written in decomposed Hangul.
    """
    words = [normalize_text(word) for sentence in sentences for word in sentence.words if is_word(word)]
    spelled = ("".join(piece.removeprefix("##") for piece in composed(bert.tokenizer.tokenize(word))) for word in words)
    return sum(text in (word, word.lower()) for text, word in zip(spelled, words)) / len(words)


# -- which words a head joins ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RelationScore:
    """How often each head joins the two words of a relation. Kept by sentence, so that it can be resampled."""

    relation: str
    looking: str  # which of the two words looks at the other: "dependent" or "head"
    hits: torch.Tensor  # (sentences, layers, h): pairs that the head got right
    pairs: torch.Tensor  # (sentences,): pairs that there are
    offset: int  # of the baseline: the head is the word this many places to the right of its dependent
    offset_hits: torch.Tensor  # (sentences,): pairs that this offset got right

    @property
    def label(self) -> str:
        dependent, head = RELATIONS[self.relation]
        return f"{dependent} → {head}" if self.looking == "dependent" else f"{head} → {dependent}"

    @property
    def count(self) -> int:
        return int(self.pairs.sum())

    @property
    def accuracy(self) -> torch.Tensor:
        """(layers, h), from 0 to 1."""
        return self.hits.sum(0) / self.pairs.sum()

    @property
    def best(self) -> Head:
        layer, head = divmod(self.accuracy.argmax().item(), self.accuracy.shape[1])
        return layer + 1, head + 1

    @property
    def baseline(self) -> float:
        """Accuracy of the best fixed offset."""
        return (self.offset_hits.sum() / self.pairs.sum()).item()

    def interval(self, layer: int, head: int) -> tuple[float, float]:
        """95 % interval of the accuracy of head ``layer``-``head``."""
        return bootstrap_interval(self.hits[:, layer - 1, head - 1], self.pairs)

    def baseline_interval(self) -> tuple[float, float]:
        return bootstrap_interval(self.offset_hits, self.pairs)


def relation_accuracy(bert: Bert, sentences: Sequence[AnnotatedSentence]) -> dict[tuple[str, str], RelationScore]:
    """Scores of every head by (relation, which word looks), for the relations that occur in the sentences.

    looking = "dependent"   the word that the dependent gives most weight, itself aside, is its head
    looking = "head"        of all other words, the head gives the dependent most weight: the transposed map
    """
    hits, pairs_found, distances = {}, {}, {}
    for sentence, maps in zip(sentences, word_maps(bert, sentences)):
        others = maps.masked_fill(torch.eye(len(sentence.words), dtype=torch.bool), -1)
        chosen = {"dependent": others.argmax(-1), "head": others.argmax(-2)}  # (layers, h, W): a word for each word
        for relation, pairs in sentence.relations.items():
            dependents, heads = torch.tensor(pairs).T
            pairs_found.setdefault(relation, []).append(len(pairs))
            distances.setdefault(relation, []).append(heads - dependents)
            for looking, words in chosen.items():
                right = (words[..., dependents] == heads).sum(-1)
                hits.setdefault((relation, looking), []).append(right)
    scores = {}
    for relation, looking in sorted(hits, key=lambda key: (list(RELATIONS).index(key[0]), key[1])):
        offset, offset_hits = best_offset(distances[relation])
        scores[relation, looking] = RelationScore(
            relation, looking, torch.stack(hits[relation, looking]), torch.tensor(pairs_found[relation]), offset, offset_hits
        )
    return scores


def best_offset(distances: Sequence[torch.Tensor]) -> tuple[int, torch.Tensor]:
    """The commonest distance from a dependent to its head, and how many pairs of each sentence have it.

    distances    one tensor a sentence. Clark et al. try -3 to +2; here every distance may win.
    """
    offset = torch.cat(list(distances)).mode().values.item()
    return offset, torch.stack([(found == offset).sum() for found in distances])


def bootstrap_interval(
    hits: torch.Tensor, pairs: torch.Tensor, *, samples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile interval of sum(hits) / sum(pairs), both (sentences,), when whole sentences are drawn anew.

    Sentences, not pairs: the pairs of one sentence hang together.
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(pairs), (samples, len(pairs)), generator=generator)
    accuracy = hits[drawn].sum(1) / pairs[drawn].sum(1)
    low, high = accuracy.quantile(torch.tensor([0.025, 0.975])).tolist()
    return low, high


def best_directions(scores: dict[tuple[str, str], RelationScore]) -> dict[str, RelationScore]:
    """For each relation the direction whose best head is better, as in table 1 of Clark et al."""
    best = {}
    for (relation, _), score in scores.items():
        if relation not in best or score.accuracy.max() > best[relation].accuracy.max():
            best[relation] = score
    return best

"""Multi-head attention, as in "Attention Is All You Need" (Vaswani et al. 2017, arXiv:1706.03762, section 3.2).

Letters for dimensions, the same in every file and chapter:

    B batch    T query length    S key length    D d_model    h heads    d_k = D / h width of a head

Masks are boolean, and True means *may attend*, as in ``torch.nn.functional.scaled_dot_product_attention``
(``nn.MultiheadAttention`` means the opposite). A query that may attend to nothing gets zeros, never NaN.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from .cache import KVCache


def attention_weights(
    q: Float[Tensor, "... T d_k"], k: Float[Tensor, "... S d_k"], mask: Tensor | None = None, *, scale: float | None = None
) -> Float[Tensor, "... T S"]:
    """softmax(q kᵀ · scale): how much each query takes from each key. Rows sum to 1, or to 0 where all is masked.

    Arguments and errors as in :func:`scaled_dot_product_attention`.
    """
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    # In float32 at least, as the fused kernel: a score beyond 65,504 would be infinite in float16.
    dtype = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(dtype) * scale @ k.to(dtype).transpose(-2, -1)  # (..., T, S)
    if mask is None:
        return scores.softmax(-1).to(q.dtype)
    check_mask(mask, scores.shape)
    # The lowest finite number instead of -inf: a fully masked row stays finite forwards and backwards, and becomes zero.
    weights = scores.masked_fill(~mask, torch.finfo(dtype).min).softmax(-1).masked_fill(~mask, 0)
    return weights.to(q.dtype)


def scaled_dot_product_attention(
    q: Float[Tensor, "... T d_k"],
    k: Float[Tensor, "... S d_k"],
    v: Float[Tensor, "... S d_v"],
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
) -> tuple[Float[Tensor, "... T d_v"], Float[Tensor, "... T S"]]:
    """softmax(q kᵀ / √d_k) v, equation (1) of the paper.

    q (..., T, d_k)   k (..., S, d_k)   v (..., S, d_v)
    mask    boolean, broadcastable to (..., T, S); True = may attend
    scale   factor of the scores, 1/√d_k unless given

    Returns the output (..., T, d_v) and the weights (..., T, S). Any transform of torch.func may be applied.
    Raises ValueError for a mask that is not boolean or does not broadcast.
    """
    weights = attention_weights(q, k, mask, scale=scale)
    return weights @ v, weights


def split_heads(x: Float[Tensor, "B T D"], num_heads: int) -> Float[Tensor, "B h T d_k"]:
    """(B, T, D) -> (B, h, T, d_k): head i gets columns i·d_k to (i+1)·d_k of every token. A view, nothing is copied."""
    B, T, D = x.shape
    check_divisible(D, num_heads)
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)  # (B, h, T, d_k)


def merge_heads(x: Float[Tensor, "B h T d_k"]) -> Float[Tensor, "B T D"]:
    """(B, h, T, d_k) -> (B, T, D): the heads side by side again, the inverse of :func:`split_heads`."""
    return x.transpose(1, 2).flatten(2)  # (B, T, h, d_k) -> (B, T, D)


def causal_mask(T: int, S: int | None = None, *, device: torch.device | str | None = None) -> Bool[Tensor, "T S"]:
    """(T, S), True where the key is not later than the query. S defaults to T.

    With S > T the queries are the *last* T of S positions, as when decoding with a cache (``is_causal=True`` of
    PyTorch would take the first T).
    """
    S = T if S is None else S
    if not 0 <= T <= S:
        raise ValueError(f"쿼리는 키의 마지막 T개여야 하므로 0 ≤ T ≤ S여야 합니다: T = {T}, S = {S}")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def padding_mask(lengths: Tensor, S: int | None = None) -> Bool[Tensor, "B 1 1 S"]:
    """(B, 1, 1, S), True for the first ``lengths[b]`` keys of sentence b, False for its padding.

    lengths   (B,) whole numbers: how many real tokens each sentence has
    S         padded length, the longest sentence unless given
    """
    S = max(lengths.tolist(), default=0) if S is None else S
    if not all(0 <= length <= S for length in lengths.tolist()):
        raise ValueError(f"문장 길이는 0 이상 S 이하여야 합니다: 길이 = {lengths.tolist()}, S = {S}")
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None]


class MultiHeadAttention(nn.Module):
    """Concat(head_1, ..., head_h) W_O with head_i = Attention(Q W_Q_i, K W_K_i, V W_V_i), section 3.2.2 of the paper.

    d_model     width D of the input and of the output
    num_heads   h, a divisor of d_model; each head works in d_k = D / h dimensions
    bias        whether the four projections add one
    dropout     probability of dropping a weight while training

    The h small projections of the paper are the column blocks of one D x D matrix: W_Q, W_K, W_V, W_O.
    Raises ValueError for sizes that are not positive or do not divide.
    """

    def __init__(self, d_model: int, num_heads: int, *, bias: bool = True, dropout: float = 0.0):
        super().__init__()
        self.d_k = check_divisible(d_model, num_heads)
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout은 0 이상 1 미만이어야 합니다: dropout = {dropout}")
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        self.num_kv_heads = num_heads  # GroupedQueryAttention has fewer
        self.W_Q = nn.Linear(d_model, d_model, bias=bias)
        self.W_K = nn.Linear(d_model, d_model, bias=bias)
        self.W_V = nn.Linear(d_model, d_model, bias=bias)
        self.W_O = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "B T D"],
        key: Float[Tensor, "B S D"] | None = None,
        value: Float[Tensor, "B S D"] | None = None,
        *,
        mask: Tensor | None = None,
        cache: KVCache | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B h T S_all"] | None]:
        """Self-attention of ``query``, or cross-attention to ``key`` and ``value`` if they are given.

        query (B, T, D)   key, value (B, S, D), both the query unless given (value: the key, if only that is given)
        mask           boolean, (T, S) or of 4 dimensions that broadcast to (B, h, T, S); True = may attend
        cache          keys and values of earlier calls; the new ones are added, and attention becomes causal
        need_weights   also return the weights; without them the fused kernel of PyTorch does the work, which has
                       no second derivatives and no forward-mode ones (torch.func.jvp)

        Returns the output (B, T, D) and None or the weights (B, h, T, S): per head, before dropout.
        Raises ValueError for inputs of another width and for masks that are not boolean, do not fit or may mean two
        things. The cache is then as it was.
        """
        if cache is not None and (key is not None or value is not None):
            raise ValueError("cache는 셀프 어텐션에만 쓸 수 있습니다. key와 value를 빼고 부르십시오.")
        key = query if key is None else key
        value = key if value is None else value
        self._check_inputs(query, key, value)
        B, T, S = *query.shape[:2], key.shape[1] + (cache.length if cache is not None else 0)
        if mask is not None:
            _check_whose_mask(mask, B, T)
            check_mask(mask, (B, self.num_heads, T, S))
        if cache is not None:
            mask = _also_causal(mask, T, S, query.device)

        q = split_heads(self.W_Q(query), self.num_heads)  # (B, h, T, d_k)
        k = split_heads(self.W_K(key), self.num_kv_heads)  # (B, h, S, d_k)
        v = split_heads(self.W_V(value), self.num_kv_heads)  # (B, h, S, d_k)
        if cache is not None:
            k, v = cache.append(k, v)
        heads, weights = self._attend(q, k, v, mask, need_weights)  # (B, h, T, d_k), (B, h, T, S)
        return self.W_O(merge_heads(heads)), weights

    def _attend(self, q, k, v, mask, need_weights):
        """All heads at once: h is one more batch dimension."""
        dropout = self.dropout if self.training else 0.0
        if not need_weights:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout), None
        weights = attention_weights(q, k, mask)
        return F.dropout(weights, dropout) @ v, weights

    def _check_inputs(self, query, key, value):
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.dim() != 3 or x.shape[-1] != self.d_model:
                raise ValueError(f"{name}의 모양은 (B, T, {self.d_model})이어야 합니다: {tuple(x.shape)}")
        if key.shape[:2] != value.shape[:2] or key.shape[0] != query.shape[0]:
            raise ValueError(
                "배치 크기는 모두 같고 key와 value는 길이가 같아야 합니다: "
                f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
            )

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, num_heads={self.num_heads}, d_k={self.d_k}, dropout={self.dropout}"

    @staticmethod
    def from_torch(module: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The same attention as ``module``, with copied weights. Ours takes (B, T, D) whatever its ``batch_first`` says.

        Raises ValueError for what ours does not have: kdim or vdim other than embed_dim, add_bias_kv, add_zero_attn.
        """
        if not module._qkv_same_embed_dim or module.bias_k is not None or module.add_zero_attn:
            raise ValueError("kdim, vdim, add_bias_kv, add_zero_attn을 쓰지 않은 nn.MultiheadAttention만 옮길 수 있습니다.")
        bias = module.in_proj_bias is not None
        W = module.in_proj_weight.chunk(3)
        b = module.in_proj_bias.chunk(3) if bias else (None,) * 3
        projections = [*zip(W, b), (module.out_proj.weight, module.out_proj.bias)]
        return _with_weights(module, module.embed_dim, module.num_heads, module.dropout, projections)

    @staticmethod
    def from_bert_layer(layer: nn.Module) -> "MultiHeadAttention":
        """The attention of one layer of a transformers ``BertModel`` (``model.encoder.layer[i]``), with copied weights.

        Equal to the layer's attention *before* its residual connection and LayerNorm.
        """
        inner, dense = layer.attention.self, layer.attention.output.dense
        projections = [(linear.weight, linear.bias) for linear in (inner.query, inner.key, inner.value, dense)]
        dropout = inner.dropout.p
        return _with_weights(layer, dense.in_features, inner.num_attention_heads, dropout, projections)


def check_divisible(d_model: int, num_heads: int) -> int:
    """d_k = d_model / num_heads, or a ValueError that names both."""
    if d_model < 1 or num_heads < 1:
        raise ValueError(f"d_model과 num_heads는 1 이상이어야 합니다: d_model = {d_model}, num_heads = {num_heads}")
    if d_model % num_heads:
        raise ValueError(
            "d_model은 num_heads로 나누어떨어져야 합니다: "
            f"d_model = {d_model}, num_heads = {num_heads} (나머지 {d_model % num_heads})"
        )
    return d_model // num_heads


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """ValueError unless ``mask`` is boolean and broadcasts to ``shape`` = (..., T, S)."""
    if mask.dtype != torch.bool:
        raise ValueError(
            f"마스크는 torch.bool이어야 합니다(True = 볼 수 있음): {mask.dtype}. 1과 0으로 된 마스크라면 mask.bool()로, "
            "토크나이저의 attention_mask (B, S)라면 mask.bool()[:, None, None]으로 바꾸십시오."
        )
    fits = mask.dim() <= len(shape) and all(m in (1, s) for m, s in zip(reversed(mask.shape), reversed(shape)))
    if not fits:
        raise ValueError(f"마스크 {tuple(mask.shape)}를 점수 {tuple(shape)} = (..., T, S)에 맞출 수 없습니다.")


def _check_whose_mask(mask: Tensor, B: int, T: int) -> None:
    """ValueError for a mask whose first axis may be the sentence as well as the head or the query."""
    if mask.dim() == 3:
        raise ValueError(
            f"3차원 마스크 {tuple(mask.shape)}는 첫 차원이 배치인지 헤드인지 알 수 없습니다. "
            "mask[:, None] (배치마다) 또는 mask[None] (헤드마다)으로 4차원을 만드십시오."
        )
    if mask.dim() == 2 and mask.shape[0] == B == T > 1:
        raise ValueError(
            f"배치 크기와 쿼리의 길이가 {B}로 같아서 2차원 마스크 {tuple(mask.shape)}의 행이 문장인지 쿼리인지 알 수 없습니다. "
            "mask[None, None] (쿼리마다) 또는 mask[:, None, None] (문장마다)으로 4차원을 만드십시오."
        )


def _also_causal(mask: Tensor | None, T: int, S: int, device: torch.device) -> Tensor | None:
    """The caller's mask and the causal one for the last T of S positions; a single query sees all, no mask needed."""
    if T == 1:
        return mask
    causal = causal_mask(T, S, device=device)
    return causal if mask is None else mask & causal


def _with_weights(source: nn.Module, d_model: int, num_heads: int, dropout: float, projections) -> MultiHeadAttention:
    """A module with copies of the (weight, bias) of W_Q, W_K, W_V, W_O, in the mode, dtype and place of ``source``."""
    mha = MultiHeadAttention(d_model, num_heads, bias=projections[0][1] is not None, dropout=dropout)
    mha.to(projections[0][0]).train(source.training)
    with torch.no_grad():
        for ours, (weight, bias) in zip((mha.W_Q, mha.W_K, mha.W_V, mha.W_O), projections):
            ours.weight.copy_(weight)
            if bias is not None:
                ours.bias.copy_(bias)
    return mha

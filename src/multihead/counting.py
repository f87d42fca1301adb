"""How many parameters, operations and bytes attention takes. Formulas to read, and to check measurements against.

Letters as in attention.py: D d_model, h heads, g KV heads, d_k = D / h, T query length, S key length, B batch. Some
published models have another d_k than D / h: give it wherever there is a ``d_k``.
One multiplication with its addition counts as 2 FLOPs; softmax, scaling and biases are left out (they grow more slowly).
"""

from dataclasses import dataclass

from .attention import check_divisible
from .grouped import check_kv_heads


def attention_parameters(
    d_model: int, num_heads: int, num_kv_heads: int | None = None, *, bias: bool = True, d_k: int | None = None
) -> dict[str, int]:
    """Parameters of W_Q, W_K, W_V and W_O: 4 D² + 4 D in all for multi-head attention with biases, whatever h is."""
    d_q, d_kv = _widths(d_model, num_heads, num_kv_heads, d_k)
    shapes = {"W_Q": (d_model, d_q), "W_K": (d_model, d_kv), "W_V": (d_model, d_kv), "W_O": (d_q, d_model)}
    return {name: (inputs + bias) * outputs for name, (inputs, outputs) in shapes.items()}


def attention_flops(
    d_model: int,
    num_heads: int,
    T: int,
    S: int | None = None,
    num_kv_heads: int | None = None,
    *,
    d_k: int | None = None,
) -> dict[str, int]:
    """FLOPs of one layer for T queries and S keys (S = T unless given): projections, scores q kᵀ, weighted sum of v.

    The projections grow with T D², scores and weighted sum with T S D: from T = S = 2 D on, the latter are the larger part.
    Every query meets every key here. A causal kernel skips the masked half of both: then they are from T = 4 D on.
    """
    S = T if S is None else S
    d_q, d_kv = _widths(d_model, num_heads, num_kv_heads, d_k)
    return {
        "projections": 2 * (2 * T * d_model * d_q + 2 * S * d_model * d_kv),
        "scores": 2 * T * S * d_q,
        "weighted_sum": 2 * T * S * d_q,
    }


def score_bytes(num_heads: int, T: int, S: int | None = None, *, batch: int = 1, bytes_per_number: int = 4) -> int:
    """Memory of all score matrices, B · h · T · S numbers: what a fused kernel never writes out."""
    return batch * num_heads * T * (T if S is None else S) * bytes_per_number


def kv_cache_bytes(
    layers: int,
    num_kv_heads: int,
    d_k: int,
    tokens: int = 1,
    *,
    window: int | None = None,
    batch: int = 1,
    bytes_per_number: int = 2,
) -> int:
    """Memory of the key-value cache: 2 (K and V) · layers · g · d_k numbers for each token of each sequence.

    With a sliding window only the last ``window`` tokens are kept.
    """
    kept = tokens if window is None else min(tokens, window)
    return 2 * layers * num_kv_heads * d_k * kept * batch * bytes_per_number


@dataclass(frozen=True)
class PublishedModel:
    """The attention of a published model.

    context   tokens that it was made to read at once;  window: how many of them a query sees, if not all
    source    where the numbers were read;  note: what to look out for
    """

    name: str
    layers: int
    num_heads: int
    num_kv_heads: int
    d_k: int
    d_model: int
    context: int
    source: str
    note: str = ""
    window: int | None = None

    def kv_cache_bytes(self, tokens: int = 1, *, batch: int = 1, bytes_per_number: int = 2) -> int:
        """Of any number of tokens, also of more than the model can read."""
        return kv_cache_bytes(
            self.layers, self.num_kv_heads, self.d_k, tokens,
            window=self.window, batch=batch, bytes_per_number=bytes_per_number,
        )  # fmt: skip


_LITGPT = "Lightning-AI/litgpt, config.py"

PUBLISHED_MODELS = (
    PublishedModel("GPT-2 small", 12, 12, 12, 64, 768, 1024, "transformers GPT2Config"),
    PublishedModel(
        "GPT-3 175B", 96, 96, 96, 128, 12288, 2048, "arXiv:2005.14165, 표 2.1",
        "층의 절반은 가까운 토큰만 보지만, 그 폭을 밝히지 않아 모든 층이 모든 토큰을 담는 것으로 셉니다.",
    ),
    PublishedModel(
        "PaLM 540B", 118, 48, 1, 256, 18432, 2048, "arXiv:2204.02311", "h · d_k = 12,288로 d_model과 다릅니다."
    ),
    PublishedModel(
        "Falcon-7B", 32, 71, 1, 64, 4544, 2048, _LITGPT,
        "transformers의 FalconConfig().num_kv_heads는 71이지만 multi_query=True라 KV 헤드는 하나입니다.",
    ),
    PublishedModel("Falcon-40B", 60, 128, 8, 64, 8192, 2048, _LITGPT, "MQA라고 적은 글이 있으나 설정의 KV 헤드는 8개입니다."),
    PublishedModel("Llama-2-7B", 32, 32, 32, 128, 4096, 4096, _LITGPT, "Llama 2에서 GQA를 쓴 것은 34B와 70B뿐입니다."),
    PublishedModel("Llama-2-70B", 80, 64, 8, 128, 8192, 4096, _LITGPT),
    PublishedModel("Llama-3-8B", 32, 32, 8, 128, 4096, 8192, f"{_LITGPT}; arXiv:2407.21783, 표 3"),
    PublishedModel("Llama-3-70B", 80, 64, 8, 128, 8192, 8192, f"{_LITGPT}; arXiv:2407.21783, 표 3"),
    PublishedModel(
        "Mistral-7B", 32, 32, 8, 128, 4096, 8192, "arXiv:2310.06825, 표 1",
        "슬라이딩 윈도를 써서 캐시에는 최근 4,096토큰만 남습니다.", window=4096,
    ),
    PublishedModel(
        "Gemma-2B", 18, 8, 1, 256, 2048, 8192, "arXiv:2403.08295, 표 1", "transformers의 GemmaConfig() 기본값은 이 모델의 설정이 아닙니다."
    ),
    PublishedModel(
        "Qwen2-7B", 28, 28, 4, 128, 3584, 32_768, "arXiv:2407.10671, 표 1",
        "학습한 길이는 32,768토큰이고, YARN으로 늘리면 131,072토큰까지 읽습니다. "
        "transformers의 Qwen2Config() 기본값은 이 모델의 설정이 아닙니다.",
    ),
)


def _widths(d_model: int, num_heads: int, num_kv_heads: int | None, d_k: int | None) -> tuple[int, int]:
    """h · d_k and g · d_k, the widths of the queries and of the keys and values."""
    d_k = check_divisible(d_model, num_heads) if d_k is None else d_k
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    check_kv_heads(num_heads, num_kv_heads)
    return num_heads * d_k, num_kv_heads * d_k

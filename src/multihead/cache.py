"""The key-value cache of autoregressive decoding: keys and values of earlier tokens are kept, not computed again."""

import torch
from jaxtyping import Float
from torch import Tensor


class KVCache:
    """Keys and values of one attention layer: (B, g, length, d_k) each, with g KV heads (g = h without grouping).

    The buffer doubles when it is full, so that a step copies only its own token. ``nbytes`` counts what is stored,
    not the reserve.
    """

    def __init__(self):
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def append(
        self, k: Float[Tensor, "B g T d_k"], v: Float[Tensor, "B g T d_v"]
    ) -> tuple[Float[Tensor, "B g S d_k"], Float[Tensor, "B g S d_v"]]:
        """Add T tokens and return all S keys and values, old and new.

        Raises ValueError if batch, heads, width, dtype or device differ from what the cache holds.
        """
        for buffer, new in ((self._keys, k), (self._values, v)):
            if buffer is not None and _kind(buffer) != _kind(new):
                raise ValueError(
                    "캐시에 든 것과 (배치, KV 헤드, d_k), dtype, 장치가 같아야 합니다: "
                    f"캐시 {_kind(buffer)}, 새 토큰 {_kind(new)}. 새 문장에는 새 KVCache()를 쓰십시오."
                )
        self._keys, self._values = self._extended(self._keys, k), self._extended(self._values, v)
        self.length += k.shape[2]
        return self._keys[:, :, : self.length], self._values[:, :, : self.length]

    @property
    def nbytes(self) -> int:
        """Bytes of the stored keys and values: 2 · B · g · length · d_k · bytes of one number."""
        if self._keys is None:
            return 0
        return sum(x[:, :, : self.length].nbytes for x in (self._keys, self._values))

    def _extended(self, buffer: Tensor | None, new: Tensor) -> Tensor:
        start, end = self.length, self.length + new.shape[2]
        if buffer is None:
            return new.clone()
        if torch.is_grad_enabled() and (buffer.requires_grad or new.requires_grad):
            return torch.cat([buffer[:, :, :start], new], 2)  # autograd still needs the old tensor as it is
        if end > buffer.shape[2]:
            larger = buffer.new_empty(*buffer.shape[:2], max(end, 2 * start), buffer.shape[3])
            larger[:, :, :start] = buffer[:, :, :start]
            buffer = larger
        buffer[:, :, start:end] = new
        return buffer


def _kind(x: Tensor) -> tuple:
    return (*x.shape[:2], x.shape[3]), x.dtype, x.device

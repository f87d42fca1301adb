"""The key-value cache of autoregressive decoding: keys and values of earlier tokens are kept, not computed again."""

import torch
from jaxtyping import Float
from torch import Tensor


class KVCache:
    """Keys and values of one attention layer: (B, g, length, d_k) each, with g KV heads (g = h without grouping).

    Without gradients the buffer doubles when it is full, so that a step copies only its own token; with them each step
    copies all, since autograd needs the old tensors. Either way what a step has returned is never overwritten: a copy of
    a cache may share it and go on by itself. ``nbytes`` counts what is stored, not the reserve.
    """

    def __init__(self):
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def append(
        self, k: Float[Tensor, "B g T d_k"], v: Float[Tensor, "B g T d_v"]
    ) -> tuple[Float[Tensor, "B g S d_k"], Float[Tensor, "B g S d_v"]]:
        """Add T tokens and return all S keys and values, old and new.

        Raises ValueError if batch, heads, width, dtype or device differ from what the cache holds. It is then as it was.
        """
        for buffer, new in ((self._keys, k), (self._values, v)):
            if buffer is not None and _kind(buffer) != _kind(new):
                raise ValueError(
                    "캐시에 든 것과 (배치, KV 헤드, d_k), dtype, 장치가 같아야 합니다: "
                    f"캐시 {_kind(buffer)}, 새 토큰 {_kind(new)}. 새 문장에는 새 KVCache()를 쓰십시오."
                )
        self._keys, self._values = self._extended(self._keys, k), self._extended(self._values, v)
        self.length += k.shape[2]
        return self._stored(self._keys), self._stored(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored keys and values: 2 · B · g · length · d_k · bytes of one number."""
        if self._keys is None:
            return 0
        return self._stored(self._keys).nbytes + self._stored(self._values).nbytes

    def __copy__(self) -> "KVCache":
        """A branch: it shares what is stored, but not the reserve into which this cache goes on writing."""
        branch = KVCache()
        if self._keys is not None:
            branch.length, branch._keys, branch._values = self.length, self._stored(self._keys), self._stored(self._values)
        return branch

    def __deepcopy__(self, memo: dict) -> "KVCache":
        return self.__copy__()

    def _stored(self, buffer: Tensor) -> Tensor:
        return buffer if buffer.shape[2] == self.length else buffer[:, :, : self.length]

    def _extended(self, buffer: Tensor | None, new: Tensor) -> Tensor:
        buffer = new[:, :, :0] if buffer is None else buffer
        # Keys of a step with gradients keep them when steps without follow, or a later loss would miss them.
        if torch.is_grad_enabled() or buffer.requires_grad:
            with torch.inference_mode(False), torch.enable_grad():
                return torch.cat([self._stored(buffer), new], 2)
        end = self.length + new.shape[2]
        # PyTorch lets only inference mode write to a tensor that was made in it.
        if end > buffer.shape[2] or buffer.is_inference() != torch.is_inference_mode_enabled():
            larger = new.new_empty(*new.shape[:2], max(end, 2 * self.length), new.shape[3])
            larger[:, :, : self.length] = buffer[:, :, : self.length]
            buffer = larger
        buffer[:, :, self.length : end] = new
        return buffer


def _kind(x: Tensor) -> tuple:
    return (*x.shape[:2], x.shape[3]), x.dtype, x.device

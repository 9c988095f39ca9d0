"""Keys and values of earlier positions, in stores of fixed capacity that are written in place."""

import torch
import torch.nn.functional as F
from torch import Tensor


class Store:
    """The tensors of one layer, each [B, H, capacity, D]."""

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors
        self.empty = True

    @classmethod
    def create(cls, like: Tensor, *shapes: tuple[int, ...]) -> "Store":
        """Zeros of the given shapes, with the element type and device of `like`."""
        return cls(*(like.new_zeros(shape) for shape in shapes))

    def update(self, slots: Tensor, *new: Tensor) -> list[Tensor]:
        """Writes new positions; gives all that later positions see."""
        stores = [
            store.index_copy_(2, slots, x.to(store.dtype))
            for store, x in zip(self.tensors, new)
        ]
        return list(new) if self.empty else stores


class Cache:
    """The stores of all layers and how many positions are written."""

    def __init__(
        self, layers: list[Store], capacity: int, device: torch.device
    ) -> None:
        self.layers = layers
        self.capacity = capacity
        self.length = torch.zeros((), dtype=torch.int64, device=device)
        self.empty = True

    def advance(self, count: int) -> None:
        """Counts positions that a call has written."""
        self.length += count
        self.empty = False
        for layer in self.layers:
            layer.empty = False


def call_span(past: Cache | None, ids: Tensor) -> tuple[Tensor, int]:
    """The positions that a call on `ids` [B, S] writes, [S], and the number of keys it sees.

    A call that starts a cache sees its own positions only; later ones see the whole stores.
    """
    count = ids.shape[1]
    if past is not None and count > past.capacity:
        raise ValueError(f"{count} positions, the cache has room for {past.capacity}")
    slots = torch.arange(count, device=ids.device)
    if past is None or past.empty:
        return slots, count
    return slots + past.length, past.capacity


def fit_mask(mask: Tensor, count: int) -> Tensor:
    """A padding mask as booleans, [B, count]; positions that it does not name are real."""
    if mask.shape[1] < count:
        mask = F.pad(mask, (0, count - mask.shape[1]), value=1)
    return mask[:, :count].bool()

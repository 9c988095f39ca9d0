"""Keys and values of earlier positions, in stores of fixed capacity."""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.tree_util import register_dataclass
from jax.typing import DTypeLike


@register_dataclass
@dataclass(frozen=True)
class Store:
    """The tensors of one layer, each [B, H, capacity, D]."""

    tensors: tuple[Array, ...]
    empty: bool = field(default=True, metadata={"static": True})

    @classmethod
    def create(cls, dtype: DTypeLike, *shapes: tuple[int, ...]) -> "Store":
        """Zeros of the given shapes."""
        return cls(tuple(jnp.zeros(shape, dtype) for shape in shapes))

    def update(self, slots: Array, *new: Array) -> tuple["Store", tuple[Array, ...]]:
        """The store with the new positions, and all that later positions see."""
        tensors = tuple(
            lax.dynamic_update_slice_in_dim(store, x.astype(store.dtype), slots[0], 2)
            for store, x in zip(self.tensors, new)
        )
        return Store(tensors, empty=False), new if self.empty else tensors


@register_dataclass
@dataclass(frozen=True)
class Cache:
    """The stores of all layers and how many positions are written.

    `layers` is a list of stores, or one store whose tensors have a leading axis of layers. Whether
    it is empty is part of the structure: `jit` compiles once for either case.
    """

    layers: Any
    length: Array
    empty: bool = field(default=True, metadata={"static": True})

    def advance(self, layers: Any, count: int) -> "Cache":
        """The cache after a call that has written `count` positions."""
        return Cache(layers, self.length + count, empty=False)

    @property
    def capacity(self) -> int:
        """How many positions there is room for."""
        return jax.tree.leaves(self.layers)[0].shape[-2]


def call_span(past: Cache | None, ids: Array) -> tuple[Array, int]:
    """The positions that a call on `ids` [B, S] writes, [S], and the number of keys it sees.

    A call that starts a cache sees its own positions only; later ones see the whole stores. Inside
    `jit` nobody sees that a later one has no room: it would overwrite the last positions.
    """
    count = ids.shape[1]
    slots = jnp.arange(count)
    if past is not None:
        begin = (
            0
            if past.empty or isinstance(past.length, jax.core.Tracer)
            else int(past.length)
        )
        if begin + count > past.capacity:
            raise ValueError(
                f"{begin + count} positions, the cache has room for {past.capacity}"
            )
    if past is None or past.empty:
        return slots, count
    return slots + past.length, past.capacity


def fit_mask(mask: Array, count: int) -> Array:
    """A padding mask as booleans, [B, count]; positions that it does not name are real."""
    mask = mask[:, :count].astype(bool)
    rest = ((0, 0), (0, count - mask.shape[1]))
    return jnp.pad(mask, rest, constant_values=True)

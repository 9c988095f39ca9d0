"""Which keys each query sees in a causal model."""

import jax.numpy as jnp
from jax import Array


def causal_keep(
    slots: Array, count: int, real: Array | None, window: int | Array | None = None
) -> Array:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    behind = slots[:, None] - jnp.arange(count)
    keep = behind >= 0 if window is None else (behind >= 0) & (behind < window)
    return keep[None, None] if real is None else keep & real[:, None, None, :]

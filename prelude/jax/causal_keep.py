"""Which keys each query sees in a causal model."""

import jax.numpy as jnp
from jax import Array


def causal_keep(slots: Array, count: int, real: Array | None) -> Array:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    keep = slots[:, None] >= jnp.arange(count)
    return keep[None, None] if real is None else keep & real[:, None, None, :]

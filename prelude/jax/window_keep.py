"""Which keys each query sees in a causal model with a window."""

import jax.numpy as jnp
from jax import Array

from .causal_keep import causal_keep


def window_keep(
    slots: Array, count: int, real: Array | None, window: int | Array
) -> Array:
    """The mask [B or 1, 1, S, count] of the last `window` keys up to each query's slot."""
    near = slots[:, None] - jnp.arange(count) < window
    return causal_keep(slots, count, real) & near

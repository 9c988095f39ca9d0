"""Rotary positions on the two halves of each head."""

import jax.numpy as jnp
from jax import Array


def rope(x: Array, sin: Array, cos: Array) -> Array:
    """Turns element i with element i + D / 2 by the angles of its position: [B, H, S, D]."""
    first, second = jnp.split(x, 2, axis=-1)
    turned = jnp.concatenate((-second, first), axis=-1)
    return x * cos.astype(x.dtype) + turned * sin.astype(x.dtype)

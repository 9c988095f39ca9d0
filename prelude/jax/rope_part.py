"""Rotary positions on the first part of each head."""

import jax.numpy as jnp
from jax import Array

from .rope import rope


def rope_part(x: Array, sin: Array, cos: Array) -> Array:
    """Turns the first elements of each head, as many as there are sines: [B, H, S, D]."""
    width = sin.shape[-1]
    turned = rope(x[..., :width], sin, cos)
    return jnp.concatenate((turned, x[..., width:]), axis=-1)

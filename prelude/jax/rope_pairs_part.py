"""Rotary positions on neighbouring elements of the first part of each head."""

import jax.numpy as jnp
from jax import Array

from .rope_pairs import rope_pairs


def rope_pairs_part(x: Array, sin: Array, cos: Array) -> Array:
    """Turns the first elements of each head, as many as there are sines: [B, H, S, D]."""
    width = sin.shape[-1]
    turned = rope_pairs(x[..., :width], sin, cos)
    return jnp.concatenate((turned, x[..., width:]), axis=-1)

"""Vectors looked up by number."""

from jax import Array


def embed(ids: Array, weight: Array) -> Array:
    """Rows of the table: [...] -> [..., width]."""
    return weight[ids]

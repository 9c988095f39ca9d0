"""The smallest of the last axis."""

from jax import Array, lax


def bottom_k(x: Array, k: int) -> tuple[Array, Array]:
    """The `k` smallest values of the last axis and their places, the smallest first."""
    values, places = lax.top_k(-x, k)
    return -values, places

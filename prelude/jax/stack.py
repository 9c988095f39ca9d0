"""Layers as one tree with a leading axis, as `lax.scan` takes them."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from .params import Params


def copied(params: Params) -> Params:
    """The same arrays in dicts and lists of their own."""
    return jax.tree.map(lambda leaf: leaf, params)


def stack(layers: Sequence[Params]) -> Params:
    """Each parameter of all layers as one array."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)

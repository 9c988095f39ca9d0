"""Where parameters lie on a mesh of devices."""

import re
from collections.abc import Sequence

import jax
from jax.sharding import PartitionSpec
from jax.tree_util import KeyPath

from .leaf_name import leaf_name
from .params import Params


def partition_specs(tree: Params, rules: Sequence[tuple[str, PartitionSpec]]) -> Params:
    """The tree with a partition spec for each parameter.

    The first rule whose pattern matches the whole name decides; what no rule names is replicated.
    """

    def spec(path: KeyPath, _: object) -> PartitionSpec:
        name = leaf_name(path)
        found = (spec for pattern, spec in rules if re.fullmatch(pattern, name))
        return next(found, PartitionSpec())

    return jax.tree_util.tree_map_with_path(spec, tree)

"""The native runtime as a target, through the command."""

import json
import pathlib

import numpy as np

from axon_verify.command import Axon
from axon_verify.targets import Request


class Native:
    """Each call is one run of the command, with exact arithmetic."""

    def __init__(self, axon: Axon, request: Request) -> None:
        self.axon = axon
        self.folder = request.folder
        self.options = request.options

    def outputs(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All outputs of one call of the main definition."""
        return self.axon.forward(self.folder, inputs, *self.options)

    def logits(self, ids: list[int]) -> np.ndarray:
        """Logits of one sequence in one call: [S,V]."""
        return self.axon.logits(self.folder, ids, *self.options)

    def stepped(self, ids: list[int]) -> np.ndarray:
        """The same, token by token into the cache."""
        words = ("--chunk", 1, *self.options)
        return self.axon.logits(self.folder, ids, *words)

    def decoded(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The encoder once, then one call for each token of the decoder."""
        return self.axon.forward(self.folder, inputs, "--chunk", 1, *self.options)

    def generate(
        self, prompts: list[list[int]], count: int, ends: tuple[int, ...] = ()
    ) -> list[list[int]]:
        """Greedy tokens of one batch, each row up to where an end token came."""
        words = ["--prompt-ids", ";".join(spell(ids) for ids in prompts)]
        words += ["--eos-ids", spell(ends)] if ends else ["--ignore-eos"]
        words += ["-n", count, "--math", "exact", "--json", *self.options]
        said = json.loads(self.axon.call("run", self.folder, *words))
        return [row["ids"] for row in said["results"]]


def spell(ids: list[int] | tuple[int, ...]) -> str:
    """Ids as options take them."""
    return ",".join(str(number) for number in ids)


def load(axon: Axon, request: Request, scratch: pathlib.Path) -> Native:
    """The target for one checkpoint."""
    return Native(axon, request)

"""The axon command: arguments in, JSON and tensors out; and what comparisons fail with."""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file


class Failure(Exception):
    """A check that did not hold; the text says what was seen."""


class Outputs(dict):
    """Outputs by name; a name that is not there is a failure."""

    def __missing__(self, name: str) -> np.ndarray:
        raise Failure(f"no output `{name}` among {', '.join(self)}")


# Checks run side by side, so each has one thread unless it asks for more.
MODEL_VERBS = {"run", "chat", "embed", "score", "forward"}


class Axon:
    """Runs one binary with exact arithmetic."""

    def __init__(self, path: pathlib.Path, scratch: pathlib.Path) -> None:
        self.path = path
        self.scratch = scratch
        self.env = dict(os.environ, NO_COLOR="1")

    def call(self, *words: object, given: str = "", timeout: int = 900) -> str:
        """Standard output of a call with this input; a status other than zero is a failure."""
        command = [str(self.path), *[str(word) for word in words]]
        if words[0] in MODEL_VERBS and "--threads" not in words:
            command += ["--threads", "1"]
        try:
            done = subprocess.run(
                command,
                input=given.encode(),
                capture_output=True,
                env=self.env,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise Failure(
                f"no answer in {timeout} s: {' '.join(command)[:300]}"
            ) from late
        if done.returncode != 0:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise Failure(
                f"status {done.returncode} of {' '.join(command)[:300]}: {said[-600:]}"
            )
        return done.stdout.decode("utf-8")

    def run(self, model: object, *options: object, count: int = 24) -> dict:
        """The JSON of `axon run`."""
        return json.loads(
            self.call(
                "run",
                model,
                "-n",
                count,
                "--math",
                "exact",
                "--ignore-eos",
                "--json",
                *options,
            )
        )

    def continue_ids(
        self, model: object, prompt: list[int], count: int, *options: object
    ) -> list[int]:
        """Greedy tokens after a prompt given as ids."""
        ids = ",".join(str(number) for number in prompt)
        return self.run(model, "--prompt-ids", ids, *options, count=count)["results"][
            0
        ]["ids"]

    def forward(
        self, model: object, inputs: dict[str, np.ndarray], *options: object
    ) -> dict[str, np.ndarray]:
        """Outputs of one call of the main definition, by name."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            source = pathlib.Path(folder) / "in.safetensors"
            target = pathlib.Path(folder) / "out.safetensors"
            save_file(
                {name: np.ascontiguousarray(value) for name, value in inputs.items()},
                source,
            )
            self.call(
                "forward",
                model,
                "--inputs",
                source,
                "-o",
                target,
                "--math",
                "exact",
                *options,
            )
            return Outputs(load_file(target))

    def logits(self, model: object, ids: list[int], *options: object) -> np.ndarray:
        """Logits at every position of one sequence: [S,V]."""
        return self.forward(
            model, {"input_ids": np.array([ids], dtype=np.int64)}, *options
        )["logits"][0]


def near(found: np.ndarray, expected: np.ndarray, tolerance: float, what: str) -> None:
    """Fails unless the arrays agree within an absolute tolerance."""
    if found.shape != expected.shape:
        raise Failure(f"{what}: shape {found.shape}, expected {expected.shape}")
    if not np.isfinite(found).all():
        raise Failure(
            f"{what}: {np.count_nonzero(~np.isfinite(found))} values are not finite"
        )
    worst = float(np.abs(found - expected).max())
    if worst > tolerance:
        place = np.unravel_index(int(np.abs(found - expected).argmax()), found.shape)
        raise Failure(
            f"{what}: off by {worst:.3g} at {tuple(int(i) for i in place)}, tolerance {tolerance:g}"
        )


def same(found: object, expected: object, what: str) -> None:
    """Fails unless two values are equal."""
    if found != expected:
        raise Failure(f"{what}: saw {str(found)[:300]}, expected {str(expected)[:300]}")

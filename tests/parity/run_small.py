#!/usr/bin/env python3
"""Runs small emitted programs beside the native runtime: run_small.py AXON [--target torch|jax].

PyTorch runs here, JAX where it is installed; both without --target. Each program of tests/emit/small says its inputs in lines `-- input NAME DTYPE SIZES`. They hold what no family
does: loops whose carried values are one another's, sizes that only the call gives, options of operations.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]

import dev  # noqa: E402
from binary import Axon, Failure  # noqa: E402 first: it says where axon_verify is
from axon_verify.targets import Request, load  # noqa: E402
from checkpoints import Tally  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402

PROGRAMS = HERE.parent / "emit" / "small"
TOLERANCE = 1e-5


def inputs_of(program: pathlib.Path) -> dict[str, np.ndarray]:
    """Random values for the inputs that a program names."""
    random = np.random.default_rng(7)
    out: dict[str, np.ndarray] = {}
    for line in program.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:2] != ["--", "input"]:
            continue
        values = random.normal(size=[int(n) for n in words[4].split(",")])
        out[words[2]] = np.abs(values * 3).astype(words[3])
        if words[3] == "float32":
            out[words[2]] = values.astype(np.float32)
    return out


def checkpoint(folder: pathlib.Path) -> pathlib.Path:
    """A folder that a program without parameters takes for its checkpoint."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"architectures": ["Small"]}))
    save_file({"unread": np.zeros(1, np.float32)}, folder / "model.safetensors")
    return folder


def check(axon: Axon, program: pathlib.Path, target: str) -> None:
    """Outputs of the emitted file are those of the native runtime, by name."""
    with tempfile.TemporaryDirectory(dir=axon.scratch) as place:
        scratch = pathlib.Path(place)
        folder, options = checkpoint(scratch / program.stem), ("--program", program)
        inputs = inputs_of(program)
        given, made = scratch / "in.safetensors", scratch / "out.safetensors"
        save_file(inputs, given)
        axon.call("forward", folder, *options, "--inputs", given, "-o", made)
        request = Request(folder, tuple(map(str, options)))
        found = load(target, axon, request, scratch).outputs(inputs)
        compare(found, load_file(made))


def compare(found: dict[str, np.ndarray], want: dict[str, np.ndarray]) -> None:
    """Fails unless both have the same values; a lone output may have another name."""
    if len(found) != len(want):
        raise Failure(f"outputs {list(found)}, natively {list(want)}")
    for name, array in found.items():
        other = want[name] if len(want) > 1 else next(iter(want.values()))
        if array.shape != other.shape:
            raise Failure(f"{name} is {array.shape}, natively {other.shape}")
        off = float(np.abs(array - other).max())
        if not off <= TOLERANCE:
            raise Failure(f"{name} is off by {off:.3g}")


def run(path: str, target: str) -> int:
    """Every program is a check."""
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(pathlib.Path(path).resolve(), pathlib.Path(scratch))
        tally = Tally()
        for program in sorted(PROGRAMS.glob("*.axon")):
            name = f"{program.stem} {target}"
            tally.check(name, lambda p=program: check(axon, p, target))
        return tally.finish()


def main() -> int:
    """Both targets, each where its framework is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("axon")
    parser.add_argument("--target", choices=("torch", "jax"))
    args = parser.parse_args()
    if args.target:
        return run(args.axon, args.target)
    python = dev.environment("jax") / "bin" / "python"
    words = [str(python), __file__, args.axon, "--target", "jax"]
    elsewhere = subprocess.run(words, check=False).returncode
    return run(args.axon, "torch") or elsewhere


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks `axon verify` as people call it: run_verify.py AXON.

A program that is right passes; one that is not fails with the place and the line; what is missing is said
with the status of the world. The last line says how many checks passed and failed.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts")]

import dev  # noqa: E402
from binary import Failure, same  # noqa: E402
from checkpoints import CACHE, ROOT, Tally, tiny_checkpoints  # noqa: E402


class Verify:
    """Runs the verb with this interpreter."""

    def __init__(self, axon: pathlib.Path, scratch: pathlib.Path) -> None:
        self.axon = axon
        self.scratch = scratch

    def __call__(self, *words: object, python: object = sys.executable):
        """Status, standard output and standard error of a call."""
        command = [self.axon, "verify", *words, "--python", python]
        env = dict(os.environ, OMP_NUM_THREADS="1", NO_COLOR="1")
        env |= {"JAX_COMPILATION_CACHE_DIR": str(CACHE / "parity" / "jax")}
        env |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            env=env,
            timeout=900,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


def python_with_jax(folder: pathlib.Path) -> pathlib.Path:
    """This interpreter, to which another environment adds JAX."""
    (packages,) = (dev.environment("jax") / "lib").glob("python*/site-packages")
    python = folder / "with-jax"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{packages}" exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    return python


def good(verify: Verify) -> None:
    """A family by name: checkpoints are made and kept, one object for each target."""
    keep, targets = verify.scratch / "kept", ["native", "torch", "jax"]
    words = ("--tiny", "llama-grouped", "--keep", keep, "--target", ",".join(targets))
    python = python_with_jax(verify.scratch)
    status, out, err = verify(*words, "-n", 24, "--json", python=python)
    same(status, 0, f"status; it said {err[-300:]}{out[-600:]}")
    found = [json.loads(line) for line in out.splitlines()]
    same([one["target"] for one in found], targets, "targets")
    for one in found:
        same(one["pass"], True, "pass")
        same(one["tokens_equal"], True, "tokens_equal")
        same(one["top1_agreement"], 1.0, "top1_agreement")
        same(one["first_divergence"], None, "first_divergence")
        same(one["logits_max_abs"] <= one["tolerance"], True, "logits")
    same((keep / "llama-grouped" / "model.safetensors").exists(), True, "kept")


def wrong_program(folder: pathlib.Path) -> tuple[pathlib.Path, int]:
    """A llama whose gate is added, and the line after which it shows."""
    text = (ROOT / "zoo" / "llama.axon").read_text(encoding="utf-8")
    changed = text.replace("(gate * up)", "(gate + up)")
    same(changed != text, True, "the program has such a product")
    path = folder / "wrong.axon"
    path.write_text(changed, encoding="utf-8")
    lines = changed.splitlines()
    return path, next(i for i, x in enumerate(lines, 1) if "(gate + up)" in x)


def bad(verify: Verify) -> None:
    """A wrong program: where it differs, and at which line."""
    program, line = wrong_program(verify.scratch)
    model = tiny_checkpoints("llama")[0]
    words = (
        model,
        "--program",
        program,
        "--trace",
        "--prompt-ids",
        "5,17,3,44",
        "-n",
        4,
    )
    status, out, err = verify(*words)
    same(status, 1, f"status; it said {err[-600:]}")
    for part in ("FAIL", "first difference at prompt 0, position 0"):
        same(part in out, True, f"`{part}` in {out}")
    parts = [row.split() for row in out.splitlines()]
    agrees = next((row for row in parts if row[:1] == ["agrees"]), [])
    differs = next((row for row in parts if row[:1] == ["differs"]), [])
    same(agrees[-1:], ["model.layers.0.mlp.up_proj"], f"what agrees in {out}")
    same(differs[2:3], ["model.layers.0.mlp.down_proj:"], f"what differs in {out}")
    same(differs[1].endswith(f"wrong.axon:{line}"), True, f"line in {out}")
    bad_functions(verify, model, program, line)


def bad_functions(
    verify: Verify, model: pathlib.Path, program: pathlib.Path, line: int
) -> None:
    """The same as JAX functions, which show nothing inside: the native values stand in."""
    words = ("--target", "jax", "--trace", "--prompt-ids", "5,17,3,44", "-n", 4)
    python = python_with_jax(verify.scratch)
    status, out, err = verify(model, "--program", program, *words, python=python)
    same(status, 1, f"status; it said {err[-600:]}")
    for part in ("FAIL", "first difference at prompt 0, position 0", "natively"):
        same(part in out, True, f"`{part}` in {out}")
    differs = [row.split() for row in out.splitlines() if "  differs" in row]
    same([row[2] for row in differs], ["model.layers.0.mlp.down_proj:"], out)
    same(differs[0][1].endswith(f"wrong.axon:{line}"), True, f"line in {out}")
    words = (*words, "--json")
    status, out, _ = verify(model, "--program", program, *words, python=python)
    trace = json.loads(out)["trace"]
    same([status, trace["native"]], [1, True], "status, and whose values they are")
    same("Traceback" in err, False, f"what it said: {err}")


def wide(verify: Verify) -> None:
    """Beside the oracle in float64 only our own rounding is left."""
    words = (tiny_checkpoints("llama")[1], "--json", "-n", 2)
    off = []
    for more in ((), ("--float64",)):
        status, out, err = verify(*words, *more)
        same(status, 0, f"status; it said {err[-600:]}")
        off.append(json.loads(out)["logits_max_abs"])
    same(off[0] != off[1], True, f"another oracle gives other differences than {off}")


def no_package(verify: Verify) -> None:
    """An interpreter without packages: which, and how to install them."""
    python = verify.scratch / "bare"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    status, out, err = verify(tiny_checkpoints("llama")[0], "--json", python=python)
    same(status, 3, f"status; it said {err}")
    same(json.loads(out)["error"]["code"], "FILE-READ", "code")
    same("-m pip install" in err and "transformers" in err, True, f"way out in {err}")


def no_framework(verify: Verify) -> None:
    """An interpreter without the target's framework."""
    status, _, err = verify(tiny_checkpoints("llama")[0], "--target", "jax")
    same(status, 3, f"status; it said {err}")
    same("-m pip install jax`" in err, True, f"way out in {err}")


def no_oracle(verify: Verify) -> None:
    """A checkpoint that Transformers cannot load."""
    folder = verify.scratch / "strange"
    source = tiny_checkpoints("llama")[0]
    folder.mkdir()
    for path in source.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    text = json.dumps(config | {"hidden_act": "no_such_function"})
    (folder / "config.json").write_text(text)
    status, _, err = verify(folder)
    same(status, 3, f"status; it said {err}")
    same("Transformers cannot load" in err, True, f"reason in {err}")


def refused(verify: Verify) -> None:
    """Words that make no sense: usage, with what would."""
    for words, part in [
        ((), "takes a checkpoint, or a family"),
        (("--tiny", "no-such"), "llama"),
        ((tiny_checkpoints("llama")[0], "--target", "fortran"), "native"),
        ((tiny_checkpoints("llama")[0], "--prompt-ids", "5,99999"), "the vocabulary"),
        ((tiny_checkpoints("gpt2")[0], "-n", "500"), "ask for fewer tokens"),
    ]:
        status, _, err = verify(*words)
        same(status, 2, f"status of {words}; it said {err}")
        same(part in err, True, f"`{part}` in {err}")


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        verify = Verify(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        for check in (good, wide, bad, no_package, no_framework, no_oracle, refused):
            try:
                check(verify)
            except Failure as failure:
                tally.report(check.__name__, False, str(failure))
            else:
                tally.report(check.__name__, True)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())

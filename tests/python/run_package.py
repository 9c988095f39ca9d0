#!/usr/bin/env python3
"""Checks the Python package against Transformers' answers and the command: run_package.py AXON.

The package must be importable; ./dev test builds it and says where it is. The last line says how many checks
passed and failed.
"""

import inspect
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "parity"))

from binary import Failure, near, same  # noqa: E402 first: it says where axon_verify is
from axon_verify.families import FAMILIES  # noqa: E402
from checkpoints import Tally, answers, made  # noqa: E402

import axon  # noqa: E402

TOLERANCE = 1e-4
CHECKS = []


def check(action):
    """Registers a check."""
    CHECKS.append(action)
    return action


def checkpoint(name: str) -> pathlib.Path:
    """The first variant of a family."""
    family = next(one for one in FAMILIES if one.name == name)
    return made(family, next(iter(family.variants)))


class Case:
    """A decoder, its answers, and the command."""

    def __init__(self, command: pathlib.Path, scratch: pathlib.Path) -> None:
        self.command = command
        self.scratch = scratch
        self.folder = checkpoint("llama")
        self.want = answers(self.folder)
        self.model = axon.load(self.folder, math="exact", threads=1)

    def call(self, *words: object) -> str:
        """What the command prints."""
        done = subprocess.run(
            [str(self.command), *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failure(f"status {done.returncode} of {words}: {done.stderr}")
        return done.stdout


def raised(kind: type[BaseException], action) -> BaseException:
    """The exception of this kind that an action raises."""
    try:
        action()
    except kind as error:
        return error
    except Exception as other:
        raise Failure(f"raised {type(other).__name__}: {other}") from other
    raise Failure(f"nothing raised, expected {kind.__name__}")


@check
def forward(case: Case) -> None:
    """Logits of Transformers, for lists, arrays and tensors of another framework."""
    ids = case.want.facts["prompts"][0]
    want = case.want.arrays["logits.0"]
    inputs = [[ids], np.array([ids]), np.array([ids], dtype=np.int32)]
    try:
        import torch

        inputs.append(torch.tensor([ids]))
    except ImportError:
        pass
    for given in inputs:
        found = case.model.forward(given)["logits"]
        near(found.reshape(want.shape), want, TOLERANCE, type(given).__name__)
    same(np.from_dlpack(found).dtype, np.dtype("float32"), "DLPack out")


@check
def encoder(case: Case) -> None:
    """Named inputs with a mask."""
    folder = checkpoint("bert")
    want = answers(folder)
    model = axon.load(folder, math="exact")
    given = {
        name.removeprefix("input."): array
        for name, array in want.arrays.items()
        if name.startswith("input.")
    }
    found = model.forward(**given)["logits"]
    real = given["attn_mask"] == 1
    expected = want.arrays["output.logits"]
    near(found[real], expected[real], TOLERANCE, "logits")


@check
def given(case: Case) -> None:
    """What is given is what the program sees: optional inputs, their element types, masks of ones."""
    path = case.scratch / "given.axon"
    path.write_text("main :: Tensor[A] -> ?Int -> Tensor[A]\nmain x ?m=7 = x * m\n")
    model = axon.load(case.folder, program=path, math="exact")
    x = np.array([1.5, 2.0], np.float32)
    near(model.forward(x=x)["logits"], x * 7, 0, "a default")
    for _ in range(2):
        near(model.forward(x=x, m=2)["logits"], x * 2, 0, "in place of a default")
    error = raised(axon.AxonError, lambda: model.forward(x=x, m=2.5))
    same(error.code, "RUN-INPUT", "a fraction for an integer")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        near(model.forward(x=x, zebra=x)["logits"], x * 7, 0, "an unknown input")
    same(["zebra" in str(one.message) for one in seen], [True], "warnings")
    path.write_text(
        '{-# TASK "masked_lm" #-}\nmain :: Tensor[A,S] -> ?Tensor[A,S] -> Tensor[A,S]\n'
        "main input_ids attn_mask = (attn_mask == null) ? input_ids : input_ids + attn_mask\n"
    )
    model = axon.load(case.folder, program=path, math="exact")
    rows = np.array([[1, 2], [3, 4]])
    for mask in (None, np.ones((2, 2), bool), np.array([[0, 5], [1, 1]])):
        found = model.forward(rows, attn_mask=mask)["logits"]
        same(found.tolist(), (rows + (0 if mask is None else mask)).tolist(), f"{mask}")


@check
def generate(case: Case) -> None:
    """Greedy tokens of Transformers: alone, in a batch of several lengths, and up to end tokens."""
    cases = case.want.facts["greedy"][:3]
    for one in cases:
        found = case.model.generate(one["prompt"], 24, eos_token_id=[])
        same(found, one["tokens"][:24], "tokens")
    prompts = [one["prompt"] for one in cases]
    rows = case.model.generate(prompts, 12, eos_token_id=[])
    same(rows, [one["tokens"][:12] for one in cases], "rows of a batch")
    end = cases[0]["tokens"][4]
    stop = cases[0]["tokens"].index(end)
    cut = case.model.generate(prompts[0], 12, eos_token_id=end)
    same(cut, cases[0]["tokens"][:stop], "tokens before an end token")


@check
def sampling(case: Case) -> None:
    """Equal seeds draw equal tokens."""
    ids = case.want.facts["prompts"][1]

    def draw(seed: int) -> list[int]:
        return case.model.generate(ids, 16, temperature=1.5, seed=seed)

    same(draw(3), draw(3), "tokens of one seed")
    same(draw(3) != draw(4), True, "another seed draws others")


@check
def text(case: Case) -> None:
    """Ids and text as the command has them."""
    words = "w5 w17 w3"
    ids = case.model.tokenize(words)
    said = case.call("tokenize", case.folder, words, "--ids")
    same(ids, json.loads(f"[{said}]"), "ids")
    same(case.model.detokenize(ids).split(), words.split(), "text of ids")
    options = ("--raw", "-n", 8, "--json")
    said = json.loads(case.call("run", case.folder, "-p", words, *options))
    model = axon.load(case.folder)
    same(model.generate(words, 8), said["results"][0]["text"], "text that follows")


@check
def compile_source(case: Case) -> None:
    """The bytes that the command writes."""
    ours, theirs = case.scratch / "ours", case.scratch / "theirs"
    for place in (ours, theirs):
        place.mkdir()
    source = axon.compile(case.folder, target="torch", out=ours / "model.py")
    words = ("--target", "torch", "-o", theirs / "model.py")
    case.call("compile", case.folder, *words)
    same(source, (theirs / "model.py").read_text(), "source")
    same((ours / "model.py").read_text(), source, "file")
    again = raised(
        axon.UsageError,
        lambda: axon.compile(case.folder, target="torch", out=ours / "model.py"),
    )
    same("is there already" in str(again), True, str(again))


@check
def diagnostics(case: Case) -> None:
    """What is wrong with a program, as objects; nothing of a good one."""
    same(axon.check("llama", checkpoint=case.folder), [], "diagnostics of llama")
    path = case.scratch / "wrong.axon"
    path.write_text("main :: Tensor[B,S] -> Tensor[B,S]\nmain x = x * missing\n")
    found = axon.check(path)
    same(bool(found), True, "there are diagnostics")
    one = found[0]
    same((one.severity, one.file, one.line), ("error", str(path), 2), str(one))
    same(bool(one.code and one.message and one.column), True, str(one))
    error = raised(
        axon.ProgramError, lambda: axon.load(case.folder, program=path, math="exact")
    )
    same(error.diagnostics[0].code, one.code, "code of the exception")


@check
def errors(case: Case) -> None:
    """Each kind of fault has its exception."""
    nowhere = raised(axon.WorldError, lambda: axon.load(case.scratch / "nowhere"))
    same(isinstance(nowhere, OSError), True, "a WorldError is an OSError")
    model = case.model
    for action in (
        lambda: model.generate([5, 6], 0),
        lambda: model.generate([5, 10**6], 2),
        lambda: model.generate([], 2),
        lambda: model.generate([5], 2, top_p=2.0),
        lambda: axon.load(case.folder, math="roughly"),
        lambda: axon.compile(case.folder, target="fortran"),
    ):
        error = raised(axon.UsageError, action)
        same(isinstance(error, ValueError), True, "a UsageError is a ValueError")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing = raised(axon.AxonError, lambda: model.forward(other=np.zeros(3)))
    same(missing.code, "RUN-INPUT", "code")


@check
def threads(case: Case) -> None:
    """Calls from several threads give what they give alone."""
    ids = case.want.facts["prompts"][0]
    alone = case.model.generate(ids, 24, eos_token_id=[])
    seen: list[list[int]] = []

    def work() -> None:
        seen.append(case.model.generate(ids, 24, eos_token_id=[]))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    same(seen, [alone] * 3, "tokens of three threads")


@check
def readme(case: Case) -> None:
    """The example of the README runs."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    every = re.findall(r"```python\n(.*?)```", page, re.S)
    blocks = [block for block in every if "import axon\n" in block]
    same(len(blocks), 1, "examples of this package")
    path = "path/to/checkpoint"
    same(path in blocks[0], True, f"`{path}` in the example")
    exec(blocks[0].replace(path, str(case.folder)), {})


@check
def stubs(case: Case) -> None:
    """What the stub says is there, and nothing else."""
    stub = (pathlib.Path(axon.__file__).parent / "_native.pyi").read_text()
    from axon import _native

    said = set(re.findall(r"^(?:def|class) (\w+)", stub, re.M)) | {"version"}
    have = {name for name in dir(_native) if not name.startswith("_")}
    same(have, said, "names of the module")
    for name in axon.__all__:
        one = getattr(axon, name)
        if inspect.isclass(one) or inspect.isfunction(one):
            same(bool(inspect.getdoc(one)), True, f"docstring of {name}")


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        case = Case(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        for action in CHECKS:
            try:
                action(case)
            except Failure as failure:
                tally.report(action.__name__, False, str(failure))
            else:
                tally.report(action.__name__, True)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares emitted JAX files with Transformers: run_emit_jax.py AXON [--all] [NAME ...].

Tiny checkpoints are compiled to JAX files; the formatter, the linter and the type checker read them, and
emit_jax_checks.py runs them where JAX, NumPy and safetensors are and nothing else, in what run_families.py
does not ask of every target: names, scanned layers, gradients, compilations, sampling. Of the first families
every variant and spelling runs, of the others one, all of them with --all or where named. The last line
says how many checks passed and failed.
"""

import ast
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable

import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "scripts")]

import dev  # noqa: E402
from binary import Failure  # noqa: E402 first: it says where axon_verify is
from axon_verify.families import Family  # noqa: E402
from checkpoints import CACHE, made  # noqa: E402
from emit_jax_oracle import answers, write_jobs  # noqa: E402
from emit_pair import same  # noqa: E402
from run_families import chosen  # noqa: E402

STANDARD = {"collections", "dataclasses", "functools", "json", "math", "pathlib", "re"}
ALLOWED = STANDARD | {"typing", "jax", "numpy", "safetensors"}
PARTS = {
    "causal": ["names", "logits"],
    "encoder": ["names", "states"],
    "seq2seq": ["names", "answers"],
}
# What is asked of one checkpoint only: it does not depend on the program.
ONCE = ["cached calls", "compilations", "donated cache", "sampling", "partition specs"]
# Families of which everything runs, and those whose gradients are compared.
THOROUGH = {"llama", "gpt2", "bert"}
WITH_GRADIENTS = (*sorted(THOROUGH), "t5", "mixtral")
LINES = 1500


class Runner:
    """Makes the files and what is asked of each."""

    def __init__(self, axon: str, place: pathlib.Path) -> None:
        self.axon = axon
        self.place = place
        self.jobs: list[dict] = []
        self.passed = 0
        self.failed = 0

    def check(self, name: str, action: Callable[[], None]) -> bool:
        """A failed check is printed, and the next goes on."""
        try:
            action()
        except Failure as failure:
            self.failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
            return False
        self.passed += 1
        print(f"ok   {name}", flush=True)
        return True

    def add(self, folder: pathlib.Path, parts: list[str]) -> None:
        """Compiles a checkpoint and asks for checks of the file."""
        name = folder.name
        source = self.place / f"{name.replace('-', '_')}.py"
        if not self.check(f"{name}: compiles", lambda: self.compile(folder, source)):
            return
        scan = source.with_name(f"{source.stem}_scan.py")
        if self.scans(folder, scan):
            parts = [*parts, "scanned layers"]
        want = answers(folder, parts[1])
        self.jobs.append(
            {
                "name": name,
                "folder": str(folder),
                "source": str(source),
                "scan": str(scan),
                "want": str(want),
                "parts": parts,
            }
        )

    def run(self, folder: pathlib.Path, out: pathlib.Path, *options: str):
        """One run of the compiler."""
        command = [self.axon, "compile", folder, "--target", "jax", "-o", out, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def compile(self, folder: pathlib.Path, source: pathlib.Path) -> None:
        """Two runs must give the same bytes; the file must be small and stand alone."""
        texts = []
        for _ in range(2):
            done = self.run(folder, source, "--force")
            if done.returncode != 0:
                raise Failure(f"compile: {done.stderr.strip()}")
            texts.append(source.read_text(encoding="utf-8"))
        same(texts[0] == texts[1], True, "two runs give the same bytes")
        if texts[0].count("\n") >= LINES:
            raise Failure(f"{texts[0].count(chr(10))} lines")
        check_tree(ast.parse(texts[0]))

    def scans(self, folder: pathlib.Path, source: pathlib.Path) -> bool:
        """Whether the layers can be scanned; where not, the command says why."""
        done = self.run(folder, source, "--scan-layers")
        if done.returncode == 0:
            return True

        def refused() -> None:
            same(done.returncode, 1, "status")
            same("a scan over layers" in done.stderr, True, "reason")

        self.check(f"{folder.name}: layers cannot be scanned", refused)
        return False

    def program(self, name: str, *command, cwd: str | None = None) -> None:
        """A program that must end well."""

        def action() -> None:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=cwd
            )
            if done.returncode != 0:
                raise Failure((done.stdout + done.stderr).strip()[-3000:])

        self.check(name, action)

    def read(self) -> None:
        """The formatter, the linter and the type checker."""
        ruff = dev.environment("tools") / "bin" / "ruff"
        self.program("formatter", ruff, "format", "--check", self.place)
        self.program("linter", ruff, "check", self.place)
        mypy = dev.environment("types") / "bin" / "mypy"
        python = dev.environment("jax") / "bin" / "python"
        cache = CACHE / "parity" / "mypy"
        files = sorted(self.place.glob("*.py"))
        options = ["--python-executable", python, "--cache-dir", cache]
        self.program("type checker", mypy, *options, *files)

    def example(self) -> None:
        """What the README shows, with the file and the directory that it names."""
        parts = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")
        texts = [part.partition("```")[0] for part in parts[1:]]
        (text,) = [text for text in texts if "import model" in text]
        job = next(job for job in self.jobs if job["parts"][1] == "logits")
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "DIR").symlink_to(job["folder"])
            (folder / "model.py").symlink_to(job["source"])
            (folder / "example.py").write_text(text, encoding="utf-8")
            python = dev.environment("jax") / "bin" / "python"
            self.program("README's example", python, folder / "example.py", cwd=place)

    def execute(self) -> None:
        """All files in one process of the other environment."""
        file = self.place / "jobs.json"
        write_jobs(self.jobs, file)
        python = dev.environment("jax") / "bin" / "python"
        script = HERE / "emit_jax_checks.py"
        command = [python, script, file, CACHE / "parity" / "jax"]
        said = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            for line in run.stdout or ():
                said = line
                if " passed, " not in line:
                    print(line, end="", flush=True)
        words = said.split()
        if len(words) == 4 and words[1] == "passed,":
            self.passed += int(words[0])
            self.failed += int(words[2])
        else:
            self.check("the process with JAX", lambda: same(run.returncode, 0, "exit"))


def check_tree(tree: ast.Module) -> None:
    """Imports are the framework's and the standard library's; no function is long."""
    seen = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            seen |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            seen.add((node.module or "").partition(".")[0])
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or 0) - node.lineno
            same(length <= 60, True, f"`{node.name}` has {length} lines")
    same(seen - ALLOWED, set(), "other imports")


def parts_of(family: Family, name: str) -> list[str]:
    """What is asked of a variant."""
    parts = PARTS[family.kind]
    if name != next(iter(family.variants)):
        return parts
    if family.name in WITH_GRADIENTS:
        parts = [*parts, "gradients", "bfloat16"]
    return [*parts, *ONCE] if family.name == "llama" else parts


def main() -> int:
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    torch.set_num_threads(2)
    axon, *words = sys.argv[1:]
    names = {word for word in words if word != "--all"}
    picked = chosen(names, "--all" in words)
    if not names:
        picked = [*chosen(THOROUGH, True), *picked]
    variants = {f"{family.name}-{name}": (family, name) for family, name in picked}
    with tempfile.TemporaryDirectory() as place:
        runner = Runner(axon, pathlib.Path(place))
        for family, name in variants.values():
            if family.kind in PARTS:
                runner.add(made(family, name), parts_of(family, name))
        runner.read()
        if not names:
            runner.example()
        runner.execute()
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())

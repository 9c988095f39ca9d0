#!/usr/bin/env python3
"""Compares the families of the zoo with Transformers: run_families.py AXON [OPTION ...] [FAMILY[-VARIANT] ...].

Of each family one variant runs, all of them and all spellings of their files with --all or where named, on
every target that its programs can be written for; with --real, also two checkpoints with real weights.
Checkpoints and the oracle's answers are made once and kept in the cache folder; once they are there, a
target needs its own framework only: emitted JAX runs where there is no PyTorch, in a run of its own that
saves its results (--save) for the first to read. --page writes the table into a page. The last line says
how many outputs were as the oracle's and how many were not.
"""

import argparse
import concurrent.futures
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts")]

import dev  # noqa: E402
from binary import Axon  # noqa: E402 first: it says where axon_verify is
from axon_verify import checkpoint, report  # noqa: E402
from axon_verify.compare import NEAR_TIE, TOLERANCE, Result, spread_of  # noqa: E402
from axon_verify.families import FAMILIES, Family  # noqa: E402
from axon_verify.kinds import KINDS  # noqa: E402
from axon_verify.targets import Request  # noqa: E402
from checkpoints import CACHE, Tally, answers, fetched, made, smollm_folder  # noqa: E402

NEAR_TIE_SHARE = 0.01
ELSEWHERE = ("jax",)  # targets that run in the environment of this name


def chosen(names: set[str], every: bool) -> list[tuple[Family, str]]:
    """The variants and spellings to run."""
    out = []
    for family in FAMILIES:
        first = next(iter(family.variants))
        for name in [*family.variants, *family.spellings]:
            named = {family.name, f"{family.name}-{name}"} & names
            if named or not names and (every or name == first):
                out.append((family, name))
    return out


def check_program(axon: Axon, name: str) -> None:
    """The program checks without a checkpoint and without warnings."""
    axon.call("check", name, "--strict")


def check_checkpoint(axon: Axon, family: Family, folder: pathlib.Path) -> None:
    """The program and the checkpoint agree, down to tensors that nothing reads."""
    variant = folder.name.removeprefix(f"{family.name}-")
    strict = () if variant in family.unread else ("--strict",)
    axon.call("check", family.name, "--checkpoint", folder, *strict)


def compare(
    axon: Axon, folder: pathlib.Path, target: str, scratch: pathlib.Path
) -> list[Result]:
    """All outputs of one checkpoint on one target."""
    return checkpoint.compare(axon, target, Request(folder), answers(folder), scratch)


def real(axon: Axon, names: list[str]) -> list[Result]:
    """A decoder and an encoder with real weights, beside float64; tolerances grow with the spread of values."""
    results = []
    for folder in (smollm_folder(fetched("smollm2"), "float32"), fetched("minilm")):
        want = answers(folder, "float64")
        tolerance = TOLERANCE * spread_of(want)
        for name in names:
            request = Request(folder)
            found = checkpoint.compare(
                axon, name, request, want, axon.scratch, tolerance
            )
            label = "smollm2" if folder.name == "float32" else "minilm"
            results += [dataclasses.replace(one, model=label) for one in found]
    return results


def targets_of(family: Family, names: list[str]) -> list[str]:
    """The targets among these that run the family."""
    return [name for name in names if family.kind in KINDS[name].runs]


def check_spellings(axon: Axon, tally: Tally, families: dict[str, Family]) -> None:
    """Other names of tensors and keys are found, whether or not the checkpoint runs here."""
    for family in families.values():
        for name in family.spellings:
            folder = made(family, name)
            tally.check(
                f"{folder.name}: check --checkpoint",
                lambda n=family, f=folder: check_checkpoint(axon, n, f),
            )


def check(axon: Axon, tally: Tally, picked: list) -> None:
    """Programs alone and beside their checkpoints; what the comparisons need is made on the way."""
    for family in dict.fromkeys(family.name for family, _ in picked):
        tally.check(
            f"{family}: check --strict", lambda f=family: check_program(axon, f)
        )
    for family, variant in picked:
        folder = made(family, variant)
        answers(folder)
        if variant in family.variants:
            label = f"{folder.name}: check --checkpoint"
            tally.check(label, lambda n=family, f=folder: check_checkpoint(axon, n, f))
    check_spellings(axon, tally, {family.name: family for family, _ in picked})
    tally.wait()


def run(axon: Axon, picked: list, names: list[str]) -> list[Result]:
    """Results of all checkpoints; the native target is one process a call, so these go side by side."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(compare, axon, made(family, variant), target, axon.scratch)
            for family, variant in picked
            for target in targets_of(family, names)
        ]
        return [result for job in jobs for result in job.result()]


def run_elsewhere(args: argparse.Namespace, name: str, scratch: pathlib.Path) -> dict:
    """What a run in another environment saves: results, versions of its frameworks."""
    file = scratch / f"{name}.json"
    python = dev.environment(name) / "bin" / "python"
    words = [python, __file__, args.axon, *args.names, "--target", name, "--save", file]
    words += [f"--{flag}" for flag in ("all", "real") if getattr(args, flag)]
    env = dict(os.environ)
    env |= {"JAX_COMPILATION_CACHE_DIR": str(CACHE / "parity" / "jax")}
    env |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    subprocess.run([str(word) for word in words], env=env, check=True)
    return json.loads(file.read_text(encoding="utf-8"))


def count(tally: Tally, results: list[Result]) -> None:
    """Each output is one check, unless its target cannot write the program; few places may be near ties."""
    for result in results:
        label = f"{result.model} {result.target} {result.output}"
        if result.unsupported:
            tally.skip(label, result.failures[0])
            continue
        tally.report(label, result.passed, "; ".join(result.failures))
    ties = sum(result.near_ties for result in results)
    positions = sum(result.tokens_compared for result in results)
    most = max(3, NEAR_TIE_SHARE * positions)  # of few places none can be judged
    tally.report("near ties", ties <= most, f"{ties} of {positions} positions")


def versions() -> dict[str, str]:
    """Of the frameworks that this interpreter has."""
    out = {}
    for name in ("transformers", "torch", "jax", "numpy"):
        try:
            out[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return out


def page(args: argparse.Namespace, results: list[Result], frameworks: dict) -> str:
    """The page that holds the table of what has run."""
    said = ", ".join(f"{name} {number}" for name, number in sorted(frameworks.items()))
    passed = sum(result.passed for result in results)
    words = " ".join([*args.names, *(["--all"] if args.all else [])])
    which = "every variant of every family"
    if not args.all:
        which = "the variants that are named" if args.names else "one of each family"
    return (
        "# Compared with Transformers\n\n"
        f"Written by `./dev parity --page {words}`".rstrip(" `")
        + f"`: {which}, all with "
        "`--all`.\n\nEach row is one output of one checkpoint on one target, in float32. Random checkpoints "
        "are those of\n`axon verify --tiny FAMILY`"
        + (
            "; two have real weights, and Transformers in float64 beside them"
            if args.real
            else ""
        )
        + f".\nFrameworks: {said}.\nLogits of random checkpoints may differ by {TOLERANCE:g}, of real ones by "
        "that times their spread; `ties` counts\ntokens whose two likeliest are closer than "
        f"{NEAR_TIE:g}; `padded` and `batch` compare a batch padded on the left\nwith its rows alone.\n\n"
        f"{passed} of {len(results)} pass.\n\n{report.markdown(results)}\n"
    )


def order(results: list[Result]) -> None:
    """By checkpoint as they ran, and by target."""
    targets = {name: number for number, name in enumerate(KINDS)}
    models: dict[str, int] = {}
    for result in results:
        models.setdefault(result.model, len(models))
    results.sort(key=lambda result: (models[result.model], targets[result.target]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("axon", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--target", default=",".join(KINDS))
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args()
    picked = chosen(set(args.names), args.all)
    if not picked:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(args.axon.resolve(), pathlib.Path(scratch))
        names = args.target.split(",")
        here = [name for name in names if args.save or name not in ELSEWHERE]
        if not args.save:
            check(axon, tally, picked)
        results = run(axon, picked, here)
        if args.real:
            results += real(axon, here)
        frameworks = versions()
        for name in names:
            if name not in here:
                saved = run_elsewhere(args, name, axon.scratch)
                results += [Result(**row) for row in saved["results"]]
                frameworks |= saved["frameworks"]
    if args.save:
        rows = [dataclasses.asdict(result) for result in results]
        saved = {"frameworks": frameworks, "results": rows}
        args.save.write_text(json.dumps(saved), encoding="utf-8")
        return
    order(results)
    count(tally, results)
    print(report.table(results))
    if args.page:
        args.page.write_text(page(args, results, frameworks), encoding="utf-8")
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()

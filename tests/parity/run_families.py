#!/usr/bin/env python3
"""Compares the families of the zoo with Transformers: run_families.py AXON [OPTION ...] [FAMILY[-VARIANT] ...].

Of each family one variant runs, all of them and all spellings of their files with --all or where named, on
every target that its programs can be written for; with --real, also two checkpoints with real weights.
Checkpoints and the oracle's answers are made once and kept in the cache folder; once they are there, a
target needs its own framework only. --save and --load join the results of runs in several environments,
--page writes their table into a page. The last line says how many outputs were as the oracle's and how many
were not.
"""

import argparse
import concurrent.futures
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from binary import Axon  # noqa: E402 first: it says where axon_verify is
from axon_verify import checkpoint, report  # noqa: E402
from axon_verify.compare import NEAR_TIE, TOLERANCE, Result, spread_of  # noqa: E402
from axon_verify.families import FAMILIES, Family  # noqa: E402
from axon_verify.kinds import KINDS  # noqa: E402
from axon_verify.targets import Request  # noqa: E402
from checkpoints import Tally, answers, fetched, made, smollm_folder  # noqa: E402

NEAR_TIE_SHARE = 0.01


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
    """A decoder and an encoder with real weights; tolerances grow with the spread of their values."""
    results = []
    for folder in (smollm_folder(fetched("smollm2"), "float32"), fetched("minilm")):
        want = answers(folder)
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


def run(axon: Axon, tally: Tally, picked: list, names: list[str]) -> list[Result]:
    """Results of all checkpoints; the native target is one process a call, so these go side by side."""
    for family in dict.fromkeys(family.name for family, _ in picked):
        tally.check(
            f"{family}: check --strict", lambda f=family: check_program(axon, f)
        )
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for family, variant in picked:
            folder = made(family, variant)
            answers(folder)
            if variant in family.variants:
                label = f"{folder.name}: check --checkpoint"
                tally.check(
                    label, lambda n=family, f=folder: check_checkpoint(axon, n, f)
                )
            jobs += [
                pool.submit(compare, axon, folder, target, axon.scratch)
                for target in targets_of(family, names)
            ]
        results = [result for job in jobs for result in job.result()]
    check_spellings(axon, tally, {family.name: family for family, _ in picked})
    tally.wait()
    return results


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


def page(results: list[Result], frameworks: dict[str, str]) -> str:
    """The page that holds the table of all variants."""
    said = ", ".join(f"{name} {number}" for name, number in sorted(frameworks.items()))
    passed = sum(result.passed for result in results)
    return (
        "# Compared with Transformers\n\n"
        "Written by `./dev parity --all`. Each row is one output of one checkpoint on one target, in float32:\n"
        f"random checkpoints of every family (`axon verify --tiny FAMILY` makes the same), and two real ones.\n"
        f"Frameworks: {said}. Logits of random checkpoints may differ by {TOLERANCE:g}, of real ones by that "
        "times their\nspread; `ties` counts tokens whose two likeliest are closer than "
        f"{NEAR_TIE:g}; `padded` and `batch` compare a\nbatch padded on the left with its rows alone.\n\n"
        f"{passed} of {len(results)} pass.\n\n{report.markdown(results)}\n"
    )


def finish(args: argparse.Namespace, tally: Tally, results: list[Result]) -> None:
    """Prints the table of this run and of what it is joined to, and writes what is asked for."""
    frameworks = versions()
    count(tally, results)
    if args.load:
        saved = json.loads(args.load.read_text(encoding="utf-8"))
        results = [Result(**row) for row in saved["results"]] + results
        frameworks |= saved["frameworks"]
    order = {name: number for number, name in enumerate(KINDS)}
    models = {name: number for number, name in enumerate(r.model for r in results)}
    results.sort(key=lambda r: (models[r.model], order[r.target]))
    if args.save:
        rows = [dataclasses.asdict(result) for result in results]
        saved = {"frameworks": frameworks, "results": rows}
        args.save.write_text(json.dumps(saved), encoding="utf-8")
    else:
        print(report.table(results))
    if args.page:
        args.page.write_text(page(results, frameworks), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("axon", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--target", default="native,torch")
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--load", type=pathlib.Path)
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
        results = run(axon, tally, picked, names)
        if args.real:
            results += real(axon, names)
        finish(args, tally, results)
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()

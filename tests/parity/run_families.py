#!/usr/bin/env python3
"""Compares the families of the zoo with Transformers: run_families.py AXON [--all] [FAMILY[-VARIANT] ...].

Of each family one variant runs, all of them with --all or where named. Checkpoints and expected results
are made once and kept in the cache folder. The last line says how many checks passed and failed.
"""

import hashlib
import os
import pathlib
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "families")]

from binary import Axon  # noqa: E402
from cases import FAMILIES, Family  # noqa: E402
from checkpoints import CACHE, Expected, Tally  # noqa: E402
from checks import check_program, check_spelling, check_variant  # noqa: E402
from run_parity import count_near_ties  # noqa: E402

SOURCES = ("make_tiny.py", "oracle.py", "families/make.py", "families/expect.py")


def made(family: Family, variant: str) -> pathlib.Path:
    """The folder with a variant's checkpoint, and beside it what the oracle says of it."""
    number = list(family.variants).index(variant)
    classes = (family.model_of(variant), family.attention, family.gain, family.queries)
    facts = (classes, family.settings(variant))
    text = b"".join((HERE / name).read_bytes() for name in SOURCES)
    key = hashlib.sha256(text + repr((facts, number)).encode()).hexdigest()[:12]
    folder = CACHE / "parity" / f"families-{key}" / f"{family.name}-{variant}"
    if not (folder.parent / f"{folder.name}.json").exists():
        import expect
        import make

        folder.parent.mkdir(parents=True, exist_ok=True)
        make.make_variant(family, number, variant, folder)
        expect.ask(family, variant, folder, folder.parent)
    return folder


def spelled(family: Family, name: str) -> tuple[pathlib.Path, str]:
    """The folder with a variant's checkpoint in another spelling, and the variant's name."""
    import make

    source = made(family, family.spellings[name].of)
    folder = source.parent / f"{family.name}-{name}"
    make.make_spelling(family, name, source, folder)
    return folder, source.name


def wanted(words: list[str]) -> list[tuple[Family, str]]:
    """The variants and spellings to run."""
    every = "--all" in words
    names = {word for word in words if word != "--all"}
    chosen = []
    for family in FAMILIES:
        first = next(iter(family.variants))
        for name in [*family.variants, *family.spellings]:
            named = {family.name, f"{family.name}-{name}"} & names
            if named or not names and (every or name == first):
                chosen.append((family, name))
    if not chosen:
        sys.exit(__doc__)
    return chosen


def check(axon: Axon, tally: Tally, chosen: list[tuple[Family, str]]) -> None:
    """Everything that is asked of the chosen checkpoints and of their programs."""
    listed = axon.call("zoo")
    for name in dict.fromkeys(family.name for family, _ in chosen):
        check_program(axon, tally, name, listed)
    cases = {}
    for family, name in chosen:
        if name in family.variants:
            folder = made(family, name)
            check_variant(axon, tally, family, folder)
            facts = Expected(folder.parent, folder.name).facts
            for number, case in enumerate(facts.get("greedy", [])):
                cases[f"{folder.name} {number}"] = case
        else:
            check_spelling(axon, tally, family, *spelled(family, name))
    tally.wait()
    if cases:
        count_near_ties(tally, "families", cases)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        check(axon, tally, wanted(sys.argv[2:]))
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()

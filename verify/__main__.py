"""What `axon verify` runs: compares a checkpoint's targets with Transformers, or those of tiny checkpoints."""

import argparse
import os
import pathlib
import sys
import tempfile
import traceback
import warnings


class Refusal(Exception):
    """Why nothing can be compared; the command reports it."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.lines = "\n".join((code, message, hint))


def arguments() -> argparse.Namespace:
    """What the command asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", type=pathlib.Path)
    parser.add_argument("--axon", type=pathlib.Path, required=True)
    parser.add_argument("--targets", default="native")
    parser.add_argument("--tiny", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--prompt-ids", default="")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--float64", action="store_true")
    parser.add_argument("--error", type=pathlib.Path)
    parser.add_argument("--option", action="append", default=[])
    return parser.parse_args()


def check_frameworks(targets: list[str]) -> None:
    """Refuses where a package is not there, and says how to get it."""
    from axon_verify.kinds import KINDS, missing

    for name in targets:
        if name not in KINDS:
            known = ", ".join(KINDS)
            raise Refusal("USE-VALUE", f"`{name}` cannot be verified", f"use {known}")
    lacking = missing(targets)
    if lacking:
        raise Refusal(
            "FILE-READ",
            f"`{sys.executable}` has no `{'`, no `'.join(lacking)}`",
            f"install with `{sys.executable} -m pip install {' '.join(lacking)}`, or name another "
            "interpreter with --python",
        )
    import transformers

    if int(transformers.__version__.partition(".")[0]) < 5:
        raise Refusal(
            "FILE-READ",
            f"Transformers is of version {transformers.__version__}, needs 5",
            f"install with `{sys.executable} -m pip install -U transformers`",
        )


def tiny_folders(name: str, root: pathlib.Path) -> list[pathlib.Path]:
    """New checkpoints of a family's variants."""
    from axon_verify import families, tiny

    found = families.find(name)
    if not found:
        known = ", ".join(family.name for family in families.FAMILIES)
        raise Refusal("USE-VALUE", f"there is no family `{name}`", f"use {known}")
    family, variants = found
    folders = [root / f"{family.name}-{variant}" for variant in variants]
    for variant, folder in zip(variants, folders):
        tiny.make_variant(family, variant, folder)
    return folders


def first_line(wrong: Exception) -> str:
    """What an exception says, in one line."""
    said = str(wrong).strip().splitlines()
    return said[0] if said else type(wrong).__name__


def ask(folder: pathlib.Path, args: argparse.Namespace):
    """The oracle's model of one checkpoint, and what it says."""
    import torch
    from axon_verify import oracle

    try:
        dtype = torch.float64 if args.float64 else torch.float32
        model = oracle.load(folder, dtype)
    except (
        Exception
    ) as wrong:  # whatever the library raises: it is the world that does not fit
        raise Refusal(
            "FILE-MODEL", f"Transformers cannot load `{folder}`: {first_line(wrong)}"
        ) from wrong
    vocabulary = model.config.get_text_config().vocab_size
    if args.prompt_ids:
        groups = args.prompt_ids.split(";")
        questions = [[int(word) for word in group.split(",")] for group in groups]
        largest = max(max(ids) for ids in questions)
        if largest >= vocabulary:
            raise Refusal(
                "USE-VALUE",
                f"there is no token {largest}, the vocabulary has {vocabulary}",
                "give other ids with --prompt-ids",
            )
    else:
        questions = oracle.prompts(vocabulary)
    try:
        return model, oracle.ask(model, questions, args.tokens)
    except Exception as wrong:  # most often more positions than the model has
        longest = max(map(len, questions))
        raise Refusal(
            "USE-VALUE",
            f"Transformers cannot run prompts of up to {longest} tokens and {args.tokens} more: {first_line(wrong)}",
            "ask for fewer tokens with -n, or give shorter prompts with --prompt-ids",
        ) from wrong


def compare(args: argparse.Namespace, scratch: pathlib.Path) -> list:
    """Results of all checkpoints and targets."""
    from axon_verify import checkpoint
    from axon_verify.command import Axon
    from axon_verify.compare import TOLERANCE, spread_of
    from axon_verify.targets import Request

    axon = Axon(args.axon, scratch)
    folders = [args.model]
    if args.tiny:
        folders = tiny_folders(args.tiny, args.keep or scratch)
    results = []
    for folder in folders:
        if not args.quiet:
            print(f"axon: asking Transformers about {folder.name}", file=sys.stderr)
        model, want = ask(folder, args)
        tolerance = TOLERANCE if args.tiny else TOLERANCE * spread_of(want)
        request = Request(folder, tuple(args.option))
        library = model if args.trace else None
        for target in args.targets.split(","):
            results += checkpoint.compare(
                axon, target, request, want, scratch, tolerance, library
            )
    return results


def run(args: argparse.Namespace) -> int:
    """The exit status; results are printed."""
    check_frameworks(args.targets.split(","))
    from axon_verify import report

    with tempfile.TemporaryDirectory() as scratch:
        results = compare(args, pathlib.Path(scratch))
    if args.json:
        print(report.jsonl(results))
    else:
        print(report.table(results))
        if said := report.details(results):
            print(f"\n{said}")
    return 0 if all(result.passed for result in results) else 1


def main() -> int:
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    args = arguments()
    try:
        return run(args)
    except Refusal as refusal:
        if args.error is None:
            raise
        args.error.write_text(refusal.lines, encoding="utf-8")
        return 3
    except KeyboardInterrupt:
        return 130
    except Exception:
        traceback.print_exc()
        return 70  # 1 says that something differs


if __name__ == "__main__":
    sys.exit(main())

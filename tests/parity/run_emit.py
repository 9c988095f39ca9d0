#!/usr/bin/env python3
"""Compares emitted modules with Transformers: run_emit.py AXON [--all] [NAME ...].

Tiny checkpoints are compiled to PyTorch modules, imported here and held against the library's own class in
what run_families.py does not ask of every target: standalone text, parameter names, gradients, bfloat16,
sampling, compilations. Of the first families every variant and spelling runs, of the others one, all of them
with --all or where named. The demonstration model and MiniLM follow with their real weights. The last line
says how many checks passed and failed.
"""

import os
import pathlib
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable

import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "scripts")]

import dev  # noqa: E402
from binary import Failure  # noqa: E402 first: it says where axon_verify is
from axon_verify.families import Family  # noqa: E402
from axon_verify.oracle import load as library_model  # noqa: E402
from axon_verify.oracle import prompts as tiny_prompts  # noqa: E402
from checkpoints import CACHE, digest, fetched, made, smollm_folder, source_of  # noqa: E402
from emit_checks import (  # noqa: E402
    check_compiled,
    check_gradients,
    check_greedy,
    check_half,
    check_inductor,
    check_long,
    check_names,
    check_packed,
    check_packed_refusals,
    check_refusals,
    check_sampling,
)
import emit_alone  # noqa: E402
from emit_alone import layout_faults, run_alone, text_faults, type_faults  # noqa: E402
from emit_pair import Pair, first, near, same  # noqa: E402
from run_families import chosen  # noqa: E402
from run_parity import TINY_LOGITS  # noqa: E402

REAL_LOGITS = 1e-3
# Families of which everything runs, and those whose gradients are compared.
THOROUGH = {"llama", "gpt2", "bert"}
WITH_GRADIENTS = (*sorted(THOROUGH), "t5", "mixtral")
COMPILED = {
    "llama-grouped",
    "gpt2-prefix",
    "bert-mlm",
    "t5-plain",
    "mixtral-window",
}


class Tally:
    """Runs checks one after the other: the models share one process and its threads."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def check(self, name: str, action: Callable[[], None]) -> None:
        """A failed check is printed, and the next goes on."""
        try:
            action()
        except Failure as failure:
            self.failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
        except Exception:  # of the emitted code: the other checks go on
            self.failed += 1
            print(f"FAIL {name}: {traceback.format_exc(limit=-2)}", flush=True)
        else:
            self.passed += 1
            print(f"ok   {name}", flush=True)


# ---- groups ----------------------------------------------------------------------------------


def tiny_decoder(tally: Tally, pair: Pair) -> None:
    """All checks of a decoder, or of one beside an encoder."""
    name = pair.folder.name
    members = tiny_prompts(pair.theirs.config.vocab_size)
    row = torch.tensor([members[0]])

    def logits() -> None:
        near(pair.logits(row), pair.library_logits(row), TINY_LOGITS, "logits")

    checks = {
        "logits": logits,
        "sampling": lambda: check_sampling(pair, members[1]),
        "bfloat16": lambda: check_half(pair, members[0]),
    }
    for what, check in checks.items():
        tally.check(f"{name}: {what}", torch.no_grad()(check))


def tiny_encoder(tally: Tally, pair: Pair) -> None:
    """All checks of an encoder."""
    name = pair.folder.name
    config = pair.theirs.config
    members = tiny_prompts(config.vocab_size)
    width = max(map(len, members))
    pad = config.pad_token_id or 0
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in members])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in members])
    segments = {}
    if "token_type_ids" in pair.inputs:
        segments = {"token_type_ids": (ids * 7) % config.type_vocab_size}

    def padded_rows() -> None:
        found = first(pair.ours(ids, mask, **segments))
        want = first(pair.theirs(ids, mask, **segments, return_dict=False))
        near(found[mask == 1], want[mask == 1], TINY_LOGITS, "states")

    def no_mask() -> None:
        near(pair.logits(ids[:1]), pair.library_logits(ids[:1]), TINY_LOGITS, "states")

    tally.check(f"{name}: padded batch with segments", torch.no_grad()(padded_rows))
    tally.check(f"{name}: without mask and segments", torch.no_grad()(no_mask))
    tally.check(
        f"{name}: bfloat16", torch.no_grad()(lambda: check_half(pair, members[0]))
    )


def opened(tally: Tally, name: str, make: Callable[[], Pair]) -> Pair | None:
    """The pair, or nothing where the module cannot be made."""
    pairs: list[Pair] = []
    tally.check(f"{name}: compiles and loads", lambda: pairs.append(make()))
    return pairs[0] if pairs else None


class Sources:
    """The emitted files and their checkpoints, kept for what is asked of all together."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.modules: list[tuple[pathlib.Path, pathlib.Path]] = []

    def add(self, pair: Pair) -> None:
        path = self.folder / f"{pair.folder.name.replace('-', '_')}.py"
        path.write_text(pair.source_text, encoding="utf-8")
        self.modules.append((path, pair.folder))

    def check(self, tally: Tally) -> None:
        """They run with their framework alone, and tools find nothing in their text."""
        key = digest(pathlib.Path(emit_alone.__file__).read_bytes())
        place = CACHE / "parity" / f"alone-{key}"
        tally.check(
            "all alone: they run",
            lambda: same(
                run_alone(self.modules, place), f"{len(self.modules)} ran\n", "result"
            ),
        )
        files = [path for path, _ in self.modules]
        ruff = dev.environment("tools") / "bin" / "ruff"
        mypy = dev.environment("types") / "bin" / "mypy"
        cache = CACHE / "parity" / "mypy"
        tally.check(
            "all: formatter and linter",
            lambda: same(layout_faults(files, ruff), "", "output"),
        )
        tally.check(
            "all: type checker",
            lambda: same(type_faults(files, mypy, cache), "", "output"),
        )


def tiny_checkpoint(
    axon: str, tally: Tally, sources: Sources, family: Family, name: str
) -> None:
    """A variant of a family, or a spelling of one."""
    folder = made(family, name)
    theirs = library_model(source_of(folder))
    pair = opened(tally, folder.name, lambda: Pair(axon, folder, theirs))
    if pair is None:
        return
    sources.add(pair)
    faults = text_faults(pair.source_text)
    tally.check(f"{folder.name}: lengths", lambda: same(faults, [], "faults"))
    (tiny_encoder if family.kind == "encoder" else tiny_decoder)(tally, pair)
    tally.check(f"{folder.name}: parameter names", lambda: check_names(pair))
    prompt = tiny_prompts(theirs.config.vocab_size)[0]
    if hasattr(pair.ours, "pack_for_inference"):
        packed = torch.no_grad()(lambda: check_packed(pair, prompt))
        tally.check(f"{folder.name}: packed", packed)
    if family.kind == "causal" and name == next(iter(family.variants)):
        tally.check(f"{folder.name}: refusals", lambda: check_refusals(pair, prompt))
        tally.check(
            f"{folder.name}: packed, refusals", lambda: check_packed_refusals(pair)
        )
    if family.name in WITH_GRADIENTS:
        ids = torch.tensor([prompt])
        tally.check(f"{folder.name}: gradients", lambda: check_gradients(pair, ids))
    if family.kind != "encoder" and name == next(iter(family.variants)):
        tally.check(
            f"{folder.name}: compilations", lambda: check_compiled(pair, prompt)
        )
    if folder.name == "llama-grouped":
        tally.check(f"{folder.name}: long prompt", lambda: check_long(pair))
    if folder.name in COMPILED:
        tally.check(f"{folder.name}: compiled", lambda: check_inductor(pair, prompt))


def tiny_group(axon: str, tally: Tally, names: set[str], every: bool) -> None:
    """The families that have an emitted form."""
    picked = chosen(names, every)
    if not names:
        picked = [*chosen(THOROUGH, True), *picked]
    with tempfile.TemporaryDirectory() as folder:
        sources = Sources(pathlib.Path(folder))
        for family, name in dict.fromkeys((f.name, n) for f, n in picked):
            one = next(f for f, _ in picked if f.name == family)
            tiny_checkpoint(axon, tally, sources, one, name)
        sources.check(tally)


def real_group(axon: str, tally: Tally, names: set[str]) -> None:
    """The demonstration model and the sentence encoder."""
    if not names or "smollm" in names:
        folder = smollm_folder(fetched("smollm2"), "float32")
        pair = Pair(axon, folder, library_model(folder))
        draw = torch.Generator().manual_seed(5)
        ids = torch.randint(100, 40000, (1, 60), generator=draw)
        tally.check(
            "smollm: logits",
            torch.no_grad()(
                lambda: near(
                    pair.logits(ids), pair.library_logits(ids), REAL_LOGITS, "logits"
                )
            ),
        )
        tally.check(
            "smollm: greedy tokens",
            torch.no_grad()(lambda: check_greedy(pair, ids[0, :20].tolist())),
        )
    if not names or "minilm" in names:
        folder = fetched("minilm")
        pair = Pair(axon, folder, library_model(folder))
        ids = torch.randint(
            1000, 20000, (3, 40), generator=torch.Generator().manual_seed(6)
        )
        mask = torch.ones_like(ids)
        mask[1, 30:] = 0

        def states() -> None:
            found = pair.logits(ids, mask)
            want = pair.library_logits(ids, mask)
            near(found[mask == 1], want[mask == 1], REAL_LOGITS, "states")

        tally.check("minilm: states", torch.no_grad()(states))


def main() -> int:
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    torch.set_num_threads(1)
    axon, *words = sys.argv[1:]
    tally = Tally()
    names = {word for word in words if word != "--all"}
    real = names & {"smollm", "minilm"}
    if names - real or not names:
        tiny_group(axon, tally, names - real, "--all" in words)
    if real or not names:
        real_group(axon, tally, real)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares emitted modules with Transformers: run_emit.py AXON [--all] [NAME ...].

Every tiny checkpoint is compiled to a PyTorch module, imported here and held against the library's own
class: logits, greedy tokens, cached and padded calls, parameter names, gradients. Of each family of the
zoo one variant runs, all of them with --all or where named. The demonstration model and MiniLM follow with
their real weights. The last line says how many checks passed and failed.
"""

import json
import os
import pathlib
import sys
import traceback
import warnings
from collections.abc import Callable

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "families")]

from binary import Failure  # noqa: E402
from cases import FAMILIES, Family  # noqa: E402
from checkpoints import fetched, smollm_folder, tiny_checkpoints  # noqa: E402
from emit_checks import (  # noqa: E402
    check_cached,
    check_compiled,
    check_ends,
    check_gradients,
    check_greedy,
    check_half,
    check_inductor,
    check_names,
    check_padded,
    check_sampling,
)
from emit_pair import Pair, first, library_model, near  # noqa: E402
from run_families import made, wanted  # noqa: E402
from run_parity import TINY_LOGITS, tiny_prompts  # noqa: E402

REAL_LOGITS = 1e-3
# Families whose gradients are compared, beside those of the first group.
WITH_GRADIENTS = ("t5", "mixtral")


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


def tiny_causal(tally: Tally, pair: Pair, alone: bool = True) -> None:
    """All checks of a decoder; `alone`: the rows of a batch do not depend on each other."""
    name = pair.folder.name
    members = tiny_prompts(pair.theirs.config.vocab_size)
    for ids in members:
        row = torch.tensor([ids])
        tally.check(
            f"{name} prompt of {len(ids)}: logits",
            lambda row=row: near(
                pair.logits(row), pair.library_logits(row), TINY_LOGITS, "logits"
            ),
        )
        tally.check(
            f"{name} prompt of {len(ids)}: greedy tokens",
            lambda ids=ids: check_greedy(pair, ids),
        )
    checks = {
        "cached calls": lambda: check_cached(pair, members[0]),
        "sampling": lambda: check_sampling(pair, members[1]),
        "bfloat16": lambda: check_half(pair, members[0]),
    }
    if alone:
        checks["padded batch"] = lambda: check_padded(pair, members[:3])
        checks["end tokens"] = lambda: check_ends(pair, members[:3])
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


def check_compilations(tally: Tally, pair: Pair, prompt: list[int]) -> None:
    name = pair.folder.name
    tally.check(f"{name}: compilations", lambda: check_compiled(pair, prompt))
    tally.check(f"{name}: compiled", lambda: check_inductor(pair, prompt))


def tiny_group(axon: str, tally: Tally, names: list[str]) -> None:
    """The first families and every spelling of their files."""
    root = tiny_checkpoints()
    compiled_done = False
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        if names and folder.name not in names:
            continue
        source = folder
        if (folder / "oracle.json").exists():
            source = root / json.loads((folder / "oracle.json").read_text())["source"]
        pair = opened(
            tally,
            folder.name,
            lambda: Pair(axon, folder, library_model(source)),  # noqa: B023
        )
        if pair is None:
            continue
        prompt = tiny_prompts(pair.theirs.config.vocab_size)[0]
        encoder = not hasattr(pair.ours, "generate")
        (tiny_encoder if encoder else tiny_causal)(tally, pair)
        tally.check(f"{folder.name}: parameter names", lambda: check_names(pair))
        ids = torch.tensor([prompt])
        tally.check(f"{folder.name}: gradients", lambda: check_gradients(pair, ids))
        if not encoder and not compiled_done:
            compiled_done = True
            check_compilations(tally, pair, prompt)


def family_variant(axon: str, tally: Tally, family: Family, variant: str) -> None:
    """One checkpoint of a family."""
    import expect

    folder = made(family, variant)
    theirs = expect.load(family, variant, folder)
    pair = opened(tally, folder.name, lambda: Pair(axon, folder, theirs))
    if pair is None:
        return
    if family.kind == "causal":
        tiny_causal(tally, pair, variant not in family.alone)
    if family.kind == "encoder":
        tiny_encoder(tally, pair)
    tally.check(f"{folder.name}: parameter names", lambda: check_names(pair))
    prompt = tiny_prompts(theirs.config.vocab_size)[0]
    if family.name in WITH_GRADIENTS:
        ids = torch.tensor([prompt])
        tally.check(f"{folder.name}: gradients", lambda: check_gradients(pair, ids))
    if family.kind == "causal" and variant == next(iter(family.variants)):
        tally.check(
            f"{folder.name}: compilations", lambda: check_compiled(pair, prompt)
        )


def family_group(axon: str, tally: Tally, words: list[str]) -> None:
    """The families that have an emitted form."""
    for family, variant in wanted(words):
        if variant in family.variants and family.kind in ("causal", "encoder"):
            family_variant(axon, tally, family, variant)


def real_group(axon: str, tally: Tally, names: list[str]) -> None:
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
    names = [word for word in words if word != "--all"]
    families = {family.name for family in FAMILIES}
    of_families = [word for word in names if word.partition("-")[0] in families]
    others = [word for word in names if word not in of_families]
    if others or not names:
        tiny_group(axon, tally, others)
    if of_families or not names:
        family_group(axon, tally, words)
    if others or not names:
        real_group(axon, tally, others)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What is asked of each tiny checkpoint of a family."""

import pathlib

import numpy as np
from binary import Axon, near, same
from cases import Family
from checkpoints import Expected, Tally
from run_parity import (
    NEAR_TIE,
    SAME_PROGRAM,
    TINY_LOGITS,
    compare_batch,
    compare_greedy,
)


def compare_cached(axon: Axon, folder: pathlib.Path, prompt: list[int]) -> None:
    """Log-probabilities of cached steps equal those of one run over the whole sequence."""
    ids = ",".join(str(number) for number in prompt)
    done = axon.run(folder, "--prompt-ids", ids, "--logprobs", 5, count=20)
    steps = done["results"][0]
    tokens = steps["ids"]
    whole = axon.logits(folder, prompt + tokens[:-1]).astype(np.float64)
    rows = whole[len(prompt) - 1 :]
    logs = rows - np.log(
        np.exp(rows - rows.max(-1, keepdims=True)).sum(-1, keepdims=True)
    )
    logs -= rows.max(-1, keepdims=True)
    for place, (token, step) in enumerate(zip(tokens, steps["logprobs"])):
        same(step["likeliest"][0]["id"], token, f"likeliest token {place}")
        found = np.array([one["logprob"] for one in step["likeliest"]])
        want = np.array([logs[place, one["id"]] for one in step["likeliest"]])
        near(found, want, SAME_PROGRAM, f"step {place}")


def check_causal(
    axon: Axon, tally: Tally, family: Family, folder: pathlib.Path, want: Expected
) -> None:
    name = folder.name
    members = want.facts["prompts"]
    alone = [want.arrays[f"logits.{number}"] for number in range(len(members))]
    tally.check(
        f"{name}: logits",
        lambda: near(axon.logits(folder, members[0]), alone[0], TINY_LOGITS, "logits"),
    )
    for number, options in ((0, ()), (1, ("--chunk", 7))):
        case = want.facts["greedy"][number]
        tally.check(
            f"{name} {' '.join(map(str, options))}: greedy tokens",
            lambda case=case, options=options: compare_greedy(
                axon, folder, case, *options
            ),
        )
    tally.check(
        f"{name}: cached steps", lambda: compare_cached(axon, folder, members[2])
    )
    if folder.name.removeprefix(f"{family.name}-") not in family.alone:
        tally.check(
            f"{name} left padding: rows alone",
            lambda: compare_batch(axon, folder, members, alone, "left"),
        )


def compare_encoder(axon: Axon, folder: pathlib.Path, want: Expected) -> None:
    """Outputs of a padded batch at real tokens, and pooled rows."""
    mask = want.arrays["mask"]
    found = axon.forward(folder, {"input_ids": want.arrays["ids"], "attn_mask": mask})
    for name in ("logits", "last_hidden_state"):
        if name in want.arrays:
            near(
                found[name][mask == 1], want.arrays[name][mask == 1], TINY_LOGITS, name
            )
    if "pooler_output" in want.arrays:
        near(
            found["pooler_output"],
            want.arrays["pooler_output"],
            TINY_LOGITS,
            "pooler_output",
        )


def check_encoder(
    axon: Axon, tally: Tally, family: Family, folder: pathlib.Path, want: Expected
) -> None:
    tally.check(
        f"{folder.name}: padded batch", lambda: compare_encoder(axon, folder, want)
    )


def compare_decoded(axon: Axon, folder: pathlib.Path, want: Expected) -> None:
    """Logits at every step of a padded batch of sources, and the tokens that win in the first row."""
    inputs = {
        "input_ids": want.arrays["ids"],
        "attention_mask": want.arrays["mask"],
        "decoder_input_ids": want.arrays["decoded"],
    }
    found = axon.forward(folder, inputs)["logits"]
    near(found, want.arrays["logits"], TINY_LOGITS, "logits")
    case = want.facts["greedy"][0]
    for place, token in enumerate(case["tokens"]):
        if case["gaps"][place] >= NEAR_TIE:
            same(int(found[0, place].argmax()), token, f"token {place}")


def check_seq2seq(
    axon: Axon, tally: Tally, family: Family, folder: pathlib.Path, want: Expected
) -> None:
    tally.check(
        f"{folder.name}: decoded batch", lambda: compare_decoded(axon, folder, want)
    )


def check_spelling(
    axon: Axon, tally: Tally, family: Family, folder: pathlib.Path, source: str
) -> None:
    """Other names of the same values give the same logits."""
    want = Expected(folder.parent, source)
    prompt = want.facts["prompts"][0]
    tally.check(
        f"{folder.name}: logits",
        lambda: near(
            axon.logits(folder, prompt), want.arrays["logits.0"], TINY_LOGITS, "logits"
        ),
    )


def check_program(axon: Axon, tally: Tally, name: str, listed: str) -> None:
    """The program is in the list of the zoo, and checks without a checkpoint and without warnings."""
    tally.check(f"{name}: check --strict", lambda: axon.call("check", name, "--strict"))
    names = [line.split()[0] for line in listed.splitlines()]
    tally.check(
        f"{name}: listed", lambda: same(name in names, True, f"{name} in the list")
    )


def check_variant(
    axon: Axon, tally: Tally, family: Family, folder: pathlib.Path
) -> None:
    """All comparisons of one checkpoint."""
    want = Expected(folder.parent, folder.name)
    tally.check(
        f"{folder.name}: check --checkpoint",
        lambda: axon.call("check", family.name, "--checkpoint", folder, "--strict"),
    )
    kinds = {
        "causal": check_causal,
        "encoder": check_encoder,
        "seq2seq": check_seq2seq,
    }
    kinds[family.kind](axon, tally, family, folder, want)

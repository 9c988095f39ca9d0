#!/usr/bin/env python3
"""Compares the axon command with Transformers: run_parity.py AXON [GROUP ...].

Groups are tiny (what the command's options change in random checkpoints; run_families.py has the rest), smollm
(the demonstration model as GGUF, float32 and bfloat16 directories) and minilm (a sentence encoder). Expected
results are made once and kept in the cache folder. The last line says how many checks passed and failed.
"""

import json
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import prompts  # noqa: E402
from binary import Axon, Failure, near, same  # noqa: E402
from axon_verify.answers import Answers  # noqa: E402
from checkpoints import (  # noqa: E402
    Expected,
    Tally,
    answers,
    expected,
    expected_of_all,
    fetched,
    smollm_folder,
    tiny_checkpoints,
)

TINY_LOGITS = 1e-4
REAL_LOGITS = 2e-3
SAME_PROGRAM = 1e-4  # two ways through our own program
NEAR_TIE = 1e-3  # below this the second token may win
NEAR_TIE_SHARE = 0.01


# ---- comparisons -----------------------------------------------------------------------------


def compare_greedy(
    axon: Axon,
    model,
    want: dict,
    *options: object,
    count: int = 24,
    text: tuple[object, ...] = (),
) -> str | None:
    """Equal greedy tokens; at a near tie the oracle's token is fed to both and comparison goes on.

    With `text`, options that give the prompt as a person would, its ids must be the oracle's too.
    """
    prompt, tokens, gaps = want["prompt"], want["tokens"], want["gaps"]
    same(len(tokens) >= count, True, f"{count} tokens to compare")
    taken = []
    done = 0
    while done < len(tokens):
        if text and done == 0:
            run = axon.run(model, *text, *options, count=len(tokens))["results"][0]
            same(run["prompt_ids"], prompt, "prompt ids")
            got = run["ids"]
        else:
            fed = prompt + tokens[:done]
            got = axon.continue_ids(model, fed, len(tokens) - done, *options)
        same(len(got), len(tokens) - done, "number of new tokens")
        differ = [
            place for place in range(len(got)) if got[place] != tokens[done + place]
        ]
        if not differ:
            break
        place = done + differ[0]
        if gaps[place] >= NEAR_TIE:
            raise Failure(
                f"token {place}: saw {got[differ[0]]}, expected {tokens[place]} (ahead by {gaps[place]:.3g})"
            )
        taken.append(f"the oracle's token at {place}, ahead by {gaps[place]:.2g}")
        done = place + 1
    return ", ".join(taken)


def count_near_ties(tally: Tally, label: str, cases: dict[str, dict]) -> None:
    """Prints where the oracle's first two tokens are as good as equal; few places may be so."""
    positions = sum(len(case["gaps"]) for case in cases.values())
    ties = [
        (name, place, gap)
        for name, case in cases.items()
        for place, gap in enumerate(case["gaps"])
        if gap < NEAR_TIE
    ]
    for name, place, gap in ties:
        print(f"near tie: {label} {name} token {place}, gap {gap:.2g}")
    tally.report(
        f"{label}: near ties",
        len(ties)
        <= max(3, NEAR_TIE_SHARE * positions),  # of few places none can be judged
        f"{len(ties)} of {positions} positions",
    )


def padded(members: list[list[int]], side: str) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask of a batch, zeros at padding."""
    width = max(len(ids) for ids in members)
    ids = np.zeros((len(members), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, member in enumerate(members):
        start = 0 if side == "right" else width - len(member)
        ids[row, start : start + len(member)] = member
        mask[row, start : start + len(member)] = 1
    return ids, mask


def compare_batch(
    axon: Axon, model, members: list[list[int]], alone: list[np.ndarray], side: str
) -> None:
    """Rows of a padded batch equal the rows alone."""
    ids, mask = padded(members, side)
    found = axon.forward(model, {"input_ids": ids, "attn_mask": mask})["logits"]
    for row, want in enumerate(alone):
        near(found[row][mask[row] == 1], want, TINY_LOGITS, f"row {row}")


def compare_score(
    axon: Axon, model, ids: list[int], logits: np.ndarray, tolerance: float
) -> None:
    """`axon score`: the log-probability of each token but the first."""
    text = ",".join(str(number) for number in ids)
    found = json.loads(
        axon.call("score", model, "--prompt-ids", text, "--math", "exact", "--json")
    )
    wide = logits.astype(np.float64)
    shifted = wide - wide.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    want = np.array([logs[place, token] for place, token in enumerate(ids[1:])])
    near(np.array(found["logprobs"]), want, tolerance, "log-probabilities")


def compare_capacities(axon: Axon, model, prompt: list[int]) -> None:
    """The room made for positions changes no probability."""
    ids = ",".join(str(number) for number in prompt)
    seen = []
    for room in (64, 91, 128):
        options = ("--prompt-ids", ids, "-c", room, "--logprobs", 20)
        tokens = axon.run(model, *options, count=16)["results"][0]["logprobs"]
        seen.append(
            [place["logprob"] for token in tokens for place in token["likeliest"]]
        )
    for number, other in enumerate(seen[1:]):
        near(np.array(other), np.array(seen[0]), SAME_PROGRAM, f"capacity {number + 1}")


def tiny_options(axon: Axon, tally: Tally, folder: pathlib.Path, want: Answers) -> None:
    """Room, chunks, overlays and padding on the right change no token and no logit."""
    name = folder.name
    greedy = want.facts["greedy"][0]
    members = want.facts["prompts"]
    alone = [want.arrays[f"logits.{number}"] for number in range(len(members))]
    for option in (("-c", 75), ("-c", 101), ("--chunk", 7), ("--overlay", "static")):
        tally.check(
            f"{name} {' '.join(map(str, option))}: greedy tokens",
            lambda option=option: compare_greedy(axon, folder, greedy, *option),
        )
    tally.check(
        f"{name}: score",
        lambda: compare_score(axon, folder, members[0], alone[0], TINY_LOGITS),
    )
    tally.check(
        f"{name}: three capacities",
        lambda: compare_capacities(axon, folder, members[0]),
    )
    tally.check(
        f"{name} right padding: rows alone",
        lambda: compare_batch(axon, folder, members, alone, "right"),
    )


def compare_encoder(
    axon: Axon, folder, want: Expected, number: int, tolerance: float, segments: bool
) -> None:
    """Hidden states at real tokens, pooled rows and logits of one padded batch."""
    mask = want.arrays[f"mask.{number}"]
    inputs = {"input_ids": want.arrays[f"ids.{number}"], "attn_mask": mask}
    if segments:
        inputs["token_type_ids"] = want.arrays[f"segments.{number}"]
    found = axon.forward(folder, inputs)
    for ours, theirs in (("last_hidden_state", "hidden"), ("logits", "logits")):
        if f"{theirs}.{number}" in want.arrays:
            near(
                found[ours][mask == 1],
                want.arrays[f"{theirs}.{number}"][mask == 1],
                tolerance,
                ours,
            )
    if f"pooled.{number}" in want.arrays:
        near(
            found["pooler_output"],
            want.arrays[f"pooled.{number}"],
            tolerance,
            "pooler_output",
        )


def tiny_group(axon: Axon, tally: Tally) -> None:
    """A checkpoint with rotary and one with learnt positions."""
    for family, variant in (("llama", "linear-tied"), ("gpt2", "inner")):
        folder = next(p for p in tiny_checkpoints(family) if p.name.endswith(variant))
        tiny_options(axon, tally, folder, answers(folder))
    tally.wait()


def smollm_jobs(folder: pathlib.Path, name: str) -> list[dict]:
    """The oracle's jobs for one directory."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = [
        prompts.ENGLISH,
        prompts.CODE,
        prompts.CHINESE,
        prompts.EMOJI,
        prompts.BLANKS,
        prompts.ONE,
    ]
    texts.append(prompts.story(tokenizer, 700))
    messages = [
        {"role": "system", "content": prompts.CHAT["system"]},
        {"role": "user", "content": prompts.CHAT["user"]},
    ]
    chat = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True
    )
    ids = [tokenizer(text)["input_ids"] for text in texts]
    ids.append(tokenizer(chat, add_special_tokens=False)["input_ids"])
    job = {
        "name": name,
        "folder": str(folder),
        "kind": "causal",
        "prompts": ids,
        "tokens": 64,
        "texts": texts,
    }
    return [
        job
        | {
            "chats": [
                {"messages": messages, "options": {"add_generation_prompt": True}}
            ]
        }
    ]


def smollm_model(axon: Axon, tally: Tally, label: str, model, want: Expected) -> None:
    greedy = want.facts["greedy"]
    names = ["english", "code", "chinese", "emoji", "blanks", "one token", "700 tokens"]
    lengths = [len(text["ids"]) for text in want.facts["texts"]]
    tally.report(f"{label}: prompt lengths", lengths[5:] == [1, 700], str(lengths))
    given = [("--raw", "-p", text["text"]) for text in want.facts["texts"]]
    given.append(("--system", prompts.CHAT["system"], "-p", prompts.CHAT["user"]))
    told = [text["ids"] for text in want.facts["texts"]] + [
        want.facts["chats"][0]["ids"]
    ]
    tally.report(
        f"{label}: prompts", told == [case["prompt"] for case in greedy], "eight"
    )
    for name, case, text in zip([*names, "chat"], greedy, given):
        tally.check(
            f"{label} {name}: ids of the prompt and 64 greedy tokens",
            lambda case=case, text=text: compare_greedy(
                axon, model, case, count=64, text=text
            ),
        )
    tally.wait()
    count_near_ties(tally, label, dict(zip([*names, "chat"], greedy)))


def smollm_numbers(
    axon: Axon, tally: Tally, folder: pathlib.Path, want: Expected
) -> None:
    """Logits and scores of the float32 directory."""
    ids = want.facts["greedy"][6]["prompt"]
    logits = want.arrays["logits.6"]
    tally.check(
        "float32 logits of 512 tokens",
        lambda: near(
            axon.logits(folder, ids[:512]), logits[:512], REAL_LOGITS, "logits"
        ),
    )
    tally.check(
        "float32 score", lambda: compare_score(axon, folder, ids, logits, REAL_LOGITS)
    )


def smollm_group(axon: Axon, tally: Tally) -> None:
    """The demonstration model in three forms."""
    gguf = fetched("smollm2")
    folders = {dtype: smollm_folder(gguf, dtype) for dtype in ("float32", "bfloat16")}
    places = expected_of_all(
        [smollm_jobs(folder, f"smollm2-{dtype}") for dtype, folder in folders.items()]
    )
    for (dtype, folder), place in zip(folders.items(), places):
        want = Expected(place, f"smollm2-{dtype}")
        if dtype == "float32":
            smollm_model(axon, tally, "gguf", gguf, want)
            smollm_numbers(axon, tally, folder, want)
        smollm_model(axon, tally, dtype, folder, want)


def compare_embeddings(axon: Axon, folder: pathlib.Path, want: Expected) -> None:
    """`axon embed` equals the mean of hidden states, by itself and of unit length."""
    texts = axon.scratch / "sentences.txt"
    texts.write_text("\n".join(prompts.SENTENCES) + "\n", encoding="utf-8")
    unit = ("--pool", "mean", "--normalize")
    for number, options in enumerate([unit, ("--pool", "mean", "--no-normalize"), ()]):
        target = axon.scratch / f"embeddings{number}.npy"
        words = ["-f", texts, *options, "--math", "exact", "-o", target]
        axon.call("embed", folder, *words)
        found = np.load(target)
        for batch, members in enumerate(want.facts["batches"]):
            mean = want.arrays[f"mean.{batch}"]
            if "--no-normalize" in options:
                kept = want.arrays[f"mask.{batch}"][:, :, None].astype(np.float32)
                mean = (want.arrays[f"hidden.{batch}"] * kept).sum(1) / kept.sum(1)
            near(found[members], mean, 1e-4, f"{' '.join(options)} batch {batch}")


def minilm_group(axon: Axon, tally: Tally) -> None:
    """A real encoder on twenty sentences in padded batches."""
    from transformers import AutoTokenizer

    folder = fetched("minilm")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(text)["input_ids"] for text in prompts.SENTENCES]
    batches = [list(range(start, start + 5)) for start in range(0, 20, 5)]
    job = {
        "name": "minilm",
        "folder": str(folder),
        "kind": "encoder",
        "prompts": ids,
        "batches": batches,
    }
    want = Expected(expected([job]), "minilm")
    for number in range(len(batches)):
        tally.check(
            f"minilm batch {number}: hidden states",
            lambda number=number: compare_encoder(
                axon, folder, want, number, 1e-4, False
            ),
        )
    tally.check("minilm embeddings", lambda: compare_embeddings(axon, folder, want))


GROUPS = {"tiny": tiny_group, "smollm": smollm_group, "minilm": minilm_group}


def main() -> None:
    if len(sys.argv) < 2 or any(name not in GROUPS for name in sys.argv[2:]):
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        for name in sys.argv[2:] or GROUPS:
            GROUPS[name](axon, tally)
        tally.wait()
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()

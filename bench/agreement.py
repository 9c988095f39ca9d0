"""How often the peer's likeliest token is the exact one's, forced along the texts that exact writes.

The peer's command gives text only, so it is asked to go on greedily; where it leaves the exact text, that
position counts as a disagreement and it is asked again from one token further.
"""

import json
import pathlib
import subprocess


def words(axon: pathlib.Path, model: pathlib.Path, *arguments: str) -> str:
    """What `axon tokenize` prints."""
    command = [str(axon), "tokenize", str(model), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ids_of(axon: pathlib.Path, model: pathlib.Path, text: str) -> list[int]:
    """Token ids of a text."""
    return json.loads(words(axon, model, text, "--json"))["ids"]


def text_of(axon: pathlib.Path, model: pathlib.Path, ids: list[int]) -> str:
    """The text of token ids."""
    out = words(axon, model, "--decode", ",".join(str(i) for i in ids), "--json")
    return json.loads(out)["text"]


def completed(peer: pathlib.Path, model: pathlib.Path, prompt: str, count: int) -> str:
    """A text with the peer's greedy continuation; it echoes the prompt, so no blank between the two is lost."""
    command = [
        peer, "-m", model, "-p", prompt, "-n", count, "--temp", 0, "-t", 2, "-c", 1024,
        "-no-cnv", "--ignore-eos",
    ]  # fmt: skip
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    # The command ends its output with an empty line of its own.
    return done.stdout.decode("utf-8", "replace").removesuffix("\n\n")


def agreement(
    axon: pathlib.Path, peer: pathlib.Path, model: pathlib.Path, cases: list[dict]
) -> tuple[int, int]:
    """Positions that agree, and positions that could be compared."""
    agree = compared = 0
    for case in cases:
        start, ids = case["prompt_ids"], case["ids"]
        whole = text_of(axon, model, start + ids)
        if ids_of(axon, model, whole) != start + ids:
            continue  # a text that does not come back as these ids cannot be forced
        at = 0
        while at < len(ids):
            prefix = text_of(axon, model, start + ids[:at])
            if ids_of(axon, model, prefix) != start + ids[:at]:
                at += 1
                continue
            text = completed(peer, model, prefix, len(ids) - at)
            theirs = ids_of(axon, model, text)[len(start) :]
            same = at
            while same < len(ids) and theirs[same : same + 1] == [ids[same]]:
                same += 1
            agree += same - at
            compared += same - at + (1 if same < len(ids) else 0)
            at = same + 1
    return agree, compared

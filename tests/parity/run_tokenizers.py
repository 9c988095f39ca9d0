#!/usr/bin/env python3
"""Compares tokenizers with the reference on a large corpus: run_tokenizers.py AXON.

The corpus and its expected ids are made once and kept in the cache folder; tokenize_check, built beside the
command, compares.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from binary import Failure  # noqa: E402
from checkpoints import Tally, fetched, folder_for  # noqa: E402

STRINGS = 20000  # at least so many


def corpus(gguf: pathlib.Path, wordpiece: pathlib.Path) -> pathlib.Path:
    """The folder of expected results."""
    folder = folder_for("tokenizer_corpus.py")
    if not (folder / "ready").exists():
        script = HERE / "tokenizer_corpus.py"
        words = [folder, "--gguf", gguf, "--wordpiece", wordpiece]
        subprocess.run([sys.executable, script, *words], check=True)
        (folder / "ready").touch()
    return folder


def compare(tool: pathlib.Path, source: pathlib.Path, expected: pathlib.Path) -> str:
    """One tokenizer on the whole corpus."""
    done = subprocess.run(
        [tool, source, expected], capture_output=True, text=True, check=False
    )
    last = (done.stdout.strip().splitlines() or [""])[-1]
    counted = re.match(r"(\d+) strings", last)
    if done.returncode or not counted:
        raise Failure(f"\n{done.stdout[-2000:]}{done.stderr[-500:]}")
    if int(counted.group(1)) < STRINGS:
        raise Failure(f"{last}; {STRINGS} are wanted")
    return last


def main() -> int:
    """Runs every comparison."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]).resolve().parent / "tokenize_check"
    gguf, wordpiece = fetched("smollm2"), fetched("minilm")
    folder = corpus(gguf, wordpiece)
    tally = Tally()
    for expected in sorted(folder.glob("*.expected")):
        made = folder / f"{expected.stem}.json"
        sources = [made] if made.exists() else []
        if expected.stem == "gguf":
            sources.append(gguf)
        for source in sources or [wordpiece]:
            tally.check(
                f"{expected.stem} from {source.name}",
                lambda source=source, expected=expected: compare(
                    tool, source, expected
                ),
            )
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())

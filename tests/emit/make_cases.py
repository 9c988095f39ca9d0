#!/usr/bin/env python3
"""Writes tests/emit/NAME.json: configuration and tensor shapes of a checkpoint, without its weights."""

import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent


def shapes(folder: pathlib.Path) -> dict[str, list[int]]:
    """Names and shapes from the headers of safetensors files."""
    out: dict[str, list[int]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with open(path, "rb") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(file.read(size))
        out |= {k: v["shape"] for k, v in header.items() if k != "__metadata__"}
    return dict(sorted(out.items()))


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    for argument in sys.argv[2:]:
        name, folder = argument.split("=")
        config = json.loads((root / folder / "config.json").read_text())
        case = {"config": config, "tensors": shapes(root / folder)}
        (HERE / f"{name}.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main()

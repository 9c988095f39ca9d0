#!/usr/bin/env python3
"""Names sources above 800 lines and refuses those above 1,200 (tables and generated data excepted)."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXEMPT = {".def", ".inc"}


def main() -> int:
    bad = 0
    for folder in ("src", "stdlib", "zoo", "tests", "scripts"):
        for path in sorted((ROOT / folder).rglob("*")):
            if (
                path.suffix not in {".cc", ".h", ".py", ".axon"}
                or path.suffix in EXEMPT
            ):
                continue
            with open(path, "rb") as handle:
                lines = sum(1 for _ in handle)
            if lines > 1200:
                print(f"{path.relative_to(ROOT)}: {lines} lines, more than 1,200")
                bad += 1
            elif lines > 800:
                print(f"note: {path.relative_to(ROOT)} has {lines} lines")
    print(f"sizes: {bad} files are too long" if bad else "sizes: no file is too long")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks every #include under src/ against layers.txt. Prints each arrow that must not be there."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_layers() -> dict[str, set[str]]:
    """Layer name -> layers it may include (closed over `+`)."""
    raw: dict[str, list[str]] = {}
    for line in (ROOT / "layers.txt").read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, deps = line.split(":", 1)
            raw[name.strip()] = deps.split()
    closed: dict[str, set[str]] = {}

    def close(name: str) -> set[str]:
        if name not in closed:
            closed[name] = {name}
            for dep in raw[name]:
                closed[name].add(dep.rstrip("+"))
                if dep.endswith("+"):
                    closed[name] |= close(dep.rstrip("+"))
        return closed[name]

    for name in raw:
        close(name)
    return closed


def layer_of(path: str, layers: dict[str, set[str]]) -> str | None:
    """The longest layer name that is a folder prefix of the path."""
    fits = [name for name in layers if path == name or path.startswith(name + "/")]
    return max(fits, key=len) if fits else None


def main() -> int:
    layers = read_layers()
    bad = 0
    for source in sorted((ROOT / "src").rglob("*")):
        if source.suffix not in {".h", ".cc", ".def"}:
            continue
        rel = source.relative_to(ROOT / "src").as_posix()
        own = layer_of(rel, layers)
        if own is None:
            print(f"src/{rel}: its folder is not in layers.txt")
            bad += 1
            continue
        for number, line in enumerate(
            source.read_text(encoding="utf-8").splitlines(), 1
        ):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            target = layer_of(match.group(1), layers) if match else None
            if target and target not in layers[own]:
                print(f"src/{rel}:{number}: {own} may not include {target}")
                bad += 1
    print(f"layers: {bad} wrong arrows" if bad else "layers: every include points down")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

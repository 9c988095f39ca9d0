#!/usr/bin/env python3
"""Runs the cases of tests/library natively and by the evaluator: run_library.py AXON [WORD…].

Results are compared with PyTorch, Transformers or closed forms, as the cases say; with words only the cases whose
names hold one of them run. Every definition that the library exports, of the base and of each overlay, must have a
comment and a case.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import torch
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "library"))

import case_file  # noqa: E402
import oracle  # noqa: E402

TOLERANCE = 1e-4
SMALL = 1.6e-2  # natively, where half precision is computed in float32
AT_ONCE = 40  # cases a process


class Failure(Exception):
    """A check that did not hold; the text says what was seen."""


def contents(value: case_file.Value, names: dict) -> torch.Tensor:
    """What an input or stored tensor holds."""
    if value.contents:
        return eval(value.contents, names)
    sizes = re.search(r"\[(.*)\]", value.type)
    return torch.randn([int(size) for size in sizes.group(1).split(",") if size])


def prepare(case: case_file.Case, folder: pathlib.Path) -> dict:
    """Writes program, checkpoint and inputs; gives what the results must be."""
    torch.manual_seed(zlib.crc32(case.name.encode()))
    names = dict(vars(oracle), p={})
    for param in case.params:
        names["p"][param.name] = contents(param, names)
    inputs = {}
    for value in case.inputs:
        inputs[value.name] = names[value.name] = contents(value, names)
    for targets, expression in case.lets:
        value = eval(expression, names)
        for name, one in zip(
            targets.split(", "), value if "," in targets else [value], strict=True
        ):
            names[name] = one
    folder.mkdir()
    config = {"architectures": ["Case"], **case.config}
    (folder / "config.json").write_text(json.dumps(config))
    stored = names["p"] or {"unused": torch.zeros(1)}
    save_file(
        {key: t.contiguous() for key, t in stored.items()}, folder / "model.safetensors"
    )
    save_file(
        {key: t.contiguous() for key, t in inputs.items()}, folder / "in.safetensors"
    )
    (folder / "case.axon").write_text(case.program())
    return {
        value.name: torch.as_tensor(eval(value.contents, names))
        for value in case.results
    }


def compare(found: dict, expected: dict, way: str, tolerance: float) -> None:
    """Fails unless every result has the shape, the kind and the values that it must."""
    for name, wanted in expected.items():
        if name not in found and "logits" not in found:
            raise Failure(f"{way}: no `{name}` among {', '.join(found)}")
        got = found.get(name, found.get("logits"))
        if got.shape != wanted.shape:
            raise Failure(
                f"{way}: {name} is {list(got.shape)}, expected {list(wanted.shape)}"
            )
        kinds = [t.is_floating_point() for t in (got, wanted)]
        if kinds[0] != kinds[1] or (got.dtype == torch.bool) != (
            wanted.dtype == torch.bool
        ):
            raise Failure(f"{way}: {name} has {got.dtype}, expected {wanted.dtype}")
        if (
            way == "evaluator"
            and wanted.is_floating_point()
            and wanted.dim()
            and got.dtype != wanted.dtype
        ):
            raise Failure(f"{way}: {name} has {got.dtype}, expected {wanted.dtype}")
        got, wanted = got.double(), wanted.double()
        known = wanted[wanted.abs() < 1e30]
        scale = max(1.0, float(known.abs().max()) if known.numel() else 0.0)
        off = (got - wanted).abs()
        # Infinite and extreme values must be the same but for the last bits.
        same = (
            (got == wanted)
            | (off <= tolerance * scale)
            | (off <= tolerance * wanted.abs())
        )
        if not bool(same.all()):
            place = tuple(int(i) for i in torch.nonzero(~same)[0])
            raise Failure(
                f"{way}: {name}{list(place)} is {float(got[place])}, expected {float(wanted[place])}"
            )


def check(
    case: case_file.Case, folder: pathlib.Path, expected: dict, said: str
) -> None:
    """Compares both ways of one case."""
    for way, name in (("evaluator", "evaluated"), ("natively", "native")):
        path = folder / f"{name}.safetensors"
        if not path.exists():
            raise Failure(f"{way}: {said}\n{case.program()}")
        loose = case.small and way == "natively"
        compare(load_file(path), expected, way, SMALL if loose else TOLERANCE)


def outputs(tool: pathlib.Path, overlay: str, folders: list[pathlib.Path]) -> str:
    """Runs the programs of the folders; what went wrong, a line each."""
    command = [tool, overlay, *folders]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=900,
        check=False,
    )
    return (
        done.stdout if done.returncode == 0 else f"{done.stdout}\n{done.stderr[-3000:]}"
    )


def exported(tool: pathlib.Path) -> dict:
    """Definitions by `Module.name` or `overlay/Module.name`, those of the library's files that can be named."""
    listed = json.loads(
        subprocess.run([tool], capture_output=True, text=True, check=True).stdout
    )
    out, public = {}, {}
    for file in listed:
        if "/" not in file["path"]:
            public[file["path"]] = set(file["exports"])
    for file in listed:
        base = file["path"].split("/")[-1]
        for definition in file["definitions"]:
            if definition["name"] in public[base] or "/" in file["path"]:
                out[f"{file['path'].removesuffix('.axon')}.{definition['name']}"] = (
                    definition
                )
    return out


def uncovered(tool: pathlib.Path, cases: list[case_file.Case]) -> list[str]:
    """Definitions that lack a case or a comment, and cases of what is not there."""
    known = exported(tool)
    covered = {case.name.split(":")[0] for case in cases}
    out = [f"{name} has no case" for name in known if name not in covered]
    out += [
        f"{name} has no comment" for name, one in known.items() if not one["meaning"]
    ]
    return out + [
        f"{name} is not in the library" for name in sorted(covered - set(known))
    ]


def run(
    case_run: pathlib.Path, cases: list[case_file.Case], scratch: pathlib.Path
) -> int:
    """Runs the cases, prints what each came to; how many failed."""
    folders, expected = {}, {}
    failures: dict[str, str] = {}
    for number, case in enumerate(cases):
        folders[case.name] = scratch / f"case{number}"
        try:
            expected[case.name] = prepare(case, folders[case.name])
        except Exception as wrong:  # a mistake in the case
            failures[case.name] = f"{type(wrong).__name__}: {wrong}"
    groups = []
    for overlay in sorted({case.overlay for case in cases}):
        mine = [
            case for case in cases if case.overlay == overlay and case.name in expected
        ]
        groups += [
            (overlay, mine[i : i + AT_ONCE]) for i in range(0, len(mine), AT_ONCE)
        ]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(outputs, case_run, overlay, [folders[c.name] for c in group])
            for overlay, group in groups
        ]
        said = "\n".join(job.result() for job in jobs)
    for case in cases:
        if case.name not in failures:
            mine = [
                line
                for line in said.splitlines()
                if line.startswith(f"{folders[case.name]}: ")
            ]
            try:
                check(
                    case,
                    folders[case.name],
                    expected[case.name],
                    "\n".join(mine) or said[-2000:],
                )
            except Failure as failure:
                failures[case.name] = str(failure)
        print(
            f"FAIL {case.name}: {failures[case.name]}"
            if case.name in failures
            else f"ok   {case.name}"
        )
    return len(failures)


def main() -> None:
    """Coverage, then all cases."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tools = pathlib.Path(sys.argv[1]).resolve().parent
    words = sys.argv[2:]
    cases = case_file.read_all()
    names = [case.name for case in cases]
    lacking = uncovered(tools / "library_list", cases) + [
        f"{n} twice" for n in sorted({n for n in names if names.count(n) > 1})
    ]
    for line in lacking:
        print(f"FAIL {line}")
    if words:
        cases = [case for case in cases if any(word in case.name for word in words)]
    with tempfile.TemporaryDirectory() as scratch:
        failed = run(tools / "case_run", cases, pathlib.Path(scratch)) + len(lacking)
    print(f"{len(cases) + len(lacking) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""Emitted modules where nothing but their framework is installed, and their text as tools see it.

The environment has links to the framework's packages here, to what these need themselves, and to nothing
else. Run as a program there: emit_alone.py MODULE FOLDER …, pairs of a module and its checkpoint.
"""

import ast
import concurrent.futures
import importlib.metadata
import importlib.util
import pathlib
import subprocess
import sys
import types
import venv

FRAMEWORK = ("torch", "numpy", "safetensors")
FOREIGN = ("transformers", "tokenizers", "jax", "axon_verify")
LINES, FUNCTION_LINES = 1500, 60


def needed(names: tuple[str, ...]) -> list[str]:
    """The distributions and what they need, by name."""
    seen: list[str] = []
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system
        if distribution.metadata["Name"] in seen:
            continue
        seen.append(distribution.metadata["Name"])
        for line in distribution.requires or []:
            if "extra ==" not in line:
                waiting.append(line.split(";")[0].strip().split("[")[0])
        waiting = [word.rstrip("=<>!~.0123456789, ()") for word in waiting]
    return seen


def environment(folder: pathlib.Path) -> pathlib.Path:
    """An environment with the framework alone; gives its interpreter."""
    python = folder / "bin" / "python"
    if python.exists():
        return python
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in needed(FRAMEWORK):
        distribution = importlib.metadata.distribution(name)
        tops = {path.parts[0] for path in distribution.files or []} - {"..", ""}
        for top in sorted(tops):
            source = pathlib.Path(str(distribution.locate_file(top)))
            if source.exists() and not (site / top).exists():
                (site / top).symlink_to(source)
    return python


def run_alone(
    modules: list[tuple[pathlib.Path, pathlib.Path]], folder: pathlib.Path
) -> str:
    """What the modules say of themselves in the environment."""
    command = [
        environment(folder),
        "-I",
        __file__,
        *(p for pair in modules for p in pair),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


def text_faults(text: str) -> list[str]:
    """What is too long."""
    faults = []
    if text.count("\n") > LINES:
        faults.append(f"{text.count(chr(10))} lines")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno:
            length = node.end_lineno - node.lineno + 1
            if length > FUNCTION_LINES:
                faults.append(f"{node.name} has {length} lines")
    return faults


def layout_faults(files: list[pathlib.Path], ruff: pathlib.Path) -> str:
    """What the formatter and the linter say."""
    said = ""
    for words in (["format", "--check"], ["check", "--quiet"]):
        done = subprocess.run(
            [ruff, *words, "--isolated", *files],
            capture_output=True,
            text=True,
            check=False,
        )
        said += done.stdout if done.returncode else ""
    return said


def type_faults(
    files: list[pathlib.Path], mypy: pathlib.Path, cache: pathlib.Path
) -> str:
    """What the type checker says, with the framework that is installed here."""
    command = [mypy, "--python-executable", sys.executable, "--cache-dir", cache]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def loaded(path: pathlib.Path, name: str) -> types.ModuleType:
    """The file as a module of this name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_side_by_side(paths: list[pathlib.Path], threads: int = 4) -> None:
    """What the files register in the process is their own: threads load them at one time."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(loaded, path, f"{path.stem}_{number}")
            for number in range(threads)
            for path in paths
        ]
        for job in jobs:
            job.result()


def main() -> None:
    words = [pathlib.Path(word) for word in sys.argv[1:]]
    foreign = [name for name in FOREIGN if importlib.util.find_spec(name)]
    if foreign:
        sys.exit(f"not alone: {', '.join(foreign)}")
    import torch

    for path, folder in zip(words[::2], words[1::2]):
        module = loaded(path, path.stem)
        kinds = [
            kind for kind in vars(module).values() if hasattr(kind, "from_pretrained")
        ]
        model = kinds[0].from_pretrained(folder)
        ids = torch.arange(3, 13).reshape(2, 5)
        with torch.no_grad():
            if hasattr(model, "generate"):
                model.generate(ids, max_new_tokens=3)
            else:
                model(ids)
    load_side_by_side(words[::2])
    print(f"{len(words) // 2} ran")


if __name__ == "__main__":
    main()

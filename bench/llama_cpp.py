"""The peer: llama.cpp, built once in the tool cache from the source inside the llama-cpp-python package."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

VERSION = "0.3.36"
CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)
TARGETS = ("llama-bench", "llama-completion")


def run(*command: object, **kwargs) -> None:
    """A command that must succeed."""
    subprocess.run(
        [str(word) for word in command], check=True, stdout=sys.stderr, **kwargs
    )


def source(folder: pathlib.Path) -> pathlib.Path:
    """The unpacked source of llama.cpp."""
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        run(sys.executable, "-m", "venv", place / "env")
        python = place / "env" / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", "scikit-build-core")
        run(
            python,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "--no-build-isolation",
            "-d",
            place,
            f"llama-cpp-python=={VERSION}",
        )
        archive = next(place.glob("llama_cpp_python-*.tar.gz"))
        print(
            f"llama-cpp-python {VERSION}: sha256 {hashlib.sha256(archive.read_bytes()).hexdigest()}",
            file=sys.stderr,
        )
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return next(folder.glob("llama_cpp_python-*")) / "vendor" / "llama.cpp"


def build() -> dict[str, pathlib.Path]:
    """Paths of the peer's commands, built on first use with its own defaults for this machine."""
    folder = CACHE / f"llama.cpp-{VERSION}"
    out = folder / "build" / "bin"
    if not all((out / name).exists() for name in TARGETS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print("building llama.cpp (once)", file=sys.stderr)
        run(
            "cmake",
            "-S",
            source(folder),
            "-B",
            folder / "build",
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DLLAMA_CURL=OFF",
            "-DLLAMA_BUILD_TESTS=OFF",
            "-DLLAMA_BUILD_EXAMPLES=OFF",
            "-DLLAMA_BUILD_SERVER=OFF",
            "-DBUILD_SHARED_LIBS=OFF",
        )
        run("cmake", "--build", folder / "build", "--target", *TARGETS)
    return {name: out / name for name in TARGETS}

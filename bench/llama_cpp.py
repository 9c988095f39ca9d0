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
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)
TARGETS = ("llama-bench", "llama-completion")
# The project's own defaults (release, instructions of this machine, OpenMP); only what needs a network or
# is never called is left out.
FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DGGML_OPENMP=ON",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DBUILD_SHARED_LIBS=OFF",
)
# GCC 12 is told that the tile configuration's intrinsic reads 8 bytes, drops the stores of the other 56, and
# the first tile load faults. A clobber before the call keeps them; elsewhere it changes nothing.
TILE_FILE = "ggml/src/ggml-cpu/amx/mmq.cpp"
TILE_CALL = "    _tile_loadconfig(&tc);"
TILE_FIX = '    __asm__ volatile("" : : "r"(&tc) : "memory");\n' + TILE_CALL


def run(*command: object, **kwargs) -> None:
    """A command that must succeed."""
    subprocess.run(
        [str(word) for word in command], check=True, stdout=sys.stderr, **kwargs
    )


def output(*command: str) -> str:
    """What a command prints; empty when there is no such command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout


def key() -> str:
    """What a build depends on: source, flags, fix, compiler, instructions of this machine."""
    instructions = [
        line
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith(("flags", "Features"))
    ][:1]
    compiler = output("c++", "-dumpfullversion")
    parts = [SHA256, *FLAGS, TILE_FIX, compiler, *instructions]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def source(folder: pathlib.Path) -> pathlib.Path:
    """The unpacked source of llama.cpp."""
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        run(sys.executable, "-m", "venv", place / "env")
        python = place / "env" / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", "scikit-build-core")
        choice = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        package = f"llama-cpp-python=={VERSION}"
        run(python, "-m", "pip", "download", "-q", *choice, "-d", place, package)
        archive = next(place.glob("llama_cpp_python-*.tar.gz"))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != SHA256:
            sys.exit(f"{package}: sha256 is {found}, expected {SHA256}")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return next(folder.glob("llama_cpp_python-*")) / "vendor" / "llama.cpp"


def fix_tiles(root: pathlib.Path) -> None:
    """Keeps the tile configuration whole under GCC 12 (see TILE_FIX)."""
    path = root / TILE_FILE
    text = path.read_text(encoding="utf-8")
    if text.count(TILE_CALL) != 1:
        sys.exit(f"{TILE_FILE} is not as expected")
    path.write_text(text.replace(TILE_CALL, TILE_FIX), encoding="utf-8")


def check_openmp(folder: pathlib.Path) -> None:
    """A build that silently fell back to its own threads would be another peer."""
    cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8")
    if "GGML_OPENMP_ENABLED:INTERNAL=ON" not in cache:
        sys.exit("llama.cpp: OpenMP was not found")


def build() -> dict[str, pathlib.Path]:
    """Paths of the peer's commands, built on first use with its own defaults for this machine."""
    folder = CACHE / f"llama.cpp-{VERSION}-{key()}"
    out = folder / "build" / "bin"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print("building llama.cpp (once)", file=sys.stderr)
        root = source(folder)
        fix_tiles(root)
        run("cmake", "-S", root, "-B", folder / "build", "-G", "Ninja", *FLAGS)
        check_openmp(folder / "build")
        run("cmake", "--build", folder / "build", "--target", *TARGETS)
        (folder / "ready").write_text("", encoding="utf-8")
    return {name: out / name for name in TARGETS}


if __name__ == "__main__":
    for path in build().values():
        print(path)

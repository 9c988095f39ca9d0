"""./dev fuzz: mutated texts through the front end and generated programs through the evaluator, under sanitizers; what fails is made small and kept as a test."""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRASHERS = ROOT / "tests" / "fuzz" / "crashers"


def fails(fuzz: pathlib.Path, text: bytes, place: pathlib.Path) -> bool:
    """Whether the front end crashes, hangs or blames itself on a text."""
    place.write_bytes(text)
    done = subprocess.run(
        [fuzz, "replay", place], capture_output=True, check=False, cwd=ROOT
    )
    return done.returncode not in (0, 2)


def smaller(fuzz: pathlib.Path, text: bytes, place: pathlib.Path) -> bytes:
    """Drops pieces of a failing text, ever shorter ones, as long as it fails."""
    size = max(1, len(text) // 2)
    until = time.monotonic() + 120
    while size >= 1 and time.monotonic() < until:
        at, dropped = 0, False
        while at < len(text) and time.monotonic() < until:
            shorter = text[:at] + text[at + size :]
            if shorter and fails(fuzz, shorter, place):
                text, dropped = shorter, True
            else:
                at += size
        if not dropped:
            size //= 2
    return text


def keep(fuzz: pathlib.Path, text: bytes, place: pathlib.Path) -> pathlib.Path:
    """Writes the small form of a failing text among the tests."""
    if fails(fuzz, text, place):
        text = smaller(fuzz, text, place)
    name = hashlib.sha256(text).hexdigest()[:12] + ".axon"
    CRASHERS.mkdir(parents=True, exist_ok=True)
    (CRASHERS / name).write_bytes(text)
    return CRASHERS / name


def run(fuzz: pathlib.Path, seconds: float, seed: int) -> int:
    """Both kinds side by side for the given time; counts on standard output, 1 when anything failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for kind in ("front", "programs"):
            state = pathlib.Path(folder) / f"{kind}.axon"
            command = [fuzz, kind, str(seconds), str(seed), state]
            job = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            jobs.append((kind, state, job))
        for kind, state, job in jobs:
            output = job.communicate()[0]
            print(output.strip()[-4000:], flush=True)
            if job.returncode == 0:
                continue
            failed = 1
            text = state.read_bytes() if state.exists() else b""
            if kind == "front" and text:
                place = pathlib.Path(folder) / "smaller.axon"
                print(f"kept as {keep(fuzz, text, place).relative_to(ROOT)}")
    return failed


if __name__ == "__main__":
    sys.exit(run(pathlib.Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))

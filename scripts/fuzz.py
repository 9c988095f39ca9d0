"""./dev fuzz: mutated texts through the front end and generated programs all ways that they run; what fails is made small and kept as a test."""

import dataclasses
import hashlib
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRASHERS = ROOT / "tests" / "fuzz" / "crashers"

# The words of the state file, as tests/fuzz/state.h has them; the text under test stands behind.
WORDS = [
    "next", "inputs", "parsed", "checked", "staged", "programs", "satisfied", "runs",
    "compared", "unstable", "failures", "straight", "slowest_ms", "milliseconds", "length",
]  # fmt: skip
TEXT_AT = 256
# Short stacks and a small quarantine: findings are replayed with the full ones.
FAST = "malloc_context_size=2:quarantine_size_mb=16:detect_leaks=0:exitcode=99"
SLOW = "detect_leaks=0:exitcode=99"
HANG = 3
MOST_FINDINGS = 12
MINIMISE_SECONDS = 90


@dataclasses.dataclass
class Part:
    """One kind of work in one build."""

    kind: str  # front, programs
    build: str  # sanitizers, release
    binary: pathlib.Path
    share: float  # of the time
    limit: int = 1 << 62  # of texts or programs
    counts: dict = dataclasses.field(default_factory=dict)
    findings: int = 0
    hangs: int = 0
    waits: int = 0  # ran over a clock beside other work, and pass alone
    seconds: float = 0


def environment(options: str) -> dict:
    """The environment of a fuzzing process."""
    return dict(os.environ, ASAN_OPTIONS=options, UBSAN_OPTIONS="print_stacktrace=1")


def read_state(path: pathlib.Path) -> tuple[dict, bytes]:
    """Counts and the text under test."""
    data = path.read_bytes()
    words = dict(zip(WORDS, struct.unpack_from(f"<{len(WORDS)}Q", data)))
    return words, data[TEXT_AT : TEXT_AT + words["length"]]


def add_counts(total: dict, words: dict) -> None:
    """Sums, and the largest of the slowest."""
    for name, value in words.items():
        if name == "slowest_ms":
            total[name] = max(total.get(name, 0), value)
        elif name not in ("next", "length"):
            total[name] = total.get(name, 0) + value


def sign_of(status: int, output: str) -> str:
    """What a failure is known by, so that a smaller text fails in the same way."""
    for line in output.splitlines():
        if "SUMMARY:" in line or "runtime error:" in line:
            words = line.split()
            return " ".join(words[1:4] if "SUMMARY:" in line else words[1:6])
    first = next(
        (line for line in output.splitlines() if line.startswith("fuzz: ")), ""
    )
    return f"{status} {first[:40]}"


def replay(part: Part, text: bytes, place: pathlib.Path) -> tuple[int, str]:
    """Status and output for one text."""
    place.write_bytes(text)
    done = subprocess.run(
        [part.binary, "replay", part.kind, place],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        cwd=ROOT,
        env=environment(SLOW),
    )
    return done.returncode, done.stdout


def smaller(part: Part, text: bytes, sign: str, place: pathlib.Path) -> bytes:
    """Drops lines, then pieces, ever shorter ones, as long as the text fails as before."""
    until = time.monotonic() + MINIMISE_SECONDS

    def fails(shorter: bytes) -> bool:
        status, output = replay(part, shorter, place)
        return status not in (0, 2) and sign_of(status, output) == sign

    for cut, joint in ((text.split(b"\n"), b"\n"), (None, b"")):
        pieces = cut if cut is not None else [text[i : i + 1] for i in range(len(text))]
        size = max(1, len(pieces) // 2)
        while size >= 1 and time.monotonic() < until:
            at, dropped = 0, False
            while at < len(pieces) and time.monotonic() < until:
                shorter = pieces[:at] + pieces[at + size :]
                if shorter and fails(joint.join(shorter)):
                    pieces, dropped = shorter, True
                else:
                    at += size
            if not dropped or size > 1:
                size //= 2
        text = joint.join(pieces)
    return text


def keep(part: Part, text: bytes, output: str, status: int, place: pathlib.Path) -> str:
    """Writes the small form of a failing text among the tests; says where and what."""
    again, shown = replay(part, text, place)
    if again in (0, 2):
        note = "(replayed alone it passes)"
    else:
        note = ""
        status, output = again, shown
        text = smaller(part, text, sign_of(status, output), place)
        output = replay(part, text, place)[1] or output
    name = hashlib.sha256(text).hexdigest()[:12] + ".axon"
    CRASHERS.mkdir(parents=True, exist_ok=True)
    (CRASHERS / name).write_bytes(text)
    kept = (CRASHERS / name).relative_to(ROOT)
    return f"{part.kind}, {part.build}, status {status}: {kept} {note}\n{output.strip()[-3000:]}"


def work(
    part: Part, seconds: float, seed: int, jobs: int, folder: pathlib.Path
) -> list[str]:
    """One part with several processes; each goes on behind a text that ended it."""
    until = time.monotonic() + seconds
    began = time.monotonic()
    found: list[str] = []
    running = []

    def start(worker: int, first: int, tried: int) -> None:
        left = until - time.monotonic()
        if left <= 0.05 or part.findings > MOST_FINDINGS:
            return
        state = folder / f"{part.kind}-{part.build}-{worker}-{tried}"
        command = [part.binary, part.kind, f"{left:.2f}", part.limit, seed]
        command += [first, jobs, state]
        log = open(f"{state}.log", "w+", encoding="utf-8", errors="replace")
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(FAST),
        )
        running.append((process, state, log, worker, tried))

    for worker in range(jobs):
        start(worker, worker, 0)
    while running:
        done = next((job for job in running if job[0].poll() is not None), None)
        if done is None:
            time.sleep(0.1)
            continue
        running.remove(done)
        process, state, log, worker, tried = done
        log.seek(0)
        output = log.read()
        log.close()
        words, text = read_state(state)
        add_counts(part.counts, words)
        if process.returncode == 0:
            continue
        place = folder / "replayed"
        if process.returncode == HANG and replay(part, text, place)[0] == 0:
            part.waits += 1
            start(worker, words["next"], tried + 1)
            continue
        part.findings += 1
        part.hangs += process.returncode == HANG
        found.append(keep(part, text, output, process.returncode, place))
        print(f"FOUND {found[-1]}", flush=True)
        start(worker, words["next"], tried + 1)
    part.seconds = time.monotonic() - began
    return found


def report(part: Part, jobs: int) -> None:
    """One line of counts."""
    c = {name: part.counts.get(name, 0) for name in WORDS}
    cpu = max(c["milliseconds"] / 1000, 0.001)
    number = c["inputs"] if part.kind == "front" else c["programs"]
    rate = f"{number / cpu:.0f}/s of processor time, {cpu:.0f} s of {part.seconds * jobs:.0f} s"
    if part.kind == "front":
        text = (
            f"front end ({part.build}): {number} inputs, {c['parsed']} parse, {c['checked']} check,"
            f" {c['staged']} through all stages"
        )
    else:
        share = 100 * c["satisfied"] / max(1, c["checked"])
        text = (
            f"programs ({part.build}): {number} made, {c['checked']} check, {share:.1f} % of them with"
            f" sizes, {c['straight']} as a straight line, {c['runs']} runs ({c['failures']} end in an"
            f" error), {c['compared']} comparisons, {c['unstable']} results not compared"
        )
    other = part.findings - part.hangs
    waits = f" ({part.waits} more pass when run alone)" if part.waits else ""
    print(
        f"{text}; {rate}; slowest {c['slowest_ms']} ms; {other} crashes or disagreements,"
        f" {part.hangs} hangs{waits}",
        flush=True,
    )


def run(parts: list[Part], seconds: float, seed: int, jobs: int) -> int:
    """The parts one after the other, in their shares of the time; 1 when anything was found."""
    failed = 0
    total = sum(part.share for part in parts)
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            time_for = seconds * part.share / total
            if work(part, time_for, seed, jobs, pathlib.Path(folder)):
                failed = 1
            report(part, jobs)
            checked = part.counts.get("checked", 0)
            if part.kind == "programs":
                if part.counts.get("satisfied", 0) * 10 < checked * 9:
                    print("too few programs have sizes that their entry lets pass")
                    failed = 1
    return failed


def plan(sanitized: pathlib.Path, release: pathlib.Path) -> list[Part]:
    """What `./dev fuzz` does, with the shares of the time."""
    return [
        Part("front", "sanitizers", sanitized, 0.84),
        Part("programs", "sanitizers", sanitized, 0.06),
        Part("programs", "release", release, 0.10),
    ]


def main() -> int:
    """What the tests do: always the same texts and programs, two minutes on two cores."""
    binary = pathlib.Path(sys.argv[1]).resolve()
    parts = [
        Part("front", "sanitizers", binary, 0.6, limit=70000),
        Part("programs", "sanitizers", binary, 0.4, limit=6000),
    ]
    return run(parts, seconds=900, seed=1, jobs=len(os.sched_getaffinity(0)))


if __name__ == "__main__":
    sys.exit(main())

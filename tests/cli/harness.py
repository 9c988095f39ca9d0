"""A runner that checks what the command answers.

Needs the Python standard library only: no framework, no network.
"""

import concurrent.futures
import inspect
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import checkpoints as ck

# ---- running the command -------------------------------------------------------------------

# What a sanitizer writes; its own exit status must not look like one of ours.
SANITIZER = re.compile(r"(Address|Leak|UndefinedBehavior)Sanitizer|runtime error:")
SANITIZER_ENV = {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99"}
ZOO = pathlib.Path(__file__).resolve().parents[2] / "zoo"
WORKERS = min(4, len(os.sched_getaffinity(0)))


class Answer:
    """What one run of the command gave."""

    def __init__(self, status: int, out: bytes, err: bytes, seconds: float) -> None:
        self.status = status
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")
        self.seconds = seconds

    def json(self):
        """Standard output as one JSON value."""
        return json.loads(self.out)

    def body(self) -> dict:
        """The JSON object on standard output; empty when there is none."""
        try:
            found = self.json()
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def lines(self) -> list:
        """Standard output as one JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]


class Suite:
    """Runs the command and counts what holds."""

    def __init__(self, binary: str) -> None:
        self.binary = str(pathlib.Path(binary).resolve())
        self.passed = 0
        self.failed = 0
        self.lock = threading.Lock()
        self.fixtures: dict[str, pathlib.Path] = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="axon-cli-"))
        self.env = {
            k: v for k, v in os.environ.items() if not k.startswith(("AXON_", "HF_"))
        }
        self.env.pop("NO_COLOR", None)
        self.env["HOME"] = str(self.folder)
        self.env.update(SANITIZER_ENV)

    def run(
        self,
        *words,
        stdin: bytes = b"",
        timeout: float = 60,
        env: dict | None = None,
        before=None,
    ) -> Answer:
        """One run; words may be bytes, to pass what is not UTF-8. `before` is called in the new process."""
        begin = time.monotonic()
        command = [self.binary, *(w if isinstance(w, bytes) else str(w) for w in words)]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**self.env, **(env or {})},
            cwd=self.folder,
            preexec_fn=before,
        )
        answer = Answer(
            done.returncode, done.stdout, done.stderr, time.monotonic() - begin
        )
        if SANITIZER.search(answer.err):
            self.check(f"clean run of {command[1:]}", False, answer.err[:4000])
        return answer

    def start(self, *words, **streams) -> subprocess.Popen:
        """The command in the background."""
        return subprocess.Popen(
            [self.binary, *map(str, words)], env=self.env, cwd=self.folder, **streams
        )

    def check(self, name: str, holds: bool, detail: str = "") -> bool:
        """One fact."""
        with self.lock:
            if holds:
                self.passed += 1
            else:
                self.failed += 1
                print(f"FAIL {name}\n     {detail}", flush=True)
        return holds

    def answers(
        self, name: str, answer: Answer, status: int, *, out: str = "", err: str = ""
    ) -> bool:
        """The exit status, and patterns that standard output and error must match."""
        bad = []
        if answer.status != status:
            bad.append(f"status {answer.status}, expected {status}")
        for pattern, text, where in (
            (out, answer.out, "output"),
            (err, answer.err, "error text"),
        ):
            if pattern and not re.search(pattern, text, re.S):
                bad.append(f"{where} does not match /{pattern}/")
        detail = (
            "; ".join(bad)
            + f"\n     out: {answer.out[:600]!r}\n     err: {answer.err[:900]!r}"
        )
        return self.check(name, not bad, detail)

    def fails(
        self,
        name: str,
        words: list,
        status: int,
        code: str,
        *,
        says: str = "",
        offset: bool = False,
        env: dict | None = None,
        stdin: bytes = b"",
    ) -> Answer:
        """A failure in both forms: text with its code, and the JSON object with the same code."""
        forms = (words, [*words, "--json"])
        answer, as_json = self.each(lambda w: self.run(*w, stdin=stdin, env=env), forms)
        self.answers(name, answer, status, err=rf"\[({code})\]|error ({code}):")
        if says:
            self.check(
                f"{name}: says",
                bool(re.search(says, answer.err, re.S)),
                f"/{says}/ in {answer.err!r}",
            )
        if offset:
            self.check(f"{name}: offset", "at byte" in answer.err, repr(answer.err))
        try:
            body = as_json.json()
            error = body["error"]
            holds = (
                body["schema"] == 1
                and re.fullmatch(code, error["code"])
                and error["message"]
            )
            holds = (
                holds
                and (not offset or error["offset"] >= 0)
                and as_json.status == status
            )
        except (ValueError, KeyError, TypeError) as why:
            holds, error = False, why
        self.check(
            f"{name}: JSON",
            bool(holds),
            f"status {as_json.status}, {error!r}, out {as_json.out[:300]!r}",
        )
        return answer

    def each(self, call, cases) -> list:
        """Calls for every case, a few at a time; each makes its own files."""
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(call, cases))

    def fixture(self, name: str) -> pathlib.Path:
        """A checkpoint that tests share and leave as it is."""
        if name not in self.fixtures:
            path = self.folder / f"shared-{name}"
            if name == "model":
                ck.llama_directory(path)
            elif name == "encoder":
                ck.bert_directory(path)
            elif name == "gguf":
                path = path.with_suffix(".gguf")
                path.write_bytes(ck.gguf())
            else:
                raise ValueError(f"no fixture {name}")
            self.fixtures[name] = path
        return self.fixtures[name]

    def run_all(self, *tests) -> None:
        """Runs the tests, each with the fixtures that its parameters name, and ends."""
        for test in tests:
            begin = time.monotonic()
            try:
                test(*map(self.fixture, inspect.signature(test).parameters))
            except (
                Exception
            ) as why:  # a test that breaks is a failure; the others go on
                detail = "".join(traceback.format_exception(why))
                self.check(test.__name__, False, detail)
            if os.environ.get("AXON_TEST_TIMES"):
                took = time.monotonic() - begin
                print(f"     {test.__name__} {took:.1f} s", flush=True)
        self.finish()

    def finish(self) -> None:
        """The closing line."""
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def suite() -> Suite:
    """The suite for the binary named on the command line."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BINARY")
    return Suite(sys.argv[1])


# ---- processes -----------------------------------------------------------------------------


def resident_bytes_of(path: pathlib.Path) -> int:
    """Pages of a file that lie in memory, through mincore on a fresh mapping."""
    import ctypes
    import mmap

    size = path.stat().st_size
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    )
    with open(path, "rb") as file:
        address = libc.mmap(
            None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0
        )
    pages = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE
    vector = (ctypes.c_ubyte * pages)()
    libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), vector)
    libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
    return sum(v & 1 for v in vector) * mmap.PAGESIZE


def interrupt(
    process: subprocess.Popen, number: int = signal.SIGINT
) -> tuple[int, float]:
    """Sends a signal; the status and the seconds until the end."""
    begin = time.monotonic()
    process.send_signal(number)
    status = process.wait(timeout=30)
    return status, time.monotonic() - begin

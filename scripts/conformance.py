"""The table rule → test → result of ./dev conformance: every example and every decision of the language has a test by its name."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = (
    [f"C{n:02}" for n in range(1, 55)]
    + [f"A-{n:02}" for n in range(1, 84)]
    + [f"D-{n:02}" for n in range(1, 11)]
)
PROGRAMS = [
    "unit_syntax",
    "unit_sema",
    "unit_lower",
    "unit_opt",
    "unit_runtime_gen",
    "unit_driver",
]
NAME = re.compile(
    r"(?:^|[./_])(?:fail_)?(?:[cC](?P<c>\d\d)|A_?(?P<a>\d\d)|D_(?P<d>\d\d))(?=[_A-Z]|$)"
)


def rule_of(test: str) -> str | None:
    """The rule that a test's name says it is about."""
    found = NAME.search(test)
    if not found:
        return None
    for letter, sign in (("c", "C"), ("a", "A-"), ("d", "D-")):
        if found[letter]:
            return sign + found[letter]
    return None


def tests_of(program: pathlib.Path) -> list[str]:
    """Full names of a program's tests that name a rule."""
    done = subprocess.run(
        [program, "--gtest_list_tests"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    suite, out = "", []
    for line in done.stdout.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith(" "):
            out.append(suite + word)
        else:
            suite = word
    return [name for name in out if rule_of(name)]


def results_of(program: pathlib.Path, names: list[str]) -> dict[str, bool]:
    """Runs the tests and tells which passed."""
    if not names:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run(
            [
                program,
                "--gtest_filter=" + ":".join(names),
                f"--gtest_output=json:{report}",
            ],
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        if not report.exists():
            return dict.fromkeys(names, False)
        suites = json.loads(report.read_text(encoding="utf-8"))["testsuites"]
    passed = {
        f"{suite['name']}.{test['name']}": not test.get("failures")
        for suite in suites
        for test in suite["testsuite"]
    }
    return {name: passed.get(name, False) for name in names}


def titles() -> dict[str, str]:
    """What each rule is about: the title of its cases, or the first comment of its example."""
    out: dict[str, str] = {}
    for folder in ("syntax", "sema", "typecheck"):
        for path in sorted((ROOT / "tests" / folder).glob("*.axon")):
            rule = rule_of(path.stem)
            if not rule:
                continue
            first = path.read_text(encoding="utf-8").split("\n")[0]
            text = (
                first[3:]
                if first.startswith("-- ") and "expect" not in first
                else path.stem.split("_", 1)[1].replace("_", " ")
            )
            out.setdefault(rule, text)
    for path in sorted((ROOT / "tests" / "conformance").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.startswith("== "):
                rule, title = line[3:].split(" ", 1)
                out[rule] = title
    return out


def run(build: pathlib.Path) -> int:
    """Prints the table; the status says whether a rule has no test or a test fails."""
    tests: dict[str, list[tuple[str, bool]]] = {rule: [] for rule in RULES}
    for name in PROGRAMS:
        program = build / "bin" / name
        if not program.exists():
            continue
        for test, passed in results_of(program, tests_of(program)).items():
            tests.setdefault(rule_of(test) or "", []).append((f"{name} {test}", passed))
    names = titles()
    gaps = 0
    failed: list[str] = []
    for rule in RULES:
        print(f"{rule:5} {names.get(rule, '')}")
        for test, passed in tests[rule]:
            failed += [] if passed else [test]
            print(f"      {'pass' if passed else 'FAIL'}  {test}")
        if not tests[rule]:
            gaps += 1
            print("      GAP   no test")
    count = sum(len(found) for found in tests.values())
    for test in failed:
        print(f"FAIL {test}")
    print(f"{len(RULES)} rules, {count} tests, {gaps} gaps, {len(failed)} failures")
    return 1 if gaps or failed else 0


if __name__ == "__main__":
    sys.exit(run(pathlib.Path(sys.argv[1])))

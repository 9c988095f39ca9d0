"""Sizes: deep nesting, long chains, long lines and long programs; memory and time grow with the length."""

import os
import pathlib
import re
import subprocess
import sys

import harness as h

S = h.suite()
HEAD = "main :: Tensor[B,S] -> Tensor[B,S]\n"
GIB = 1 << 20  # in KiB, as the system counts resident memory


def check(name: str, text: str) -> tuple[h.Answer, int, float]:
    """`axon check` on a text: the answer, the peak of resident memory in KiB, seconds of the processor."""
    path = S.folder / f"{name}.axon"
    path.write_text(text)
    probe = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print('USED', used.ru_maxrss, used.ru_utime, file=sys.stderr)\n"
        "sys.exit(done.returncode)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, S.binary, "check", "-q", str(path)],
        capture_output=True,
        check=False,
        env=S.env,
    )
    answer = h.Answer(done.returncode, done.stdout, done.stderr, 0.0)
    used = re.search(r"USED (\d+) ([\d.]+)", answer.err)
    return answer, int(used.group(1)), float(used.group(2))


def nodes(name: str) -> int:
    """What all stages of the front end make of a program that check() has written."""
    answer = S.run("check", "-v", S.folder / f"{name}.axon")
    return sum(int(n) for n in re.findall(r"(\d+) nodes", answer.err))


def long_program(lines: int) -> str:
    """Many definitions that each call the one before, all called by the main definition."""
    out = ["import Tensor", "", "WIDTH <- 8", ""]
    steps = 0
    while len(out) + steps < lines - 3:
        inner = f"step{steps - 1} y" if steps else "y"
        out += [
            f"-- Step {steps}.",
            f"step{steps} :: Tensor[B,S,WIDTH] -> Tensor[B,S,WIDTH]",
            f"step{steps} x = do",
            f"  y <- x * {steps} + x",
            "  z <- y / 2 + (Tensor.softmax y)",
            f"  w <- {inner if steps % 10 else 'y'}",
            "  w <- for i <- [0..3) carry (w) do",
            "    yield w * i",
            "  return w + z",
            "",
        ]
        steps += 1
    out += ["main :: Tensor[B,S,WIDTH] -> Tensor[B,S,WIDTH]", "main x = do"]
    out += [f"  x <- step{i} x" for i in range(steps)]
    return "\n".join([*out, "  return x", ""])


def test_chains() -> None:
    """Chains and lines of any length; nesting has a limit."""
    pipe = "g :: Tensor[B,S] -> Tensor[B,S]\ng x = x * 2\n\n" + HEAD
    name = "a" * 100
    cases = {
        "10,000 pipes": pipe + "main x = x" + " |> g" * 10000 + "\n",
        "10,000 operators": HEAD + "main x = x" + " + x * 2" * 10000 + "\n",
        "10,000 comparisons": "main :: Bool -> Bool\nmain x = x" + " and x" * 10000 + "\n",
        "1 MB line": HEAD.replace("main x", name) + f"main {name} = {name}" + f" + {name}" * 10000 + "\n",
        "1 MB of operators": HEAD + "main x = x" + " + x" * 250000 + "\n",
        "10,000 statements": HEAD + "main x = do\n" + "  x <- x + 1\n" * 10000 + "  return x\n",
        "10,000 items": "L <- [" + ", ".join(map(str, range(10000))) + "]\n" + HEAD + "main x = x * 2\n",
        "10,000 arguments": HEAD + "main x = x * (f" + " x" * 10000 + ")\n",
        "900 branches": "main :: Int -> Int\nmain x = " + "x == 1 ? 2 : " * 900 + "3\n",
    }  # fmt: skip
    for title, text in cases.items():
        answer, memory, _ = check("chain", text)
        wanted = 1 if "arguments" in title else 0
        S.answers(title, answer, wanted, err="RES-UNKNOWN" if wanted else "")
        S.check(f"{title}: memory", memory < GIB, f"{memory} KiB")
    for title, text in (
        ("parentheses", "main x = " + "(" * 10000 + "x" + ")" * 10000),
        ("lists", "main x = " + "[" * 10000 + "x" + "]" * 10000),
        ("types", f"main :: {'List[' * 10000}Int{']' * 10000} -> Int\nmain x = 1"),
        ("optional types", f"main :: {'?' * 10000}Int -> Int\nmain x = 1"),
        ("conditionals", "main x = " + "x ? " * 10000 + "x"),
        ("lambdas", "main x = " + r"x >>= \y -> " * 10000 + "x"),
        ("blocks", "main x = " + "do return " * 10000 + "x"),
        (
            "dims",
            f"main :: Tensor[{'(' * 10000}B{')' * 10000}] -> Tensor[B]\nmain x = x",
        ),
    ):
        answer, _, _ = check("nested", HEAD * ("::" not in text) + text + "\n")
        once = answer.err.count("error ") == 1
        S.answers(f"nested {title}", answer, 1, err="error PAR-DEPTH")
        S.check(f"nested {title}: one error", once, answer.err[:500])


def test_length() -> None:
    """A program ten times as long takes ten times the work, and 100,000 lines less than 1 GiB."""
    answer, _, short = check("short", long_program(10000))
    S.answers("10,000 lines", answer, 0)
    answer, memory, long = check("long", long_program(100000))
    S.answers("100,000 lines", answer, 0)
    S.check("100,000 lines: memory", memory < GIB, f"{memory} KiB")
    few, many = nodes("short"), nodes("long")
    S.check(
        "100,000 lines: work",
        1000 < few and many <= 11 * few,
        f"{few} and {many} nodes, {many / max(few, 1):.2f} times",
    )
    # Caches hold the short program and not the long one: time may grow somewhat more than work.
    # What the passes go over is counted by the unit test of the front end.
    S.check(
        "100,000 lines: time", long < 20 * short + 1, f"{short:.2f} s, {long:.2f} s"
    )
    if os.environ.get("AXON_TEST_TIMES"):
        print(f"     {short:.2f} s, {long:.2f} s, {memory // 1024} MiB")
        print(f"     {few} and {many} nodes, {many / max(few, 1):.2f} times")


def test_one_definition() -> None:
    """The lines of one definition, each of which binds another name."""
    times = []
    for lines in (10000, 100000):
        steps = "".join(f"  y{i + 1} <- y{i} + x\n" for i in range(lines))
        text = HEAD + f"main x = do\n  y0 <- x\n{steps}  return y{lines}\n"
        answer, memory, took = check("names", text)
        times.append(took)
        S.answers(f"{lines} names", answer, 0)
        S.check(f"{lines} names: memory", memory < GIB, f"{memory} KiB")
    S.check(
        "names: time", times[1] < 20 * times[0] + 1, "{:.2f} s, {:.2f} s".format(*times)
    )


def test_cycle() -> None:
    """A ring of a thousand modules."""
    folder = pathlib.Path(S.folder / "ring")
    folder.mkdir()
    for i in range(1000):
        text = f"import M{(i + 1) % 1000}\nexport (f)\nf x = x\n"
        (folder / f"M{i}.axon").write_text(text)
    main = "import M0\n" + HEAD + "main x = M0.f x\n"
    (folder / "main.axon").write_text(main)
    answer = S.run("check", folder / "main.axon")
    S.answers("an import cycle", answer, 1, err="error LOAD-CYCLE")


for test in (test_chains, test_length, test_one_definition, test_cycle):
    test()
S.finish()

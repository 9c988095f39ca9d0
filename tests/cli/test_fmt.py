"""`axon fmt`: files, pipes, links, exit statuses, and the layout of the programs of this tree."""

import os
import pathlib

import harness as h

S = h.suite()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

UGLY = """-- Twice.
f ::Int   ->Int
f x=x*2   -- two
"""
TIDY = """-- Twice.
f :: Int -> Int
f x = x * 2  -- two
"""
BROKEN = """f x = (x + 1
g = 2 +
"""


def test_files() -> None:
    """Rewriting, `--check`, several files, links, permissions."""
    folder = S.folder / "files"
    folder.mkdir()
    ugly, tidy = folder / "ugly.axon", folder / "tidy.axon"
    ugly.write_text(UGLY)
    tidy.write_text(TIDY)
    answer = S.run("fmt", "--check", ugly, tidy)
    S.answers("--check differs", answer, 1)
    S.check("--check lists the file", answer.out == f"{ugly}\n", repr(answer.out))
    S.check("--check writes nothing", ugly.read_text() == UGLY, ugly.read_text())
    body = S.run("fmt", "--check", "--json", ugly, tidy).json()
    S.check("--json", body == {"schema": 1, "changed": [str(ugly)]}, str(body))
    ugly.chmod(0o640)
    (folder / "link.axon").symlink_to(ugly)
    S.answers("a link", S.run("fmt", folder / "link.axon"), 0)
    S.check("the link stays", (folder / "link.axon").is_symlink(), "")
    S.check("rewritten", ugly.read_text() == TIDY, ugly.read_text())
    S.check("mode kept", ugly.stat().st_mode & 0o777 == 0o640, oct(ugly.stat().st_mode))
    S.answers("nothing to do", S.run("fmt", "--check", ugly, tidy), 0, out="^$")
    stamp = ugly.stat().st_mtime_ns
    S.run("fmt", ugly)
    S.check("untouched when tidy", ugly.stat().st_mtime_ns == stamp, "")
    S.check("nothing left over", sorted(os.listdir(folder)) == ["link.axon", "tidy.axon", "ugly.axon"],
            str(os.listdir(folder)))  # fmt: skip


def test_errors() -> None:
    """A file with errors keeps its text; the other files are still laid out."""
    broken, ugly = S.folder / "broken.axon", S.folder / "ugly.axon"
    broken.write_text(BROKEN)
    ugly.write_text(UGLY)
    answer = S.run("fmt", broken, ugly)
    S.answers("errors", answer, 1, err="error PAR-SYNTAX.*error PAR-SYNTAX")
    S.check("broken file kept", broken.read_text() == BROKEN, broken.read_text())
    S.check("the other is laid out", ugly.read_text() == TIDY, ugly.read_text())
    lines = S.run("fmt", "--json", broken).lines()
    S.check("errors as JSON", lines[0]["code"] == "PAR-SYNTAX", str(lines))
    S.answers("no such file", S.run("fmt", S.folder / "none.axon"), 3, err="FILE-READ")
    S.answers("a folder", S.run("fmt", S.folder), 3, err="FILE-READ")
    S.answers("no file named", S.run("fmt"), 2, err="USE-OPTION")


def test_pipe() -> None:
    """Standard input to standard output."""
    answer = S.run("fmt", "-", stdin=UGLY.encode())
    S.check("piped", answer.status == 0 and answer.out == TIDY, answer.out)
    S.answers("piped check", S.run("fmt", "--check", "-", stdin=UGLY.encode()), 1)
    S.answers("piped tidy", S.run("fmt", "--check", "-", stdin=TIDY.encode()), 0)
    windows = UGLY.replace("\n", "\r\n").encode()
    S.check("CRLF", S.run("fmt", "-", stdin=windows).out == TIDY, "")
    S.answers(
        "piped error",
        S.run("fmt", "-", stdin=BROKEN.encode()),
        1,
        err="<standard input>:",
    )


def test_tree() -> None:
    """Library and zoo are laid out."""
    files = sorted(
        p for folder in ("stdlib", "zoo") for p in (ROOT / folder).rglob("*.axon")
    )
    S.answers("stdlib and zoo", S.run("fmt", "--check", *files), 0, out="^$")


for test in (test_files, test_errors, test_pipe, test_tree):
    test()
S.finish()

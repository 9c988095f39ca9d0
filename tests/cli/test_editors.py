"""The grammars for editors know every token of src/syntax/tokens.def, and fit together.

The tree-sitter grammar is evaluated with a stand-in for its rule functions where node is there.
"""

import json
import re
import shutil
import subprocess

import diag_cases as d
import harness as h

S = h.suite()
EDITORS = d.ROOT / "editors"
TREE = EDITORS / "tree-sitter-axon"
CODE = EDITORS / "vscode"

# Records every string and every rule name that a grammar uses.
EVALUATE = """
const strings = new Set(), used = new Set(), patterns = [];
const walk = (x) => {
  if (typeof x === 'string') strings.add(x);
  else if (x instanceof RegExp) patterns.push(x.source);
  else if (Array.isArray(x)) x.forEach(walk);
  return x;
};
const plain = (...xs) => walk(xs);
const prec = Object.assign((a, b) => walk(b === undefined ? a : b), {
  left: (a, b) => walk(b === undefined ? a : b),
  right: (a, b) => walk(b === undefined ? a : b),
});
const token = Object.assign(plain, { immediate: plain });
const field = (name, x) => walk(x);
Object.assign(globalThis, { seq: plain, choice: plain, repeat: plain, repeat1: plain, optional: plain,
                            token, field, prec, grammar: (g) => g });
const g = require(process.argv[1]);
const $ = new Proxy({}, { get: (_, name) => { used.add(name); return { rule: name }; } });
for (const rule of Object.values(g.rules)) walk(rule($));
const outside = [...g.externals($), ...g.extras($), g.word($)].map((x) => x.rule).filter(Boolean);
const conflicts = (g.conflicts ? g.conflicts($) : []).flat().map((x) => x.rule);
console.log(JSON.stringify({ strings: [...strings], used: [...used], rules: Object.keys(g.rules),
  external: g.externals($).map((x) => x.rule), outside, conflicts }));
"""


def tokens() -> tuple[list[str], list[str]]:
    """Punctuation and words of the table."""
    text = (d.ROOT / "src" / "syntax" / "tokens.def").read_text(encoding="utf-8")
    punctuation = re.findall(r'^AXON_PUNCT\(\w+, "((?:[^"\\]|\\.)*)"\)', text, re.M)
    words = re.findall(r'^AXON_WORD\(\w+, "(\w+)"\)', text, re.M)
    return [p.replace("\\\\", "\\") for p in punctuation], words


def test_tree_sitter() -> None:
    """Strings of the grammar are the tokens; every rule that is named exists and is used."""
    punctuation, words = tokens()
    node = shutil.which("node")
    if node is None:
        text = (TREE / "grammar.js").read_text(encoding="utf-8")
        for spelling in punctuation + words:
            quoted = json.dumps(spelling)
            S.check(
                f"grammar.js has {spelling}", quoted in text or spelling == "@@", ""
            )
        return
    done = subprocess.run(
        [node, "-e", EVALUATE, str(TREE / "grammar.js")],
        capture_output=True,
        text=True,
        check=False,
    )
    if not S.check("grammar.js evaluates", done.returncode == 0, done.stderr[-1500:]):
        return
    grammar = json.loads(done.stdout)
    strings = set(grammar["strings"])
    missing = [t for t in punctuation + words if t not in strings]
    S.check("grammar.js has every token", not missing, str(missing))
    known = set(punctuation) | set(words) | {"--"}
    more = sorted(strings - known)
    S.check("grammar.js has no other token", not more, str(more))
    rules = set(grammar["rules"])
    undefined = sorted(set(grammar["used"]) - rules - set(grammar["external"]))
    S.check("every rule is there", not undefined, str(undefined))
    idle = sorted(rules - set(grammar["used"]) - set(grammar["outside"]) - {"file"})
    S.check("every rule is used", not idle, str(idle))
    scanner = (TREE / "src" / "scanner.c").read_text(encoding="utf-8")
    order = (
        re.search(r"enum TokenType \{ (.*?) \}", scanner).group(1).lower().split(", ")
    )
    external = [name.strip("_") for name in grammar["external"]]
    S.check("scanner and grammar agree", order == external, f"{order} {external}")
    queries = (TREE / "queries" / "highlights.scm").read_text(encoding="utf-8")
    named = set(re.findall(r"\((\w+)", queries)) - rules
    S.check("queries name rules", not named, str(sorted(named)))
    quoted = {json.loads(f'"{t}"') for t in re.findall(r'"((?:[^"\\]|\\.)*)"', queries)}
    S.check("queries name tokens", quoted <= known, str(sorted(quoted - known)))


def patterns(node) -> list[str]:
    """All regular expressions of a TextMate grammar."""
    found = []
    if isinstance(node, dict):
        found += [node[key] for key in ("match", "begin", "end") if key in node]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            found += patterns(item)
    return found


def test_textmate() -> None:
    """Every word and sign is matched, includes exist, and programs are covered to the last character."""
    grammar = json.loads((CODE / "syntaxes" / "axon.tmLanguage.json").read_text())
    repository = grammar["repository"]
    text = json.dumps(grammar)
    for name in re.findall(r'"include": "#(\w+)"', text):
        S.check(f"include {name}", name in repository, "")
    for pattern in patterns(grammar):
        try:
            re.compile(pattern)
            good = True
        except re.error:
            good = False
        S.check("pattern compiles", good, pattern)
    punctuation, words = tokens()
    word = "|".join(p["match"] for p in repository["word"]["patterns"])
    word += "|" + repository["type"]["match"]
    for spelling in words:
        S.check(f"word {spelling}", re.fullmatch(word, spelling) is not None, "")
    signs = "|".join(p["match"] for p in repository["bracket"]["patterns"])
    signs = f"{repository['operator']['match']}|{signs}|\\{{-#|#-\\}}"
    for spelling in punctuation:
        S.check(f"sign {spelling}", re.fullmatch(signs, spelling) is not None, "")
    order = [entry["include"][1:] for entry in repository["expression"]["patterns"]]
    parts = []
    for name in order:
        entry = repository[name]
        parts += [p["match"] for p in entry.get("patterns", [entry])]
    every = re.compile("|".join(f"(?:{p})" for p in parts) + r"|\{-#|#-\}|\s+", re.M)
    for path in sorted((d.ROOT / "zoo").glob("*.axon")) + sorted(
        (d.ROOT / "stdlib").glob("*.axon")
    ):
        source, at = path.read_text(encoding="utf-8"), 0
        while at < len(source):
            match = every.match(source, at)
            if match is None or match.end() == at:
                break
            at = match.end()
        S.check(f"covers {path.name}", at == len(source), source[at : at + 40])
    for name in ("package.json", "language-configuration.json"):
        json.loads((CODE / name).read_text())
    package = json.loads((TREE / "package.json").read_text())
    S.check("package names the queries", (TREE / package["tree-sitter"][0]["highlights"]).exists(), "")  # fmt: skip


for test in (test_tree_sitter, test_textmate):
    test()
S.finish()

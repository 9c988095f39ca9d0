"""Nesting as deep as the parser takes it, and deeper: no command runs out of stack, whatever the system's limit."""

import resource

import harness as h

S = h.suite()
MAIN = "main :: Tensor[B,S] -> Tensor[B,S]\n"
BOOL = "main :: Bool -> Bool\n"
INT = "main :: Int -> Int\n"
DEPTHS = (399, 700, 990, 10000)
DEEP = 990
# Blocks are indented by their depth: their texts grow with its square.
BLOCK_DEPTHS = (399, 990, 2000)
STAGES = ("parse", "resolve", "materialize", "normalize", "elaborate", "flatten", "typecheck", "optimize-ast", "graph-ir",
          "graph-ir-axon", "final")  # fmt: skip


def around(left: str, middle: str, right: str, head: str = MAIN):
    """A nesting: `left` and `right` as often as the depth says."""
    return lambda depth: f"{head}main x = {left * depth}{middle}{right * depth}\n"


def blocks(opening: str, closing: tuple, head: str = MAIN):
    """Blocks within blocks, each a blank further in; closing lines say how much further than the opening."""

    def text(depth: int) -> str:
        lines = [head + "main x = do"]
        lines += [" " * i + opening.replace("#", str(i)) for i in range(1, depth + 1)]
        lines.append(" " * (depth + 1) + "x <- x + 1")
        for i in range(depth, 0, -1):
            lines += [" " * (i + further) + line for further, line in closing]
        return "\n".join([*lines, " return x", ""])

    return text


def chain(depth: int) -> str:
    """Definitions that each call the one before."""
    steps = [
        f"f{i} :: Tensor[B,S] -> Tensor[B,S]\nf{i} x = f{i - 1} x + 1\n"
        for i in range(1, depth)
    ]
    return (
        "f0 :: Tensor[B,S] -> Tensor[B,S]\nf0 x = x * 2\n\n"
        + "\n".join(steps)
        + f"\n{MAIN}main x = f{depth - 1} x\n"
    )


G = "g :: Tensor[B,S] -> Tensor[B,S]\ng x = x * 2\n\n"
CONSTRUCTS = {
    "parentheses": around("(", "x", ")"),
    "sums to the right": around("x + (", "x", ")"),
    "calls": around("g (", "x", ")", G + MAIN),
    "named arguments": around("g x=(", "x", ")", G + MAIN),
    "pipes": around("x + (", "x", " |> g)", G + MAIN),
    "conditionals, then": around("x == 1 ? (", "x", ") : 2", INT),
    "conditionals, else": around("x == 1 ? 2 : ", "3", "", INT),
    "conditionals in words": around("if x == 1 then 2 else ", "3", "", INT),
    "conditions": around("(", "x", " ? false : true)", BOOL),
    "lists": around("[", "x", "]"),
    "lists of lists": lambda n: f"main :: Int -> {'List[' * (n // 2)}Int{']' * (n // 2)}\nmain x = {'[' * (n // 2)}x{']' * (n // 2)}\n",
    "tuples": around("(1, ", "x", ")", INT),
    "conjunctions": around("x and (", "x", ")", BOOL),
    "signs": around("0 - (", "x", ")"),
    "types": lambda n: f"main :: {'List[' * n}Int{']' * n} -> Int\nmain x = 1\n",
    "tuple types": lambda n: f"main :: {'(Int, ' * n}Int{')' * n} -> Int\nmain x = 1\n",
    "dims": lambda n: f"main :: Tensor[{'(' * n}B{' + 1)' * n}] -> Tensor[B]\nmain x = x\n",
    "ascriptions": around("(", "x", " :: Tensor[B,S])"),
    "constants": lambda n: f"A <- {'(' * n}1{' + 1)' * n}\n{MAIN}main x = x * A\n",
    "defaults": lambda n: f"g :: Tensor[B,S] -> ?Int -> Tensor[B,S]\ng x ?n={'(' * n}1{' + 1)' * n} = x * n\n\n{MAIN}main x = g x\n",
    "blocks in a line": around("do return ", "x", ""),
    "lambdas": around(r"x >>= \x -> ", "x", ""),
}  # fmt: skip
NESTED = {
    "loops": blocks("x <- for i# <- [0..2) carry (x) do", ((1, "yield x"),)),
    "scopes": blocks("x <- scope@s do", ((1, "return x"),)),
    "if blocks": blocks("if x == # then do", ((0, "else do"), (1, "x <- x + 2")), INT),
}


def shallow_stack() -> None:
    """The usual limit, which is also the most that the command may ask for."""
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))


def run(path, *words) -> h.Answer:
    """One command on a small stack."""
    return S.run(words[0], path, *words[1:], timeout=120, before=shallow_stack)


def holds(name: str, answer: h.Answer, deep: bool) -> None:
    """Done, or told what is wrong; beyond the limit the one error that says so."""
    if deep:
        S.answers(name, answer, 1, err="error PAR-DEPTH")
        S.check(f"{name}: one error", answer.err.count("error ") == 1, answer.err[:600])
        return
    told = answer.status == 0 or (answer.status == 1 and "error " in answer.err)
    S.check(name, told, f"status {answer.status}, {answer.err[:300]!r}")


def nest(case: tuple) -> None:
    """All commands on one construct at one depth."""
    name, depth, text = case
    path = S.folder / f"{name.replace(' ', '-')}-{depth}.axon"
    path.write_text(text)
    deep = depth > 1000 and name not in ("chains of definitions",)
    for words in (("check", "-q"), ("fmt", "--check")):
        answer = run(path, *words)
        if words[0] == "fmt" and answer.status == 1 and not answer.err.count("error "):
            answer.status = 0  # not laid out yet
        holds(f"{name}, {depth} deep: {words[0]}", answer, deep)
    if depth != DEEP:
        return
    for stage in STAGES:
        dumped = run(path, "dump", "--stage", stage)
        holds(f"{name}, {depth} deep: dump {stage}", dumped, deep)
        if dumped.status != 0:
            break
        again = path.with_suffix(f".{stage}.axon")
        again.write_text(dumped.out)
        holds(
            f"{name}, {depth} deep: check of the dumped {stage}",
            run(again, "check", "-q"),
            False,
        )


def main() -> None:
    """All constructs at all depths."""
    cases = [
        (name, depth, text(depth))
        for name, text in CONSTRUCTS.items()
        for depth in DEPTHS
    ]
    cases += [
        (name, depth, text(depth))
        for name, text in NESTED.items()
        for depth in BLOCK_DEPTHS
    ]
    cases += [("chains of definitions", depth, chain(depth)) for depth in (DEEP, 5000)]
    S.each(nest, cases)
    S.finish()


main()

"""Small changes of the package's code, one at a time: the tests should fail with each of them.

    python -m tools.mutants --seed 3 --count 60 --without search > mutants.log
    python -m tools.mutants --seed 3 --first 8 --count 52 --without search > mutants.log

Each is a function of the seed and its number: anywhere in the package a comparison, an operator, a number, a condition,
an argument or a call that is not quite right. It runs in a copy of the repository, in a process
of its own, first with the tests that name the module, then with the others of its room. What they let pass, or do not
end in time, needs a test, or a reason why it has no effect. The tests must pass without a change, which is tried first.
Compiled code is not changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import io
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Rooms whose tests lie in other rooms, too.
TEST_ROOMS = {
    "files": ("cli", "treebanks", "texts"),
    "trees": ("trees", "linearize", "treebanks", "evalb"),
    "treebanks": ("treebanks", "cli"),
    "analysis": ("analysis", "cli", "experiments"),
    "training": ("training", "pipeline"),
    "ml": ("ml", "pipeline"),
    "decode": ("decode", "ml", "pipeline"),
    "linearize": ("linearize", "decode"),
    "tokens": ("tokens", "draw", "pipeline"),
    "texts": ("texts", "cli"),
    "draw": ("draw", "cli"),
}
SECONDS = 600  # of CPU time for one mutant's tests
LEFT_OUT = {"errors.py", "compat.py", "on_ray.py", "on_spark.py"}  # messages; what only slow tests reach
UNWRAPPED = {"abs", "reversed", "set", "sorted"}  # others would but fail at once
SWAPS: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changes(node: ast.expr) -> Iterator[ast.expr]:
    """The ways in which a node can be not quite right, itself and not what is in it."""
    new: Any = copy.deepcopy(node)
    if isinstance(new, ast.Compare) and type(new.ops[0]) in SWAPS:
        new.ops[0] = SWAPS[type(new.ops[0])]()
        yield new
    elif isinstance(new, (ast.BinOp, ast.BoolOp)) and type(new.op) in SWAPS and "'" not in ast.unparse(new):
        new.op = SWAPS[type(new.op)]()
        yield new
    elif isinstance(new, ast.UnaryOp):
        yield new.operand
    elif isinstance(new, ast.Constant) and isinstance(new.value, (bool, int)):
        yield ast.Constant(not new.value if isinstance(new.value, bool) else new.value + 1)
    elif isinstance(new, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), new.test), new.body, new.orelse)
    elif isinstance(new, ast.Call) and new.keywords:
        new.keywords.pop()
        yield new
    elif isinstance(new, ast.Call) and len(new.args) == 1 and getattr(new.func, "id", "") in UNWRAPPED:
        yield new.args[0]


def mutants_of(source: bytes) -> list[tuple[str, str, int]]:
    """All mutants of a file: old text, new text, and offset in bytes."""
    tree = ast.parse(source)
    line_starts = [0]
    for line in source.splitlines(keepends=True):
        line_starts.append(line_starts[-1] + len(line))
    skipped_ids = {id(part) for node in ast.walk(tree) for part in skipped(node)}
    mutants = []
    for node in ast.walk(tree):
        if id(node) in skipped_ids or not isinstance(node, ast.expr):
            continue
        start = line_starts[node.lineno - 1] + node.col_offset
        end = line_starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        for new in changes(node):
            old, text = source[start:end].decode(), f"({ast.unparse(new)})"
            if text[1:-1] != old:
                mutants.append((old, text, start))
    return mutants


def skipped(node: ast.AST) -> Iterator[ast.AST]:
    """Find what cannot be wrong, or whose change no test can see: annotations, parts of f-strings, messages."""
    parts: list[ast.AST | None] = []
    call = getattr(getattr(node, "func", None), "id", "")
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [node.returns, *node.decorator_list]
    elif isinstance(node, (ast.arg, ast.AnnAssign)):
        parts = [node.annotation]
    elif (
        isinstance(node, (ast.JoinedStr, ast.Raise))
        or call in {"cast", "TypeVar", "NamedTuple"}
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    ):
        parts = [node]
    for part in filter(None, parts):
        yield from ast.walk(part)


def tests_of(path: Path) -> list[str]:
    """The tests of a module: files that name it or what it defines first."""
    room, stem = path.parts[1], path.stem.strip("_")
    source = (ROOT / path).read_text(encoding="utf8")
    names = {stem, *re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)}

    def foreign(file: Path) -> tuple[bool, int]:
        words = re.findall(r"\w+", file.read_text(encoding="utf8"))
        return stem not in file.stem, -len(names & {*words})

    rooms = TEST_ROOMS.get(room, (room,))
    files = [file for name in rooms for file in sorted((ROOT / "tests" / name).glob("test_*.py"))]
    files = files or sorted((ROOT / "tests").glob("test_*.py"))
    files.sort(key=foreign)
    return [str(file.relative_to(ROOT)) for file in files]


def preload() -> None:
    """Import once what takes long, and not for each mutant: not the package itself."""
    for name in ("spacy", "nltk", "typer.testing", "hypothesis", "pytest", "torch", "pyarrow.parquet"):
        with contextlib.suppress(ImportError):
            __import__(name)


def passes(folder: Path, tests: list[str]) -> str:
    """Run tests in a process of its own, until the first one fails: what came of it."""
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        sys.path.insert(0, str(folder / "tests"))
        import pytest

        out = os.open(os.devnull, os.O_WRONLY)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = 1
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests]))
        os._exit(code)
    status = os.waitpid(pid, 0)[1]
    return "SURVIVED" if status == 0 else "killed" if os.WIFEXITED(status) else "STOPPED"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--without", nargs="*", default=[], metavar="ROOM", help="rooms to leave out")
    args = parser.parse_args()
    files = [
        path.relative_to(ROOT)
        for path in sorted((ROOT / "spacy_parsetag").rglob("*.py"))
        if path.name not in LEFT_OUT and path.relative_to(ROOT).parts[1] not in {*args.without, "project"}
    ]
    # By number of mutants, so that each place is as likely as any other.
    sources = {path: (ROOT / path).read_bytes() for path in files}
    mutants = [(path, *mutant) for path, source in sources.items() for mutant in mutants_of(source)]
    chosen = [random.Random(f"{args.seed} {i}").choice(mutants) for i in range(args.first, args.first + args.count)]
    survivors = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "copy"
        ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", "build")
        shutil.copytree(ROOT, folder, symlinks=True, ignore=ignored)
        preload()
        for tests in {tuple(sorted(tests_of(path))) for path, *_ in chosen}:
            if passes(folder, list(tests)) != "SURVIVED":
                raise SystemExit(f"Without a change, not all of these pass: {' '.join(tests)}")
        for i, (path, old, new, offset) in enumerate(chosen, start=args.first):
            source = sources[path]
            line = source.count(b"\n", 0, offset) + 1
            begun = time.perf_counter()
            (folder / path).write_bytes(source[:offset] + new.encode() + source[offset + len(old.encode()) :])
            outcome = passes(folder, tests_of(path))
            (folder / path).write_bytes(source)
            survivors += outcome != "killed"
            seconds = time.perf_counter() - begun
            sys.stdout.write(f"{i} {outcome}, {seconds:.0f} s: {path}:{line}: {old!r} -> {new!r}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{args.count} mutants of seed {args.seed} from {len(mutants):,}, {survivors} survived\n")


if __name__ == "__main__":
    main()

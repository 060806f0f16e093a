"""Random and damaged inputs to readers, commands and `TreeDistribution`: each gives a result or an error with a code.

    python -m tools.fuzz --seed 0 --count 100000
    python -m tools.fuzz --seed 0 --first 4711 --count 1

An input is a file of one to six trees (or pieces of a made-up file of a format) with one to five edits, read twice; a
distribution of a sentence of up to nine words that is asked one to eight questions; or one call of a command, in this
process. It is a function of the seed and its number alone, so that the second line makes one of them again. A failure
is an exception without a code of ours, a result that cannot be (a probability above 1, a file that cannot be read
back), or more than a minute of CPU time. Each is printed with its number; the exit status is 1 if there was one.

A million take most of an hour of one core; files in memory spare the disk (`TMPDIR=/dev/shm`).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from click.testing import CliRunner
from spacy.tokens import DocBin
from typer.main import get_command

from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.decode import TreeDistribution, decode
from spacy_parsetag.errors import TreebankError
from spacy_parsetag.linearize import delinearize, linearize
from spacy_parsetag.treebanks.formats.table import FORMATS, get_format
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import to_nltk
from spacy_parsetag.trees.brackets import format_tree
from spacy_parsetag.trees.clean import clean_tree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.mutate import make_treebank, mutate
from tools.pieces import PIECES

COMMAND: Any = get_command(parsetag_app)  # built once: that takes longer than a call
VOCAB = spacy.blank("xx").vocab
CODE = re.compile(r"\[E\d+\]")
ORDERS = ("in", "pre", "post")
LIMIT = 60  # seconds of CPU time for one input
MODEL = next((Path(__file__).resolve().parent.parent / "models" / "en_parsetag_sm").glob("*/*-[0-9]*"), None)
PATTERNS = (
    "NP", "NP < NN", "S << (VP $+ PP)", "NP=a !< PP", "/^N/ > S", "@NP <1 DT", "NP <, DT <- NN", "__ <: __",
    "VP [ < NP | < PP ]",
)  # fmt: skip


class Wrong(Exception):
    """A result that cannot be."""


def check(holds: Any, what: str) -> None:
    if not holds:
        raise Wrong(what)


# ---- Readers ----


def fuzz_reader(rng: random.Random, folder: Path) -> str:
    """Read a damaged file of some kind of treebank, strictly and leniently; write and tag what came out."""
    name = rng.choice([*FORMATS])
    text = make_treebank(rng, rng.randint(1, 6))
    if name in PIECES and rng.random() < 0.6:
        text = PIECES[name][0] * rng.randint(1, 4)
    path = folder / f"{name}.txt"
    path.write_bytes(mutate(text.encode("utf8"), rng))
    form = get_format(name)
    strict: list[str] = []
    strict_error = None
    try:
        strict.extend(format_tree(tree) for tree in form.read(path))
    except TreebankError as err:
        strict_error = err
    errors: list[TreebankError] = []
    trees = list(form.read(path, on_error=errors.append))
    check(str(strict_error) == str(errors[0] if errors else None), "another first error when errors are skipped")
    check([format_tree(tree) for tree in trees[: len(strict)]] == strict, "other trees when errors are skipped")
    check(all(CODE.match(error.reason) and error.line >= 1 for error in errors), "an error without a code or a line")
    for tree in trees:
        cleaned = clean_tree(tree, form.clean)
        if cleaned is None:
            continue
        written = format_tree(cleaned)
        check([format_tree(copy) for copy in read_string(written)] == [written], "brackets that read otherwise")
        order = rng.choice(ORDERS)
        nltk_tree = to_nltk(cleaned)
        tags = linearize(nltk_tree, order)
        again = delinearize(tags, nltk_tree.pos(), order)
        check(linearize(again, order) == tags, f"{order}: other tags after a round trip")
    return f"reader {name}"


# ---- Distributions ----


def random_tags(rng: random.Random) -> list[str]:
    """Names of tags; at times one is missing, twice there, or no tag."""
    tags = ["l", "r", "L", "R"]
    tags += [f"{name}/{label}" for name in "lrLR" for label in ("NP", "S", "S+VP") if rng.random() < 0.3]
    if rng.random() < 0.05:
        tags.remove(rng.choice(tags))
    if rng.random() < 0.01:
        tags.append(rng.choice([tags[0], "x", "", "l/", "L/S/NP"]))
    rng.shuffle(tags)
    return tags


def random_constraint(rng: random.Random, n: int) -> tuple[Any, ...]:
    start = rng.randrange(n)
    constraint: list[Any] = [
        start,
        rng.randint(start + 1, n),
        rng.choice(["NP", "S", None]),
        rng.choice(["must", "must not", "uncrossed"]),
    ]
    if rng.random() < 0.05:
        odd_values: list[Any] = [
            (-1, n, 2**31, 1.5, None, True),
            (0, n + 1, -(2**40), "2"),
            ("PP", "S+VP", 3),
            ("maybe", None),
        ]
        field = rng.randrange(4)
        constraint[field] = rng.choice([*odd_values[field]])
    return tuple(constraint) if rng.random() < 0.995 else tuple(constraint[:3])


def random_distribution(rng: random.Random) -> tuple[TreeDistribution, Any, list[str], str, dict[str, Any]]:
    numpy_rng = np.random.default_rng(rng.getrandbits(32))
    n = rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 9])
    tags, order = random_tags(rng), rng.choice(ORDERS)
    dtype = rng.choice([np.float32, np.float64])
    scale = rng.choice([0, 1, 1, 1, 1, 30, 1e6, 1e12, 1e30])
    shape = (max(0, 2 * n - 1 + (rng.random() < 0.01)), max(0, len(tags) + rng.choice([0] * 99 + [1, -1])))
    scores = (numpy_rng.normal(size=shape) * scale + rng.choice([0, 0, 0, scale, -scale])).astype(dtype)
    if rng.random() < 0.1:  # some are great, of one size and both signs
        great = 10 ** rng.uniform(4, 38 if dtype == np.float32 else 299) * numpy_rng.choice([-1, 1], shape)
        scores = np.where(numpy_rng.random(shape) < rng.choice([0.05, 0.3]), great, scores).astype(dtype)
    if scores.size and rng.random() < 0.04:
        scores.flat[rng.randrange(scores.size)] = rng.choice([np.nan, np.inf, -np.inf, -3e38, 3e38])
    bounds = [None] * 8 + [1, 2, 3, n, 2**31 - 1, 2**31, 2**63] if rng.random() < 0.97 else [0, -1, 1.5, "2", True]
    options: dict[str, Any] = {"max_stack": rng.choice(bounds)}
    if rng.random() < 0.25:
        size = len(tags) + (rng.random() < 0.01)
        options["transitions"] = (numpy_rng.normal(size=(size, len(tags))) * scale).astype(dtype)
        for name in ("start", "end"):
            if rng.random() < 0.5:
                options[name] = numpy_rng.normal(size=size).astype(dtype)
    constraints = [random_constraint(rng, n) for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 4]))]
    distribution = TreeDistribution(scores, tags, order, constraints=constraints, **options)
    return distribution, scores, tags, order, options


def fuzz_distribution(rng: random.Random, folder: Path) -> str:
    """Ask a random distribution some questions in random order, at times with odd arguments."""
    distribution, scores, tags, order, options = random_distribution(rng)
    odd = rng.random() < 0.15
    k: Any = (
        rng.choice([0, -1, 2**31, 2.0, None]) if odd else rng.choice([1, 2, 5, 2**31 - 1 if len(scores) < 8 else 9])
    )
    seed: Any = rng.choice([-1, 2**64, 1.5, None]) if odd else rng.getrandbits(64)
    cost = rng.choice([np.nan, np.inf, -np.inf]) if odd else rng.choice([0, 0.5, 1.5, -1])
    size = 1 + float(np.abs(scores).max(initial=0))
    slack = 1e-4 + 1e-5 * len(scores) * (size if scores.dtype == np.float32 else size * 1e-6)

    def best() -> None:
        _, score = distribution.argmax
        check(score <= distribution.log_partition + slack, "the best tree scores more than all together")
        if not distribution._distribution.batch.constraints:
            check(np.isclose(decode(scores, tags, order, **options)[1], score), "decode finds another best score")

    def k_best() -> None:
        trees = distribution.topk(k)
        values = [score for _, score in trees]
        check(values == sorted(values, reverse=True), "the k best are not in order")
        check(len({tuple(ids) for ids, _ in trees}) == len(trees), "a tree comes twice")
        check(np.isclose(values[0], distribution.argmax[1]), "the first of k is not the best")

    def samples() -> None:
        drawn: Any = distribution.sample(3, seed)
        check(drawn.shape == (3, len(scores)), "samples of another shape")
        check(all(distribution.log_prob(ids) > -np.inf for ids in drawn), "a sample without probability")

    def marginals() -> None:
        probs = distribution.tag_marginals
        check(np.isfinite(probs).all() and probs.min() >= -1e-6, "a marginal below 0")
        check(np.allclose(probs.sum(axis=1), 1, atol=1e-2), "marginals do not sum to 1")

    def constituents() -> None:
        values = distribution.constituents.values()
        check(all(-1e-6 <= value <= 1 + 1e-4 for value in values), "probabilities of constituents outside 0 and 1")

    def entropy() -> None:
        largest = len(scores) * np.log(max(2, len(tags)))
        check(0 <= distribution.entropy <= largest, "an entropy that no distribution has")

    def mbr() -> None:
        ids: Any = distribution.mbr(cost)
        check(distribution.log_prob(ids) <= 0, "a log-probability above 0")

    def log_prob() -> None:
        ids: Any = [
            rng.choice([rng.randrange(len(tags)), rng.randrange(-1, len(tags) + 1)]) for _ in range(len(scores))
        ]
        check(distribution.log_prob(ids) <= 0, "a log-probability above 0")

    questions = [best, k_best, samples, marginals, constituents, entropy, mbr, log_prob]
    questions = rng.sample(questions, rng.randint(1, len(questions)))
    refused = 0
    for question in questions:
        try:
            question()
        except ValueError as err:
            if not CODE.match(str(err)):
                raise
            refused += 1
    return "distribution that refuses" if refused == len(questions) else "distribution"


# ---- Commands ----


def jsonl(rng: random.Random) -> str:
    rows: list[Any] = [{"text": "She reads. He sings."}, {"text": "No", "id": 7, "meta": {"a": [1, None]}}]
    rows += [{"text": ""}, {"words": ["She", "reads"], "pos": ["PRP", "VBZ"], "tags": ["l/NP", "L/S", "r/VP"]}]
    return "".join(json.dumps(rng.choice(rows)) + "\n" for _ in range(rng.randint(0, 4)))


def write_inputs(rng: random.Random, folder: Path) -> dict[str, str]:
    """Files for commands; half of them damaged."""
    files = {
        "gold.mrg": make_treebank(rng), "test.mrg": make_treebank(rng), "text.txt": "She reads. He sings!\n\nNo\n",
        "rows.jsonl": jsonl(rng), "table.json": '[{"text": "She reads."}]', "docs.spacy": "",
    }  # fmt: skip
    if rng.random() < 0.5:
        files["test.mrg"] = files["gold.mrg"]
    for name, text in files.items():
        data = text.encode("utf8")
        (folder / name).write_bytes(mutate(data, rng) if rng.random() < 0.5 else data)
    return {name.partition(".")[0]: str(folder / name) for name in files}


def fuzz_command(rng: random.Random, folder: Path) -> str:
    """Run a command of `parsetag` over damaged files."""
    files, out = write_inputs(rng, folder), str(folder / f"out{rng.randrange(10**9)}")
    any_path = rng.choice([*files.values(), str(folder), str(folder / "nothing.mrg")])
    skip = rng.choice([[], ["--skip-bad", rng.choice(["all", "1%", "3", "-1", "x", "200%"])]])
    pattern = rng.choice(PATTERNS)
    if rng.random() < 0.4:
        pattern = mutate(pattern.encode(), rng).decode("utf8", "replace").replace("\0", "")
    form = rng.choice([[], [], ["--format", rng.choice([*FORMATS, "no"])]])
    commands: list[list[str]] = [
        ["convert", files["gold"], f"{out}.spacy", *form, *skip, *rng.choice([[], ["--limit", "2"]])],
        ["convert", files["gold"], f"{out}.spacy", "--n-sents", "3", *form],
        ["convert", any_path, f"{out}.spacy", *form, *skip],
        ["linearize", files["gold"], f"{out}.jsonl", "--order", rng.choice(ORDERS), *form, *skip],
        ["linearize", files["rows"], f"{out}.mrg", "--inverse", *skip],
        ["linearize", any_path, "--check", *skip],
        ["evaluate", files["gold"], files["test"], *rng.choice([[], ["--by", "label"], ["--summary"]])],
        ["evaluate", files["gold"], files["test"], "--multiline"],
        ["evaluate", files["gold"], any_path],
        ["diff", files["gold"], files["test"], *rng.choice([[], ["--top", "0"], ["--multiline"]])],
        ["show", files["gold"], *rng.choice([[], ["--svg", f"{out}.svg"], ["--html", f"{out}.html"], ["--no-tags"]])],
        ["search", pattern, files["gold"], *rng.choice([[], ["--count"], ["--csv"], ["--mrg"], ["--by", "a"]]), *skip],
        ["search", pattern, any_path],
        ["complexity", files["gold"], *rng.choice([[], ["--csv"]])],
    ]  # fmt: skip
    if MODEL is not None and rng.random() < 0.05:
        source = rng.choice([files["text"], files["rows"], files["table"], any_path])
        target = out + rng.choice([".mrg", ".jsonl", ".spacy", ".json", ".x", ""])
        commands = [["parse", str(MODEL), source, target, *skip, *rng.choice([[], ["--probs"], ["--k-best", "3"]])]]
    words = rng.choice(commands)
    result = CliRunner().invoke(COMMAND, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    check(result.exit_code in (0, 1, 2), f"exit status {result.exit_code} of {words}")
    check("Traceback" not in result.output, f"a traceback of {words}")
    check(result.exit_code == 0 or result.output.strip(), f"{words} fails and says nothing")
    if words[0] == "convert" and result.exit_code == 0:
        docs = list(DocBin().from_disk(words[2]).get_docs(VOCAB))
        check(all("constituents" in doc.spans for doc in docs), "docs without trees")
    return f"command {words[0]}, {'done' if result.exit_code == 0 else 'refused'}"


# Of twenty inputs ten are for readers, nine for distributions, one for commands, which take the longest.
KINDS: tuple[Callable[[random.Random, Path], str], ...] = (
    *(fuzz_reader, fuzz_distribution) * 9,
    fuzz_reader,
    fuzz_command,
)


def run(seed: int, i: int, folder: Path) -> tuple[str, str | None]:
    """Try input number i of a seed: what it was, and what went wrong, if something did."""
    kind = KINDS[i % len(KINDS)]
    work_folder = folder / str(i)
    work_folder.mkdir()
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        return kind(random.Random(f"{seed} {i}"), work_folder), None
    except ValueError as err:
        if CODE.search(str(err)):
            return f"{kind.__name__}, refused", None
        return kind.__name__, traceback.format_exc()
    except Exception:  # whatever it is, it is a finding
        return kind.__name__, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for path in sorted(work_folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        work_folder.rmdir()


def too_long(*_: Any) -> None:
    raise Wrong(f"more than {LIMIT} seconds of CPU time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--count", type=int, default=10_000, help="inputs")
    parser.add_argument("--seconds", type=float, help="stop after this time, though inputs are left")
    args = parser.parse_args()
    signal.signal(signal.SIGPROF, too_long)
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    failures, start, i = 0, time.perf_counter(), args.first
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.first, args.first + args.count):
            if args.seconds and time.perf_counter() - start > args.seconds:
                break
            name, failure = run(args.seed, i, Path(folder))
            counts[name] += 1
            if failure is not None:
                failures += 1
                sys.stdout.write(f"--- seed {args.seed}, input {i}\n{failure}\n")
            if counts.total() % 10_000 == 0:
                sys.stdout.write(f"{counts.total():,} inputs, {failures} failures\n")
                sys.stdout.flush()
    lines = [f"{count:9,} {name}" for name, count in sorted(counts.items())]
    seconds = time.perf_counter() - start
    lines.append(f"{counts.total():9,} inputs of seed {args.seed} in {seconds:.0f} s, {failures} failures")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

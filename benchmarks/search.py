"""Times searching trees on one core: columns from brackets and from Parquet, L2SCA's patterns, one command.

    python benchmarks/search.py "$PARSETAG_SHARED/treebanks" --model en_parsetag_sm \\
        --output benchmarks/results/search.json

The trees come from the training parts of gum, craft and masc, again and again until there are --trees trees. Times
are CPU seconds, but for the command, whose wall time is given, with the most memory that it took. nltk.tgrep searches a
few hundred of the same trees. L2SCA's patterns search columns as they were read, and again with what a search before
has kept: heads, and which labels pass a test. With --stanford Stanford's Tregex searches some of the trees for these
patterns too: seconds as it measures them, with the finding of heads, best of three rounds in one process, so without
Java's start and its reading of trees.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import stanford
from nltk import ParentedTree
from nltk.tgrep import tgrep_positions
from record import parse_arguments, write_result
from spacy.language import Language
from timing import in_turn, timed

from spacy_parsetag.search import TreeColumns, Tregex, find_all, read_brackets
from spacy_parsetag.search.complexity import STRUCTURES, count_structures
from spacy_parsetag.search.heads import get_head_rules
from spacy_parsetag.trees.brackets import format_tree

TREEBANKS = ("gum", "craft", "masc")
MATCHER_ROUNDS = 60  # what the component adds is as much as one round differs from the next: of 15, runs gave 1 to 4 %
PATTERNS = ["NP < (PP < IN)", "VP << (NP $. PP)", "SBAR < WHNP"]  # which NLTK writes the same


# Starts a command and adds its memory to what it prints. A process takes over the most memory of the one that starts it
# (Linux counts from before `exec`), and the benchmark holds all trees: so this one, which holds nothing, is in between.
STARTER = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


def as_read(columns: TreeColumns) -> TreeColumns:
    """The same columns, without what searches have kept."""
    return replace(columns, _heads={}, _passes={})


def run_command(*arguments: str) -> dict[str, Any]:
    """Run `search` and say what it took."""
    search = [sys.executable, "-m", "spacy", "parsetag", "search", *arguments]
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", STARTER, *search], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    *printed, memory = done.stdout.splitlines()
    return {"wall_seconds": round(seconds, 2), "most_memory_mb": round(int(memory) / 1024), "printed": printed[:3]}


def parquet_figures(columns: TreeColumns, folder: Path) -> dict[str, Any]:
    """Columns from Parquet as `parse` writes it, in shards."""
    import pyarrow.parquet

    from spacy_parsetag.texts.output import to_table
    from spacy_parsetag.texts.tree_files import read_columns
    from spacy_parsetag.trees import Parse

    rows = []
    for number in range(len(columns)):
        parse = Parse.from_tree(columns.tree(number))
        spans = [{"label": label, "start": start, "end": end} for start, end, label in parse.spans]
        sent = {"start": 0, "end": 0, "words": parse.words, "pos": parse.pos, "constituents": spans, "tree": ""}
        rows.append({"text": "", "sents": [sent]})
    path = folder / "shard.parquet"
    pyarrow.parquet.write_table(to_table(rows), path)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    seconds = timed(lambda: list(read_columns(path)), 3).best
    return {"trees": len(columns), "trees_per_second": round(len(columns) / seconds)}


def stanford_figures(columns: TreeColumns, patterns: list[str], jar: Path) -> dict[str, Any]:
    """Time Stanford's Tregex on 2,000 trees, over all patterns one after the other."""
    some = (format_tree(columns.tree(i)) for i in range(0, len(columns), max(1, len(columns) // 2000)))
    chosen = TreeColumns.join(read_brackets("\n".join(some).encode(), "sample"))
    lines = [*stanford.tree_lines(chosen, chosen.heads(get_head_rules("penn"))), f"R\t{stanford.COLLINS}"]
    rounds = [*lines, *(3 * [stanford.pattern_line(pattern) for pattern in patterns])]
    answers = [stanford.read_matches(line) for line in stanford.ask(jar, rounds)]
    seconds = sum(min(answer.seconds for answer in answers[i :: len(patterns)]) for i in range(len(patterns)))
    return {"trees": len(chosen), "seconds_per_million": round(seconds * 1e6 / len(chosen), 1)}


def matcher_figures(columns: TreeColumns, nlp: Language) -> dict[str, Any]:
    """Measure the time that `tree_matcher` adds to a pipeline, over texts of twenty sentences, by turns."""
    nlp.add_pipe("tree_matcher", config={"patterns": {"OBJECT": ["VP < /^VB/=verb < NP=object"], "OTHERS": PATTERNS}})
    chosen = range(0, len(columns), max(1, len(columns) // 400))
    sentences = [" ".join(columns.words(start)) for start in columns.starts[chosen].tolist()]
    texts = [" ".join(sentences[i : i + 20]) for i in range(0, len(sentences), 20)]
    docs = list(nlp.pipe(texts))

    def run_without() -> None:
        with nlp.select_pipes(disable="tree_matcher"):
            list(nlp.pipe(texts))

    def run_alone() -> None:
        list(nlp.get_pipe("tree_matcher").pipe(docs))  # type: ignore[attr-defined]

    runs = {"without": run_without, "with": lambda: list(nlp.pipe(texts)), "alone": run_alone}
    times = in_turn(runs, MATCHER_ROUNDS)
    return {
        "words": sum(map(len, docs)),
        "matches": sum(len(doc.spans["tree_matches"]) for doc in docs),
        "seconds_without": round(times["without"].best, 3),
        "added": round(times["with"].over(times["without"]) - 1, 4),
        "added_by_the_median_of_pairs": round(times["with"].median_over(times["without"]) - 1, 4),
        "rounds": MATCHER_ROUNDS,
        "component_alone": round(times["alone"].over(times["without"]), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, help="folder with gum, craft and masc")
    parser.add_argument("--trees", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3, help="runs; the fastest counts")
    parser.add_argument("--model", help="pipeline to add the component tree_matcher to")
    parser.add_argument("--stanford", type=Path, metavar="JAR", help="stanford-tregex.jar")
    args = parse_arguments(parser)
    nlp = spacy.load(args.model) if args.model else None
    data = b"".join((args.treebanks / name / "train.mrg").read_bytes() for name in TREEBANKS)
    treebank = TreeColumns.join(read_brackets(data, "trees"))
    seconds = timed(lambda: list(read_brackets(data, "trees")), args.repeats).best
    columns = TreeColumns.join([treebank] * max(1, args.trees // len(treebank)))
    figures: dict[str, Any] = {
        "trees": len(columns),
        "nodes": len(columns.label),
        "bytes_per_node": 12,
        "columns_from_brackets": {"trees_per_second": round(len(treebank) / seconds)},
    }
    patterns = [Tregex(pattern) for group in STRUCTURES.values() for pattern in group]
    runs = {"": lambda: find_all(patterns, as_read(columns)), "again_": lambda: find_all(patterns, columns)}
    nine = {f"{name}seconds": times.best for name, times in in_turn(runs, args.repeats).items()}
    by_million = {f"{name}_per_million": seconds * 1e6 / len(columns) for name, seconds in nine.items()}
    figures["nine_structures"] = {name: round(seconds, 2) for name, seconds in {**nine, **by_million}.items()}
    rules = get_head_rules("penn")
    figures["heads_seconds"] = round(timed(lambda: as_read(columns).heads(rules), args.repeats).best, 2)
    if args.stanford:
        figures["nine_structures"]["stanford"] = stanford_figures(
            treebank, [p.pattern for p in patterns], args.stanford
        )
    texts = np.zeros_like(columns.source)
    counted = timed(lambda: count_structures(as_read(columns), texts, 1), args.repeats).best
    figures["complexity_seconds"] = round(counted, 2)
    lines = data.decode().splitlines()[:: max(1, len(treebank) // 300)]
    trees = [ParentedTree.fromstring(line) for line in lines]
    figures["patterns"] = {
        pattern: {
            "trees_per_second": round(len(columns) / timed(lambda: Tregex(pattern).find(columns), args.repeats).best),  # noqa: B023
            "nltk_trees_per_second": round(len(trees) / timed(lambda: list(tgrep_positions(pattern, trees)), 1).best),  # noqa: B023
        }
        for pattern in PATTERNS
    }
    if nlp:
        figures["tree_matcher"] = {"model": args.model, **matcher_figures(treebank, nlp)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if find_spec("pyarrow"):
            figures["columns_from_parquet"] = parquet_figures(treebank, folder)
        n_files = max(1, args.trees // len(treebank))
        for number in range(n_files):
            (folder / f"{number:03}.mrg").write_bytes(data)
        brackets = map(str, sorted(folder.glob("*.mrg")))
        figures["command_on_brackets"] = run_command("NP < (SBAR < WHNP)", *brackets, "--count", "--quiet")
        columns.to_disk(folder / "saved.columns")
        figures["command_on_saved_columns"] = run_command(
            "NP < (SBAR < WHNP)", str(folder / "saved.columns"), "--count", "--quiet"
        )
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    write_result(figures, args.output, args.made_by, pipelines=[nlp.path] if nlp else [])


if __name__ == "__main__":
    main()

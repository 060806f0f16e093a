"""Rebuild a table, as text, and its figures from its runs.

    python experiments/report.py experiments/results/decoders

`runs.jsonl` holds a line for each run. What many runs share (a treebank's figures, a config, the command) has a line of
its own, and runs name it by its hash.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import srsly
from spec import short_hash

from spacy_parsetag.analysis.plots import plot_correlation
from spacy_parsetag.analysis.results import Point, correlate
from spacy_parsetag.analysis.tables import Table, format_text
from spacy_parsetag.compat import has_module

ORDERS = ("in", "pre", "post")
LEARNERS = ("independent", "CRF", "LSTM", "LSTM-3")
SHARED = ("data", "config", "made")
Row = dict[str, Any]
Run = dict[str, Any]


def read_runs(folder: Path) -> list[Run]:
    """The runs in a table's folder, in the order of the paper's rows."""
    path = folder / "runs.jsonl"
    lines = list(srsly.read_jsonl(path)) if path.exists() else []
    shared = {line["hash"]: line["value"] for line in lines if "hash" in line}
    runs = [{**line, **{key: shared[line[key]] for key in SHARED}} for line in lines if "run" in line]

    def place(run: Run) -> tuple[str, int, int]:
        settings = run["settings"]
        return settings["treebank"], _index(ORDERS, settings["order"]), _index(LEARNERS, settings["learner"])

    return sorted(runs, key=place)


def _index(known: Sequence[str], name: str) -> int:
    return known.index(name) if name in known else len(known)


def write_runs(folder: Path, runs: list[Run]) -> None:
    """Write the runs, whole or not at all."""
    shared: dict[str, Any] = {}
    short = []
    for run in runs:
        hashes = {key: short_hash(srsly.json_dumps(run[key], sort_keys=True).encode()) for key in SHARED}
        shared.update({hashes[key]: run[key] for key in SHARED})
        short.append({**run, **hashes})
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / "runs.part"
    srsly.write_jsonl(temporary, [*({"hash": key, "value": value} for key, value in shared.items()), *short])
    temporary.replace(folder / "runs.jsonl")


def decoder_rows(runs: list[Run]) -> list[Row]:
    """A row for each cell of the table of decoders: one run, one decoder."""
    return [
        {
            "treebank": run["settings"]["treebank"],
            "order": run["settings"]["order"],
            "learner": run["settings"]["learner"],
            "decoder": name,
            "F": found["f"],
            "P": found["precision"],
            "R": found["recall"],
            "complete": found["exact_match"],
            "failures": found["failures"],
            "sents/s": found["sentences_per_second"],
            "decoding sents/s": found["decoding_sentences_per_second"],
            "same tree %": 100 * found["same_tree"] if "same_tree" in found else None,
            "widened": found.get("widened"),
            "F without widening": found.get("f_without_widening"),
            "training s": run["training"]["seconds"],
        }
        for run in runs
        for name, found in run["results"].items()
    ]


def language_rows(runs: list[Run]) -> list[Row]:
    """A row for each treebank and order."""
    rows = []
    for run in runs:
        order = run["settings"]["order"]
        train = run["data"]["train"]
        found = next(iter(run["results"].values()))
        rows.append(
            {
                "treebank": run["settings"]["treebank"],
                "order": order,
                "F": found["f"],
                "P": found["precision"],
                "R": found["recall"],
                "mean deviation": train["deviation"][order],
                "largest stack": train["stack"][order],
                "tags": train["tags"],
                "train": train["sentences"],
                "words": train["words"] / max(1, train["sentences"]),
                "dev": found["sentences"],
                "training s": run["training"]["seconds"],
            }
        )
    return rows


def caption(runs: list[Run]) -> str:
    """Say what the figures of a table have in common, and what not."""
    names = ("encoder", "limit", "dev_limit", "max_length", "epochs", "steps", "checks", "seed", "params")
    values = {name.replace("_", " "): Counter(str(run["settings"][name]) for run in runs) for name in names}
    values["training sentences"] = Counter(str(run["data"]["train"]["sentences"]) for run in runs)
    values["commit"] = Counter(str(run["made"]["commit"]) for run in runs)
    lines = [f"{name}: {', '.join(sorted(found))}" for name, found in values.items()]
    return "; ".join([*lines, "F on the development part"])


def correlate_rows(rows: list[Row]) -> dict[str, tuple[list[Point], Any]]:
    """Correlate F with the mean deviation (paper section 6.2): over all cells, as the paper has it, and over
    differences within each treebank.

    The second looks at how far F falls from in-order to the other orders on the same treebank: treebanks differ in F
    for many reasons, and these drop out.

    rows (list[Row]): The rows of the table of languages.
    RETURNS (dict[str, tuple[list[Point], Correlation]]): By name; nothing where SciPy is not installed, or there are
        too few points.
    """
    points = [Point(row["treebank"], row["order"], row["F"], row["mean deviation"]) for row in rows]
    base = {point.treebank: point.f for point in points if point.order == "in"}
    differences = [
        point._replace(f=point.f - base[point.treebank])
        for point in points
        if point.order != "in" and point.treebank in base
    ]
    return {
        name: (chosen, correlate(chosen))
        for name, chosen in (("all", points), ("differences to in-order", differences))
        if has_module("scipy") and len(chosen) > 2 and len({point.deviation for point in chosen}) > 1
    }


def write_report(folder: Path) -> str:
    """Write table.txt, and the figure of the table of languages, beside the runs.

    folder (Path): The table's folder.
    RETURNS (str): The table as text.
    """
    runs = read_runs(folder)
    if not runs:
        return "no runs yet"
    languages = runs[0]["settings"]["table"] == "languages"
    rows = language_rows(runs) if languages else decoder_rows(runs)
    found = correlate_rows(rows) if languages else {}
    lines = [
        f"F and mean deviation, {name}: r = {one.r:.3f}, p = {one.p:.2g}, n = {one.n}"
        for name, (_, one) in found.items()
    ]
    table = format_text(Table(tuple(rows[0]), [tuple(row.values()) for row in rows]))
    text = "\n\n".join([caption(runs), table.rstrip("\n"), *(["\n".join(lines)] if lines else [])])
    (folder / "table.txt").write_text(text + "\n", encoding="utf-8")
    if "all" in found and has_module("matplotlib"):
        plot_correlation(*found["all"], [folder / "correlation.png"])
    return text


if __name__ == "__main__":
    sys.stdout.write(write_report(Path(sys.argv[1])) + "\n")

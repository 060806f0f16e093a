"""Rebuild a table, as text, and its figures from its runs.

    python experiments/report.py experiments/results/decoders
    python experiments/report.py experiments/results/trials

Runs are in `runs.jsonl`, as benchmarks/record.py writes it.
"""

import argparse
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from spacy_parsetag.analysis.plots import plot_correlation
from spacy_parsetag.analysis.results import Correlation, Point
from spacy_parsetag.analysis.tables import Table, format_text

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
from record import read_runs, settings_in_common

ORDERS = ("in", "pre", "post")
PERMUTATIONS = 20_000
LEARNERS = ("independent", "CRF", "LSTM", "LSTM-3")
Row = dict[str, Any]
Run = dict[str, Any]


def read_table(folder: Path) -> list[Run]:
    """The runs in a table's folder, in the order of the paper's rows."""

    def place(run: Run) -> tuple[Any, ...]:
        settings = run["settings"]
        row = _index(ORDERS, settings.get("order", "")), _index(LEARNERS, settings.get("learner", ""))
        return settings["treebank"], *row, settings.get("part", ""), settings["seed"]

    return sorted(read_runs(folder), key=place)


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def decoder_rows(runs: list[Run]) -> list[Row]:
    """A row for each cell of the table of decoders: one run, one decoder."""
    return [
        {
            "treebank": run["settings"]["treebank"],
            "order": run["settings"]["order"],
            "learner": run["settings"]["learner"],
            "decoder": name,
            "F": scores["f"],
            "P": scores["precision"],
            "R": scores["recall"],
            "complete": scores["exact_match"],
            "failures": scores["failures"],
            "sents/s": scores["sentences_per_second"],
            "decoding sents/s": scores["decoding_sentences_per_second"],
            "same tree %": 100 * scores["same_tree"] if "same_tree" in scores else None,
            "widened": scores.get("widened"),
            "F without widening": scores.get("f_without_widening"),
            "training s": run["training"]["seconds"],
        }
        for run in runs
        for name, scores in run["results"].items()
    ]


def language_rows(runs: list[Run]) -> list[Row]:
    """A row for each treebank and order."""
    rows = []
    for run in runs:
        order = run["settings"]["order"]
        train = run["data"]["train"]
        scores, *_ = run["results"].values()  # of the table's first decoder
        rows.append(
            {
                "treebank": run["settings"]["treebank"],
                "order": order,
                "F": scores["f"],
                "P": scores["precision"],
                "R": scores["recall"],
                "mean deviation": train["deviation"][order],
                "largest stack": train["stack"][order],
                "tags": train["tags"],
                "train": train["sentences"],
                "words": train["words"] / max(1, train["sentences"]),
                "dev": scores["sentences"],
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
    lines = [f"{name}: {', '.join(sorted(counts))}" for name, counts in values.items()]
    return "; ".join([*lines, "F on the development part"])


def correlate(points: list[Point]) -> Correlation:
    """Correlate F with the mean deviation, as Pearson did.

    A treebank's points are not independent. So p is the share of random permutations of deviations within each treebank
    whose correlation is as far from 0.
    """
    rng = np.random.default_rng(0)
    treebanks, f, deviation = zip(*sorted((point.treebank, point.f, point.deviation) for point in points), strict=True)
    blocks, deviations = np.unique(treebanks, return_inverse=True)[1], np.asarray(deviation)
    shuffled = (deviations[np.lexsort((rng.random(len(points)), blocks))] for _ in range(PERMUTATIONS))
    r, *by_chance = (float(np.corrcoef(f, values)[0, 1]) for values in chain([deviations], shuffled))
    n_as_far = sum(abs(other) >= abs(r) - 1e-9 for other in by_chance)
    return Correlation(len(points), r, (1 + n_as_far) / (1 + PERMUTATIONS))


def correlate_rows(rows: list[Row]) -> dict[str, tuple[list[Point], Correlation]]:
    """Correlate F with the mean deviation (paper section 6.2): over all cells, as the paper has it, and over
    differences within each treebank.

    The second looks at how far F falls from in-order to the other orders on the same treebank: treebanks differ in F
    for many reasons, and these drop out.

    rows (list[Row]): The rows of the table of languages.
    RETURNS (dict[str, tuple[list[Point], Correlation]]): By name; nothing where there are too few points.
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
        if len(chosen) > 2 and min(len({point.f for point in chosen}), len({point.deviation for point in chosen})) > 1
    }


def trials_table(folder: Path) -> str:
    """The table of all trials in a folder: those on the same parts together, best mean first. Runs that were made anew
    with other settings have a row of their own until they take the place of all."""
    trials: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        for run in read_runs(path):
            trials[run["settings"]["trial"], run["settings"]["folds_of"], settings_in_common(run)].append(run)
    rows = []
    for (name, folds_of, _), runs in trials.items():
        results = [[scores["f"] for scores in run["results"].values()] for run in runs]
        # A checkpoint that was not checked in training may be the best one: the last.
        last, best = [f for f, *_ in results], [max(f_of_run) for f_of_run in results]
        spread = f"{statistics.stdev(last):.2f}" if len(last) > 1 else "-"
        parts = sorted({run["settings"]["part"] for run in runs}, key=lambda part: (len(part), part))  # fold9, fold10
        seeds = {run["settings"]["seed"] for run in runs}
        seconds = statistics.mean(run["training"]["seconds"] for run in runs)
        scored_on = f"{' to '.join(dict.fromkeys((parts[0], parts[-1])))} of {folds_of}" if parts != ["dev"] else "dev"
        row = (name, runs[0]["what"], scored_on, str(len(seeds)),
               f"{statistics.mean(last):.2f}", spread, f"{statistics.mean(best):.2f}", f"{seconds:,.0f}")  # fmt: skip
        commits = dict.fromkeys(commit for run in runs for commit in (run["made"]["commit"], trained_at(run)))
        rows.append((folds_of, parts, -statistics.mean(last), row, ", ".join(commits), runs[-1]["made"]["command"]))
    rows.sort()
    lines = [
        "# Trials",
        "",
        "F of EVALB on what a run did not train on: mean of the last checkpoints, their standard deviation over runs, "
        "and mean of the checkpoints that did best there. Compare trials that were scored on the same parts, and at "
        "commits whose configs are the same. Written by `experiments/report.py`.",
        "",
        "| trial | what | scored on | seeds | F | spread | best | seconds a run |",
        "|---|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for *_, row, _, _ in rows),
        "",
        *(f"- {row[0]}, at {commits}: `{command}`" for *_, row, commits, command in rows),
    ]
    return "\n".join(lines) + "\n" if rows else ""


def trained_at(run: Run) -> str:
    """The commit that trained the pipeline; older runs have the one that scored it alone."""
    return str(run["training"].get("commit", run["made"]["commit"]))


def write_report(folder: Path) -> str:
    """Write the table of a folder's runs beside them; the table of trials above them.

    folder (Path): The table's folder, or that of a trial or of all trials.
    RETURNS (str): The table as text.
    """
    runs = read_table(folder)
    if not runs:
        return write_trials(folder)
    table = runs[0]["settings"]["table"]
    if table == "trials":
        return write_trials(folder.parent)
    return write_languages(folder, runs) if table == "languages" else write_table(folder, runs, decoder_rows(runs))


def write_trials(folder: Path) -> str:
    """Write table.md of the trials in a folder."""
    text = trials_table(folder) if folder.is_dir() else ""
    if text:
        (folder / "table.md").write_text(text, encoding="utf-8")
    return text or "no runs yet"


def write_languages(folder: Path, runs: list[Run]) -> str:
    """Write the table of languages, with correlations, and the figure."""
    rows = language_rows(runs)
    correlations = correlate_rows(rows)
    if "all" in correlations and find_spec("matplotlib"):
        plot_correlation(*correlations["all"], [folder / "correlation.png"])
    lines = [
        f"F and mean deviation, {name}: r = {correlation.r:.3f}, p = {correlation.p:.2g} by "
        f"permutations within treebanks, n = {correlation.n}"
        for name, (_, correlation) in correlations.items()
    ]
    return write_table(folder, runs, rows, lines)


def write_table(folder: Path, runs: list[Run], rows: list[Row], lines: Sequence[str] = ()) -> str:
    """Write table.txt: what all runs have in common, the rows, and lines below them."""
    table = format_text(Table(tuple(rows[0]), [tuple(row.values()) for row in rows]))
    text = "\n\n".join([caption(runs), table.rstrip("\n"), *(["\n".join(lines)] if lines else [])])
    (folder / "table.txt").write_text(text + "\n", encoding="utf-8")
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of a table, of a trial, or of all trials")
    folder = parser.parse_args().folder
    if not [*folder.glob("runs.jsonl"), *folder.glob("*/runs.jsonl")]:
        parser.error(f"No runs.jsonl in {folder}.")
    sys.stdout.write(write_report(folder) + "\n")

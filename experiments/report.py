"""Rebuild a table and its figures from the JSON files of its runs.

python experiments/report.py experiments/results/decoders
"""

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from correlate import correlations, format_correlations
from figures import draw_figures

ORDERS = ("in", "pre", "post")
LEARNERS = ("independent", "CRF", "LSTM")
Row = dict[str, Any]


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """The runs in a table's folder, in the order of the paper's rows."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / "runs").glob("*.json"))]

    def place(run: dict[str, Any]) -> tuple:
        settings = run["settings"]
        return (settings["treebank"], *map(_index, (ORDERS, LEARNERS), (settings["order"], settings["learner"])))

    return sorted(runs, key=place)


def _index(known: Sequence[str], name: str) -> int:
    return known.index(name) if name in known else len(known)


def decoder_rows(runs: list[dict[str, Any]]) -> list[Row]:
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


def language_rows(runs: list[dict[str, Any]]) -> list[Row]:
    """A row for each treebank and order."""
    rows = []
    for run in runs:
        order = run["settings"]["order"]
        data = run["data"]["train"]
        found = next(iter(run["results"].values()))
        rows.append(
            {
                "treebank": run["settings"]["treebank"],
                "order": order,
                "F": found["f"],
                "P": found["precision"],
                "R": found["recall"],
                "mean deviation": data["orders"][order]["mean_deviation"],
                "largest stack": data["orders"][order]["max_stack"],
                "tags": data["tags"],
                "train": data["sentences"],
                "words": data["words"] / max(1, data["sentences"]),
                "dev": found["sentences"],
                "training s": run["training"]["seconds"],
            }
        )
    return rows


def caption(runs: list[dict[str, Any]]) -> str:
    """What all figures of a table have in common, and what not."""
    lines = []
    names = ("encoder", "limit", "dev_limit", "max_length", "epochs", "steps", "checks", "seed", "params")
    for name in names:
        values = sorted({str(run["settings"][name]) for run in runs})
        lines.append(f"{name.replace('_', ' ')}: {', '.join(values)}")
    sizes = sorted({run["data"]["train"]["sentences"] for run in runs})
    lines.append(f"training sentences: {', '.join(map(str, sizes))}; F on the development part")
    return "; ".join(lines)


def format_rows(rows: list[Row]) -> str:
    """A table as text."""
    names = list(rows[0])
    cells = [names, *([format_value(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = {name for name in names if isinstance(rows[0][name], str)}
    lines = []
    for line in cells:
        padded = zip(line, widths, names, strict=True)
        lines.append("  ".join(c.ljust(w) if name in left else c.rjust(w) for c, w, name in padded).rstrip())
    return "\n".join(lines)


def format_value(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def format_csv(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_report(folder: Path) -> str:
    """Write table.txt, table.csv, table.json and the figures beside the runs.

    folder (Path): The table's folder.
    RETURNS (str): The table as text.
    """
    runs = read_runs(folder)
    if not runs:
        return "no runs yet"
    content: dict[str, Any] = {"caption": caption(runs)}
    if runs[0]["settings"]["table"] == "languages":
        content["rows"] = language_rows(runs)
        content["correlations"] = correlations(content["rows"])
        extra = format_correlations(content["correlations"])
    else:
        content["rows"] = decoder_rows(runs)
        extra = ""
    text = "\n\n".join(filter(None, (content["caption"], format_rows(content["rows"]), extra)))
    (folder / "table.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "table.csv").write_text(format_csv(content["rows"]), encoding="utf-8")
    (folder / "table.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    drawn = ", ".join(draw_figures(runs, content, folder)) or 'none (pip install "spacy-parsetag[plots]")'
    return f"{text}\n\nwritten to {folder.name}: table as .txt, .csv and .json; figures: {drawn}"


if __name__ == "__main__":
    sys.stdout.write(write_report(Path(sys.argv[1])) + "\n")

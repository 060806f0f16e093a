"""The figures of a pipeline's card, as rows of a table, from the file that `benchmarks/english.py` wrote.

python -m tools.card benchmarks/results/en_parsetag_trf.json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HEADER = (
    "| development parts | words | F, gold | F, raw | tags, gold | tags, raw | sentences, raw |\n"
    "|---|---|---|---|---|---|---|"
)
PARTS = {
    "masc_dev": "**MASC, annotated by hand, all**",
    "craft_dev": "**CRAFT, annotated by hand, biomedical articles**",
    "wsj_sample_dev": "**Wall Street Journal, annotated by hand, NLTK's sample (not trained on)**",
    "gum_dev": "GUM, agreement with the parser that made its trees",
}


def row(name: str, scores: dict[str, Any]) -> str:
    """Write a row of the table."""
    gold, raw = scores["gold_tokens"], scores["raw_text"]
    figures = (gold["f"], raw["f"], gold["pos"], raw["pos"], raw["sentences"])
    return f"| {name} | {scores['words']:,} | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |"


def rows(report: dict[str, Any]) -> list[str]:
    """Write the rows of the table.

    report (dict[str, Any]): What the file has.
    RETURNS (list[str]): The header and a row for each part, and for each kind of text of MASC and GUM.
    """
    found = [HEADER]
    for key, name in PARTS.items():
        if key in report:
            found.append(row(name, report[key]))
        found += [row(kind, own) for kind, own in report.get(f"{key}_by_genre", {}).items()]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, metavar="REPORT")
    args = parser.parse_args()
    report = json.loads(args.report.read_text(encoding="utf8"))
    sys.stdout.write("\n".join(rows(report)) + f"\n\nlabels: {', '.join(report['labels'])}\n")


if __name__ == "__main__":
    main()

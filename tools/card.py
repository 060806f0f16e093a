"""Writes a released pipeline's card with the figures that `benchmarks/english.py` and `benchmarks/mctb.py` found.

    python -m tools.card models/CARD_TRF.md benchmarks/results/en_parsetag_trf.json models/en_parsetag_trf \\
        --mctb benchmarks/results/mctb_en_parsetag_trf.json

In the text CARD the word FIGURES stands for the tables, and LABELS for the labels that the model can give. The card
becomes README.md of the distribution and of the pipeline in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HEADER = (
    "| scored on | words | F, gold | F, raw | tags, gold | tags, raw | sentences, raw |\n|---|---|---|---|---|---|---|"
)
PARTS = {
    "masc_dev": "**MASC, annotated by hand, all**",
    "craft_dev": "**CRAFT, annotated by hand, biomedical articles**",
    "wsj_sample_dev": "**Wall Street Journal, annotated by hand, NLTK's sample (not trained on)**",
    "natural_stories": "**Natural Stories, corrected by hand (neither trained nor chosen on)**",
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
    lines = [HEADER]
    for key, name in PARTS.items():
        if key in report:
            lines.append(row(name, report[key]))
        lines += [row(kind, scores) for kind, scores in report.get(f"{key}_by_genre", {}).items()]
    return lines


def mctb_rows(report: dict[str, Any]) -> list[str]:
    """Write the table of five domains that no part of the training has seen.

    report (dict[str, Any]): What the file of `benchmarks/mctb.py` has.
    RETURNS (list[str]): The header, and the row.
    """
    names = [*report["domains"], "mean"]
    figures = [*(scores["f"] for scores in report["domains"].values()), report["mean_f"]]
    return [
        f"| MCTB, annotated by hand, F, gold | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
        f"| 1,000 sentences each, which chose nothing | {' | '.join(f'{figure:.1f}' for figure in figures)} |",
    ]


def fill(card: str, report: dict[str, Any], mctb: dict[str, Any] | None = None) -> str:
    """Put the figures into a card.

    card (str): With a line FIGURES, and LABELS.
    report (dict[str, Any]): What the file of `benchmarks/english.py` has.
    mctb (dict[str, Any] | None): What the file of `benchmarks/mctb.py` has.
    RETURNS (str): The card.
    """
    tables = ["\n".join(rows(report)), *(["\n".join(mctb_rows(mctb))] if mctb else [])]
    return card.replace("FIGURES", "\n\n".join(tables)).replace("LABELS", ", ".join(report["labels"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("card", type=Path, metavar="CARD")
    parser.add_argument("report", type=Path, metavar="REPORT")
    parser.add_argument("package", type=Path, metavar="PACKAGE")
    parser.add_argument("--mctb", type=Path, help="the file of benchmarks/mctb.py")
    args = parser.parse_args()
    report = json.loads(args.report.read_text(encoding="utf8"))
    mctb = json.loads(args.mctb.read_text(encoding="utf8")) if args.mctb else None
    text = fill(args.card.read_text(encoding="utf8"), report, mctb)
    for path in (args.package, *args.package.glob("*/*_parsetag_*-*")):
        (path / "README.md").write_text(text, encoding="utf8")
        sys.stdout.write(f"{path / 'README.md'}\n")


if __name__ == "__main__":
    main()

"""Write the figures under benchmarks/results into the README, between its two `results` comments.

python benchmarks/table.py
"""

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
START, END = "<!-- results -->", "<!-- /results -->"
ORDERS = {"in": "in-order", "pre": "pre-order", "post": "post-order"}


def load(name: str) -> dict[str, Any] | None:
    path = HERE / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def accuracy() -> list[str]:
    """F of the training runs."""
    rows = [
        ("synthetic", "synthetic, 500 test sentences", "`cnn.cfg`; the first command above"),
        (
            "wsj-cnn",
            "NLTK's Penn Treebank sample, 273 development sentences",
            "`cnn_bilstm.cfg`, no pretrained part, GUM added",
        ),
        ("wsj-transformer", "the same", "`transformer.cfg`, all-MiniLM-L6-v2 (6 layers, 384 wide)"),
        ("wsj-transformer-tagwise", "the same", "the same, trained tag by tag"),
    ]
    lines = ["| scored on | model | F | exact match | run |", "|---|---|---|---|---|"]
    for name, data, model in rows:
        report = load(name)
        if report is not None:
            figures = report["evalb"]["all"]
            run = f"`benchmarks/results/{name}.json`"
            lines.append(f"| {data} | {model} | {figures['f']:.2f} | {figures['complete_match']:.1f} | {run} |")
    return lines if len(lines) > 2 else []


def decoding() -> list[str]:
    """Ratios of the exact decoder."""
    report = load("decode")
    if report is None:
        return []
    lines = ["| exact decoding, no stack bound | time / `scores.max(axis=1)` | sentences a second |", "|---|---|---|"]
    for order, figures in report["orders"].items():
        row = figures["unbounded"]
        lines.append(f"| {ORDERS[order]} | {row['times_max']:.2f} | {row['sentences_per_second']:,.0f} |")
    return lines


def main() -> None:
    blocks = [accuracy(), decoding()]
    note = (
        "F is EVALB's, COLLINS parameters. Decoding: 2,000 sentences of 5 to 44 words, 150 tags, one core, beside "
        "NumPy's maximum over the same array in the same run (`python benchmarks/decode.py`). This table is written by "
        "`python benchmarks/table.py` from the files it names; each of them names the command that made it."
    )
    body = "\n\n".join(["\n".join(block) for block in blocks if block] + [note])
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{START}\n{body}\n{END}{after}", encoding="utf-8")
    sys.stdout.write(body + "\n")


if __name__ == "__main__":
    main()

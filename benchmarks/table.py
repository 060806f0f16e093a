"""Write the figures under benchmarks/results into the README, between its two `results` comments.

python benchmarks/table.py
"""

import json
import re
import sys
from statistics import mean
from typing import Any

from record import RESULTS, ROOT

README = ROOT / "README.md"
START, END = "<!-- results -->", "<!-- /results -->"
ORDERS = {"in": "in-order", "pre": "pre-order", "post": "post-order"}
# Of each row: its files, the data, the model, and how the config of its commit decodes and weighs part-of-speech tags.
RUNS = (
    ("synthetic", "synthetic, 500 test sentences", "`cnn.cfg`, trained as above", "likeliest"),
    ("gum-cnn", "GUM, 1,575 development sentences", "no pretrained part", "likeliest"),
    ("gum-transformer", "the same", "all-MiniLM-L6-v2", "likeliest, 0.5"),
    (
        "wsj-transformer",
        "NLTK's Penn Treebank sample, 273 development sentences",
        "all-MiniLM-L6-v2 (6 layers, 384 wide)",
        "likeliest, 0.5",
    ),
    ("wsj-spans-off", "the same", "tags alone, no scores of spans", "likeliest, 0.5"),
    ("wsj-self", "the same", "no other trees, raw newswire (`self-train` of `models/project.yml`)", "MBR, 0.1"),
    (
        "wsj-two-stages",
        "the same",
        "after GUM and CRAFT (`build-research` of `models/project.yml` as it was)",
        "likeliest, 0.5",
    ),
    (
        "wsj-pooled-stages",
        "the same",
        "after these and the sample together (docs/laboratory/experiments.md)",
        "likeliest, 0.5",
    ),
    (
        "wsj-long-first",
        "the same",
        "after these and GUM with the sample (`build-target` of `models/project.yml`)",
        "likeliest, 0.5",
    ),
)


def load(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def load_seeds(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The runs of a name, NAME.json or for each seed NAME-0.json and so on, with how to call their files."""
    paths = sorted([*RESULTS.glob(f"{name}.json"), *RESULTS.glob(f"{name}-[0-9].json")])
    files = paths[0].name if len(paths) == 1 else f"{name}-*.json"
    return files, [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def accuracy() -> list[str]:
    """F of the training runs, each with how its checkpoint was chosen."""
    lines = [
        "| scored on | model | trees, weight of tags | F | exact match | checkpoint, seeds | run, at commit |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, data, model, how in RUNS:
        files, reports = load_seeds(name)
        if not reports:
            continue
        figures = [report.get("last", report["evalb"]["all"]) for report in reports]
        config = re.search(r"configs/(\w+\.cfg)", reports[0].get("made_by", reports[0])["command"])
        commits = dict.fromkeys(report.get("made_by", report)["commit"][:7] for report in reports)
        checks = reports[0].get("evaluations")
        chosen = f"best of {checks} on these sentences" if checks else "best on other sentences"
        if "last" in reports[0]:
            chosen = "last"
        found = [figure["f"] for figure in figures]
        seeds = f"mean of {len(found)}, {min(found):.2f} to {max(found):.2f}" if len(found) > 1 else "one"
        row = (
            data,
            f"`{config[1]}`, {model}" if config else model,
            how,
            f"{mean(found):.2f}",
            f"{mean(figure['complete_match'] for figure in figures):.1f}",
            f"{chosen}; {seeds}",
            f"`benchmarks/results/{files}`, {', '.join(commits)}",
        )
        lines.append(f"| {' | '.join(row)} |")
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


def english() -> list[str]:
    """The pipelines that come with the project, on gold tokens and on raw text, and what they take."""
    names = ("en_parsetag_sm", "en_parsetag_trf")
    reports = [report for report in map(load, names) if report is not None]
    if len(reports) < len(names):
        return []
    heads = [f"`{name}`: F, gold tokens | F, raw text" for name in names]
    lines = [f"| development part | {' | '.join(heads)} |", "|---|" + "---|" * 2 * len(names)]
    parts = {
        "masc_dev": "MASC, by hand: letters, essays, news, interviews, travel, textbooks",
        "craft_dev": "CRAFT, by hand: biomedical articles",
        "wsj_sample_dev": "NLTK's Penn Treebank sample, by hand, not trained on: news",
        "gum_dev": "GUM, agreement with the parser that made its trees",
    }
    for part, name in parts.items():
        figures = [
            f"{report[part][text]['f']:.1f}" if part in report else "–"
            for report in reports
            for text in ("gold_tokens", "raw_text")
        ]
        lines.append(f"| {name} | {' | '.join(figures)} |")
    takes = [
        f"`{name}`: {report['words_per_second']:,} words a second on one core (CPU time, load average "
        f"{report['made_by']['machine']['load_average']}), {report['megabytes']:.0f} MB, loaded in "
        f"{report['load_seconds']:.1f} s (`benchmarks/results/{name}.json`; [card](models/{name}/README.md))."
        for name, report in zip(names, reports, strict=True)
    ]
    return [*lines, "", " ".join(takes)]


def main() -> None:
    blocks = [english(), accuracy(), decoding()]
    note = (
        "F is EVALB's, COLLINS parameters. On development sentences it is the F of the last checkpoint, or where the "
        "table says so of the best of several on these same sentences; but the sample's development part chose rounds, "
        "clipping and stages: expect less on other text. A row is the config of its commit: compare rows that decode "
        "alike (the likeliest tree, or MBR) and weigh part-of-speech tags alike. Decoding: 2,000 "
        "sentences of 5 to 44 words, 150 tags, one core, beside NumPy's maximum over the same array in the same run "
        "(`python benchmarks/decode.py`, at an earlier commit, which its file names). This table is written by "
        "`python benchmarks/table.py` from the files it "
        "names; each of them names the command that made it."
    )
    body = "\n\n".join(["\n".join(block).strip() for block in blocks if block] + [note])
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{START}\n{body}\n{END}{after}", encoding="utf-8")
    sys.stdout.write(body + "\n")


if __name__ == "__main__":
    main()

"""Write the figures under benchmarks/results into the pages, each table between two comments that name it.

python benchmarks/table.py
"""

import argparse
import json
import re
import sys
from statistics import mean
from typing import Any

from record import RESULTS, ROOT, read_runs, settings_in_common

PAGES = {
    "pipelines": (ROOT / "README.md", ROOT / "docs" / "reference" / "pipelines.md"),
    "peers": (ROOT / "README.md", ROOT / "docs" / "reference" / "pipelines.md"),
    "results": (ROOT / "docs" / "laboratory" / "results.md",),
}
ORDERS = {"in": "in-order", "pre": "pre-order", "post": "post-order"}
# Of each row: its files, the data, the model, and how the config of its commit decodes and weighs part-of-speech tags.
RUNS = (
    ("synthetic", "synthetic, 500 test sentences", "`cnn.cfg`, as `project.yml` trains it", "likeliest"),
    ("gum-cnn", "GUM, 1,575 development sentences", "no pretrained part", "likeliest"),
    ("gum-transformer", "the same", "all-MiniLM-L6-v2", "likeliest, 0.5"),
    (
        "wsj-transformer",
        "NLTK's Penn Treebank sample, 273 development sentences",
        "all-MiniLM-L6-v2 (6 layers, 384 wide)",
        "likeliest, 0.5",
    ),
    ("wsj-spans-off", "the same", "tags alone, no scores of spans", "likeliest, 0.5"),
    ("wsj-plain", "the same", "as it ships but for bfloat16, no other trees", "MBR, 0.1"),
    ("wsj-self", "the same", "no other trees, raw newswire (`self-train` of `models/project.yml`)", "MBR, 0.1"),
    ("wsj-stages", "the same", "after `en_parsetag_trf` (`build-target` of `models/project.yml`)", "MBR, 0.1"),
)

# What others ship for English: its training data, F on section 23 of the Wall Street Journal, and where they say so.
STANZA = "https://stanfordnlp.github.io/stanza/constituency.html"
BENEPAR = "https://github.com/nikitakit/self-attentive-parser#available-models"
MCTB = "https://github.com/RingoS/multi-domain-parsing-analysis"
CORENLP = "https://stanfordnlp.github.io/CoreNLP/tools_srparser.html"
PUBLISHED = (
    ("Stanza: default; with a transformer", "news, revised", f"[93.2; 96.1]({STANZA})"),
    ("benepar: `benepar_en3` (T5-small); `_large`", "news, revised", f"[95.4; 96.3]({BENEPAR})"),
    ("CoreNLP: PCFG; shift-reduce with a beam", "news", f"[85.5; 88.6]({CORENLP})"),
)


def load(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def load_seeds(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The runs of a training, with how to call their files: as experiments/run.py writes them, or before that
    NAME.json or for each seed NAME-0.json and so on."""
    folder = ROOT / "experiments" / "results" / "trials" / name
    if runs := read_runs(folder):
        path = (folder / "runs.jsonl").relative_to(ROOT)
        if len({settings_in_common(run) for run in runs}) > 1:
            raise SystemExit(f"{path}: runs differ in more than the seed. Make all of them with the same settings.")
        return str(path), [
            {
                "made_by": run["made"],
                "evaluations": len(run["training"]["curve"]),
                "last": {**run["results"]["last"], "complete_match": run["results"]["last"]["exact_match"]},
            }
            for run in runs
        ]
    paths = sorted([*RESULTS.glob(f"{name}.json"), *RESULTS.glob(f"{name}-[0-9].json")])
    files = paths[0].name if len(paths) == 1 else f"{name}-*.json"
    return f"benchmarks/results/{files}", [json.loads(path.read_text(encoding="utf-8")) for path in paths]


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
        figures = [report["last"] if "last" in report else report["evalb"]["all"] for report in reports]
        config = re.search(r"(?:configs/|--config )(\w+\.cfg)", reports[0].get("made_by", reports[0])["command"])
        all_commits = [report.get("made_by", report)["commit"] for report in reports]
        commits = dict.fromkeys(commit[:7] for commit in all_commits)
        checks = reports[0].get("evaluations")
        chosen = f"best of {checks} on these sentences" if checks else "best on other sentences"
        if "last" in reports[0]:
            chosen = "last"
        scores = [figure["f"] for figure in figures]
        seeds = f"mean of {len(scores)}, {min(scores):.2f} to {max(scores):.2f}" if len(scores) > 1 else "one"
        row = (
            data,
            f"`{config[1]}`, {model}" if config else model,
            how,
            f"{mean(scores):.2f}",
            f"{mean(figure['complete_match'] for figure in figures):.1f}",
            f"{chosen}; {seeds}",
            f"`{files}`, {', '.join(commits)}",
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


def pipelines() -> list[str]:
    """The pipelines that come with the project, a column each: what for, how good, how fast, how large."""
    names = ("en_parsetag_sm", "en_parsetag_trf", "id_parsetag_sm", "id_parsetag_trf")
    reports = [load(name) or {} for name in names]
    texts = [load(f"mctb_{name}") or {} for name in names]
    metas = [json.loads((ROOT / "models" / name / "meta.json").read_text(encoding="utf-8")) for name in names]
    rows = [
        ("for", [f"{of}, {how}" for of in ("English", "Indonesian") for how in ("small and quick", "most accurate")]),
        ("needs", ["nothing beside the package", "the extra `onnx`, no PyTorch"] * 2),
    ]
    parts = {
        "masc_dev": "textbooks, travel, interviews, letters, essays, news (MASC)",
        "craft_dev": "biomedical articles (CRAFT)",
        "wsj_sample_dev": "news (NLTK's Penn Treebank sample; nothing was trained on it)",
        "natural_stories": "stories (Natural Stories; none of these trees was trained or chosen on)",
    }
    for part, name in parts.items():
        cells = [f"{report[part]['raw_text']['f']:.1f}" if part in report else "–" for report in reports]
        rows.append((f"F, {name}", cells))
    cells = [f"{report['mean_f']:.1f}" if report else "–" for report in texts]
    rows.append(("F, mean of five domains (MCTB, a test set; on its own tokens)", cells))
    cells = [f"{report['own']['f']:.1f}" if "own" in report else "–" for report in reports]
    rows.append(("F, Indonesian news and encyclopedia (ICON; on its own tokens)", cells))
    rows += [
        (name, [f"{report[key]:{format_spec}}" if key in report else "–" for report in reports])
        for name, key, format_spec in (("words a second", "words_per_second", ","), ("MB", "megabytes", ".0f"))
    ]
    rows.append(("licence of the weights", [meta["license"] for meta in metas]))
    header = " | ".join(f"`{name}`" for name in names)
    lines = [f"| | {header} |", f"|{'---|' * (len(names) + 1)}"]
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows if set(cells) != {"–"}]
    loads = [str(report["made_by"]["machine"]["load_average"]) for report in reports if "words_per_second" in report]
    note = (
        "F is EVALB's labelled bracketing F with Collins' parameters (COLLINS), on raw text, which the pipeline itself "
        "cuts into sentences and tokens, of development parts with trees by hand, and of Natural Stories. MCTB: "
        f"Multi-domain Constituency Treebank ([Yang et al. 2022]({MCTB})). Words a second: one core, CPU time, "
        f"load average {', '.join(loads)}. From `benchmarks/results/NAME.json` by `python benchmarks/table.py`; the "
        "card of each, in `models/NAME/`, has more."
    )
    return [*lines, "", note]


def peers() -> list[str]:
    """English parsers side by side: on MCTB, and as published on news."""
    mctb = load("mctb_peers")
    if mctb is None:
        return []
    ours = {name: load(f"mctb_{name}") for name in ("en_parsetag_sm", "en_parsetag_trf")}
    rows = [
        (f"`{name}`", "many kinds of text; see its card", {k: v["f"] for k, v in report["domains"].items()}, report)
        for name, report in ours.items()
        if report
    ]
    for name, report in (("in-order LSTM parser", mctb["inorder"]), ("the same, BERT-large", mctb["inorder_bert"])):
        rows.append((name, "news", report["domains"], report))
    domains = [*mctb["inorder"]["domains"]]
    lines = [f"| F | trained on | {' | '.join(domains)} | mean | news |", "|---" * (len(domains) + 4) + "|"]
    for name, data, f_of_domain, report in rows:
        figures = [*(f_of_domain[domain] for domain in domains), report["mean_f"]]
        lines.append(f"| {name} | {data} | {' | '.join(f'{f:.1f}' for f in figures)} | – |")
    lines += [f"| {name} | {data} | {'– | ' * (len(domains) + 1)}{f} |" for name, data, f in PUBLISHED]
    note = (
        "The first columns are the five domains of MCTB, 1,000 sentences each, by hand; a sentence without a tree over "
        "the same words counts as zero. The two in-order parsers (Liu and Zhang 2017; with BERT by Yang et al. 2022) "
        "are scored from the outputs that come with it (`python benchmarks/mctb_peers.py`). News is what their authors "
        "publish for section 23 of the Wall Street Journal, or of its revised edition, text of the kind that they "
        "learned. No tree of that newspaper was trained on here; the development part of NLTK's sample of it chose "
        "among weights."
    )
    return [*lines, "", note]


def results() -> list[str]:
    """Trainings and decoding, with how the figures were made."""
    note = (
        "F is EVALB's, COLLINS parameters. On development sentences it is the F of the last checkpoint, or where the "
        "table says so of the best of several on these same sentences; but the sample's development part chose rounds, "
        "clipping and stages: expect less on other text. A row is the config of its commit: compare rows that decode "
        "alike (the likeliest tree, or MBR) and weigh part-of-speech tags alike. Decoding: 2,000 "
        "sentences of 5 to 44 words, 150 tags, one core, beside NumPy's maximum over the same array in the same run "
        "(`python benchmarks/decode.py exact`). This table is written by "
        "`python benchmarks/table.py` from the files it "
        "names; each of them names the command that made it."
    )
    return [*accuracy(), "", *decoding(), "", note]


TABLES = {"pipelines": pipelines, "peers": peers, "results": results}


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name, make in TABLES.items():
        body = "\n".join(make())
        for page in PAGES[name]:
            before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->")
            _, _, after = rest.partition(f"<!-- /{name} -->")
            page.write_text(f"{before}<!-- {name} -->\n{body}\n<!-- /{name} -->{after}", encoding="utf-8")
        sys.stdout.write(body + "\n\n")


if __name__ == "__main__":
    main()

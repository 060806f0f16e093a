"""Do trainings differ? The difference in F over all of their seeds, with a paired bootstrap over sentences.

    python experiments/differ.py "$PARSETAG_WORK"/trials/wsj-plain "$PARSETAG_WORK"/trials/wsj-self \\
        --dev DEV.spacy --output benchmarks/results/differences_wsj.json

Each folder is one of `run.py`, with the last checkpoint of each seed: `dev-0-HASH/model-last`, `dev-1-HASH/model-last`
and so on, none of them of other settings. Each is compared with the first. Sentences are resampled, each with the trees
of all seeds, so that the interval says what other sentences would change, and not what other seeds would.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import spacy
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_parsetag.evalb import EvalbResult, compare_parsers

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
from ensemble import parse_and_score
from record import made_by, settings_in_common, write_result
from spec import resolved


def score(pipeline: Path, dev: Path) -> EvalbResult:
    """Score a pipeline on the words of docs with trees."""
    nlp = spacy.load(pipeline)
    return parse_and_score(nlp, list(DocBin().from_disk(dev).get_docs(nlp.vocab)))


def find_seeds(training: Path) -> list[Path]:
    """Find the last checkpoint of each seed of a training.

    RAISES (SystemExit): If there is none, or pipelines of other settings lie beside them.
    """
    folders = sorted(path.parent for path in training.glob("dev-*/trained.json"))
    if not folders:
        raise SystemExit(f"{training}: no dev-0-HASH of a training that run.py finished.")
    seeds, in_common = set(), set()
    for folder in folders:
        config = resolved(load_config(folder / "config.cfg"), None)
        del config["training"]["logger"]  # it names the folder
        settings = json.loads((folder / "trained.json").read_text(encoding="utf-8"))["settings"]
        seeds.add(settings["seed"])
        in_common.add(settings_in_common({"settings": settings, "config": config}))
    if len(seeds) < len(folders) or len(in_common) > 1:
        names = ", ".join(folder.name for folder in folders)
        raise SystemExit(f"{training}: {names} differ in more than the seed. Move those of other settings elsewhere.")
    return [folder / "model-last" for folder in folders]


def compare(first: Sequence[EvalbResult], other: Sequence[EvalbResult]) -> dict[str, Any]:
    """Compare two trainings by the results of their seeds, as many of each."""
    if len(first) != len(other):
        raise SystemExit(f"{len(first)} and {len(other)} seeds: compare as many of each.")
    rows = [[row for result in results for row in result.rows] for results in (first, other)]
    numbers = [i for result in first for i, _ in enumerate(result.rows)]
    return compare_parsers(*rows, documents=numbers).to_dict()


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainings", type=Path, nargs="+", metavar="TRAINING")
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args(words)
    made = made_by() if args.output else None
    pipelines = {folder: find_seeds(folder) for folder in args.trainings}
    results_of = {folder.name: [score(path, args.dev) for path in paths] for folder, paths in pipelines.items()}
    trainings = {}
    for name, results in results_of.items():
        f = [result.strict.f for result in results]
        trainings[name] = {"f": f, "mean": mean(f), "deviation": stdev(f) if len(f) > 1 else 0.0}
        print(f"{name}: {', '.join(f'{value:.2f}' for value in f)}; mean {mean(f):.2f}")
    (first, base), *others = results_of.items()
    differences = [{"trainings": [first, name], **compare(base, results)} for name, results in others]
    for row in differences:
        text = "{} against {}: {difference:+.2f}, 95 % interval {low:+.2f} to {high:+.2f}, p {p_bootstrap:.4f}"
        print(text.format(*row["trainings"][::-1], **row))
    report = {"trainings": trainings, "differences": differences}
    write_result(report, args.output, made, pipelines=[path for paths in pipelines.values() for path in paths])


if __name__ == "__main__":
    main()

"""Trains on noun phrases alone: NPs of all sentences and whole trees of some, against the whole trees alone.

    python benchmarks/partial_trees.py --config configs/cnn.cfg --output benchmarks/results/partial_trees.json \\
        --train "$PARSETAG_SHARED"/treebanks/wsj_sample/train.mrg --dev "$PARSETAG_SHARED"/treebanks/wsj_sample/dev.mrg

Every tenth sentence (--every) keeps its tree. Of the others one run has the NPs, marked as partial trees; one run does
not have them; and one has them as complete flat trees, which is what an unmarked doc says. Whole trees come --repeat
times for each time of the others, for they are few.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import spacy
from record import made_by, write_result
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.treebanks.penn import read_trees
from spacy_parsetag.trees.clean import clean_tree

KEY = "constituents"


def read(path: Path) -> list[Doc]:
    cleaned = (clean_tree(tree) for tree in read_trees(path))
    return list(docs_from_trees(Vocab(), (tree for tree in cleaned if tree is not None)))


def keep_labels(doc: Doc, labels: set[str], *, partial: bool) -> Doc:
    """A copy of a doc that has constituents of some labels only."""
    copy = doc.copy()
    copy.spans[KEY] = [span for span in copy.spans[KEY] if span.label_ in labels]
    copy.spans[KEY].attrs["partial"] = partial
    return copy


def make_parts(docs: list[Doc], every: int, labels: set[str], repeat: int) -> dict[str, list[Doc]]:
    """The training data of each run."""
    whole, others = docs[::every], [doc for i, doc in enumerate(docs) if i % every]
    return {
        "whole_trees_alone": whole,
        "with_partial_trees": whole * repeat + [keep_labels(doc, labels, partial=True) for doc in others],
        "with_flat_trees": whole * repeat + [keep_labels(doc, labels, partial=False) for doc in others],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--train", type=Path, required=True, help="bracket file")
    parser.add_argument("--dev", type=Path, required=True, help="bracket file")
    parser.add_argument("--every", type=int, default=10, help="every N-th sentence keeps the whole tree", metavar="N")
    parser.add_argument("--repeat", type=int, default=9, help="how often whole trees come for each time of the others")
    parser.add_argument("--labels", nargs="+", default=["NP"], help="the constituents that are known of the others")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="changes to the config")
    parser.add_argument("--work", type=Path, default=Path("runs/partial_trees"))
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    made = made_by() if args.output else None
    args.work.mkdir(parents=True, exist_ok=True)
    dev = args.work / "dev.spacy"
    DocBin(docs=read(args.dev)).to_disk(dev)
    figures: dict[str, Any] = {}
    for name, docs in make_parts(read(args.train), args.every, set(args.labels), args.repeat).items():
        data = args.work / f"{name}.spacy"
        DocBin(docs=docs).to_disk(data)
        scores = []
        for seed in args.seeds:
            changes = dict(change.split("=", 1) for change in args.set)
            overrides = {key: json.loads(value) for key, value in changes.items()}
            overrides |= {"paths.train": str(data), "paths.dev": str(dev), "training.seed": seed}
            folder = args.work / f"{name}-{seed}"
            train(args.config, folder, overrides=overrides)
            scores.append(spacy.load(folder / "model-best").meta["performance"]["parsetag_f"])
        figures[name] = {"sentences": len(docs), "f": scores, "mean_f": sum(scores) / len(scores)}
    write_result(figures, args.output, made)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

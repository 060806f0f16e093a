"""Checks how well the probabilities of a pipeline hold on documents that no temperature was fit on.

    python benchmarks/calibration.py en_parsetag_sm corpus/gum-dev.spacy corpus/craft-dev.spacy --output FILE.json

Of the first file: temperatures from the first half of its documents, errors on the second ("halves"). Of all files
together: temperatures from every second document, errors on the others, then the other way round ("crossed"), so that
all documents are measured and their order does not matter.

Given are the errors of `measure_reliability`, the 95th percentile of what chance makes of the plain one, and 95 %
intervals by bootstrap over documents (percentiles): of the plain error after, and of its change. Whole trees are also
measured at the temperature of constituents.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from record import made_by, portable, write_result
from spacy.tokens import DocBin

from spacy_parsetag.analysis.reliability import measure_reliability, plain_error
from spacy_parsetag.pipeline.calibration import (
    GoldBatch,
    Judged,
    fit_temperature,
    judge_constituents,
    judge_trees,
    score_gold_docs,
)
from spacy_parsetag.pipeline.component import ParseTagger

RESAMPLES = 1000


Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]


def joined(judged: Sequence[Arrays]) -> Arrays:
    """Probabilities, and what is right (1 or 0), of several documents."""
    probs, right = zip(*judged, strict=True)
    return np.concatenate(probs), np.concatenate(right)


def interval(values: Sequence[float]) -> list[float]:
    return [float(bound) for bound in np.quantile(values, [0.025, 0.975])]


def compare(*of_documents: list[Judged]) -> dict[str, Any]:
    """Errors before and after, of the same documents."""
    before, after = ([(np.asarray(p), np.asarray(r, dtype=float)) for p, r in judged] for judged in of_documents)
    random = np.random.default_rng(0)
    figures: dict[str, Any] = {}
    for name, judged in (("before", before), ("after", after)):
        probs, right = joined(judged)
        figures[name] = measure_reliability(probs.tolist(), right.tolist()).to_dict()
        simulated = [plain_error(probs, random.random(len(probs)) < probs) for _ in range(RESAMPLES)]
        figures[name]["chance_95th_percentile"] = float(np.quantile(simulated, 0.95))
    samples = random.integers(len(before), size=(RESAMPLES, len(before)))
    errors = [
        [plain_error(*joined([judged[d] for d in sample])) for judged in (before, after)] for sample in samples.tolist()
    ]
    figures["after"]["ece_interval"] = interval([b for _, b in errors])
    figures["change_interval"] = interval([b - a for a, b in errors])
    return figures


def measure(
    pipe: ParseTagger, documents: list[list[GoldBatch]], splits: list[tuple[list[int], list[int]]]
) -> dict[str, Any]:
    """Errors on some documents with temperatures from others.

    pipe (ParseTagger): The parser.
    documents (list[list[GoldBatch]]): The scores of each.
    splits (list[tuple[list[int], list[int]]]): Documents to fit on and to measure; no document is measured twice.
    RETURNS (dict[str, Any]): Temperatures and errors.
    """
    measured = [d for _, test in splits for d in test]
    figures: dict[str, Any] = {"documents": len(measured)}
    figures["sentences"] = sum(len(gold.parses) for d in measured for gold in documents[d])
    at_one = {}
    for kind, judge in (("constituents", judge_constituents), ("whole_trees", judge_trees)):
        train_golds = [[gold for d in train for gold in documents[d]] for train, _ in splits]
        temperatures = [fit_temperature(partial(judge, pipe, golds)) for golds in train_golds]
        at_one[kind] = [judge(pipe, documents[d], 1.0) for d in measured]
        at_fit = [judge(pipe, documents[d], t) for t, (_, test) in zip(temperatures, splits, strict=True) for d in test]
        figures[kind] = {"temperatures": temperatures, **compare(at_one[kind], at_fit)}
    temperatures = figures["constituents"]["temperatures"]
    judged = [
        judge_trees(pipe, documents[d], t) for t, (_, test) in zip(temperatures, splits, strict=True) for d in test
    ]
    figures["whole_trees_at_temperatures_of_constituents"] = compare(at_one["whole_trees"], judged)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("dev", type=Path, nargs="+", help="gold documents, a document a doc")
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    args = parser.parse_args()
    made = made_by() if args.output else None
    nlp = spacy.load(args.pipeline)
    pipe = next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, ParseTagger))
    files = [
        [list(score_gold_docs(nlp, pipe, [doc])) for doc in DocBin().from_disk(path).get_docs(nlp.vocab)]
        for path in args.dev
    ]
    documents = [document for file in files for document in file]
    n_sents = np.cumsum([sum(len(gold.parses) for gold in document) for document in files[0]])
    half = int(np.searchsorted(n_sents, n_sents[-1] / 2)) + 1
    first, second = list(range(half)), list(range(half, len(files[0])))
    even, odd = list(range(0, len(documents), 2)), list(range(1, len(documents), 2))
    figures = {
        "pipeline": portable(args.pipeline),
        "halves": measure(pipe, documents, [(first, second)]),
        "crossed": measure(pipe, documents, [(even, odd), (odd, even)]),
    }
    write_result(figures, args.output, made, pipelines=[nlp.path])
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Checks how well the probabilities of a calibrated pipeline hold on treebanks that no temperature was fit on.

    python benchmarks/calibration.py en_parsetag_sm corpus/gum-dev.spacy corpus/craft-dev.spacy --output FILE.json

For each file: errors of the scores as they are ("before") and at the pipeline's temperatures ("after"). Given are the
errors of `measure_reliability`, the 95th percentile of what chance makes of the plain one, and 95 % intervals by
bootstrap over documents (percentiles): of the plain error after, and of its change. Whole trees are also measured at
the temperature of constituents.
"""

import argparse
import json
import sys
from collections.abc import Sequence
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


def measure(pipe: ParseTagger, documents: list[list[GoldBatch]]) -> dict[str, Any]:
    """Errors on some documents, before and after.

    documents (list[list[GoldBatch]]): The scores of each.
    """
    of_constituents, of_trees = pipe.cfg["temperature"], pipe.cfg["tree_temperature"]
    figures: dict[str, Any] = {"documents": len(documents)}
    figures["sentences"] = sum(len(gold.parses) for golds in documents for gold in golds)
    for name, judge, temperature in (
        ("constituents", judge_constituents, of_constituents),
        ("whole_trees", judge_trees, of_trees),
        ("whole_trees_at_temperature_of_constituents", judge_trees, of_constituents),
    ):
        before, after = ([judge(golds, t) for golds in documents] for t in (1.0, temperature))
        figures[name] = {"temperature": temperature, **compare(before, after)}
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
    figures: dict[str, Any] = {"pipeline": portable(args.pipeline), "files": {}}
    for path in args.dev:
        documents = [list(score_gold_docs(nlp, pipe, [doc])) for doc in DocBin().from_disk(path).get_docs(nlp.vocab)]
        figures["files"][path.stem] = measure(pipe, documents)
    write_result(figures, args.output, made, pipelines=[nlp.path])
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

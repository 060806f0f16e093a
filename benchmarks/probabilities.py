"""Judges the probabilities of trained pipelines on gold trees that they were not trained on.

    python benchmarks/probabilities.py "$PARSETAG_RUNS"/dev.spacy "$PARSETAG_RUNS"/model-last --output FILE.json

Of each pipeline, for instance of several seeds:

- the best tree against the tree with the most expected right constituents (MBR): F and exact match;
- the best of the k best trees by its F (oracle), for several k; no two are the same, and scores never rise;
- temperatures from the first half, and the expected calibration error on the second, before and after;
- gold base noun phrases (without a constituent inside) as constraints: F of all other constituents, with and without.

F is EVALB's with gold part-of-speech tags.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from record import made_by, portable, write_result
from spacy.tokens import DocBin

from spacy_parsetag.analysis.reliability import measure_reliability
from spacy_parsetag.decode import Constraint, Decoder, Distribution, ExactDecoder, MBRDecoder
from spacy_parsetag.decode.trees import Spans, labelled_nodes
from spacy_parsetag.evalb import evalb
from spacy_parsetag.pipeline.calibration import (
    GoldBatch,
    fit_temperature,
    judge_constituents,
    judge_trees,
    score_gold_docs,
)
from spacy_parsetag.pipeline.component import ParseTagger
from spacy_parsetag.tokens import parse_string
from spacy_parsetag.trees import Constituent, Parse


def with_spans(gold: Parse, spans: Spans) -> str:
    return parse_string(replace(gold, spans=tuple(Constituent(*span) for span in spans)))


def score_trees(golds: Sequence[Parse], trees: Sequence[Spans]) -> dict[str, float]:
    """F and exact match of the trees that were found."""
    result = evalb(list(map(parse_string, golds)), list(map(with_spans, golds, trees)), "collins")
    return {"f": result.all.f, "exact_match": result.exact_match, "sentences": len(golds)}


def oracle(gold: Parse, trees: Sequence[Spans]) -> Spans:
    """The tree with the greatest F over its constituents; of equal ones the first."""
    gold_spans = Counter((start, end, label) for start, end, label in gold.spans)

    def f(spans: Spans) -> float:
        right = sum((gold_spans & Counter(spans)).values())
        return right / max(1, sum(gold_spans.values()) + len(spans))

    return max(trees, key=f)


def base_phrases(spans: Spans, label: str = "NP") -> Spans:
    """The constituents with a label that have no other within, or over the same words."""
    return [
        (i, j, span_label)
        for i, j, span_label in spans
        if span_label == label and sum(1 for start, end, _ in spans if i <= start and end <= j) == 1
    ]


def remove_spans(spans: Spans, removed: Spans) -> Spans:
    return [span for span in spans if tuple(span) not in set(removed)]


def decode(
    golds: Sequence[GoldBatch], decoder: Decoder, constraints: Sequence[tuple[Constraint, ...]] | None = None
) -> list[Spans]:
    """Find the tree of each sentence, of those that meet its constraints."""
    trees: list[Spans] = []
    for gold in golds:
        batch = gold.batch
        if constraints is not None:
            batch = replace(batch, constraints=tuple(constraints[len(trees) : len(trees) + len(gold.parses)]))
        trees.extend(labelled_nodes(decoder(Distribution(batch)).ids, batch).spans(batch.tags))
    return trees


def measure_k_best(
    golds: Sequence[GoldBatch], parses: Sequence[Parse], best: Sequence[Spans], ks: Sequence[int]
) -> dict[str, Any]:
    """Score the best of the k best trees by its F, and check that these differ and stand in order."""
    k_best = [trees for gold in golds for trees in Distribution(gold.batch).k_best_parses(max(ks))]
    spans_of = [[[(i, j, label) for i, j, label in spans] for _, spans in trees] for trees in k_best]
    return {
        "same_tree_twice": sum(len(set(map(tuple, trees))) < len(trees) for trees in spans_of),
        "score_rises": sum([p for p, _ in trees] != sorted((p for p, _ in trees), reverse=True) for trees in k_best),
        "first_is_not_the_best": sum(trees[0] != tree for trees, tree in zip(spans_of, best, strict=True)),
        "trees": sum(map(len, k_best)),
        "oracle": {
            str(k): score_trees(parses, [oracle(g, t[:k]) for g, t in zip(parses, spans_of, strict=True)]) for k in ks
        },
    }


def measure_calibration(golds: list[GoldBatch]) -> dict[str, Any]:
    """Measure calibration errors on the second half, with temperatures from the first."""
    half = len(golds) // 2
    figures: dict[str, Any] = {"sentences": sum(len(g.parses) for g in golds[half:])}
    for kind, judge in (("constituents", judge_constituents), ("whole_trees", judge_trees)):
        fit = fit_temperature(partial(judge, golds[:half]))
        figures[kind] = {"temperature": fit}
        for name, value in (("before", 1.0), ("after", fit)):
            judged = judge(golds[half:], value)
            figures[kind][name] = measure_reliability(judged.probs, judged.right).to_dict()
    return figures


def measure_constraints(
    pipe: ParseTagger, golds: Sequence[GoldBatch], parses: Sequence[Parse], best: Sequence[Spans]
) -> dict[str, Any]:
    """Score other constituents, with and without gold base noun phrases as constraints."""
    labels = {label for chain in pipe.tag_set.unaries for label in chain}
    bases = [base_phrases([(i, j, label) for i, j, label in gold.spans]) if "NP" in labels else [] for gold in parses]
    with_bases = decode(
        golds, ExactDecoder(), [tuple(Constraint(*span, "must") for span in phrases) for phrases in bases]
    )
    others = [
        replace(g, spans=tuple(s for s in g.spans if tuple(s) not in set(b)))
        for g, b in zip(parses, bases, strict=True)
    ]
    return {
        "base_noun_phrases": sum(map(len, bases)),
        "missing_without": sum(len(set(phrases) - set(tree)) for phrases, tree in zip(bases, best, strict=True)),
        "missing_with": sum(len(set(phrases) - set(tree)) for phrases, tree in zip(bases, with_bases, strict=True)),
        "others_without": score_trees(others, list(map(remove_spans, best, bases))),
        "others_with": score_trees(others, list(map(remove_spans, with_bases, bases))),
    }


def measure(pipeline: Path, dev: Path, ks: Sequence[int]) -> dict[str, Any]:
    """Measure all of one pipeline."""
    nlp = spacy.load(pipeline)
    pipe = next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, ParseTagger))
    golds = list(score_gold_docs(nlp, pipe, list(DocBin().from_disk(dev).get_docs(nlp.vocab))))
    parses = [parse for gold in golds for parse in gold.parses]
    best = decode(golds, ExactDecoder())
    return {
        "pipeline": portable(str(pipeline)),
        "seed": nlp.config.interpolate()["training"]["seed"],
        "best_tree": score_trees(parses, best),
        "mbr": {str(cost): score_trees(parses, decode(golds, MBRDecoder(cost))) for cost in (0.0, 0.3, 0.4, 0.5, 0.6)},
        "k_best": measure_k_best(golds, parses, best, ks),
        "calibration": measure_calibration(golds),
        "constraints": measure_constraints(pipe, golds, parses, best),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("pipelines", type=Path, nargs="+")
    parser.add_argument("--k", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    args = parser.parse_args()
    made = made_by() if args.output else None
    figures = {"pipelines": [measure(pipeline, args.dev, args.k) for pipeline in args.pipelines]}
    write_result(figures, args.output, made, pipelines=args.pipelines)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

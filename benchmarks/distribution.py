"""What a parse with probabilities costs: best tree, probabilities, the ten best trees and the tree of most right
constituents, beside each other, on one core.

    python benchmarks/distribution.py --output benchmarks/results/distribution.json

Sentences of 25, 50, 100 and 200 words, 150 tags, normal scores in float32: in-order tags alone, tags and spans
together, and pre-order with the bound of the paper. Real scores are sharper, which only makes sums quicker.
"""

import argparse
from typing import Any

from common import LABELS, best_time  # isort: skip  # it leaves NumPy one core

import numpy as np
from record import parse_arguments, write_result

from spacy_parsetag.decode import (
    ExactDecoder,
    MBRDecoder,
    SpanScores,
    TagScores,
    constituent_marginals,
    k_best,
    log_partition,
)
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tags import TagSet


def make_batch(n_words: int, sentences: int, order: str, spans: bool) -> TagScores:
    rng = np.random.default_rng(0)
    tags = TagSet(f"{name}/X{i}" for name, n in LABELS.items() for i in range(n))
    rows, n_spans = 2 * n_words - 1, n_words * (n_words - 1) // 2
    scores = rng.normal(size=(sentences * rows, len(tags))).astype(np.float32)
    of_spans = None
    if spans:
        own = rng.normal(size=(sentences * n_spans, len(tags.node_labels))).astype(np.float32)
        of_spans = SpanScores(own, np.arange(sentences) * n_spans)
    n = np.full(sentences, n_words)
    return TagScores(scores, np.arange(sentences) * rows, n, tags, ORDERS[order], spans=of_spans)


def measure(batch: TagScores, max_stack: int | None, repeats: int) -> dict[str, float]:
    """Milliseconds a sentence."""
    runs = {
        "best tree": lambda: ExactDecoder(max_stack)(batch),
        "log-partition and gradient": lambda: log_partition(batch, max_stack),
        "probabilities of constituents": lambda: constituent_marginals(batch, max_stack),
        "10 best trees": lambda: k_best(batch, 10, max_stack),
        "tree of most right constituents": lambda: MBRDecoder(max_stack)(batch),
    }
    return {name: 1e3 * best_time(run, repeats) / len(batch.n_words) for name, run in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="+", default=[25, 50, 100, 200])
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the fastest counts")
    args = parse_arguments(parser)
    kinds: dict[str, tuple[str, bool, int | None]] = {
        "in-order, tags alone": ("in", False, None),
        "in-order, tags and spans": ("in", True, None),
        "pre-order, stack of at most 29": ("pre", False, 29),
    }
    figures: dict[str, Any] = {"milliseconds_a_sentence": {}}
    for kind, (order, spans, max_stack) in kinds.items():
        for n_words in args.words:
            found = measure(make_batch(n_words, max(1, 200 // n_words), order, spans), max_stack, args.repeats)
            figures["milliseconds_a_sentence"].setdefault(kind, {})[str(n_words)] = found
            print(f"{kind}, {n_words} words: " + ", ".join(f"{name} {ms:,.3f} ms" for name, ms in found.items()))
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

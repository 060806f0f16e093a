"""Times scoring at a check in training: the pipeline's scorer beside spaCy's own scorer of spans, on one core.

    python benchmarks/scoring.py --output benchmarks/results/scoring.json

Gold trees are from the synthetic treebank. The predicted ones are the gold trees with a fifth of their constituents
one word shorter, under other labels or left out. Both scorers read the same span groups of the same docs.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import json
import random
import sys

from record import parse_arguments, write_result
from samples import draw_trees
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from timing import in_turn

from spacy_parsetag.pipeline.scorer import make_evalb_scorer
from spacy_parsetag.tokens import SPANS_KEY, docs_from_trees

WRONG = 0.2  # share of constituents that are wrong


def spoil(gold: Doc, share: float, rng: random.Random) -> Doc:
    """A copy whose constituents are partly wrong."""
    doc = gold.copy()
    spans = []
    for span in doc.spans[SPANS_KEY]:
        kind = rng.randrange(3) if rng.random() < share else None
        if kind is None:
            spans.append(span)
        elif kind == 0:
            spans.append(Span(doc, span.start, max(span.start + 1, span.end - 1), span.label))
        elif kind == 1:
            spans.append(Span(doc, span.start, span.end, "X"))
    doc.spans[SPANS_KEY] = spans
    return doc


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="runs; the fastest counts")
    args = parse_arguments(parser)
    rng = random.Random(0)
    docs = list(docs_from_trees(Vocab(), draw_trees(2000)))
    examples = [Example(spoil(doc, WRONG, rng), doc) for doc in docs]
    evalb = make_evalb_scorer()
    runs = {
        "evalb_scorer": lambda: evalb(examples),
        "score_spans": lambda: Scorer.score_spans(
            examples, SPANS_KEY, getter=lambda doc, key: doc.spans[key], allow_overlap=True
        ),
    }
    times = in_turn(runs, args.repeats)
    words = sum(map(len, docs))
    figures = {
        "sentences": len(docs),
        "words": words,
        "parsetag_f": round(100 * evalb(examples)["parsetag_f"], 2),
        "words_per_second": {name: round(words / seconds.best) for name, seconds in times.items()},
        "ratio": round(times["evalb_scorer"].over(times["score_spans"]), 3),
    }
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

"""Loss and gradient of a linear chain over 32 sentences: one core, 150 tags, three orders, scores of any range.

The losses of the CRF learner, over trees with a bound of 12 on the stack and over all tag sequences, for scores between
0 and 10 and between 0 and 1,000: exponentials of the latter are 0 in double, so some sums are taken in logarithms.

    python benchmarks/linear_chain_loss.py
"""

from common import arguments, best_time, make_sample  # isort: skip  # it leaves NumPy one core

from dataclasses import replace

import numpy as np
from record import write_result

from spacy_parsetag.decode import ExactDecoder, Transitions
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.ml.losses import LatticeLoss, TagLoss

BOUND = 12
RANGES = (10.0, 1000.0)


def main() -> None:
    args = arguments(__doc__.splitlines()[0], sentences=32)
    results = {"sentences": args.sentences, "max_stack": BOUND, "orders": {}}
    for order in ORDERS:
        sample = make_sample(args.sentences, order)
        gold = ExactDecoder(BOUND)(sample).ids
        n_tags = len(sample.tags)
        figures = {}
        for spread in RANGES:
            rng = np.random.default_rng(1)
            shapes = (sample.scores.shape, (n_tags, n_tags), (n_tags,), (n_tags,))
            scores, *rest = (rng.uniform(0, spread, size=shape).astype(np.float32) for shape in shapes)
            pairs, start, end = rest
            batch = replace(sample, scores=scores, transitions=Transitions(pairs, start, end))
            for name, loss in (("trees", LatticeLoss(BOUND)), ("all_sequences", TagLoss())):
                seconds = best_time(lambda: loss(batch, gold), args.repeats)  # noqa: B023
                figures[f"{name}_range_{spread:.0f}_ms"] = 1e3 * seconds
        results["orders"][order] = figures
        print(
            f"{order}-order: " + ", ".join(f"{name.replace('_', ' ')} {value:.1f}" for name, value in figures.items())
        )
    write_result(results, args.output, args.made_by)


if __name__ == "__main__":
    main()

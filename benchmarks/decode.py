"""Exact decoding of independent scores against one look at each score: one core, 150 tags, three orders.

A decoder has to read every score, so `scores.max(axis=1)` over the same array in the same run is the yardstick.

    python benchmarks/decode.py
"""

from common import arguments, best_time, make_sample
from record import write_result

from spacy_parsetag.decode import ExactDecoder
from spacy_parsetag.linearize import ORDERS

BOUND = 12
LIMITS = {"in": 1.5, "pre": 2.5, "post": 2.5}  # times the yardstick


def main() -> None:
    args = arguments(__doc__.splitlines()[0], sentences=2000)
    sample = make_sample(args.sentences)
    look = best_time(lambda: sample.scores.max(axis=1), args.repeats)
    print(f"scores.max(axis=1) of {args.sentences} sentences: {look * 1e3:.2f} ms")
    results = {"sentences": args.sentences, "tags": len(sample.tags), "max_seconds": look, "orders": {}}
    for order in ORDERS:
        sample = make_sample(args.sentences, order)
        for bound in (None, BOUND):
            decoder = ExactDecoder(bound)
            # The yardstick again beside each figure, so that both see the same machine.
            look = best_time(lambda: sample.scores.max(axis=1), args.repeats)  # noqa: B023
            seconds = best_time(lambda: decoder(sample), args.repeats)  # noqa: B023
            ratio = seconds / look
            print(
                f"{order}-order, stack bound {bound}: {ratio:.2f} times the yardstick (at most {LIMITS[order]}), "
                f"{args.sentences / seconds:,.0f} sentences a second"
            )
            results["orders"].setdefault(order, {})["unbounded" if bound is None else f"max_stack_{bound}"] = {
                "times_max": ratio,
                "sentences_per_second": args.sentences / seconds,
            }
    write_result(results, args.output, args.made_by)


if __name__ == "__main__":
    main()

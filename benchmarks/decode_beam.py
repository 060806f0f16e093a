"""Beam search, 10 sequences, independent scores, against a NumPy beam: one core, 150 tags, three orders.

Scores are like a model's: noise, and a bonus for the tags of some tree, so that beams have something to follow. Also
printed: the share of sentences where the beam's tree scores as much as the exact one, and where it had to be widened.

    python benchmarks/decode_beam.py
"""

from common import arguments, best_time, make_sample  # isort: skip  # it leaves NumPy one core

from dataclasses import replace

import numpy as np
from record import write_result

from spacy_parsetag.decode import BeamDecoder, ExactDecoder, TagScores
from spacy_parsetag.linearize import ORDERS, Lattice

BEAM = 10
FEW = 40  # sentences that NumPy gets


def model_like(sample: TagScores, bonus: float) -> TagScores:
    """Scores with a bonus for the tags of one tree a sentence: the best tree of other random scores."""
    rng = np.random.default_rng(1)
    other = rng.normal(size=sample.scores.shape).astype(np.float32)
    gold = ExactDecoder()(replace(sample, scores=other)).ids
    scores = sample.scores.copy()
    scores[np.arange(len(gold)), gold] += bonus
    return replace(sample, scores=scores)


class NumpyBeam:
    """All sequences of the beam times all tags at once, the best of them by partition; the same widening."""

    def __init__(self, lattice: Lattice, classes: np.ndarray, beam: int, doublings: int) -> None:
        self.lattice, self.beam, self.doublings = lattice, beam, doublings
        self.target, self.delta, self.need = (
            np.asarray(table)[classes] for table in (lattice.target, lattice.delta, lattice.need)
        )
        # allowed[group]: 0 for tags that leave it, else -inf.
        source = np.asarray(lattice.source)[classes]
        self.allowed = np.where(source[None] == np.arange(2)[:, None], 0, -np.inf).astype(np.float32)

    def decode(self, scores: np.ndarray) -> float:
        """Score of the tree found; NaN if there is none in the widest beam."""
        for doubling in range(self.doublings + 1):
            found = self.search(scores, self.beam << doubling)
            if found is not None:
                return found[1]
        return float("nan")

    def search(self, scores: np.ndarray, width: int) -> tuple[np.ndarray, float] | None:
        n_tags = scores.shape[1]
        total = np.zeros(1, dtype=np.float32)
        stack = np.asarray([self.lattice.start_stack])
        group = np.asarray([self.lattice.start_state])
        history = []
        for own in scores:
            candidates = total[:, None] + (self.allowed[group] + own)  # (sequences, tags)
            if stack.min() < 3:
                candidates[stack[:, None] < self.need] = -np.inf
            flat = candidates.ravel()
            chosen = np.argpartition(flat, -width)[-width:] if len(flat) > width else np.arange(len(flat))
            total = flat[chosen]
            alive = total > -np.inf
            if not alive.all():
                chosen, total = chosen[alive], total[alive]
                if not len(chosen):
                    return None
            parent, tag = np.divmod(chosen, n_tags)
            stack = stack[parent] + self.delta[tag]
            group = self.target[tag]
            history.append((parent, tag))
        ends = np.flatnonzero((stack == self.lattice.end_stack) & (group == self.lattice.end_state))
        if not len(ends):
            return None
        i = ends[total[ends].argmax()]
        best = float(total[i])
        ids = np.empty(len(scores), dtype=np.int32)
        for p in range(len(scores) - 1, -1, -1):
            parent, tag = history[p]
            ids[p] = tag[i]
            i = parent[i]
        return ids, best


def times_numpy(sample: TagScores, doublings: int, repeats: int) -> float:
    """How many times as long the NumPy program takes.

    Where both give up, the exact decoder's time counts on our side and nothing on NumPy's.
    """
    decoder = BeamDecoder(BEAM)
    decoder.doublings = doublings
    decoded = decoder(sample)
    slow = NumpyBeam(sample.linearizer.lattice, sample.tags.classes, BEAM, doublings)
    sentences = [sample.scores[start:stop] for start, stop in zip(sample.starts, sample.stops, strict=True)]

    def run() -> list[float]:
        return [slow.decode(own) for own in sentences]

    np.testing.assert_allclose(run(), np.where(decoded.notes["beam_widths"], decoded.scores, np.nan), rtol=1e-5)
    return best_time(run, repeats) / best_time(lambda: decoder(sample), repeats)


def main() -> None:
    args = arguments(__doc__.splitlines()[0], sentences=500)
    results = {"sentences": args.sentences, "beam": BEAM, "orders": {}}
    for order in ORDERS:
        sample = model_like(make_sample(args.sentences, order), bonus=4.0)
        exact = ExactDecoder()
        best = exact(sample).scores
        exact_seconds = best_time(lambda: exact(sample), args.repeats)  # noqa: B023
        results["orders"][order] = {}
        for lookahead in (False, True):
            decoder = BeamDecoder(BEAM, lookahead=lookahead)
            decoded = decoder(sample)
            widths = decoded.notes["beam_widths"]
            seconds = best_time(lambda: decoder(sample), args.repeats)  # noqa: B023
            figures = {
                "sentences_per_second": args.sentences / seconds,
                "times_as_long_as_exact": seconds / exact_seconds,
                "share_equal_to_exact": float(np.isclose(decoded.scores, best, rtol=1e-6).mean()),
                "share_widened": float((widths > BEAM).mean()),
                "share_exact_stepped_in": float((widths == 0).mean()),
            }
            if not lookahead:
                few = sample.select(np.arange(min(FEW, args.sentences)))
                figures["times_numpy"] = times_numpy(few, 0, args.repeats)
                figures["times_numpy_with_widening"] = times_numpy(few, BeamDecoder.doublings, args.repeats)
            results["orders"][order]["lookahead" if lookahead else "plain"] = figures
            named = ", ".join(f"{name.replace('_', ' ')} {value:,.3g}" for name, value in figures.items())
            print(f"{order}-order, {'with' if lookahead else 'no'} lookahead: {named}")
    write_result(results, args.output, args.made_by)


if __name__ == "__main__":
    main()

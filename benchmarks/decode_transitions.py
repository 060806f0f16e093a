"""Exact decoding with transitions (a linear chain) against a NumPy Viterbi: one core, 150 tags, three orders, bound 12.

The NumPy program uses what the C one does: only tags that may follow, all stack sizes of a step at once, only sizes
from which a tree can still be had, no choices kept but found again along the best path. What differs is the inner loop.

    python benchmarks/decode_transitions.py
"""

from common import arguments, best_time, make_sample  # isort: skip  # it leaves NumPy one core

from dataclasses import replace

import numpy as np
from record import write_result

from spacy_parsetag.decode import ExactDecoder, Transitions
from spacy_parsetag.linearize import ORDERS, Lattice

BOUND = 12
Sizes = list[list[list[int]]]


def alive_sizes(lattice: Lattice, length: int, bound: int) -> Sizes:
    """sizes[p][g]: stack sizes after p tags in group g that lie on the way to a tree."""
    forward = [{(lattice.start_state, lattice.start_stack)}]
    for _ in range(length):
        forward.append(
            {
                (lattice.target[c], size + lattice.delta[c])
                for group, size in forward[-1]
                for c in range(4)
                if lattice.source[c] == group and size >= lattice.need[c] and size + lattice.delta[c] <= bound
            }
        )
    alive = {(lattice.end_state, lattice.end_stack)}
    sizes: Sizes = []
    for p in range(length, -1, -1):
        alive = alive & forward[p]
        sizes.append([sorted(size for group, size in alive if group == g) for g in range(2)])
        if p:
            alive = {
                (group, size)
                for group, size in forward[p - 1]
                for c in range(4)
                if lattice.source[c] == group
                and size >= lattice.need[c]
                and (lattice.target[c], size + lattice.delta[c]) in alive
            }
    return sizes[::-1]


class NumpyViterbi:
    """The same decoder with one NumPy product a step and group."""

    def __init__(self, lattice: Lattice, classes: np.ndarray, transitions: np.ndarray, bound: int) -> None:
        self.lattice, self.bound = lattice, bound
        of_class = [np.flatnonzero(classes == c) for c in range(4)]
        self.into = [np.concatenate([of_class[c] for c in range(4) if lattice.target[c] == g]) for g in range(2)]
        self.out_of = [np.concatenate([of_class[c] for c in range(4) if lattice.source[c] == g]) for g in range(2)]
        self.place = [self._places(self.into[lattice.target[c]], of_class[c]) for c in range(4)]
        self.seen = [self._places(self.out_of[lattice.source[c]], of_class[c]) for c in range(4)]
        self.columns = [slice(int(own[0]), int(own[-1]) + 1) for own in of_class]
        self.weights = [np.ascontiguousarray(transitions[np.ix_(self.into[g], self.out_of[g])]) for g in range(2)]
        self.classes = classes
        self.cache: dict[int, Sizes] = {}

    @staticmethod
    def _places(among: np.ndarray, own: np.ndarray) -> slice:
        first = int(np.flatnonzero(among == own[0])[0])
        return slice(first, first + len(own))

    def decode(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        lattice, length = self.lattice, len(scores)
        if length not in self.cache:
            self.cache[length] = alive_sizes(lattice, length, self.bound)
        sizes = self.cache[length]
        states: list[list[np.ndarray]] = []  # [p - 1][g]: (sizes, tags into g)
        for p in range(length):
            new = [np.full((self.bound + 2, len(self.into[g])), -np.inf, dtype=np.float32) for g in range(2)]
            for g in range(2):
                alive = sizes[p][g]
                if not alive:
                    continue
                low, high = alive[0], alive[-1]
                stride = alive[1] - low if len(alive) > 1 else 1
                if p:
                    old = states[-1][g][low : high + 1 : stride]
                    product = (old[:, :, None] + self.weights[g]).max(axis=1)  # (sizes, tags out of g)
                for c in range(4):
                    if lattice.source[c] != g:
                        continue
                    after = low + lattice.delta[c]
                    lost = stride if after < 0 else 0  # an empty stack before the end
                    to = new[lattice.target[c]][after + lost : high + lattice.delta[c] + 1 : stride, self.place[c]]
                    own = scores[p, self.columns[c]]
                    to[:] = product[lost // stride :, self.seen[c]][: len(to)] + own if p else own
            for g in range(2):
                dead = np.ones(self.bound + 2, dtype=bool)
                dead[sizes[p + 1][g]] = False
                new[g][dead] = -np.inf
            states.append(new)
        g, stack = lattice.end_state, lattice.end_stack
        place = int(states[-1][g][stack].argmax())
        total = float(states[-1][g][stack, place])
        ids = np.empty(length, dtype=np.int32)
        for p in range(length - 1, -1, -1):
            tag = ids[p] = self.into[g][place]
            c = self.classes[tag]
            if not p:
                break
            stack -= lattice.delta[c]
            g = lattice.source[c]
            column = self.seen[c].start + tag - self.columns[c].start
            place = int((states[p - 1][g][stack] + self.weights[g][:, column]).argmax())
        return ids, total


def main() -> None:
    args = arguments(__doc__.splitlines()[0], sentences=200)
    results = {"sentences": args.sentences, "max_stack": BOUND, "orders": {}}
    few = min(args.sentences, 40)  # NumPy's share, scaled up
    for order, linearizer in ORDERS.items():
        sample = make_sample(args.sentences, order)
        rng = np.random.default_rng(1)
        n_tags = len(sample.tags)
        pairs = rng.normal(size=(n_tags, n_tags)).astype(np.float32)
        batch = replace(sample, transitions=Transitions(pairs, np.zeros(n_tags, "f"), np.zeros(n_tags, "f")))
        decoder = ExactDecoder(BOUND)
        ids = decoder(batch).ids
        seconds = best_time(lambda: decoder(batch), args.repeats)  # noqa: B023
        slow = NumpyViterbi(linearizer.lattice, sample.tags.classes, pairs, BOUND)
        sentences = [sample.scores[start:stop] for start, stop in zip(sample.starts, sample.stops, strict=True)][:few]
        same = np.concatenate([slow.decode(own)[0] for own in sentences])
        np.testing.assert_array_equal(ids[: len(same)], same)
        numpy_seconds = best_time(lambda: [slow.decode(own) for own in sentences], max(1, args.repeats // 2))  # noqa: B023
        rows = sum(map(len, sentences))
        ratio = (numpy_seconds / rows) / (seconds / len(sample.scores))
        print(f"{order}-order: {args.sentences / seconds:,.0f} sentences a second, {ratio:.1f} times NumPy")
        results["orders"][order] = {"sentences_per_second": args.sentences / seconds, "times_numpy": ratio}
    write_result(results, args.output, args.made_by)


if __name__ == "__main__":
    main()

"""Decoders in NumPy, to stand beside the compiled ones: a beam, and Viterbi over a linear chain.

They use what the compiled programs do: only tags that may follow, all stack sizes of a step at once, only sizes from
which a tree can still be had, no choices kept but found again along the best path. What differs is the inner loop.
"""

import numpy as np

from spacy_parsetag.linearize import Lattice

Sizes = list[list[list[int]]]


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
            result = self.search(scores, self.beam << doubling)
            if result is not None:
                return result[1]
        return float("nan")

    def search(self, scores: np.ndarray, width: int) -> tuple[np.ndarray, float] | None:
        n_tags = scores.shape[1]
        total = np.zeros(1, dtype=np.float32)
        stack = np.asarray([self.lattice.start_stack])
        group = np.asarray([self.lattice.start_state])
        history = []
        for row in scores:
            candidates = total[:, None] + (self.allowed[group] + row)  # (sequences, tags)
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
        self.columns = [slice(int(tag_ids[0]), int(tag_ids[-1]) + 1) for tag_ids in of_class]
        self.weights = [np.ascontiguousarray(transitions[np.ix_(self.into[g], self.out_of[g])]) for g in range(2)]
        self.classes = classes
        self.cache: dict[int, Sizes] = {}

    @staticmethod
    def _places(all_ids: np.ndarray, tag_ids: np.ndarray) -> slice:
        first = int(np.flatnonzero(all_ids == tag_ids[0])[0])
        return slice(first, first + len(tag_ids))

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
                    row = scores[p, self.columns[c]]
                    to[:] = product[lost // stride :, self.seen[c]][: len(to)] + row if p else row
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

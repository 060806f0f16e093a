"""The nodes that a batch call finds are those of `delinearize`, and what is no tree is found out."""

from collections.abc import Sequence
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import parses

from spacy_parsetag.decode import TagScores
from spacy_parsetag.decode.trees import Nodes, labelled_nodes
from spacy_parsetag.linearize import CLASS_NAMES, ORDERS, Lattice, Linearizer
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.trees import BinaryTree, Constituent, Parse, binarize, tree_spans


class Mirrored:
    """An order of one's own: in-order, read from the end."""

    order = "mirrored"
    lattice: Lattice = ORDERS["in"].lattice

    def linearize(self, tree: BinaryTree) -> list[str]:
        return ORDERS["in"].linearize(tree)[::-1]

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        return ORDERS["in"].delinearize(tags[::-1])


LINEARIZERS = [*ORDERS.values(), Mirrored()]


def make_batch(
    sequences: list[list[str]], tags: TagSet, linearizer: Linearizer, gap: int = 1
) -> tuple[np.ndarray, TagScores]:
    """Ids as a decoder gives them, and their batch; rows between sentences are -1."""
    lengths = [len(sequence) for sequence in sequences]
    rows = np.cumsum([0, *(length + gap for length in lengths)])
    ids = np.full(rows[-1], -1, dtype=np.int32)
    for row, sequence in zip(rows.tolist(), sequences, strict=False):
        ids[row : row + len(sequence)] = tags.encode(sequence)
    n_words = np.asarray([(length + 1) // 2 for length in lengths])
    return ids, TagScores(np.zeros((len(ids), len(tags))), rows[:-1], n_words, tags, linearizer)


def spans_of(nodes: Nodes, tags: TagSet) -> list[list[Constituent]]:
    """Constituents of each sentence."""
    ends = np.cumsum(nodes.counts)
    return [
        [
            Constituent(int(nodes.start[i]), int(nodes.end[i]), label)
            for i in range(end - count, end)
            for label in tags.unaries[nodes.tag[i]]
        ]
        for end, count in zip(ends, nodes.counts, strict=True)
    ]


@pytest.mark.parametrize("linearizer", LINEARIZERS, ids=lambda linearizer: linearizer.order)
@given(trees=st.lists(parses(), max_size=4), gap=st.integers(0, 2))
def test_as_delinearize(linearizer: Linearizer, trees: list[Parse], gap: int) -> None:
    sequences = [linearizer.linearize(binarize(parse)) for parse in trees]
    tags = TagSet(tag for sequence in sequences for tag in sequence)
    nodes = labelled_nodes(*make_batch(sequences, tags, linearizer, gap))
    assert spans_of(nodes, tags) == [tree_spans(linearizer.delinearize(sequence)) for sequence in sequences]
    assert spans_of(nodes, tags) == [list(parse.spans) for parse in trees]


@pytest.mark.parametrize("order", ORDERS)
def test_compiled(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequences that are trees go the slow way only in orders of users'."""
    monkeypatch.setattr("spacy_parsetag.decode.trees._collect", None)
    sequence = ORDERS[order].linearize(BinaryTree((False, True, False, True, True), ("S", "A", "C", "B", "D")))
    tags = TagSet(sequence)
    nodes = labelled_nodes(*make_batch([sequence, sequence], tags, ORDERS[order]))
    assert nodes.counts.tolist() == [5, 5]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("length", [1, 3, 5, 7])
def test_no_trees(order: str, length: int) -> None:
    """All sequences, of the longest some: those that `delinearize` takes give its nodes, the others its error."""
    tags = TagSet(["l/A", "r/B", "L/C", "R/D"], complete=False)
    linearizer = ORDERS[order]
    good = linearizer.linearize(BinaryTree((False, True, True), ("C", "A", "B")))
    for sequence in islice(product(tags.tags, repeat=length), None, None, 1 if length < 7 else 11):
        ids, batch = make_batch([good, list(sequence), good], tags, linearizer)
        try:
            tree = linearizer.delinearize(sequence)
        except ValueError as err:
            with pytest.raises(ValueError) as caught:
                labelled_nodes(ids, batch)
            assert str(caught.value) == str(err)
        else:
            assert spans_of(labelled_nodes(ids, batch), tags)[1] == tree_spans(tree)


def test_strange_output() -> None:
    """What a decoder of somebody else's may return must not reach memory that is not its own."""
    tags = TagSet(["L/S"])
    batch = TagScores(np.zeros((5, len(tags))), np.asarray([0, 4]), np.asarray([2, 1]), tags, ORDERS["in"])
    good = np.asarray([*tags.encode(["l", "L/S", "r"]), -1, tags.id("l")])
    assert spans_of(labelled_nodes(good, batch), tags) == [[Constituent(0, 2, "S")], []]
    for row, value in ((0, -1), (2, len(tags)), (4, -1), (4, 10**6)):
        ids = good.copy()
        ids[row] = value
        with pytest.raises(ValueError, match=rf"\[E156\].*{value} at row {row}"):
            labelled_nodes(ids, batch)
    with pytest.raises(ValueError, match=r"\[E157\].*4 rows lacks sentence 1"):
        labelled_nodes(good[:4], batch)


@pytest.mark.parametrize("order", ORDERS)
def test_sentences_that_share_rows(order: str) -> None:
    """A batch may choose a sentence several times: its trees have more nodes than there are rows."""
    tags = TagSet(["l/A", "r/B", "L/C", "R/D"], complete=False)
    sequence = ORDERS[order].linearize(BinaryTree((False, True, False, True, True), ("C", "A", "D", "A", "B")))
    ids, batch = make_batch([sequence], tags, ORDERS[order])
    found = spans_of(labelled_nodes(ids, batch.select(np.zeros(100, dtype=np.int64))), tags)
    assert found == 100 * spans_of(labelled_nodes(ids, batch), tags)


def test_deep_trees() -> None:
    n = 5000
    for order, linearizer in ORDERS.items():
        for right in (True, False):
            spans = tuple(Constituent(i, n, "X") if right else Constituent(0, n - i, "X") for i in range(n))
            sequence = linearizer.linearize(binarize(Parse(("w",) * n, ("T",) * n, spans)))
            tags = TagSet(sequence)
            nodes = labelled_nodes(*make_batch([sequence], tags, linearizer))
            assert spans_of(nodes, tags) == [list(spans)], order


def test_class_names() -> None:
    assert TagSet().tags == CLASS_NAMES and TagSet().offsets.tolist() == [0, 1, 2, 3, 4]

"""Sums over the trees of batches, for the tests of decoders and of linear chains."""

from spacy_parsetag.decode import TagScores
from spacy_parsetag.decode.passes import Sums, sum_sequences, sum_trees
from spacy_parsetag.decode.repair import check_status


def sums_of(batch: TagScores, trees: bool = True) -> Sums:
    """Sums over the trees of a batch, or over all its tag sequences; scores that were changed in place count."""
    batch = batch.on_cpu()
    sums = (sum_trees if trees else sum_sequences)(batch)
    check_status(batch, sums.status)
    return sums

"""The learner with dependencies between successive tags: a linear-chain conditional random field (paper section 4.1).

The paper scores a rule X -> Y Z by a part of it that stands together in the tag sequence:

    left-dependent     X -> Y •    pre-order: right after an internal node comes its left child
    right-dependent    X -> • Z    post-order: right after a right child comes its parent

A chain over the tags has one score for each pair of successive tags. It is undirected: `transitions[a, b]` says how
well a and b go together, not that b is drawn given a. So the same parameters cover both cases, and which one it is
follows from the order of the tags alone. Pairs of tags that are no parent and child, such as those around a leaf in
pre-order, get a score too. With in-order, where a node stands between its children, the pairs are a node and the last
leaf of its left subtree or the first one of its right subtree; the paper has no name for that.
"""

from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d

from .dependent import tag_chain
from .independent import build_independent


def build_crf(
    tok2vec: Model[list[Doc], list[Floats2d]],
    nO: int | None = None,
    hidden_width: int | None = None,
    rate_scale: float = 1.0,
    masked: bool = True,
) -> Model[list[Doc], list[Floats2d]]:
    """Heads as of the independent learner, and scores of successive tags: spacy-parsetag.CRF.v1.

    It is trained by the likelihood of the gold sequence among all sequences (TagLoss) or all trees (LatticeLoss), and
    decoded with what was learned: |T|^2 + 2 |T| parameters beside those of the heads.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder.
    nO (Optional[int]): Twice the number of tags; set when the component is initialized.
    hidden_width (Optional[int]): Width of a maxout layer between encoder and heads; None for no such layer.
    rate_scale (float): How much faster than the encoder heads and transitions learn.
    masked (bool): Whether TagLoss shuts out pairs of tags that are in no tree. Otherwise their scores are learned as
        well, though no decoder uses them.
    RETURNS (Model[List[Doc], List[Floats2d]]): One (tokens, 2 |T|) array per doc, as `DependentScores`.
    """
    model = build_independent(tok2vec, nO, hidden_width, rate_scale)
    transitions: Model[list[Floats2d], list[Floats2d]] = tag_chain(nO, rate_scale=rate_scale, masked=masked)
    return chain(model, transitions)

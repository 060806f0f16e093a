"""Builders of the parts that a config picks by name; advertised as entry points in setup.cfg."""

from .decode import BeamDecoder, ExactDecoder
from .decode.batch import StackBound
from .linearize import InOrder, PostOrder, PreOrder
from .ml.lattice_loss import LatticeLoss
from .ml.losses import TagLoss


def make_in_order() -> InOrder:
    """spacy-parsetag.InOrder.v1: tetratags."""
    return InOrder()


def make_pre_order() -> PreOrder:
    """spacy-parsetag.PreOrder.v1: top-down shift-reduce."""
    return PreOrder()


def make_post_order() -> PostOrder:
    """spacy-parsetag.PostOrder.v1: bottom-up shift-reduce."""
    return PostOrder()


def make_exact_decoder(max_stack: StackBound = None) -> ExactDecoder:
    """spacy-parsetag.ExactDecoder.v1.

    max_stack (Union[int, "train", None]): Largest stack; "train" for the largest one in the training trees, as in the
        paper; None for no bound.
    """
    return ExactDecoder(max_stack)


def make_beam_decoder(beam: int = 10, max_stack: StackBound = None, lookahead: bool = False) -> BeamDecoder:
    """spacy-parsetag.BeamDecoder.v1: beam search, widened where it finds no tree.

    beam (int): Sequences kept at each step.
    max_stack (Union[int, "train", None]): As for the exact decoder.
    lookahead (bool): Keep only sequences that can still become a tree over the words that are left. Not in the paper.
    """
    return BeamDecoder(beam, max_stack, lookahead=lookahead)


def make_tag_loss() -> TagLoss:
    """spacy-parsetag.TagLoss.v1: cross-entropy tag by tag, or the likelihood of a chain where tags depend on others."""
    return TagLoss()


def make_lattice_loss(max_stack: StackBound = None) -> LatticeLoss:
    """spacy-parsetag.LatticeLoss.v1: cross-entropy over whole trees.

    max_stack (Union[int, "train", None]): Bound on the stack, as for the exact decoder.
    """
    return LatticeLoss(max_stack)

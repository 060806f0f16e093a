"""Builders of the parts that a config picks by name; advertised as entry points in setup.cfg."""

from typing import Optional

from .decode import ExactDecoder
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


def make_exact_decoder(max_stack: Optional[int] = None) -> ExactDecoder:
    """spacy-parsetag.ExactDecoder.v1.

    max_stack (Optional[int]): Largest stack; None for no bound.
    """
    return ExactDecoder(max_stack)


def make_tag_loss() -> TagLoss:
    """spacy-parsetag.TagLoss.v1: cross-entropy tag by tag."""
    return TagLoss()


def make_lattice_loss(max_stack: Optional[int] = None) -> LatticeLoss:
    """spacy-parsetag.LatticeLoss.v1: cross-entropy over whole trees.

    max_stack (Optional[int]): Bound on the stack; None for none.
    """
    return LatticeLoss(max_stack)

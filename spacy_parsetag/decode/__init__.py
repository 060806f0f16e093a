"""Decoders: the best valid tag sequence, given scores; and the distribution over all of them."""

from pathlib import Path

from ..errors import Errors

try:
    from .batch import Decoded, SpanScores, TagScores, Transitions
    from .beam import BeamDecoder
    from .constituents import Constituents
    from .constraints import Constraint
    from .distribution import Decoder, Distribution, KBest
    from .exact import ExactDecoder
    from .mbr import MBRDecoder
    from .trees import WeightedTrees
    from .user import TreeDistribution, decode
except ImportError as err:  # there is no such module, or it is of an older build and lacks a function
    if not str(err.name).startswith(f"{__name__}._"):
        raise
    raise ImportError(Errors.E163.format(module=err.name, folder=Path(__file__).parents[1])) from err

__all__ = [
    "BeamDecoder",
    "Constituents",
    "Constraint",
    "Decoded",
    "Decoder",
    "Distribution",
    "ExactDecoder",
    "KBest",
    "MBRDecoder",
    "SpanScores",
    "TagScores",
    "Transitions",
    "TreeDistribution",
    "WeightedTrees",
    "decode",
]

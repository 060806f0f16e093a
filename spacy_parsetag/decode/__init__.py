"""Decoders: the best valid tag sequence, given scores; and all of them, with their probabilities."""

from pathlib import Path

from ..errors import Errors

try:
    from .beam import BeamDecoder
    from .constituents import Constituents, constituent_marginals, mean_constituents
    from .constraints import Constraint
    from .distribution import TreeDistribution
    from .exact import ExactDecoder
    from .k_best import KBest, k_best, k_best_parses
    from .mbr import MBRDecoder, most_expected
    from .partition import LogPartition, log_partition
    from .passes import keep_possible
    from .scores import Decoded, Decoder, SpanScores, StackBound, TagScores, Transitions
    from .sentence import decode
except ModuleNotFoundError as err:
    if not str(err.name).startswith(f"{__name__}._"):
        raise
    raise ImportError(Errors.E163.format(module=err.name, folder=Path(__file__).parents[1])) from err

__all__ = [
    "BeamDecoder",
    "Constituents",
    "Constraint",
    "Decoded",
    "Decoder",
    "ExactDecoder",
    "KBest",
    "LogPartition",
    "MBRDecoder",
    "SpanScores",
    "StackBound",
    "TagScores",
    "Transitions",
    "TreeDistribution",
    "constituent_marginals",
    "decode",
    "k_best",
    "k_best_parses",
    "keep_possible",
    "log_partition",
    "mean_constituents",
    "most_expected",
]

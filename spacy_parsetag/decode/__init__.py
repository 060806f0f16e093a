"""Decoders: the best valid tag sequence, given scores; and sums over all of them, for training."""

from pathlib import Path

from ..errors import Errors

try:
    from .beam import BeamDecoder
    from .exact import ExactDecoder
    from .partition import LogPartition, log_partition
    from .scores import Decoded, Decoder, SpanScores, StackBound, TagScores, Transitions
    from .sentence import decode
except ModuleNotFoundError as err:
    if not str(err.name).startswith(f"{__name__}._"):
        raise
    raise ImportError(Errors.E163.format(module=err.name, folder=Path(__file__).parents[1])) from err

__all__ = [
    "BeamDecoder",
    "Decoded",
    "Decoder",
    "ExactDecoder",
    "LogPartition",
    "SpanScores",
    "StackBound",
    "TagScores",
    "Transitions",
    "decode",
    "log_partition",
]

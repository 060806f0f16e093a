"""Decoders: the best valid tag sequence, given scores; and sums over all of them, for training."""

from .beam import BeamDecoder
from .exact import ExactDecoder
from .partition import LogPartition, log_partition
from .scores import Decoded, Decoder, StackBound, TagScores, Transitions
from .sentence import decode

__all__ = [
    "BeamDecoder",
    "Decoded",
    "Decoder",
    "ExactDecoder",
    "LogPartition",
    "StackBound",
    "TagScores",
    "Transitions",
    "decode",
    "log_partition",
]

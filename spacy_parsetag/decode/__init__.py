"""Decoders: the best valid tag sequence, given scores; and sums over all of them, for training."""

from .base import Decoder, decode
from .batch import as_scores
from .beam import BeamDecoder, BeamResult
from .exact import ExactDecoder
from .marginals import log_partition

__all__ = ["BeamDecoder", "BeamResult", "Decoder", "ExactDecoder", "as_scores", "decode", "log_partition"]

"""Decoders: the best valid tag sequence, given scores."""

from .base import Decoder, as_scores, decode
from .exact import ExactDecoder

__all__ = ["Decoder", "ExactDecoder", "as_scores", "decode"]

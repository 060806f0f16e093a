"""The bundled treebank: English sentences drawn from a weighted grammar. It is no sample of real text."""

from .errors import GrammarError
from .sampler import Sampler
from .splits import generate, load_sampler, write_splits

__all__ = ["GrammarError", "Sampler", "generate", "load_sampler", "write_splits"]

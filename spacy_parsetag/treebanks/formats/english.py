"""Penn brackets, as the Penn Treebank and the Penn parsed corpora of historical languages have them."""

from ...trees.clean import CleanOptions
from .base import TreebankFormat

SUFFIXES = (".mrg", ".ptb", ".psd", ".tree", ".trees", ".bracket", ".brackets", ".bra", ".cparse")

# The historical corpora: bare traces, and material that is not text.
HISTORICAL_CLEAN = CleanOptions(
    tag_indices=True,
    trace_words=r"\*.*|0",
    remove=frozenset({"CODE", "COMMENT", "ID", "LB", "META", "METADATA", "REF"}),
)

PENN = TreebankFormat(suffixes=SUFFIXES)
PTB = TreebankFormat(suffixes=(".mrg",), split="train=02..21,dev=22,test=23")
HISTORICAL = TreebankFormat(suffixes=SUFFIXES, clean=HISTORICAL_CLEAN)

"""Penn brackets, as the Penn Treebank and the Penn parsed corpora of historical languages have them."""

from ...trees.clean import CleanOptions
from .base import TreebankFormat

# Not .prd: in the Penn Treebank these are the trees of the .mrg files once more, their words without tags.
SUFFIXES = (".mrg", ".ptb", ".psd", ".parse", ".tree", ".trees", ".bracket", ".brackets", ".bra", ".cparse")

# The historical corpora: bare traces, and material that is not text.
HISTORICAL_CLEAN = CleanOptions(
    tag_indices=True,
    trace_words=r"\*.*|0",
    remove=frozenset({"CODE", "COMMENT", "ID", "LB", "META", "METADATA", "REF"}),
)

PENN = TreebankFormat(suffixes=SUFFIXES)
PTB = TreebankFormat(suffixes=(".mrg",), split="train=02..21,dev=22,test=23")
HISTORICAL = TreebankFormat(suffixes=SUFFIXES, clean=HISTORICAL_CLEAN)

"""Historical corpora whose words carry their lemma after a dash: IcePaHC (`tungu-tunga`) and FarPaHC (marks only)."""

from .base import TreebankFormat
from .penn import HISTORICAL_CLEAN


def cut_lemma(leaf: str) -> str:
    """`tungu-tunga` becomes `tungu`. Of several dashes the middle one counts: lemmas have as many as their words.

    leaf (str): Word and lemma. Without a dash, or with nothing before it, it is a word alone.
    RETURNS (str): The word.
    """
    parts = leaf.split("-")
    return "-".join(parts[: (len(parts) + 1) // 2]) or leaf


def cut_lemma_of_mark(leaf: str) -> str:
    """`,-,` becomes `,`; `faðir-in` stays: in FarPaHC only marks have lemmas."""
    word = cut_lemma(leaf)
    return word if leaf == f"{word}-{word}" and not any(letter.isalnum() for letter in word) else leaf


ICEPAHC = TreebankFormat(suffixes=(".psd",), clean=HISTORICAL_CLEAN, word=cut_lemma)
FARPAHC = TreebankFormat(suffixes=(".psd",), clean=HISTORICAL_CLEAN, word=cut_lemma_of_mark)

"""Historical corpora whose words carry their lemma after a dash: IcePaHC (`tungu-tunga`) and FarPaHC (marks only)."""

from ...trees.tree import Word
from .base import TreebankFormat
from .bracketed import HISTORICAL_CLEAN


def cut_lemma(leaf: str) -> Word:
    """Cut the lemma off a word: `tungu-tunga` becomes `tungu`. Of several dashes the middle one counts.

    Lemmas have as many dashes as their words.

    leaf (str): Word and lemma. Without a dash, or with nothing before the dash, it is a word without a lemma.
    """
    parts = leaf.split("-")
    middle = (len(parts) + 1) // 2
    word = "-".join(parts[:middle])
    return Word(word, "-".join(parts[middle:])) if word else Word(leaf)


def cut_lemma_of_mark(leaf: str) -> str:
    """Cut the lemma off a mark: `,-,` becomes `,`; `faðir-in` stays: in FarPaHC only marks have lemmas."""
    word = cut_lemma(leaf)
    return word if leaf == f"{word}-{word}" and not any(letter.isalnum() for letter in word) else leaf


ICEPAHC = TreebankFormat(suffixes=(".psd",), clean=HISTORICAL_CLEAN, word=cut_lemma, attrs=("LEMMA",))
FARPAHC = TreebankFormat(suffixes=(".psd",), clean=HISTORICAL_CLEAN, word=cut_lemma_of_mark)

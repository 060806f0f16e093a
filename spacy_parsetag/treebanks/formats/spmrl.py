"""SPMRL's bracket files: Penn brackets with morphology in the labels.

    (ROOT (SENT (NP-SUJ (DET##cpos=D|g=m## Le) (NC##cpos=N|g=m## chat)) (VN (V##t=pst## dort)) (PONCT . .)))

Labels are cut at `##`, as the shared task's scorer does; what follows in a word's tag becomes its lemma (`lem=`) and
morphology. Roots are `ROOT`, `TOP` or `VROOT`, or have no label; all of these can be read.
"""

from pathlib import Path

from ...trees.escape import unescape_token
from ...trees.tree import Word
from .base import TreebankFormat

# The old encodings of languages, by what stands in their files' names (train.French.gold.ptb).
OLD_ENCODINGS = {
    "arabic": "cp1256",
    "hebrew": "cp1255",
    "hungarian": "iso8859-2",
    "korean": "cp949",
    "polish": "iso8859-2",
}


def old_encoding(path: Path) -> str:
    """Guess the encoding of a file that is not in UTF-8."""
    return next((encoding for language, encoding in OLD_ENCODINGS.items() if language in path.name.lower()), "latin-1")


def cut_morphology(label: str) -> str:
    """Cut a label at `##`: `NC##g=m|n=s##` becomes `NC`. A label that begins with it stays as it is."""
    return label.partition("##")[0] or label


def read_leaf(tag: str, text: str) -> tuple[str, Word]:
    """Split tag and morphology: of `NC##lem=chat|g=m##` the tag is `NC`, the lemma `chat`, the morphology `g=m`.

    Values of one key are joined, each once: `g=f|g=m` is `g=f,m`. A value with `=`, which separates the two in spaCy's
    morphology, is left out.
    """
    label = cut_morphology(tag)
    features = tag[len(label) :].removeprefix("##").removesuffix("##")
    pairs = [pair.partition("=") for pair in features.split("|")]
    lemma = next((unescape_token(value) for key, _, value in pairs if key in ("lem", "lemma")), "")
    values: dict[str, dict[str, None]] = {}
    for key, _, value in pairs:
        if key and value and "=" not in value and key not in ("lem", "lemma"):
            values.setdefault(key, {})[value] = None
    return label, Word(text, lemma, "|".join(f"{key}={','.join(several)}" for key, several in values.items()))


SPMRL = TreebankFormat(
    suffixes=(".ptb", ".mrg"),
    encoding="latin-1",
    encoding_of=old_encoding,
    phrase=cut_morphology,
    leaf=read_leaf,
    attrs=("LEMMA", "MORPH"),
)

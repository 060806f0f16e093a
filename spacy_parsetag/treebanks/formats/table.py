"""Names the kinds of treebank files. A new kind is a file beside this one and an entry here; commands take its name."""

from ...errors import Errors
from .base import TreebankFormat
from .bracketed import HISTORICAL, PENN, PTB
from .cess import CESS
from .craft import CRAFT
from .ctb import CTB
from .floresta import FLORESTA
from .japanese import KEYAKI, ONCOJ
from .pahc import FARPAHC, ICEPAHC
from .sinica import SINICA
from .spmrl import SPMRL
from .turkish import TURKISH

FORMATS: dict[str, TreebankFormat] = {
    "penn": PENN,
    "ptb": PTB,
    "spmrl": SPMRL,
    "ctb": CTB,
    "historical": HISTORICAL,
    "icepahc": ICEPAHC,
    "farpahc": FARPAHC,
    "keyaki": KEYAKI,
    "oncoj": ONCOJ,
    "cess": CESS,
    "craft": CRAFT,
    "floresta": FLORESTA,
    "sinica": SINICA,
    "turkish": TURKISH,
}


def get_format(name: str) -> TreebankFormat:
    """Find the format of a name, one of `FORMATS`. Raises a ValueError if there is none of that name."""
    if name not in FORMATS:
        raise ValueError(Errors.E102.format(name=name, known=", ".join(FORMATS)))
    return FORMATS[name]

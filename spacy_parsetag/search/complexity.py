"""Syntactic complexity of English: the structures and the fourteen measures of L2SCA.

Xiaofei Lu (2010), Automatic analysis of syntactic complexity in second language writing, International Journal of
Corpus Linguistics 15:4. The patterns are his program's. A structure is counted once however often it matches.
"""

import numpy as np
from numpy.typing import NDArray

from .columns import Longs, TreeColumns
from .heads import get_head_rules
from .match import Program, Tregex
from .pattern import parse_pattern

_CLAUSE = (
    "S|SINV|SQ [> ROOT <, (VP <# VB) | <# MD|VBZ|VBP|VBD | < (VP [<# MD|VBP|VBZ|VBD | < CC < (VP <# MD|VBP|VBZ|VBD)])]"
)
_T_UNIT = "S|SBARQ|SINV|SQ [> ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"
_DEPENDENT = f"SBAR < ({_CLAUSE})"

# The patterns that each structure counts. Tags of punctuation do not consist of letters, except HYPH and NFP, which
# Lu's program does not know.
STRUCTURES = {
    "W": (r"/^(?!(HYPH|NFP)$)[A-Z]+\$?$/ < (__ !< __)",),  # words
    "S": ("ROOT !> __",),  # sentences
    "VP": ("VP > S|SINV|SQ", "MD|VBZ|VBP|VBD > (SQ !< VP)"),  # verb phrases, in inverted questions too
    "C": (_CLAUSE, f"FRAG > ROOT !<< ({_CLAUSE})"),  # clauses
    "T": (_T_UNIT, f"FRAG > ROOT !<< ({_T_UNIT})"),  # T-units
    "DC": (_DEPENDENT,),  # dependent clauses
    "CT": (f"{_T_UNIT} << ({_DEPENDENT})",),  # complex T-units
    "CP": ("ADJP|ADVP|NP|VP < CC",),  # coordinate phrases
    "CN": (  # complex nominals
        "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
        "SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]",
        "S < (VP <# VBG|TO) $+ VP",
    ),
}
# Each measure as a ratio of two structures.
MEASURES = {
    "MLS": ("W", "S"), "MLT": ("W", "T"), "MLC": ("W", "C"), "C/S": ("C", "S"), "VP/T": ("VP", "T"), "C/T": ("C", "T"),
    "DC/C": ("DC", "C"), "DC/T": ("DC", "T"), "T/S": ("T", "S"), "CT/T": ("CT", "T"), "CP/T": ("CP", "T"),
    "CP/C": ("CP", "C"), "CN/T": ("CN", "T"), "CN/C": ("CN", "C"),
}  # fmt: skip
_NAMES = [name for name, patterns in STRUCTURES.items() for _ in patterns]
_PROGRAM = Program([parse_pattern(pattern) for patterns in STRUCTURES.values() for pattern in patterns])
# What the patterns do not reckon with: phrases with function tags or indices, empty elements, and other tags of words.
_TAGS = (
    "ADD|AFX|BES|CC|CD|DT|EX|FW|GW|HVS|HYPH|IN|JJ[RS]?|LS|MD|NFP|NNP?S?|PDT|POS|PRP\\$?|RB[RS]?|RP|SYM|TO|UH|"
    "VB[DGNPZ]?|WDT|WP\\$?|WRB|XX|-[LR][RCS]B-"
)
UNCLEAN = Tregex(rf"/^[^-=]+[-=]/ < (__ < __) | /^(?!({_TAGS})$).*\w/ < (__ !< __)")


def count_structures(columns: TreeColumns, texts: NDArray[np.integer], n_texts: int) -> dict[str, Longs]:
    """Count the structures of texts, by their names.

    texts (NDArray): Which text each tree is of, from 0.
    """
    counts: dict[str, Longs] = {name: np.zeros(n_texts, np.int64) for name in STRUCTURES}
    firsts = np.flatnonzero(np.diff(texts, prepend=-1))  # the first tree of each run of trees of one text
    bounds = np.append(columns.starts[firsts], len(columns.label))
    for name, nodes in zip(_NAMES, _PROGRAM.find(columns, get_head_rules()), strict=True):
        n_in_runs = np.diff(np.searchsorted(nodes, bounds))  # of few texts this is quicker than to ask each node
        counts[name] += np.bincount(texts[firsts], n_in_runs, n_texts).astype(np.int64)
    return counts


def measure(counts: dict[str, int]) -> dict[str, float]:
    """The fourteen measures of a text from its counts; 0 where there is nothing to divide by."""
    return {name: counts[above] / counts[below] if counts[below] else 0.0 for name, (above, below) in MEASURES.items()}

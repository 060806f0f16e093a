"""Says what constituent labels mean, and which of them belong together."""

import re

from ..trees.tree import ROOT_LABELS

# Penn Treebank II (Bies et al. 1995), with what OntoNotes, GUM and CRAFT add, then the Penn Chinese Treebank's own
# (Xue and Xia 2000), and RPN of ICON. A family is what a drawing gives one colour.
_FAMILIES = {
    "clause": {
        "S": "sentence or clause",
        "SBAR": "clause with a subordinating conjunction or relative pronoun",
        "SBARQ": "question with a wh-word",
        "SINV": "clause with verb before subject",
        "SQ": "yes/no question, or the main clause of a wh-question",
        "IP": "clause",
        "CP": "clause with a complementizer",
        "RPN": "relative clause",
    },
    "noun": {
        "NP": "noun phrase",
        "NAC": "part of a noun phrase that is no constituent of its own",
        "NML": "nominal modifier within a noun phrase",
        "NX": "head within a coordinated noun phrase",
        "QP": "quantifier phrase: a number and what modifies it",
        "WHNP": "wh-noun phrase",
        "CLP": "classifier phrase",
        "DP": "determiner phrase",
    },
    "verb": {
        "VP": "verb phrase",
        "VCD": "coordinated verb compound",
        "VCP": "verb compound with a copula",
        "VNV": "verb compound: A-not-A or A-one-A",
        "VPT": "potential verb compound",
        "VRD": "verb compound with a result",
        "VSB": "verb compound of modifier and head",
    },
    "preposition": {
        "PP": "prepositional phrase",
        "WHPP": "wh-prepositional phrase",
        "DNP": "phrase with 的",
        "DVP": "phrase with 地",
        "LCP": "phrase with a localizer",
    },
    "modifier": {
        "ADJP": "adjective phrase",
        "ADVP": "adverb phrase",
        "WHADJP": "wh-adjective phrase",
        "WHADVP": "wh-adverb phrase",
    },
    "other": {
        "CAPTION": "caption",
        "CIT": "citation",
        "CONJP": "conjunction of several words",
        "EDITED": "words that the speaker corrects",
        "EMBED": "speech within another's",
        "FRAG": "fragment",
        "HEADING": "heading",
        "INTJ": "interjection",
        "LST": "marker of a list",
        "META": "text about the text",
        "PRN": "parenthetical",
        "PRT": "particle of a verb",
        "RRC": "reduced relative clause",
        "TITLE": "title",
        "TOP": "root",
        "TYPO": "misspelt words",
        "UCP": "coordination of unlike constituents",
        "X": "unknown or uncertain",
    },
}
_FUNCTIONS = {
    "ADV": "adverbial",
    "BNF": "benefactive",
    "CLF": "cleft",
    "CLR": "closely related",
    "DIR": "direction",
    "DTV": "dative",
    "EXT": "extent",
    "HLN": "headline",
    "IMP": "imperative",
    "LGS": "logical subject",
    "LOC": "location",
    "MNR": "manner",
    "NOM": "nominal",
    "OBJ": "object",
    "PRD": "predicate",
    "PRP": "purpose or reason",
    "PUT": "place of put",
    "SBJ": "subject",
    "SEZ": "reported speech",
    "TMP": "time",
    "TPC": "topic",
    "TTL": "title",
    "VOC": "vocative",
}
# The tags of ICON, the Indonesian treebank. Some are called as tags of the Penn Treebank that mean something else.
ICON_TAGS = {
    "ADJ": "adjective", "ADV": "adverb", "ART": "article or demonstrative", "CCN": "coordinating conjunction",
    "CSN": "subordinating conjunction", "INT": "interjection", "KUA": "quantifier", "NEG": "negation",
    "NNO": "common noun", "NNP": "proper noun", "NUM": "numeral", "PAR": "particle", "PPO": "preposition",
    "PRI": "interrogative pronoun", "PRK": "clitic pronoun", "PRN": "pronoun", "PRR": "relative pronoun",
    "PUN": "punctuation", "SYM": "symbol", "TAME": "marker of tense, aspect, mood or evidentiality",
    "VBI": "intransitive verb", "VBL": "linking verb", "VBP": "passive verb", "VBT": "transitive verb",
}  # fmt: skip
_MEANINGS = {label: meaning for labels in _FAMILIES.values() for label, meaning in labels.items()}
_MEANINGS |= dict.fromkeys(ROOT_LABELS - {""}, _MEANINGS["TOP"])
_FAMILY_OF = {label: family for family, labels in _FAMILIES.items() for label in labels}


def explain(label: str) -> str | None:
    """Say in words what a constituent label means, as `spacy.explain` does for other labels.

    >>> explain("SBAR"), explain("NP-SBJ-1"), explain("ZZ")
    ('clause with a subordinating conjunction or relative pronoun', 'noun phrase, subject', None)

    label (str): A label of the Penn Treebank or one annotated like it, or of the Penn Chinese Treebank, where function
        tags and indices may follow; a root wrapper; a unary chain of labels, such as S+VP; or alternatives, PRT|ADVP.
    RETURNS (str | None): The meaning; None where the label is not known.
    """
    for mark, joint in (("+", "over"), ("|", "or")):
        upper, is_joined, lower = label.partition(mark)
        if is_joined:
            above, below = explain(upper), explain(lower)
            return f"{above} {joint} {below}" if above and below else None
    base, *functions = _parts(label)
    if base not in _MEANINGS:
        return None
    return ", ".join([_MEANINGS[base], *(_FUNCTIONS[name] for name in functions if name in _FUNCTIONS)])


def family(label: str) -> str:
    """Find the family of a label, for instance "noun" for NP and WHNP; "other" where it is not known."""
    return _FAMILY_OF.get(_parts(label)[0], "other")


def _parts(label: str) -> list[str]:
    """Split a label: NP-SBJ-1 has three parts, -LRB- has one."""
    return re.split(r"(?<=.)[-=|](?=.)", label)

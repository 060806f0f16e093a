"""Rules that write the trees of several treebanks, and of parsers, in one convention, that of the Penn Treebank.

A rule is for nodes with some label. It looks at the node's children as text, one after the other: a word is `TAG/word`,
a phrase `LABEL:TAG/its_words`, with the tag of its first word; all words in small letters, and a space after each.
A regular expression that is found there says by its groups what becomes of the children in them:

    (?P<QP>...)       a phrase QP over them; (?P<SBAR_S>...): an SBAR over an S over them
    (?P<out>...)      the phrase is taken out, what is in it stays
    (?P<is_WHNP>...)  the phrase is called WHNP
    (?P<in_PRN>...)   what stands around a PRN goes into it

The rule may also give the node another label. Most rules mend what GUM's trees, made by a parser, have otherwise; NML,
CAPTION, HEADING, TITLE and CIT are CRAFT's; MASC has brackets without PRN, or around it. Silver trees, of parsers that
learned from all of these, mix conventions, and have the rarer ones too seldom.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.tree import Tree, preorder

UNITS = {"hundred", "thousand", "million", "billion", "trillion"}


@dataclass(frozen=True)
class Rule:
    """A rule: what it does, the labels of its nodes, what is to be found under them, and the label that they get."""

    name: str
    labels: str
    children: str
    becomes: str = ""


PUNCT = r"(?:(?:,|:|``|'')/\S+ )"
NUMBER = r"(?:QP:\S+ |(?:CD/\S+ )+)"
AUXILIARY = r"(?:VBD|VBZ|VBP|MD)/\S+ "
NEGATIVE = "(?:not|never|nor|neither|rarely|seldom|hardly|scarcely|barely|nowhere|little|only|no)"
PER = "(?:year|month|week|day|hour|minute|second|night|share|barrel|ounce|pound|gallon|ton|piece|person|mile|acre)"
SIZE = "(?:old|long|tall|high|deep|wide|thick|late|early|(?:old|long|tall|high|deep|wid|thick|lat|earli|young|short)er)"
NAMING = "(?:call|name|consider|deem|label|dubb?|nickname|title|entitle|elect|declare)"
NO_TIME = r"(?!\S+/(?:today|yesterday|tomorrow|tonight|last|this|that|next|each|every|\w+day)\b)"
DASH = ":/(?:--?|–|—) "

RULES = [
    Rule("NML out", ".*", r"(?P<out>NML:\S+ )"),
    Rule("caption is FRAG", "CAPTION|HEADING|TITLE", r"^(?!\w+:\S+ $)", "FRAG"),
    Rule("caption out", ".*", r"(?P<out>(?:CAPTION|HEADING|TITLE):\S+ )"),
    Rule("CIT is PRN", "CIT", "", "PRN"),
    # What begins a clause, or ends WHPP, with a wh-word of its own is a wh-phrase.
    Rule("NP is WHNP", "SBARQ?", r"^(?P<is_WHNP>NP:(?:WDT|WP\$?)/\S+ )\S"),
    Rule("ADVP is WHADVP", "SBARQ?", r"^(?P<is_WHADVP>ADVP:WRB/\S+ )\S"),
    Rule("ADJP is WHADJP", "SBARQ?", r"^(?P<is_WHADJP>ADJP:WRB/\S+ )\S"),
    Rule("NP is WHNP", "WHPP", r"(?P<is_WHNP>NP:(?:WDT|WP\$?)/\S+ )$"),
    # Amounts: "$ 1.5 billion", "two million", and before a noun "a $ 2 million house", "a 5 % stake".
    Rule("amount is ADJP", "NP", r"(?P<ADJP>\$/\S+ CD/\S+ |QP:\$/\S+ )(?=(?:JJ|NN)\w*/)"),
    Rule("amount is QP", "NP|ADJP", rf"(?P<QP>(?:[$#]/\S+ )?(?:CD/\S+ )+CD/(?:{'|'.join(sorted(UNITS))}) )"),
    Rule("per cent is ADJP", "NP", rf"(?P<ADJP>{NUMBER}NNS?/(?:%|percent) )(?=(?:JJ\w?|NN\w*|VBN|VBG)/)"),
    Rule(
        "about a number is QP",
        "NP|ADJP|ADVP",
        r"(?P<QP>(?:(?:RB|IN)/(?:about|nearly|almost|roughly|only|approximately|around|over|just) "
        r"|JJR/(?:more|less|fewer) IN/than |IN/at JJS/(?:least|most) )+(?:\$/\S+ )?(?:CD/\S+ )+)(?=(?:NN|\$)\w*/)",
    ),
    Rule("measure is NP", "ADJP", rf"^(?P<NP>{NUMBER}NNS?/\S+ )(?:JJR?|RB)/{SIZE} "),
    Rule("price per unit is NP", "NP", rf"^(?P<NP>(?:(?:QP:\S+|(?:\$|CD|NNS?)/\S+) )+)NP:DT/an?_{PER} $"),
    # Interjections. As UH, GUM tags "like" and "so" too.
    Rule("is INTJ", "NP|ADVP|FRAG|ADJP|S|VP|PP|X", r"^(?:,/\S+ )*(?:UH/\S+ (?:,/\S+ )*)+(?:[.]/\S+ )?$", "INTJ"),
    Rule("UH is INTJ", "(?!INTJ|EDITED).*", r"(?P<INTJ>UH/(?!like |so )\S+ )"),
    # Clauses whose verb stands before the subject: after a negative phrase, "so did I", "down came the rain", "had I".
    Rule(
        "negative SINV",
        "SQ?",
        rf"^(?:CC/\S+ )?{PUNCT}?(?:(?:ADVP|PP|NP|ADJP|CONJP):\w+/(?:\S*_)?{NEGATIVE}(?:_\S*)? |(?:RB|CC)/{NEGATIVE} )"
        rf"{AUXILIARY}(?:RB/\S+ )?NP:(?!.*[.]/[?] $)",
        "SINV",
    ),
    Rule(
        "so did I is SINV", "SQ?", rf"^(?:CC/\S+ )?(?:ADVP:)?RB/(?:so|neither) {AUXILIARY}NP:\S+ (?:[.]/\S+ )?$", "SINV"
    ),
    Rule(
        "VP before NP is SINV",
        "S",
        rf"^(?:(?:CC/\S+ |{PUNCT})*(?:PP|ADVP|ADJP|S|SQ|SBARQ|FRAG|INTJ|VP|PRT):\S+ {PUNCT}*)+"
        rf"VP:(?:VBD|VBZ|VBP)/[^ _]+ NP:{NO_TIME}",
        "SINV",
    ),
    Rule("had I is SINV", "S", r"^(?:VBD/(?:had|were)|MD/should) (?:RB/\S+ )?NP:(?!.*[.]/[?] $)", "SINV"),
    Rule("had I is SINV", "SBAR", r"^(?P<SINV>(?:VBD/(?:had|were)|MD/should) NP:\S+ .*)$"),
    Rule("had I is SBAR", "S", r"^(?P<SBAR>SINV:(?:VBD/(?:had|were)|MD/should)_\S+ ),/"),
    # Clauses.
    Rule("in order is SBAR", "PP|SBAR", r"^IN/in (?P<out>NP:NN/order_(?:to|that|for)_\S+ )$", "SBAR"),
    Rule(
        "even if is flat", "SBAR", r"^(?P<out>ADVP:RB/(?:even|just|only) )(?:IN/(?:if|though|as|because|when)|WHADVP:)"
    ),
    Rule(
        "think will is SBAR",
        "VP",
        r"^VB[DPZ]/(?!'|’|ha[dsv]|was |were |is |are |am |d )\S+ "
        r"(?P<SBAR_S>VP:(?:VB[PZ]|MD|VBD/(?:was|were|had|did)_)\S* )",
    ),
    Rule(
        "call it that is S",
        "VP",
        rf"^VB\w?/{NAMING}(?:s|d|ed|ing)? (?P<S>NP:{NO_TIME}\S+ (?:``/\S+ )?(?:NP|ADJP):{NO_TIME}\S+ )(?!CC|,)",
    ),
    # Unlike phrases, coordinated.
    Rule(
        "is UCP",
        "NP|PP|ADJP|ADVP|SBAR|VP",
        r"^(?:CC/(?:both|either|neither) )?(?P<first>NP|PP|ADJP|ADVP|SBAR):\S+ (?:,/\S+ )?CC/(?:and|or|but) "
        r"(?!(?P=first):|ADVP:RB/so_)(?:NP|PP|ADJP|ADVP|SBAR):\S+ $",
        "UCP",
    ),
    # Parentheses, with the brackets, dashes and commas around them.
    Rule("PRN has its marks", "(?!PRN).*", rf"(?P<in_PRN>(?:,/, |{DASH})PRN:(?![,:]|-LRB-)\S+ (?:,/, |{DASH}))"),
    Rule("PRN has its brackets", "(?!PRN).*", r"(?P<in_PRN>-LRB-/\S+ PRN:(?!-LRB-)\S+ -RRB-/\S+ )"),
    Rule(
        "brackets are PRN",
        "S|SINV|VP|NP|PP|ADJP|ADVP|SBAR",
        r"(?<=\S )(?P<PRN>-LRB-/\( (?:(?!-[LR]RB-)\S+ )*?\w+:(?:(?!-[LR]RB-)\S+ )+-RRB-/\) )",
    ),
    Rule("dashes are PRN", "S|VP|NP", rf"(?P<PRN>{DASH}(?:NP|PP|SBAR|ADJP|ADVP):\S+ {DASH})(?!CC/|$|[.]/)"),
    Rule(
        "you know is PRN", "(?!PRN).*", r"(?:^|,/, |CC/\S+ |INTJ:\S+ )(?P<PRN>S:PRP/(?:you_know|i_mean|you_see) )(?=,/)"
    ),
]
# A group begins with a child.
COMPILED = [(rule, re.compile(rule.labels), re.compile(rf"(?<!\S)(?:{rule.children})")) for rule in RULES]


@cache
def rules_for(label: str) -> list[tuple[Rule, re.Pattern[str]]]:
    """Find the rules for nodes with a label."""
    return [
        (rule, children) for rule, labels, children in COMPILED if labels.fullmatch(label) and rule.becomes != label
    ]


def nodes(node: Tree) -> Iterator[Tree]:
    """The children that are no words."""
    return (child for child in node.children if not isinstance(child, str))


def describe(node: Tree) -> str:
    """Write a child as rules see it."""
    leaves = [(leaf.label, leaf.children[0]) for leaf in preorder(node) if isinstance(leaf.children[0], str)]
    words = "_".join("".join(word.lower().split()) for _, word in leaves if isinstance(word, str))
    phrase = "" if isinstance(node.children[0], str) else f"{node.label}:"
    return f"{phrase}{leaves[0][0]}/{words} "


def changed(children: Sequence[Tree], group: str) -> list[Tree]:
    """Change the children that a group of a rule has found."""
    action, _, label = group.partition("_")
    if action == "out":
        return list(nodes(children[0]))
    if action == "is":
        return [Tree(label, children[0].children)]
    if action == "in":
        (i,) = (i for i, child in enumerate(children) if child.label == label)
        return [Tree(label, (*children[:i], *children[i].children, *children[i + 1 :]))]
    for label in reversed(group.split("_")):
        children = [Tree(label, tuple(children))]
    return list(children)


def rewrite(node: Tree, counts: Counter[str]) -> Tree:
    """Write a tree anew, from its words up: at each node the first rule that finds something, until none does."""
    if isinstance(node.children[0], str):
        return node
    label, children = node.label, [rewrite(child, counts) for child in nodes(node)]
    while True:
        descriptions = [describe(child) for child in children]
        text = "".join(descriptions)
        rule, match = next(
            ((rule, m) for rule, pattern in rules_for(label) if (m := pattern.search(text))), (None, None)
        )
        if rule is None or match is None:
            return Tree(label, tuple(children))
        counts[rule.name] += 1
        child_ids = {end: i for i, end in enumerate(accumulate(map(len, descriptions), initial=0))}
        for group, value in match.groupdict().items():
            if value is not None and group != "first":
                first, last = map(child_ids.__getitem__, match.span(group))
                children[first:last] = changed(children[first:last], group)
        label = rule.becomes or label


def repair(parse: Parse, counts: Counter[str] | None = None) -> Parse:
    """Write a parse in the conventions of the Penn Treebank.

    parse (Parse): The parse, of any of the treebanks, or a parser's.
    counts (Counter[str] | None): Where the changes are counted by rule.
    RETURNS (Parse): The parse with the same words; "to" is TO everywhere.
    """
    counts = Counter() if counts is None else counts
    to_mask = [tag == "IN" and word.lower() == "to" for word, tag in zip(parse.words, parse.pos, strict=True)]
    counts["IN is TO"] += sum(to_mask)
    pos = tuple("TO" if is_to else tag for tag, is_to in zip(parse.pos, to_mask, strict=True))
    tree = rewrite(replace(parse, pos=pos).to_tree("TOP"), counts)
    return replace(Parse.from_tree(tree), id=parse.id)

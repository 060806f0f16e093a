"""Clean trees as they come from treebanks into trees of words and plain phrases.

    ( (S (NP-SBJ-1 (PRP She)) (VP (VBZ seems) (S (NP (-NONE- *-1)) (VP (TO to) (VP (VP (VB read))))))))

becomes, with the default options, which are the usual ones for the Penn Treebank,

    (TOP (S (NP (PRP She)) (VP (VBZ seems) (S (VP (TO to) (VP (VB read)))))))

Each step is an option. `CleanCounts` says how often each did something.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from ..errors import Errors
from .tree import ROOT, Tree, rewrite

# Group 1 is the label proper. Labels that begin with a dash (`-LRB-`, `-NONE-`) do not match, and stay whole.
_FUNCTION = re.compile(r"\A([^-=]+)[-=].*", re.DOTALL)
_INDEX = re.compile(r"\A([^-=].*?)(?:[-=][0-9]+)+\Z", re.DOTALL)
_NEVER_TRACES = frozenset({"NUM", "CD", "SYM"})  # tags of numbers and symbols: 0 and * are words there


@dataclass(frozen=True)
class CleanOptions:
    """Options of cleaning. The defaults are the Penn Treebank's convention.

    root (str | None): Label of the one root wrapper, renamed or added; wrappers inside it go. None leaves them.
    functions (bool): Strip function tags and indices of phrases: `NP-SBJ-1` and `NP=2` become `NP`. Labels that begin
        with a dash stay as they are.
    indices (bool): Strip indices of phrases, where their functions stay: `NP-SBJ-1` becomes `NP-SBJ`.
    tag_functions (bool): As `functions`, for part-of-speech tags. Off: many treebanks have tags with dashes.
    tag_indices (bool): Strip just indices from part-of-speech tags: `VB-1` becomes `VB`, `N-A` stays.
    traces (bool): Remove words tagged with one of `trace_tags`. Phrases left without words always go.
    trace_tags (frozenset[str]): Part-of-speech tags of words that are not there.
    trace_words (str | None): Regular expression that matches such a word as a whole, for treebanks that give them no
        tag of their own (`(NP-SBJ *con*)`), for instance `r"\\*.*|0"`. Words with the tags of numbers and symbols (NUM,
        CD, SYM) are never removed so. None: the tags alone decide.
    repeats (bool): Collapse a phrase over a lone phrase of the same label (after stripping) into one.
    remove (frozenset[str]): Labels of phrases and part-of-speech tags that go with everything under them.
    RAISES (ValueError): If a string stands where a set of strings is due.
    """

    root: str | None = ROOT
    functions: bool = True
    indices: bool = True
    tag_functions: bool = False
    tag_indices: bool = False
    traces: bool = True
    trace_tags: frozenset[str] = frozenset({"-NONE-"})
    trace_words: str | None = None
    repeats: bool = True
    remove: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        refuse_strings(self)


@dataclass
class CleanCounts:
    """Counts of what was cleaned, summed over the trees it was passed with.

    trees (int): Trees that were cleaned.
    emptied_trees (int): Trees that lost all their words.
    words (int): Words that are left.
    traces (int): Words removed because they are not there.
    removed (int): Nodes removed by label, with everything under them.
    emptied (int): Phrases removed because nothing was left in them.
    repeats (int): Phrases collapsed into a lone phrase of the same label.
    labels (int): Labels of phrases and part-of-speech tags that were changed, and nodes that a format dissolved.
    wrappers (int): Root wrappers removed from inside the root wrapper.
    lines (int): Lines that a format other than Penn brackets was rewritten in.
    """

    trees: int = 0
    emptied_trees: int = 0
    words: int = 0
    traces: int = 0
    removed: int = 0
    emptied: int = 0
    repeats: int = 0
    labels: int = 0
    wrappers: int = 0
    lines: int = 0


def clean_tree(tree: Tree, options: CleanOptions | None = None, counts: CleanCounts | None = None) -> Tree | None:
    """Clean a tree; None if no word is left."""
    options = options or CleanOptions()
    counts = counts if counts is not None else CleanCounts()
    counts.trees += 1
    strip_phrase = strip_functions if options.functions else strip_indices if options.indices else str
    strip_tag = strip_functions if options.tag_functions else strip_indices if options.tag_indices else str

    def is_kept(node: Tree) -> bool:
        if not options.remove:
            return True
        removed = node.label in options.remove or strip_functions(node.label) in options.remove
        counts.removed += removed
        return not removed

    def is_trace(node: Tree) -> bool:
        if node.label in options.trace_tags:
            return True
        if options.trace_words is None or strip_functions(node.label) in _NEVER_TRACES:
            return False
        return re.fullmatch(options.trace_words, str(node.children[0])) is not None

    def clean_node(node: Tree, children: list[Tree | str]) -> Iterable[Tree | str]:
        """Clean a node whose children are cleaned."""
        if not children:
            counts.emptied += 1
            return ()
        if options.traces and node.is_preterminal and is_trace(node):
            counts.traces += 1
            return ()
        counts.words += node.is_preterminal
        label = strip_tag(node.label) if node.is_preterminal else strip_phrase(node.label)
        counts.labels += label != node.label
        only = children[0] if len(children) == 1 else None
        if options.repeats and isinstance(only, Tree) and only.label == label and not only.is_preterminal:
            counts.repeats += 1
            return (only,)
        return (Tree(label, tuple(children)),)

    cleaned = rewrite(tree, clean_node, is_kept)
    if not cleaned or not isinstance(cleaned[0], Tree):
        counts.emptied_trees += 1
        return None
    return cleaned[0] if options.root is None else _wrap(cleaned[0], options.root, counts)


def _wrap(top: Tree, root: str, counts: CleanCounts) -> Tree:
    """Put one root wrapper around a tree, in place of those that it has."""
    if not top.is_wrapper:
        return Tree(root, (top,))
    children: list[Tree | str] = []
    stack = [*reversed(top.children)]
    while stack:
        child = stack.pop()
        if isinstance(child, Tree) and child.is_wrapper:  # inside the wrapper, as in ( (ROOT (TOP (S ...)) (. .)))
            counts.wrappers += 1
            stack += reversed(child.children)
        else:
            children.append(child)
    return Tree(root, tuple(children))


def refuse_strings(options: Any) -> None:
    """Raise a ValueError if a field of a dataclass for several strings has one: "S" and "" are both in "SBAR"."""
    for field in fields(options):
        if isinstance(field.default, (frozenset, tuple)) and isinstance(value := getattr(options, field.name), str):
            raise ValueError(Errors.E010.format(name=field.name, value=value))


def strip_functions(label: str) -> str:
    """Strip function tags and indices: `NP-SBJ-1` becomes `NP`, `-LRB-` and `PRT|ADVP` stay."""
    return _FUNCTION.sub(r"\1", label)


def strip_indices(label: str) -> str:
    """Strip indices only: `VB-1` becomes `VB`, `N-A` stays."""
    return _INDEX.sub(r"\1", label)

"""Clean trees as they come from treebanks into trees of words and plain phrases.

    ( (S (NP-SBJ-1 (PRP She)) (VP (VBZ seems) (S (NP (-NONE- *-1)) (VP (TO to) (VP (VP (VB read))))))))

becomes, with the default options, which are the usual ones for the Penn Treebank,

    (TOP (S (NP (PRP She)) (VP (VBZ seems) (S (VP (TO to) (VP (VB read)))))))

Each step is an option. `CleanCounts` says how often each did something.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .tree import Tree, rewrite

# Group 1 is the label proper. Labels that begin with a dash (`-LRB-`, `-NONE-`) do not match, and stay whole.
_FUNCTION = re.compile(r"([^-=]+)[-=].*", re.DOTALL)
_INDEX = re.compile(r"([^-=].*?)(?:[-=][0-9]+)+", re.DOTALL)


@dataclass(frozen=True)
class CleanOptions:
    """What to clean. The defaults are the Penn Treebank's convention.

    root (str | None): Label of the one root wrapper, renamed or added; wrappers inside it go. None leaves them.
    functions (bool): Strip function tags and indices of phrases: `NP-SBJ-1` and `NP=2` become `NP`. Labels that begin
        with a dash stay as they are.
    indices (bool): Strip indices of phrases, where their functions stay: `NP-SBJ-1` becomes `NP-SBJ`.
    tag_functions (bool): As `functions`, for part-of-speech tags. Off: many treebanks have tags with dashes.
    tag_indices (bool): Strip just indices from part-of-speech tags: `VB-1` becomes `VB`, `N-A` stays.
    traces (bool): Remove words tagged with one of `trace_tags`. Phrases left without words always go.
    trace_tags (frozenset[str]): Part-of-speech tags of words that are not there.
    trace_words (str | None): Regular expression for the whole of such words, where treebanks write them without a
        tag of their own (`(NP-SBJ *con*)`), for instance `r"\\*.*|0"`. None: the tags alone decide.
    repeats (bool): Collapse a phrase over a lone phrase of the same label (after stripping) into one.
    remove (frozenset[str]): Labels of phrases and part-of-speech tags that go with everything under them.
    """

    root: str | None = "TOP"
    functions: bool = True
    indices: bool = True
    tag_functions: bool = False
    tag_indices: bool = False
    traces: bool = True
    trace_tags: frozenset[str] = frozenset({"-NONE-"})
    trace_words: str | None = None
    repeats: bool = True
    remove: frozenset[str] = frozenset()


@dataclass
class CleanCounts:
    """How much was cleaned, summed over the trees it was passed with.

    trees (int): Trees seen.
    emptied_trees (int): Those of which nothing was left.
    words (int): Words kept.
    traces (int): Words removed because they are not there.
    removed (int): Nodes removed by label, with everything under them.
    emptied (int): Phrases removed because nothing was left in them.
    repeats (int): Phrases collapsed into a lone phrase of the same label.
    labels (int): Labels that function tags or indices were stripped from.
    wrappers (int): Root wrappers removed from inside the root wrapper.
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


def clean_tree(tree: Tree, options: CleanOptions | None = None, counts: CleanCounts | None = None) -> Tree | None:
    """Clean a tree.

    tree (Tree): The tree, as the reader gives it.
    options (CleanOptions | None): What to do. None: the Penn Treebank's convention.
    counts (CleanCounts | None): Counts to add to.
    RETURNS (Tree | None): The cleaned tree, or None if no word is left.
    """
    options = options or CleanOptions()
    counts = counts if counts is not None else CleanCounts()
    counts.trees += 1
    cleaned = rewrite(
        tree,
        lambda node, children: _clean_node(node, children, options, counts),
        lambda node: not _is_removed(node, options, counts),
    )
    if not cleaned:
        counts.emptied_trees += 1
        return None
    (top,) = cleaned
    return _wrap(top, options, counts) if isinstance(top, Tree) else None


def strip_functions(label: str) -> str:
    """Strip function tags and indices: `NP-SBJ-1` becomes `NP`, `-LRB-` and `PRT|ADVP` stay.

    label (str): The label.
    RETURNS (str): The label proper.
    """
    found = _FUNCTION.fullmatch(label)
    return found.group(1) if found else label


def strip_indices(label: str) -> str:
    """Strip indices only: `VB-1` becomes `VB`, `N-A` stays.

    label (str): The label.
    RETURNS (str): The label without indices.
    """
    found = _INDEX.fullmatch(label)
    return found.group(1) if found else label


def _clean_node(
    node: Tree, children: list[Tree | str], options: CleanOptions, counts: CleanCounts
) -> Iterable[Tree | str]:
    """Keep a node whose children are cleaned, or not."""
    if not children:
        counts.emptied += 1
        return ()
    label = node.label
    if node.is_preterminal:
        if options.traces and (label in options.trace_tags or _is_trace(node, options.trace_words)):
            counts.traces += 1
            return ()
        counts.words += 1
        if options.tag_functions:
            label = strip_functions(label)
        elif options.tag_indices:
            label = strip_indices(label)
    elif options.functions:
        label = strip_functions(label)
    elif options.indices:
        label = strip_indices(label)
    counts.labels += label != node.label
    if options.repeats and len(children) == 1:
        (only,) = children
        if isinstance(only, Tree) and only.label == label and not only.is_preterminal:
            counts.repeats += 1
            return (only,)
    return (Tree(label, tuple(children)),)


def _wrap(tree: Tree, options: CleanOptions, counts: CleanCounts) -> Tree:
    """Give the tree the one root wrapper that the options ask for."""
    if options.root is None:
        return tree
    if not tree.is_wrapper:
        return Tree(options.root, (tree,))
    # Wrappers inside the wrapper: ( (ROOT (TOP (S ...)))).
    while len(tree.children) == 1 and isinstance(inner := tree.children[0], Tree) and inner.is_wrapper:
        counts.wrappers += 1
        tree = inner
    return Tree(options.root, tree.children)


def _is_removed(node: Tree, options: CleanOptions, counts: CleanCounts) -> bool:
    if not options.remove:
        return False
    removed = node.label in options.remove or strip_functions(node.label) in options.remove
    counts.removed += removed
    return removed


def _is_trace(node: Tree, trace_words: str | None) -> bool:
    return trace_words is not None and re.fullmatch(trace_words, str(node.children[0])) is not None

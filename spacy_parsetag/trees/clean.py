"""Clean trees as they come from treebanks into trees of words and plain phrases.

    ( (S (NP-SBJ-1 (PRP She)) (VP (VBZ seems) (S (NP (-NONE- *-1)) (VP (TO to) (VP (VP (VB read))))))))

becomes, with the default options, which are the usual ones for the Penn Treebank,

    (TOP (S (NP (PRP She)) (VP (VBZ seems) (S (VP (TO to) (VP (VB read)))))))

Each step is an option. `CleanCounts` says how often each did something.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from nltk import Tree

from .parse import ROOT_LABELS, is_preterminal

# Group 1 is the label proper. Labels that begin with a dash (`-LRB-`, `-NONE-`) do not match, and stay whole.
_FUNCTION = re.compile(r"([^-=]+)[-=].*", re.DOTALL)
_INDEX = re.compile(r"([^-=].*?)(?:[-=][0-9]+)+", re.DOTALL)


@dataclass(frozen=True)
class CleanOptions:
    """What to clean. The defaults are the Penn Treebank's convention.

    root (Optional[str]): Label of the one root wrapper, renamed or added; wrappers inside it go. None leaves them.
    functions (bool): Strip function tags and indices of phrases: `NP-SBJ-1` and `NP=2` become `NP`. Labels that begin
        with a dash stay as they are.
    tag_functions (bool): The same for part-of-speech tags. Off: many treebanks have tags with dashes.
    tag_indices (bool): Strip just indices from part-of-speech tags: `VB-1` becomes `VB`, `N-A` stays.
    traces (bool): Remove words tagged with one of `trace_tags`. Phrases left without words always go.
    trace_tags (FrozenSet[str]): Part-of-speech tags of words that are not there.
    trace_words (Optional[str]): Regular expression for the whole of such words, where treebanks write them without a
        tag of their own (`(NP-SBJ *con*)`), for instance `r"\\*.*|0"`. None: the tags alone decide.
    repeats (bool): Collapse a phrase over a lone phrase of the same label (after stripping) into one.
    remove (FrozenSet[str]): Labels of phrases and part-of-speech tags that go with everything under them.
    """

    root: str | None = "TOP"
    functions: bool = True
    tag_functions: bool = False
    tag_indices: bool = False
    traces: bool = True
    trace_tags: frozenset[str] = frozenset({"-NONE-"})
    trace_words: str | None = None
    repeats: bool = True
    remove: frozenset[str] = frozenset()


# The Penn parsed corpora of historical languages: bare traces, and material that is not text.
HISTORICAL = CleanOptions(
    tag_indices=True,
    trace_words=r"\*.*|0",
    remove=frozenset({"CODE", "COMMENT", "ID", "LB", "META", "METADATA", "REF"}),
)


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


@dataclass
class _Open:
    """A node whose children are being cleaned."""

    node: Tree
    position: int = 0
    children: list[Tree] = field(default_factory=list)


def clean_tree(tree: Tree, options: CleanOptions | None = None, counts: CleanCounts | None = None) -> Tree | None:
    """Clean a tree. The tree itself is not changed.

    tree (nltk.Tree): The tree, as the reader gives it.
    options (Optional[CleanOptions]): What to do. None: the Penn Treebank's convention.
    counts (Optional[CleanCounts]): Counts to add to.
    RETURNS (Optional[nltk.Tree]): A new tree, or None if no word is left.
    """
    options = options or CleanOptions()
    counts = counts if counts is not None else CleanCounts()
    counts.trees += 1
    top: list[Tree] = []
    stack = [_Open(Tree("", [tree]), children=top)]
    while stack:
        frame = stack[-1]
        if frame.position == len(frame.node):
            stack.pop()
            if stack:
                _close(frame, stack[-1].children, options, counts)
            continue
        child = frame.node[frame.position]
        frame.position += 1
        if not isinstance(child, Tree) or is_preterminal(child):
            _clean_word(child, frame.children, options, counts)
        elif _is_removed(child.label(), options):
            counts.removed += 1
        else:
            stack.append(_Open(child))
    if not top:
        counts.emptied_trees += 1
        return None
    return _wrap(top[0], options, counts)


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


def _clean_word(word: Tree, into: list[Tree], options: CleanOptions, counts: CleanCounts) -> None:
    """Keep a word with its tag (or a bare one), or not."""
    label = word.label() if isinstance(word, Tree) else ""
    text = word[0] if isinstance(word, Tree) else word
    if _is_removed(label, options):
        counts.removed += 1
    elif options.traces and (label in options.trace_tags or _is_trace(text, options.trace_words)):
        counts.traces += 1
    else:
        counts.words += 1
        if not isinstance(word, Tree):
            into.append(word)
            return
        stripped = label
        if options.tag_functions:
            stripped = strip_functions(label)
        elif options.tag_indices:
            stripped = strip_indices(label)
        counts.labels += stripped != label
        into.append(Tree(stripped, [text]))


def _close(frame: _Open, into: list[Tree], options: CleanOptions, counts: CleanCounts) -> None:
    """Keep a phrase whose children are cleaned, or not."""
    children = frame.children
    if not children:
        counts.emptied += 1
        return
    label = frame.node.label()
    if options.functions:
        label = strip_functions(label)
        counts.labels += label != frame.node.label()
    only = children[0] if len(children) == 1 else None
    if options.repeats and isinstance(only, Tree) and only.label() == label and not is_preterminal(only):
        counts.repeats += 1
        into.append(only)
    else:
        into.append(Tree(label, children))


def _wrap(tree: Tree, options: CleanOptions, counts: CleanCounts) -> Tree:
    """Give the tree the one root wrapper that the options ask for."""
    if options.root is None:
        return tree
    if is_preterminal(tree) or tree.label() not in ROOT_LABELS:
        return Tree(options.root, [tree])
    # Wrappers inside the wrapper: ( (ROOT (TOP (S ...)))).
    while (
        len(tree) == 1 and isinstance(tree[0], Tree) and tree[0].label() in ROOT_LABELS and not is_preterminal(tree[0])
    ):
        counts.wrappers += 1
        tree = tree[0]
    return Tree(options.root, list(tree))


def _is_removed(label: str, options: CleanOptions) -> bool:
    return bool(options.remove) and (label in options.remove or strip_functions(label) in options.remove)


def _is_trace(text: str, trace_words: str | None) -> bool:
    return trace_words is not None and _pattern(trace_words).fullmatch(text) is not None


@lru_cache(maxsize=16)
def _pattern(expression: str) -> "re.Pattern[str]":
    return re.compile(expression)

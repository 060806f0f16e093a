"""Collapse and binarization make the trees that NLTK makes."""

from hypothesis import given, strategies as st
from nltk import Tree
from strategies import parses

from spacy_parsetag.trees import BinaryTree, Parse, binarize, from_nltk, to_nltk

# NLTK writes "|" into labels that it adds, and "+" into chains.
PLAIN = st.sampled_from(["S", "NP", "VP", "A:B", "X@Y", "N/P", "-NONE-"])
TAGS = st.sampled_from(["NN", "VBZ", "-LRB-", ","])


def read_nltk(tree: Tree, n_words: int) -> BinaryTree:
    """An NLTK tree in Chomsky normal form as a `BinaryTree`: the POS tag leaves the chain, added nodes their label."""
    leaf: list[bool] = []
    label: list[str] = []
    stack: list[Tree] = [tree]
    while stack:
        node = stack.pop()
        is_leaf = isinstance(node[0], str)
        leaf.append(is_leaf)
        if is_leaf:
            label.append(node.label().rpartition("+")[0])
        else:
            assert len(node) == 2
            label.append("" if "|" in node.label() else node.label())
            stack.extend(reversed(node))
    assert sum(leaf) == n_words
    return BinaryTree(tuple(leaf), tuple(label))


@given(parse=parses(max_words=10, forests=False, words=st.just("w"), labels=PLAIN, tags=TAGS))
def test_as_nltk(parse: Parse) -> None:
    tree = to_nltk(parse.to_tree(root=None))
    tree.collapse_unary(collapsePOS=True, collapseRoot=True)
    tree.chomsky_normal_form(factor="right")
    assert binarize(parse) == read_nltk(tree, len(parse))


def example_shape(tree: Tree) -> tuple[tuple[bool, ...], tuple[str, ...]]:
    return tuple(binarize(Parse.from_tree(from_nltk(tree))))  # type: ignore[return-value]


def test_example() -> None:
    """The example of the module, and a node of four children."""
    text = "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG reading) (NP (NNS papers)))))))"
    leaf, label = example_shape(Tree.fromstring(text))
    assert leaf == (False, True, False, True, False, True, True)
    assert label == ("S", "NP", "VP", "", "S+VP", "", "NP")
    leaf, label = example_shape(Tree.fromstring("(X (A a) (B b) (C c) (D d))"))
    assert leaf == (False, True, False, True, False, True, True)
    assert label == ("X", "", "", "", "", "", "")

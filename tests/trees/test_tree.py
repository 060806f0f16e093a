"""Trees are copied and pickled whole, however deep they are."""

import copy
import pickle
import sys
from collections.abc import Callable

import pytest

from spacy_parsetag.trees import Tree
from spacy_parsetag.trees.tree import Word


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies(copy_of: Callable[[Tree], Tree]) -> None:
    tree = Tree("NP", (Tree("DT", ("the",)), Tree("NN", (Word("dogs", "dog", "Number=Plur"),), 7), Tree("", ())), 3)
    copied = copy_of(tree)
    assert copied == tree and copied.line == 3
    noun = copied.children[1]
    assert isinstance(noun, Tree) and noun.line == 7
    word = noun.children[0]
    assert isinstance(word, Word) and (word.lemma, word.morph) == ("dog", "Number=Plur")
    for _ in range(2000):
        tree = Tree("S", (tree, "x"))
    assert copy_of(tree) == tree and sys.getrecursionlimit() < 2000

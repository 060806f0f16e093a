"""What a type checker says of a user's program."""

import subprocess
import sys

import pytest

PROGRAM = """
from spacy_parsetag import TreeMatcher, explain, render, rendr
from spacy_parsetag.decode import Decoded, Decoder, Distribution, TagScores, WeightedTrees
from spacy_parsetag.ml.losses import Loss

class Best:
    def __call__(self, trees: Distribution) -> Decoded:
        return trees.argmax

class Nothing:
    def __call__(self, scores: TagScores, trees: WeightedTrees) -> tuple[float, TagScores]:
        return 0.0, scores

decoder: Decoder = Best()
loss: Loss = Nothing()
"""


@pytest.mark.slow
def test_users_program() -> None:
    """A typo is found, and the parts of one's own may call their arguments what they like."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    options = ["--config-file=", "--strict", "--ignore-missing-imports", "--follow-imports=silent"]
    # In a process of its own: here mypy would raise Python's limit of recursion, which other tests go by.
    found = subprocess.run([sys.executable, "-m", "mypy", *options, "-c", PROGRAM], capture_output=True, text=True)
    problem, _ = found.stdout.splitlines()  # and how many there are
    assert problem.startswith('<string>:2: error: Module "spacy_parsetag" has no attribute "rendr"')

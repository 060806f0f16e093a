"""What a type checker says of a user's program."""

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
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    options = ["--config-file=", "--strict", "--ignore-missing-imports", "--no-error-summary"]
    found, _, _ = api.run([*options, "-c", PROGRAM])
    (problem,) = found.splitlines()
    assert problem.startswith('<string>:2: error: Module "spacy_parsetag" has no attribute "rendr"')

"""What the tests of the commands share."""

from collections.abc import Callable

from typer.testing import Result

TREES = """\
(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers))) (. .)))
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))
(TOP (FRAG (NP (NNP No)) (-LRB- -LRB-) (ADVP (RB really)) (-RRB- -RRB-)))
"""

Run = Callable[..., Result]

"""A treebank of two files, written for the tests."""

from pathlib import Path

TREES = """\
(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers))) (. .)))
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ reads) (NP (NNS papers))) (. .)))
"""


def write_treebank(folder: Path) -> Path:
    folder.mkdir()
    for part in ("train", "dev"):
        (folder / f"{part}.mrg").write_text(TREES, encoding="utf-8")
    return folder

"""Words that stand in like places get like vectors, by their lower-case forms, and the same ones in each run."""

import sys
from pathlib import Path

import numpy as np
import pytest
import spacy

pytest.importorskip("floret", reason="floret is not installed")

from tools import text_vectors

TEXT = """\
The dog sleeps. The cat sleeps. The dog eats the bread. The cat eats the bread.
She reads a book, and he
reads a paper.

A dog eats. A cat eats.
"""


def make(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> spacy.Language:
    monkeypatch.setattr(sys, "argv", ["text_vectors", "en", str(folder / "texts"), str(folder / name), *options])
    text_vectors.main()
    return spacy.load(folder / name)


def test_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("\n\n".join([TEXT] * 100), encoding="utf8")
    (tmp_path / "texts" / "b.txt").write_text("A rare word.\n", encoding="utf8")
    nlp = make(tmp_path, "first", monkeypatch, "--width", "16")
    assert nlp.pipe_names == [] and nlp.vocab.vectors.shape[1] == 16
    keys = nlp("The Dog eats the CAT, a rare word").to_array("LOWER")
    rows = nlp.vocab.vectors.find(keys=keys)
    assert (rows >= 0).tolist() == [True] * 7 + [False] * 2
    dog, eats, cat = (nlp.vocab.vectors.data[rows[i]] for i in (1, 2, 4))
    assert np.dot(dog, cat) > 2 * np.dot(dog, eats)
    again = make(tmp_path, "second", monkeypatch, "--width", "16")
    assert (nlp.vocab.vectors.data == again.vocab.vectors.data).all()
    few = make(tmp_path, "third", monkeypatch, "--width", "8", "--words", "3")
    assert few.vocab.vectors.shape == (3, 8) and {few.vocab.strings[key] for key in few.vocab.vectors} >= {"the", "."}


def test_a_folder_without_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "texts").mkdir()
    with pytest.raises(SystemExit, match=r"texts has no text: it takes \.txt files"):
        make(tmp_path, "none", monkeypatch)
    (tmp_path / "texts" / "a.txt").write_text("A rare word.\n", encoding="utf8")
    with pytest.raises(SystemExit, match="texts has no word 10 times"):
        make(tmp_path, "none", monkeypatch)

"""Lines of text files."""

from pathlib import Path
from typing import Any

from spacy_parsetag.texts.input import read_lines


def test_the_file_may_be_closed_first(tmp_path: Path) -> None:
    """The garbage collector frees a reader that an error left and its file in any order."""
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    lines: Any = read_lines(tmp_path / "a.txt")
    assert next(lines) == (f"{tmp_path / 'a.txt'}:1", "one\n")
    lines.gi_frame.f_locals["file"].close()
    lines.close()

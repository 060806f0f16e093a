"""The C program's printed tables, character for character."""

from pathlib import Path

import pytest

from spacy_parsetag.evalb import evalb, format_table, read_scored_trees


@pytest.mark.parametrize("params", ["collins", "new"])
def test_printed_table_of_c_program(conformance: Path, params: str) -> None:
    folders = sorted(path for path in (conformance / "evalb").iterdir() if path.is_dir())
    assert folders
    for folder in folders:
        gold = read_scored_trees(folder / "gold.mrg")
        test = read_scored_trees(folder / "test.mrg")
        assert format_table(evalb(gold, test, params)) == (folder / f"{params}.out").read_text(), folder.name

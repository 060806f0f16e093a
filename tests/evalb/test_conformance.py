"""The C program's printed tables, character for character."""

from pathlib import Path

import pytest

from spacy_parsetag.evalb import evalb, format_table, read_tree_lines


@pytest.mark.parametrize("params", ["collins", "new", "spmrl"])
def test_printed_table_of_c_program(conformance: Path, params: str) -> None:
    tables = sorted((conformance / "evalb").glob(f"*/{params}.out"))
    assert tables
    for table in tables:
        gold, test = (read_tree_lines(table.parent / name) for name in ("gold.mrg", "test.mrg"))
        assert format_table(evalb(gold, test, params)) == table.read_text(encoding="utf-8"), table


def test_its_own_sample(conformance: Path) -> None:
    sample = conformance / "evalb" / "sample" / "sample"
    gold, test, params, table = (sample.with_suffix(suffix) for suffix in (".gld", ".tst", ".prm", ".out"))
    found = evalb(read_tree_lines(gold), read_tree_lines(test), params)
    assert format_table(found) == table.read_text(encoding="utf-8")

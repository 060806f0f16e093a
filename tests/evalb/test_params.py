"""Parameter files."""

from pathlib import Path
from typing import Any

import pytest

from spacy_parsetag.evalb import EvalbParams, evalb, get_params, read_params

COLLINS, NEW, SPMRL = map(get_params, ("collins", "new", "spmrl"))


def test_bundled_params() -> None:
    assert COLLINS.name == "collins"
    assert COLLINS.delete_labels == {"TOP", "-NONE-", ",", ":", "``", "''", "."}
    assert COLLINS.eq_labels == (("ADVP", "PRT"),)
    assert COLLINS.delete_labels_for_length == {"-NONE-"}
    assert (COLLINS.cutoff_len, COLLINS.labeled) == (40, True)
    assert NEW.delete_labels == COLLINS.delete_labels | {"S1", "?", "!"}
    assert NEW.quote_labels == {"``", "''", "POS", "NN", "CD", "VBZ", ":"}
    assert SPMRL.delete_labels == {"TOP", "ROOT", "S1", "VROOT", "-NONE-"}
    assert not SPMRL.eq_labels and SPMRL.label_cuts == ("-", "=", "#") and SPMRL.cut_tags


def test_get_params(tmp_path: Path) -> None:
    assert get_params("COLLINS") == COLLINS
    assert get_params(NEW) is NEW
    path = tmp_path / "mine.prm"
    path.write_text("DELETE_LABEL X\n")
    assert get_params(path) == get_params(str(path)) == EvalbParams(name="mine", delete_labels=frozenset("X"))
    with pytest.raises(ValueError, match=r"E352.*'colins'.*collins, new, spmrl"):
        get_params("colins")


def test_read_params_all_keywords(tmp_path: Path) -> None:
    path = tmp_path / "all.prm"
    path.write_bytes(
        b"\xef\xbb\xbf# comment\r\n\r\nDEBUG 0\r\nMAX_ERROR 3\r\nCUTOFF_LEN 70\r\nLABELED 0\r\n  DELETE_LABEL  #  \r\n"
        b"DELETE_LABEL_FOR_LENGTH Z\r\nQUOTE_LABEL POS\r\nEQ_LABEL A B\r\nEQ_WORD a b\r\nLABEL_CUT ##\r\nCUT_TAGS 1\r\n"
    )
    assert read_params(path) == EvalbParams(
        name="all",
        delete_labels=frozenset("#"),
        delete_labels_for_length=frozenset("Z"),
        quote_labels=frozenset(["POS"]),
        eq_labels=(("A", "B"),),
        eq_words=(("a", "b"),),
        label_cuts=("##",),
        cut_tags=True,
        labeled=False,
        cutoff_len=70,
    )
    path.write_text("LABEL_CUT\n")  # nothing is cut
    row = evalb(["(TOP (NP-SBJ (NN a)) (VP (VB b)))"], ["(TOP (NP (NN a)) (VP (VB b)))"], path).rows[0]
    assert (row.matched, row.gold) == (2, 3)


@pytest.mark.parametrize(
    "line,message",
    [
        ("DELETE_LABLE TOP", r"E350.*bad\.prm:2: unknown keyword 'DELETE_LABLE'"),
        ("MAX_ERROR ten", r"E351.*bad\.prm:2: MAX_ERROR takes a whole number; got 'ten'"),
        ("CUTOFF_LEN", r"E351.*bad\.prm:2: CUTOFF_LEN takes a whole number; got ''"),
        ("LABELED ²", r"E351.*bad\.prm:2: LABELED"),
        ("EQ_LABEL ADVP", r"E351.*bad\.prm:2: EQ_LABEL takes two values; got 'ADVP'"),
        ("EQ_WORD a b c", r"E351.*bad\.prm:2: EQ_WORD takes two values; got 'a b c'"),
        ("DELETE_LABEL", r"E351.*bad\.prm:2: DELETE_LABEL takes one label; got ''"),
    ],
)
def test_read_params_errors(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.prm"
    path.write_text(f"# comment\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_params(path)


@pytest.mark.parametrize("name", ["delete_labels", "delete_labels_for_length", "quote_labels", "label_cuts"])
def test_a_string_is_not_several(name: str) -> None:
    """Each of its letters would be a label."""
    with pytest.raises(ValueError, match=rf"\[E010\] {name} takes several strings; got one, 'TOP'"):
        EvalbParams(**{name: "TOP"})  # type: ignore[arg-type]


@pytest.mark.parametrize("pairs", [("ADVP", "PRT"), (("ADVP", "PRT", "RP"),), (("ADVP",),)])
def test_what_is_no_pair(pairs: Any) -> None:
    with pytest.raises(ValueError, match=r"\[E358\] eq_labels takes pairs of strings"):
        EvalbParams(eq_labels=pairs)


def test_pairs_as_json_has_them() -> None:
    pairs: Any = [["ADVP", "PRT"]]
    assert EvalbParams(eq_labels=pairs) == EvalbParams(eq_labels=(("ADVP", "PRT"),))


def test_encoding_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "latin.prm"
    path.write_bytes("# Größe\nDELETE_LABEL É\n".encode())
    assert read_params(path).delete_labels == {"É"}
    path.write_bytes("# Größe\nCUTOFF_LEN 9\n".encode("latin-1"))
    assert read_params(path).cutoff_len == 9, "comments may be in any encoding"
    path.write_bytes("# Größe\nDELETE_LABEL É\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.prm:2: .E113. Bytes c9 are not valid utf-8"):
        read_params(path)

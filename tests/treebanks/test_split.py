"""Splits: the same each time, in proportion, blocks together."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spacy_parsetag.files.find import SourceFile, find_files
from spacy_parsetag.treebanks.split import read_split

FILE = SourceFile(Path("treebank/wsj/02/wsj_0201.mrg"), Path("treebank"))


@given(st.integers(0, 400), st.integers(0, 12))
def test_shares(n_trees: int, block: int) -> None:
    split = read_split("train=0.8,dev=.1,test=0.1", block)
    parts = [split.next_part(FILE, i) for i in range(n_trees)]
    counts = Counter(parts)
    for part, share in (("train", 0.8), ("dev", 0.1), ("test", 0.1)):
        assert block == 0 or abs(counts[part] - share * n_trees) <= 2 * block
    for start in range(0, n_trees, block or n_trees or 1):
        assert len(set(parts[start : start + (block or n_trees)])) == 1
    again = read_split("train=0.8,dev=.1,test=0.1", block)
    assert parts == [again.next_part(FILE, i) for i in range(n_trees)]


@pytest.mark.parametrize("all_trees, none", [("1.", "0."), ("1.0", "0.0"), ("1.", ".0")])
def test_a_number_with_a_point_is_a_share(all_trees: str, none: str) -> None:
    split = read_split(f"train={all_trees},dev={none}")
    assert {split.next_part(FILE, i) for i in range(20)} == {"train"}


def test_what_no_part_gets_is_left_out() -> None:
    split = read_split("train=0.5", 1)
    assert Counter(split.next_part(FILE, i) for i in range(100)) == {"train": 50, None: 50}


@pytest.mark.parametrize(
    "spec, part",
    [
        ("train=02..21,dev=22", "train"),
        ("train=03..21,dev=22", None),
        ("a=wsj_0200..wsj_0210", "a"),
        ("a=wsj_020..wsj_021", None),
        ("a=wsj_*1", "a"),
        ("a=*.mrg", None),
        ("a=22,b=99,a=02", "a"),
        ("a=treebank", None),
    ],
)
def test_names(spec: str, part: str) -> None:
    assert read_split(spec).next_part(FILE, 0) == part


@pytest.mark.parametrize(
    "spec", ["", ",", "train", "train=", "=0.5", "a=0.6,b=0.5", "a=0.5,a=0.1", "a=0.5,b=x", "a/b=0.1"]
)
def test_no_split(spec: str) -> None:
    with pytest.raises(ValueError, match=r"E105|E108"):
        read_split(spec)


def test_names_of_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They count from its wildcards on, as those of a folder do; of files in one folder, with that folder."""
    monkeypatch.chdir(tmp_path)
    for section in ("00", "02"):
        (tmp_path / "23" / "wsj" / section).mkdir(parents=True)
        (tmp_path / "23" / "wsj" / section / "a.mrg").touch()
    for pattern in (
        "23/wsj/*",
        "23/*",
        "23/wsj/*/*.mrg",
        "23/*/*/*.mrg",
        "23/wsj/**/*.mrg",
        "23/wsj/02/*",
        f"{tmp_path}/23/wsj/0?/a.mrg",
    ):
        files = find_files([pattern], suffixes=(".mrg",))
        parts = {file.names[-2]: read_split("train=02..21,test=23").next_part(file, 0) for file in files}
        assert parts["02"] == "train" and parts.get("00") is None, pattern
    assert find_files(["23/wsj/02/*"])[0].names == ("02", "a")
    (tmp_path / "broken.mrg").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="E030"):
        find_files(["*.mrg"])

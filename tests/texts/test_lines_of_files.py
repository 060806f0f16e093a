"""Lines of text files."""

from pathlib import Path
from typing import Any

import pytest

from spacy_parsetag.texts.input import Source, read_lines


def test_the_file_may_be_closed_first(tmp_path: Path) -> None:
    """The garbage collector frees a reader that an error left and its file in any order."""
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    lines: Any = read_lines(tmp_path / "a.txt")
    assert next(lines) == (f"{tmp_path / 'a.txt'}:1", "one\n")
    lines.gi_frame.f_locals["file"].close()
    lines.close()


def test_marks_of_byte_order(tmp_path: Path) -> None:
    """Files that were joined have several."""
    (tmp_path / "a.txt").write_text("\ufeffone\n\ufefftwo\nth\ufeffree\n", encoding="utf-8")
    assert [line for _, line in read_lines(tmp_path / "a.txt")] == ["one\n", "two\n", "th\ufeffree\n"]


@pytest.mark.parametrize(
    "line, data, error",
    [
        ('{"text": "a", "meta": [NaN]}', {}, "[E556] Cannot read this JSON: it has no number NaN"),
        ('{"text": "a", "meta": -Infinity}', {}, "[E556] Cannot read this JSON: it has no number -Infinity"),
        ('{"text": "a", "meta": 1e999}', {}, "[E556] Cannot read this JSON: it has no number 1e999"),
        ('{"tokens": ["a", ""], "id": 1}', {"text": "a ", "id": 1}, "[E553] Not a text to parse: a token is empty"),
        ('{"tokens": ["a", 1], "meta": {"b": 2}}', {"text": "a 1", "meta": {"b": 2}}, '"tokens" is not a list of'),
        ('{"text": "a\\u0000", "id": 0}', {"text": "a\0", "id": 0}, "[E555]"),
        ('{"text": "a", "tokens": null, "tags": null, "id": null}', {"text": "a"}, ""),
    ],
)
def test_json_that_is_no_text(tmp_path: Path, line: str, data: dict[str, Any], error: str) -> None:
    """What could be read goes to the output, with the reason."""
    (tmp_path / "a.jsonl").write_text(f"{line}\n", encoding="utf-8")
    (record,) = Source(tmp_path / "a.jsonl", "jsonl").read()
    assert record.data == (data or {"text": line}) and error in record.error and bool(record.error) == bool(error)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_one_wide_encoding_is_named_for_all_lines(tmp_path: Path, encoding: str, mark: str) -> None:
    """With the low byte first, zeros of a line break begin the next line."""
    (tmp_path / "a.txt").write_bytes(f"{mark}A dog barks.\r\n\r\nIt stops.\nGood bye.\n".encode(encoding))
    errors = [record.error for record in Source(tmp_path / "a.txt", "text").read() if record.error]
    names = [error.partition("iconv -f ")[2].partition(" ")[0] for error in errors]
    in_order = encoding.replace("-", "")
    assert len(names) >= 3 and names[0] == (in_order[:5] if mark else in_order) and {*names[1:]} == {in_order}

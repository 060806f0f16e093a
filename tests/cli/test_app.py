"""The commands as spaCy sees them."""

import errno
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import typer
from command_data import Run

from spacy_parsetag.cli._util import note, stated_errors, write_text
from spacy_parsetag.files.write import atomic_folder, atomic_path, refuse_overwrite
from spacy_parsetag.texts.output import open_output


def test_entry_point() -> None:
    (found,) = (each for each in entry_points(group="spacy_cli") if each.name == "parsetag")
    assert found.load().info.name == "parsetag"


@pytest.mark.parametrize("command", ["convert", "diff", "evaluate", "linearize", "parse"])
def test_help(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"parsetag {command} [OPTIONS]" in result.stdout


def test_import_is_light() -> None:
    """spaCy imports the commands whenever its command line starts."""
    code = (
        "import sys, spacy.cli; before = set(sys.modules); import spacy_parsetag.cli; new = set(sys.modules) - before; "
        "ours = {name for name in new if name.startswith('spacy_parsetag')}; "
        "others = {name for name in new - ours if name.partition('.')[0] not in {*before, *sys.stdlib_module_names}}; "
        "compiled = [name for name in ours if (sys.modules[name].__file__ or '').endswith(('.so', '.pyd'))]; "
        "print(others, compiled)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set() []"


def test_closed_standard_input_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it then
    with stated_errors():
        assert sys.stdin.read() == ""


def test_closed_standard_output_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(typer.Exit), stated_errors():
        write_text("She sings.")
    assert "'<stdout>'" in capsys.readouterr().err


def test_long_messages_are_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    note("The word " + "a" * 1_000_000 + " is too long.", "fail")
    shown = capsys.readouterr().err
    assert len(shown) < 2100 and "The word aaa" in shown and "aaa is too long." in shown


def test_pipes_are_written_to(tmp_path: Path) -> None:
    """As of `>(program)`, whose real path is no place."""
    if not Path("/dev/fd").is_dir():
        pytest.skip("no /dev/fd")
    out, into = os.pipe()
    with atomic_path(f"/dev/fd/{into}") as path:
        path.write_text("(TOP (NN a))")
    os.close(into)
    with os.fdopen(out) as file:
        assert file.read() == "(TOP (NN a))"


def test_errors_name_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    """Not the temporary one, which cannot be made where a folder may not be written to."""
    target = tmp_path / "none" / "trees.mrg"
    with pytest.raises(FileNotFoundError, match=r"trees\.mrg"), atomic_path(target) as temporary:
        temporary.touch()


def test_a_folder_comes_back_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "exported"
    target.mkdir()
    (target / "old").touch()

    def interrupt(path: Path, place: Path) -> Path:
        if path.name == "made":
            raise KeyboardInterrupt
        return rename(path, place)

    rename = Path.rename
    monkeypatch.setattr(Path, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt), atomic_folder(target) as folder:
        folder.mkdir()
    assert [path.name for path in tmp_path.iterdir()] == ["exported"] and (target / "old").exists()


def test_errors_name_the_file_on_a_disk_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the temporary file can neither be made nor removed."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    for method in ("touch", "unlink"):
        monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(OSError, match=r"trees\.mrg"), atomic_path(tmp_path / "trees.mrg") as temporary:
        temporary.touch()


@pytest.mark.parametrize("format", ["brackets", "jsonl", "json", "spacy", "parquet"])
def test_outputs_are_opened_before_texts_are_parsed(tmp_path: Path, format: str) -> None:
    """Where nothing can be written, the user learns it then."""
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with open_output(tmp_path / "out", format):
        assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]


def test_nothing_stays_beside_what_cannot_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows neither replaces nor removes a file that is read-only."""
    path = tmp_path / "out.mrg"
    path.touch(0o444)
    unlink = Path.unlink

    def refuse(*args: object) -> None:
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr("os.replace", refuse)
    monkeypatch.setattr(Path, "unlink", lambda self: unlink(self) if self.stat().st_mode & 0o200 else refuse())
    with pytest.raises(PermissionError, match=r"out\.mrg"), atomic_path(path) as temporary:
        temporary.write_text("(TOP)")
    assert [*tmp_path.iterdir()] == [path]


def test_outputs_that_are_inputs(tmp_path: Path) -> None:
    gold, new, folder = tmp_path / "gold.mrg", tmp_path / "new.mrg", tmp_path / "folder"
    folder.mkdir()
    for path in (gold, folder / "part.spacy"):
        path.touch()
    refuse_overwrite([new, None, Path("-"), Path(os.devnull), folder / "new.spacy"], [gold, folder, Path(os.devnull)])
    (tmp_path / "GOLD.mrg").hardlink_to(gold)  # another name of the file, as where case does not matter
    for outputs in ([gold], [new, new], [folder / ".." / "gold.mrg"], [folder / "part.spacy"], [tmp_path / "GOLD.mrg"]):
        with pytest.raises(ValueError, match=r"\[E032\]"):
            refuse_overwrite(outputs, [gold, folder])


def test_a_link_to_itself(tmp_path: Path) -> None:
    """Whoever reads it says that there is no such file."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    refuse_overwrite([tmp_path / "new.mrg"], [loop])
    refuse_overwrite([loop], [tmp_path / "old.mrg"])

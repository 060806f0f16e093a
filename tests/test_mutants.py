"""Mutants count as killed only where the tests pass without them."""

from pathlib import Path

import pytest

pytest.importorskip("resource", reason="there is none on Windows")

from tools import mutants


@pytest.mark.parametrize("outcomes", [["SURVIVED", "killed", "SURVIVED"], ["killed"], ["STOPPED"]])
def test_tests_pass_without_a_change(
    outcomes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "def double(x):\n    return x * 2\n"
    for name, text in (("spacy_parsetag/room/code.py", source), ("tests/room/test_code.py", "")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    runs = []

    def passes(folder: Path, tests: list[str]) -> str:
        assert tests == ["tests/room/test_code.py"]
        runs.append((folder / "spacy_parsetag" / "room" / "code.py").read_text())
        return outcomes[len(runs) - 1]

    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "preload", lambda: None)
    monkeypatch.setattr(mutants, "passes", passes)
    monkeypatch.setattr("sys.argv", ["mutants.py", "--count", "2"])
    if outcomes[0] == "SURVIVED":
        mutants.main()
        assert "2 mutants of seed 0 from 2, 1 survived" in capsys.readouterr().out
    else:
        with pytest.raises(SystemExit, match=r"Without a change, not all of these pass: tests/room/test_code\.py"):
            mutants.main()
    assert runs[0] == source and all(run != source for run in runs[1:])

"""The commands as spaCy sees them."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from command_data import Run


def test_entry_point() -> None:
    (found,) = (each for each in entry_points(group="spacy_cli") if each.name == "parsetag")
    assert found.load().info.name == "parsetag"


@pytest.mark.parametrize("command", ["convert", "evaluate", "linearize", "parse"])
def test_help(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"parsetag {command} [OPTIONS]" in result.stdout


def test_import_is_light() -> None:
    """spaCy imports the commands whenever its command line starts."""
    code = (
        "import sys, spacy.cli; before = set(sys.modules); import spacy_parsetag.cli; new = set(sys.modules) - before; "
        "print([name for name in new if not name.startswith('spacy_parsetag') or name.endswith(('_exact', '_spans'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""The page for benepar's users: its examples run as they stand and print what it says."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from thinc.api import fix_random_seed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "benepar.md"


@pytest.mark.usefixtures("clean_extensions")
def test_examples() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 6
    fix_random_seed(0)
    session: dict[str, Any] = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block, session)  # as a reader would paste it
        said = [line[2:] for line in block.splitlines() if line.startswith("# ")]
        assert printed.getvalue().splitlines() == said, block

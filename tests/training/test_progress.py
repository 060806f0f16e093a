"""The logger that says how far training is."""

import io

import pytest
import spacy
from spacy.language import Language

from spacy_parsetag.training import console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "max_steps, line", [(40, "Step 12 of 40: 3 minutes, at most 6 to go"), (0, "Step 12: 3 minutes")]
)
def test_a_line_a_minute(monkeypatch: pytest.MonkeyPatch, max_steps: int, line: str) -> None:
    """Twelve seconds a step, a check at the eighth: lines at the fourth and the twelfth, none on a terminal."""
    checks = []

    def inner(nlp: Language, stdout: object, stderr: object) -> tuple[object, object]:
        return checks.append, lambda: checks.append("end")

    nlp = spacy.blank("en")
    nlp.config["vars"] = {"steps": max_steps}
    nlp.config["training"]["max_steps"] = "${vars.steps}"
    for stderr, expected in ((io.StringIO(), 2), (Terminal(), 0)):
        seconds = iter(range(0, 1000, 12))
        monkeypatch.setattr(console.time, "monotonic", lambda: float(next(seconds)))  # noqa: B023
        log_step, finalize = console.make_progress_logger(inner)(nlp, io.StringIO(), stderr)  # type: ignore[arg-type]
        for step in range(14):
            log_step({"score": 1.0} if step == 7 else None)
        finalize()
        lines = stderr.getvalue().splitlines()
        assert len(lines) == expected and (not lines or lines[1] == line)
    assert checks[7] == {"score": 1.0} and checks[14] == "end"

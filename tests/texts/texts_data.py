"""What the tests of scale share."""

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Run = Callable[..., Result]
FORMATS = [("brackets", ".mrg"), ("jsonl", ".jsonl"), ("spacy", ".spacy"), ("parquet", ".parquet")]
TREES = """\
(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers))) (. .)))
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))
"""
# A component that writes down its process and each text it sees, and fails at some.
CODE = """
import os, time
from spacy.language import Language

@Language.component("texts_test_log")
def log(doc):
    if "PARSETAG_TEST_LOG" in os.environ:
        with open(os.environ["PARSETAG_TEST_LOG"], "ab") as file:
            file.write(f"{os.getpid()}\\t{doc.text}\\n".encode())
        time.sleep(float(os.environ.get("PARSETAG_TEST_SECONDS", 0)))
    if "boom" in doc.text:
        raise KeyError("boom")
    return doc
"""


def write_texts(path: Path, n: int, *, boom: int = -1) -> Path:
    """A file with so many short texts, one of which the component of `CODE` fails at."""
    path.write_text("".join(f"The dog {'boom' if i == boom else 'barks'} {i}.\n" for i in range(n)))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

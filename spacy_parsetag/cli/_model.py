"""Load a pipeline for a command, and find its parser."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Errors

if TYPE_CHECKING:
    from spacy.language import Language


def load_pipeline(name: str, *, gpu_id: int = -1, code: Path | None = None) -> "Language":
    """Load a pipeline.

    name (str): A package or a folder.
    gpu_id (int): The GPU, or -1 for none.
    code (Optional[Path]): Python file with registered functions that the pipeline needs.
    RETURNS (Language): The pipeline.
    RAISES (OSError): If there is none of that name.
    """
    from spacy.cli._util import import_code, setup_gpu
    from spacy.util import load_model

    import_code(code)
    setup_gpu(gpu_id, silent=True)
    return load_model(name)


def find_spans_key(nlp: "Language", name: str) -> str:
    """Where the pipeline's last parser puts constituents.

    nlp (Language): The pipeline.
    name (str): What to call it in the message.
    RETURNS (str): The key in doc.spans.
    RAISES (ValueError): If it has no parser.
    """
    for pipe in reversed(nlp.pipe_names):
        if nlp.get_pipe_meta(pipe).factory == "parsetag":
            return str(nlp.get_pipe(pipe).cfg["spans_key"])  # type: ignore[attr-defined]
    raise ValueError(Errors.E358.format(name=name, key="constituents", pipes=", ".join(nlp.pipe_names) or "none"))

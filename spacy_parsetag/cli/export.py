"""`python -m spacy parsetag export`: a pipeline that predicts without PyTorch."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument as Arg, Option as Opt

from ..texts.load import load_pipeline
from ._util import Code, note

ExportPrecision = Literal["float32", "int8"]


def export_cli(
    model: Annotated[str, Arg(metavar="PIPELINE", help="Trained pipeline: a package or a folder")],
    output: Annotated[Path, Arg(metavar="OUT", help="Folder to save the exported pipeline in")],
    precision: Annotated[
        ExportPrecision, Opt(help="float32: the same trees. int8: weights in a quarter of the space, and faster")
    ] = "int8",
    force: Annotated[bool, Opt("--force", "-F", help="Replace an exported pipeline, if OUT is one")] = False,
    code: Code = None,
) -> None:
    """Make of a trained pipeline one that predicts without PyTorch and transformers.

    A transformer and a BiLSTM become graphs for ONNX Runtime. All that listens to the transformer goes along. What
    comes out is a pipeline for `spacy.load`, `spacy package` and `parsetag parse`, which needs

    \b
      pip install "spacy-parsetag[onnx]"

    It cannot be trained: keep the one that it came from. To export, this command itself needs more:

    \b
      pip install "spacy-parsetag[export]"

    \b
    Examples:
      python -m spacy parsetag export training/model-best exported
      python -m spacy parsetag export training/model-best exported --precision float32
    """
    from ..pipeline.export import export_pipeline

    nlp = load_pipeline(model, -1, code)
    export_pipeline(nlp, output, precision, force=force)
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    note(f"{output}: {', '.join(nlp.pipe_names)} in {precision}, {size / 1e6:.1f} MB", "good")

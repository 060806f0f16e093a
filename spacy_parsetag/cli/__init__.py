"""The commands, `python -m spacy parsetag COMMAND`, advertised as an entry point. One file for each command."""

from ._app import parsetag_app
from .analyze import analyze_app
from .convert import convert_cli
from .evaluate import evaluate_cli
from .linearize import linearize_cli
from .parse import parse_cli

parsetag_app.command("convert")(convert_cli)
parsetag_app.command("linearize")(linearize_cli)
parsetag_app.command("parse")(parse_cli)
parsetag_app.command("evaluate")(evaluate_cli)
parsetag_app.add_typer(analyze_app)

__all__ = ["analyze_app", "convert_cli", "evaluate_cli", "linearize_cli", "parse_cli", "parsetag_app"]

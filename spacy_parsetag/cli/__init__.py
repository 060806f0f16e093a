"""Registers the commands of `python -m spacy parsetag`, an entry point. Each command has a file of its own.

spaCy imports this package whenever its command line starts. So it must not import what is slow to import, or may be
missing: compiled modules, NLTK, Matplotlib, SciPy, PyTorch.
"""

from collections.abc import Callable

import typer
from spacy.cli import app  # type: ignore[attr-defined]

from ._util import stated_errors
from .analyze import analyze_app
from .calibrate import calibrate_cli
from .complexity import complexity_cli
from .convert import convert_cli
from .diff import diff_cli
from .download import download_cli
from .evaluate import evaluate_cli
from .export import export_cli
from .init_config import init_config_cli
from .init_project import init_project_cli
from .linearize import linearize_cli
from .parse import parse_cli
from .search import search_cli
from .show import show_cli

HELP = """Constituency parsing: prepare treebanks, parse text, score trees.

To train and package a parser, use spaCy's own commands: python -m spacy train, python -m spacy package.
"""

# By name, with what the list of commands says of each.
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "convert": (convert_cli, "Convert treebanks to .spacy files."),
    "init-config": (init_config_cli, "Write a config that trains as it stands."),
    "init-project": (init_project_cli, "Write a spaCy project: convert, train, evaluate."),
    "linearize": (linearize_cli, "Write trees as tags, and tags as trees."),
    "parse": (parse_cli, "Parse text and write trees."),
    "show": (show_cli, "Draw trees: in the terminal, as SVG, as a page."),
    "search": (search_cli, "Find Tregex patterns in trees."),
    "complexity": (complexity_cli, "Measure the syntactic complexity of texts, as L2SCA."),
    "evaluate": (evaluate_cli, "Score trees, or a pipeline, as EVALB does."),
    "calibrate": (calibrate_cli, "Make the probabilities of a pipeline mean what they say."),
    "export": (export_cli, "Make a pipeline that predicts without PyTorch."),
    "download": (download_cli, "Install a trained pipeline."),
    "diff": (diff_cli, "Show where two files of trees differ."),
}

parsetag_app = typer.Typer(
    name="parsetag", help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
for _name, (_command, _short_help) in COMMANDS.items():
    parsetag_app.command(_name, short_help=_short_help)(stated_errors()(_command))
parsetag_app.add_typer(analyze_app)
app.add_typer(parsetag_app)

__all__ = ["parsetag_app"]

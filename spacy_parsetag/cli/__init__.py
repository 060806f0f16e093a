"""Registers the commands of `python -m spacy parsetag`, an entry point. Each command has a file of its own.

spaCy imports this package whenever its command line starts. So it must not import what is slow to import, or may be
missing: compiled modules, NLTK, Matplotlib, SciPy, PyTorch.
"""

import typer
from spacy.cli import app  # type: ignore[attr-defined]

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

parsetag_app = typer.Typer(
    name="parsetag", help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
parsetag_app.command("convert", short_help="Convert treebanks to .spacy files.")(convert_cli)
parsetag_app.command("init-config", short_help="Write a config that trains as it stands.")(init_config_cli)
parsetag_app.command("init-project", short_help="Write a spaCy project: convert, train, evaluate.")(init_project_cli)
parsetag_app.command("linearize", short_help="Write trees as tags, and tags as trees.")(linearize_cli)
parsetag_app.command("parse", short_help="Parse text and write trees.")(parse_cli)
parsetag_app.command("show", short_help="Draw trees: in the terminal, as SVG, as a page.")(show_cli)
parsetag_app.command("search", short_help="Find Tregex patterns in trees.")(search_cli)
parsetag_app.command("complexity", short_help="Measure the syntactic complexity of texts, as L2SCA.")(complexity_cli)
parsetag_app.command("evaluate", short_help="Score trees, or a pipeline, as EVALB does.")(evaluate_cli)
parsetag_app.command("calibrate", short_help="Make the probabilities of a pipeline mean what they say.")(calibrate_cli)
parsetag_app.command("export", short_help="Make a pipeline that predicts without PyTorch.")(export_cli)
parsetag_app.command("download", short_help="Install a trained pipeline.")(download_cli)
parsetag_app.command("diff", short_help="Show where two files of trees differ.")(diff_cli)
parsetag_app.add_typer(analyze_app)
app.add_typer(parsetag_app)

__all__ = ["parsetag_app"]

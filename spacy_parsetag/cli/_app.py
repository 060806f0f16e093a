"""`python -m spacy parsetag`."""

import typer
from spacy.cli import app

HELP = """Constituency parsing: convert treebanks, look at their tags, parse text, score trees.

Training and packaging are spaCy's own commands (python -m spacy train, python -m spacy package).
"""

parsetag_app = typer.Typer(name="parsetag", help=HELP, no_args_is_help=True, rich_markup_mode=None)
app.add_typer(parsetag_app)

"""`python -m spacy parsetag init-project`: a spaCy project that trains a parser, for those who installed a wheel."""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Arg

from ..errors import Errors
from ._util import note, stated_errors

# The repository's own project.yml and configs are links to these files.
PROJECT = Path(__file__).parent.parent / "project"


def init_project_cli(
    folder: Annotated[Path, Arg(help="Folder for project.yml and configs/, made if need be", file_okay=False)],
) -> None:
    """Write a spaCy project: convert a treebank, train, evaluate, parse and package.

    python -m spacy parsetag init-project parser

    python -m spacy project run all parser --vars.treebank FOLDER --vars.name mine
    """
    with stated_errors():
        files = [
            path.relative_to(PROJECT) for path in (PROJECT / "project.yml", *sorted(PROJECT.glob("configs/*.cfg")))
        ]
        for path in files:
            if (folder / path).exists():
                raise ValueError(Errors.E250.format(path=folder / path))
        for path in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes((PROJECT / path).read_bytes())
            note(str(folder / path), "good")
        trees = folder / "treebank"
        note(f"Next: train.mrg, dev.mrg and test.mrg into {trees}; python -m spacy project run all {folder}")

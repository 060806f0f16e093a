"""`python -m spacy parsetag init-project`: writes a spaCy project, for users who installed a wheel."""

from pathlib import Path
from typing import Annotated

from typer import Argument as Arg

from ..errors import Errors
from ._util import note

# The repository's own project.yml, configs and scripts are the same: `cp -r spacy_parsetag/project/. .` after a change.
PROJECT = Path(__file__).parent.parent / "project"


def init_project_cli(
    folder: Annotated[Path, Arg(metavar="FOLDER", file_okay=False, help="Folder to write to; need not exist")],
) -> None:
    """Write a spaCy project, with configs/ and scripts/: convert a treebank, train, evaluate, parse and package.

    \b
    Examples:
      python -m spacy parsetag init-project parser
      python -m spacy project run all parser --vars.treebank FOLDER --vars.name mine
    """
    sources = [PROJECT / "project.yml", *sorted(PROJECT.glob("configs/*.cfg")), PROJECT / "scripts" / "check.py"]
    targets = [folder / source.relative_to(PROJECT) for source in sources]
    for target in targets:
        if target.exists():
            raise ValueError(Errors.E450.format(path=target))
    for source, target in zip(sources, targets, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        note(str(target), "good")
    treebank = folder / "treebank"
    note(f"Next: put train.mrg, dev.mrg and test.mrg into {treebank}; python -m spacy project run all {folder}")

"""`python -m spacy parsetag generate`: draw the bundled synthetic treebank."""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Arg, Opt

from ._util import note, stated_errors


def generate_cli(
    out_dir: Annotated[
        Path,
        Arg(help="Folder for train.mrg, dev.mrg and test.mrg; older ones are replaced", file_okay=False),
    ],
    train: Annotated[int, Opt("--train", min=0, help="Number of training trees")] = 4000,
    dev: Annotated[int, Opt("--dev", min=0, help="Number of development trees")] = 500,
    test: Annotated[int, Opt("--test", min=0, help="Number of test trees")] = 500,
    seed: Annotated[int, Opt("--seed", "-s", help="Seed: the same one gives the same files on every machine")] = 0,
    grammar: Annotated[
        Path | None,
        Opt(
            "--grammar",
            "-g",
            help="Folder with a grammar.txt and lexicon files of your own",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Draw a synthetic English treebank from a weighted grammar.

    The sentences are made up by a program: good for trying a pipeline out and for tests, no measure of how well a
    parser does on real text. Each file has a tree a line; no sentence comes twice. The test and dev parts do not
    depend on the size of the training part.
    """
    # NLTK is slow to import, and this module is read whenever spaCy's command line starts.
    from ..synthetic import load_sampler, write_splits

    sizes = {"train": train, "dev": dev, "test": test}
    with stated_errors():
        paths = write_splits(out_dir, sizes, seed=seed, sampler=load_sampler(grammar))
    for name, path in paths.items():
        note(f"{sizes[name]:,} trees: {path}", "good")

"""One process of a run: a treebank becomes two .spacy files, and figures about its trees.

    python experiments/prepare.py TRAIN DEV OUTPUT --limit 1000

Where there is a limit, the sentences are taken at even distances: treebanks begin with one text or one year.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_parsetag.analysis.inventories import count_deviations, count_stacks, count_tags, sample
from spacy_parsetag.tokens.groups import parses_from_doc
from spacy_parsetag.treebanks.docfiles import DocFile
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.trees import Parse, binarize


def read_all(path: Path, arguments: argparse.Namespace) -> list[Parse]:
    """The sentences of a file that are not too long."""
    longest = arguments.max_length
    if path.suffix == ".spacy":
        docs = DocBin().from_disk(path).get_docs(Vocab())
        parses = [parse for doc in docs for _, parse in parses_from_doc(doc, "constituents")]
    else:
        parses = list(get_format(arguments.format).read_parses(path, encoding=arguments.encoding or None))
    return [parse for parse in parses if not longest or len(parse) <= longest]


def describe(path: Path, parses: Sequence[Parse], chosen: Sequence[Parse]) -> dict[str, Any]:
    """Figures about the chosen sentences of a file: tags, and by order how far tags stray, and the stack they need."""
    trees = [binarize(parse) for parse in chosen]
    strayed, stacks = count_deviations(trees), count_stacks(trees)
    return {
        "file": path.name,
        "sentences_in_file": len(parses),
        "sentences": len(chosen),
        "words": strayed.words,
        "tags": len(count_tags(trees).counts),
        "deviation": {order: strayed.mean(order) for order in strayed.counts},
        "stack": {order: stacks.needed(order) for order in stacks.counts},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--dev-limit", type=int, default=0)
    parser.add_argument("--max-length", type=int, default=0)
    parser.add_argument("--format", default="penn")
    parser.add_argument("--encoding", default="")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    figures = {}
    for part, path, limit in (
        ("train", arguments.train, arguments.limit),
        ("dev", arguments.dev, arguments.dev_limit),
    ):
        parses = read_all(path, arguments)
        chosen = sample(parses, limit)
        target = DocFile(arguments.output / f"{part}.spacy", Vocab())
        for parse in chosen:
            target.add(parse)
        target.write(target.path)
        figures[part] = describe(path, parses, chosen)
    srsly.write_json(arguments.output / "data.json", figures)


if __name__ == "__main__":
    main()

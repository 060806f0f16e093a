"""One process of a run: a treebank becomes two .spacy files, and figures about its trees.

    python experiments/prepare.py TRAIN DEV OUTPUT --limit 1000

Where there is a limit, the sentences are taken evenly from all of the file: treebanks begin with one text or one year.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_parsetag.analysis import count_deviations, count_stacks, count_tags
from spacy_parsetag.tokens.spans import parses_from_doc
from spacy_parsetag.treebanks.convert import DocFile
from spacy_parsetag.treebanks.files import SourceFile
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.treebanks.read import ReadOptions, read_parses
from spacy_parsetag.trees import Parse, binarize


def read_all(path: Path, arguments: argparse.Namespace) -> list[Parse]:
    """The sentences of a file that are not too long."""
    longest = arguments.max_length
    if path.suffix == ".spacy":
        docs = DocBin().from_disk(path).get_docs(Vocab())
        parses = [parse for doc in docs for _, parse in parses_from_doc(doc, "constituents")]
        return [parse for parse in parses if not longest or len(parse) <= longest]
    format = get_format(arguments.format)
    options = ReadOptions(format, format.clean, arguments.encoding or None, max_length=longest)
    return list(read_parses(SourceFile(path), options))


def spread(parses: list[Parse], limit: int) -> list[Parse]:
    """Some of the sentences, at even distances."""
    if not limit or limit >= len(parses):
        return parses
    return [parses[i * len(parses) // limit] for i in range(limit)]


def describe(parses: list[Parse]) -> dict[str, Any]:
    """Figures about trees, by order: tags, the stack each tree needs, and how far tags stray from their words."""
    trees = [binarize(parse) for parse in parses]
    strayed, stacks, inventory = count_deviations(trees), count_stacks(trees), count_tags(trees)
    orders = {
        order: {
            "mean_deviation": strayed.mean(order),
            "max_stack": stacks.needed(order),
            "deviations": {str(distance): n for distance, n in sorted(strayed.counts[order].items())},
            "stacks": {str(size): n for size, n in sorted(stacks.counts[order].items())},
        }
        for order in strayed.counts
    }
    return {"sentences": len(parses), "words": strayed.words, "tags": len(inventory.counts), "orders": orders}


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
        chosen = spread(parses, limit)
        target = DocFile(arguments.output / f"{part}.spacy", Vocab())
        for parse in chosen:
            target.add(parse)
        target.write(target.path)
        figures[part] = {"file": path.name, "sentences_in_file": len(parses), **describe(chosen)}
    (arguments.output / "data.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

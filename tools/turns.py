"""Lays out what the last trainings of the English pipelines read, from silver trees and treebanks.

    python -m tools.turns FOLDER SENTENCES RUNS CORRECTED --tagger PIPELINE --turns TURN...

FOLDER holds `speech`, direct speech (tools/speech.py), `singles`, silver trees of single sentences, and `runs`, the
same trees in runs of sentences (tools/silver.py). SENTENCES are treebanks' sentences, RUNS runs of them, CORRECTED is
what tools/corrected.py wrote. Each TURN becomes a folder in FOLDER:

    0       SENTENCES and direct speech
    1       these and the silver sentences
    2       SENTENCES, direct speech, and the silver sentences with an amount that ends in a unit (tools/repairs.py)
    3       SENTENCES, direct speech, and twice the silver sentences that a rule mended
    small   RUNS, direct speech and the first nine files of silver runs; tags that PIPELINE has not are left out, and
            those of direct speech

and where FOLDER has `dependencies` (tools/dependencies.py), of SENTENCES and RUNS what was annotated by hand alone:

    4       these SENTENCES, direct speech, the silver sentences that a rule mended, and `dependencies/singles`
    small-4 as `small`, of these RUNS, with `dependencies/runs`
    5       as `4`, with the corrected trees in place of what `4` has of these sentences
    small-5 as `small-4`, with the corrected trees

No turn has a sentence of CORRECTED's development part.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_parsetag.tokens.groups import SPANS_KEY

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.english import read, write
from tools.repairs import UNITS
from tools.silver import marks_of, without_marked

SMALL_FILES = 9


class File(NamedTuple):
    """A file of a turn.

    sources (Sequence[Path]): The files that its docs come from.
    takes (Callable[[Doc], bool]): Tells which of them.
    tags (Collection[str] | None): The tags that they keep; None for all.
    """

    name: str
    sources: Sequence[Path]
    takes: Callable[[Doc], bool] = lambda doc: True
    tags: Collection[str] | None = None

    def read(self, vocab: Vocab) -> Iterator[Doc]:
        for doc in filter(self.takes, read(self.sources, vocab)):
            yield doc if self.tags is None else with_tags(doc, self.tags)


def has_amount(doc: Doc) -> bool:
    """Tell whether a doc has an amount that ends in a unit."""
    return any(span.label_ == "QP" and span[-1].lower_ in UNITS for span in doc.spans[SPANS_KEY])


def is_mended(doc: Doc) -> bool:
    return bool(doc.user_data["mended"])


def is_by_hand(doc: Doc) -> bool:
    return bool(doc.user_data["by_hand"])


def with_tags(doc: Doc, tags: Collection[str]) -> Doc:
    """Leave out all tags of a doc but some."""
    for token in doc:
        if token.tag_ not in tags:
            token.tag_ = ""
    return doc


def lay_out(folder: Path, sentences: Path, runs: Path, tags: Collection[str]) -> dict[str, list[File]]:
    """List the files of each turn, but for corrected trees.

    tags (Collection[str]): Those of the small pipeline.
    """

    def files(name: str, **options: Any) -> list[File]:
        paths = sorted((folder / name).glob("*.spacy"))
        return [File(path.name, [path], **options) for path in paths] or [File(name, [])]

    def small(**options: Any) -> list[File]:
        gold = File("gold.spacy", [runs], tags=tags, **options)
        return [gold, *files("speech", tags=()), *files("runs")[:SMALL_FILES]]

    with_speech = [File(sentences.name, [sentences]), *files("speech")]
    silver = [path for file in files("singles") for path in file.sources]
    mended = File("mended.spacy", silver, is_mended)
    return {
        "0": with_speech,
        "1": [*with_speech, *files("singles")],
        "2": [*with_speech, File("amounts.spacy", silver, has_amount)],
        "3": [*with_speech, mended, mended._replace(name="mended-again.spacy")],
        "4": [with_speech[0]._replace(takes=is_by_hand), *with_speech[1:], mended, *files("dependencies/singles")],
        "small": small(),
        "small-4": [*small(takes=is_by_hand), *files("dependencies/runs", tags=tags)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("sentences", type=Path, metavar="SENTENCES")
    parser.add_argument("runs", type=Path, metavar="RUNS")
    parser.add_argument("corrected", type=Path, metavar="CORRECTED")
    parser.add_argument("--tagger", required=True, metavar="PIPELINE")
    parser.add_argument("--turns", required=True, nargs="+", metavar="TURN")
    args = parser.parse_args()
    vocab = spacy.blank("en").vocab
    tagger: Any = spacy.load(args.tagger).get_pipe("tagger")
    turns = lay_out(args.folder, args.sentences, args.runs, tagger.labels)
    train, dev = (args.corrected / f"corrected{part}.spacy" for part in ("", "-dev"))
    corrected = [File(train.name, [train], tags=tagger.labels)]
    turns["small-5"], turns["5"] = turns["small-4"] + corrected, turns["4"] + corrected
    held_out = marks_of([dev])
    anew = held_out | marks_of([train])
    for turn in args.turns:
        shutil.rmtree(args.folder / turn, ignore_errors=True)
        (args.folder / turn).mkdir()
        for file in turns[turn]:
            if not file.sources:
                raise SystemExit(f"{args.folder / file.name} has no .spacy files, and turn {turn} takes them.")
            excluded = anew if turn == "5" and [file] != corrected else held_out
            write(without_marked(file.read(vocab), excluded), args.folder / turn / file.name)


if __name__ == "__main__":
    main()

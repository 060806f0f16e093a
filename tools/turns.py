"""Lays out what the last trainings of the English pipelines read, from silver trees and treebanks.

    python -m tools.turns FOLDER SENTENCES RUNS --tagger PIPELINE

FOLDER holds `0`, direct speech (tools/speech.py), `1`, silver trees of single sentences, and `runs`, the same trees in
runs of sentences (tools/silver.py). SENTENCES are treebanks' sentences, RUNS runs of them. Written to it:

    0, 1    SENTENCES, and to 1 direct speech too
    2       SENTENCES, direct speech, and the silver sentences with an amount that ends in a unit (tools/repairs.py)
    3       SENTENCES, direct speech, and twice the silver sentences that a rule mended
    small   RUNS, direct speech and the first nine files of silver runs; tags that PIPELINE has not are left out, and
            those of direct speech

and where FOLDER has `dependencies` (tools/dependencies.py), of SENTENCES and RUNS what was annotated by hand alone:

    4       these SENTENCES, direct speech, the silver sentences that a rule mended, and `dependencies/singles`
    small-4 as `small`, of these RUNS, with `dependencies/runs`

and where it has `corrected` too (tools/corrected.py):

    5       as `4`, with the corrected trees in place of what `4` has of these sentences
    small-5 as `small-4`, with the corrected trees, and without their development part
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_parsetag.tokens.groups import SPANS_KEY
from spacy_parsetag.treebanks.docfiles import DOCBIN_ATTRS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.repairs import UNITS

SMALL_FILES = 9


def read(paths: Iterable[Path], vocab: Vocab) -> Iterator[Doc]:
    for path in paths:
        yield from DocBin().from_disk(path).get_docs(vocab)


def write(docs: Iterable[Doc], path: Path) -> None:
    DocBin(attrs=DOCBIN_ATTRS, docs=docs, store_user_data=True).to_disk(path)


def has_amount(doc: Doc) -> bool:
    """Tell whether a doc has an amount that ends in a unit."""
    return any(span.label_ == "QP" and span[-1].lower_ in UNITS for span in doc.spans[SPANS_KEY])


def by_hand(paths: Iterable[Path], vocab: Vocab) -> Iterator[Doc]:
    return (doc for doc in read(paths, vocab) if doc.user_data["by_hand"])


def letters(text: str) -> str:
    """The letters and digits of a sentence, whatever its quotes, dashes and case."""
    return "".join(filter(str.isalnum, text.lower()))


def without(docs: Iterable[Doc], excluded: set[str]) -> Iterator[Doc]:
    """Leave out docs with a sentence that is known by its letters."""
    return (doc for doc in docs if excluded.isdisjoint(letters(sentence.text) for sentence in doc.sents))


def with_tags(doc: Doc, tags: Iterable[str]) -> Doc:
    """Leave out all tags of a doc but some."""
    for token in doc:
        if token.tag_ not in tags:
            token.tag_ = ""
    return doc


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("sentences", type=Path, metavar="SENTENCES")
    parser.add_argument("runs", type=Path, metavar="RUNS")
    parser.add_argument("--tagger", required=True, metavar="PIPELINE")
    args = parser.parse_args()
    folder: Path = args.folder
    speech, silver = (
        sorted((folder / name).glob(f"{kind}-*.spacy")) for name, kind in (("0", "speech"), ("1", "silver"))
    )
    vocab = spacy.blank("en").vocab
    tagger: Any = spacy.load(args.tagger).get_pipe("tagger")
    for turn in ("0", "1", "2", "3", "small"):
        (folder / turn).mkdir(parents=True, exist_ok=True)
        if turn != "small":
            shutil.copy(args.sentences, folder / turn)
    for path in speech:
        for turn in "123":
            shutil.copy(path, folder / turn)
        write((with_tags(doc, ()) for doc in read([path], vocab)), folder / "small" / path.name)
    write(filter(has_amount, read(silver, vocab)), folder / "2" / "amounts.spacy")
    mended = folder / "3" / "mended.spacy"
    write((doc for doc in read(silver, vocab) if doc.user_data["mended"]), mended)
    shutil.copy(mended, mended.with_stem("mended-again"))
    write((with_tags(doc, tagger.labels) for doc in read([args.runs], vocab)), folder / "small" / "gold.spacy")
    for path in sorted((folder / "runs").glob("*.spacy"))[:SMALL_FILES]:
        shutil.copy(path, folder / "small")
    dependencies = folder / "dependencies"
    if not dependencies.is_dir():
        return
    for turn, base in (("4", "3"), ("small-4", "small")):
        shutil.copytree(folder / base, folder / turn, dirs_exist_ok=True)
    (folder / "4" / "mended-again.spacy").unlink()
    write(by_hand([args.sentences], vocab), folder / "4" / args.sentences.name)
    write((with_tags(doc, tagger.labels) for doc in by_hand([args.runs], vocab)), folder / "small-4" / "gold.spacy")
    for path in sorted((dependencies / "singles").glob("*.spacy")):
        shutil.copy(path, folder / "4")
    for path in sorted((dependencies / "runs").glob("*.spacy")):
        write((with_tags(doc, tagger.labels) for doc in read([path], vocab)), folder / "small-4" / path.name)
    corrected, dev = (folder / "corrected" / f"corrected{part}.spacy" for part in ("", "-dev"))
    if not corrected.is_file():
        return
    in_dev, in_both = ({letters(doc.text) for doc in read(paths, vocab)} for paths in ([dev], [corrected, dev]))
    for turn, base, excluded in (("5", "4", in_both), ("small-5", "small-4", in_dev)):
        shutil.copytree(folder / base, folder / turn, dirs_exist_ok=True)
        for path in sorted((dependencies / "runs").glob("*.spacy")):
            of_dependencies = folder / turn / path.name
            write(without(read([of_dependencies], vocab), excluded), of_dependencies)
        write((with_tags(doc, tagger.labels) for doc in read([corrected], vocab)), folder / turn / corrected.name)


if __name__ == "__main__":
    main()

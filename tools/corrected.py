"""Sentences whose trees were corrected, for the last trainings of the English pipelines.

    python -m tools.corrected TREES TREEBANKS TEXTS OUTPUT

TREES, models/corrected, has trees of reviews, forums, dialogues, fiction and law without their words, a JSON line for
each sentence:

    part         train or dev; all new sentences of a document are of one
    document     a file of the English Web Treebank in TREEBANKS, or of TEXTS, which tools/texts.py makes
    at           the number of the sentence in it, or its first character and its end
    digest       of its words
    tree         in Penn brackets, with "_" for each word

Written to OUTPUT:

    corrected.spacy      the training part, each sentence three times: as it is, and twice as others would have typed it
    corrected-dev.spacy  the development part, one sentence a doc

A sentence that is not found, or has other words, is an error. `en_parsetag_trf` drew the trees, and a large language
model, which read each sentence and followed the Penn Treebank's guidelines (Bies et al. 1995), corrected them.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import spacy
import srsly

from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.english import DASHES, QUOTES, Sentence, Text, make_doc, read_conllu, vary, write

COPIES = 2  # beside the sentence as it is


def digest(words: Sequence[str]) -> str:
    """Tell sentences with other words apart, without keeping the words."""
    return hashlib.sha1(" ".join(words).encode(), usedforsecurity=False).hexdigest()[:12]


class Sources:
    """Finds sentences in the English Web Treebank and in texts.

    treebanks, texts (Path): The folders.
    """

    def __init__(self, treebanks: Path, texts: Path) -> None:
        self.nlp = spacy.blank("en")
        sources = treebanks / "ewt" / "not-to-release" / "sources"
        self._conllu = cache(lambda document: list(read_conllu(sources / document)))
        self._text = cache(lambda document: (texts / document).read_text(encoding="utf8"))

    def find(self, document: str, at: int | Sequence[int]) -> tuple[list[str], list[bool]]:
        """Find the words of a sentence, and whether a space follows each."""
        if isinstance(at, int):
            text: Text = self._conllu(document)[at]
            return text.words, text.spaces
        tokens = [token for token in self.nlp.make_doc(self._text(document)[slice(*at)]) if not token.is_space]
        return [token.text for token in tokens], [bool(token.whitespace_) for token in tokens]


def read_corrected(path: Path, sources: Sources) -> Iterator[tuple[str, Sentence]]:
    """Read the sentences of a file of trees without words: part and sentence of each."""
    lines: Iterator[dict[str, Any]] = srsly.read_jsonl(path)
    for number, line in enumerate(lines, 1):
        words, spaces = sources.find(line["document"], line["at"])
        (tree,) = read_string(line["tree"])
        parse = Parse.from_tree(tree)
        if digest(words) != line["digest"] or len(words) != len(parse):
            raise SystemExit(f"{path}:{number}: {line['document']} has other words at {line['at']}. Make it anew.")
        yield line["part"], Sentence(replace(parse, words=tuple(words)), spaces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, metavar="TREES")
    parser.add_argument("treebanks", type=Path, metavar="TREEBANKS")
    parser.add_argument("texts", type=Path, metavar="TEXTS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    args = parser.parse_args()
    nlp, rng = spacy.blank("en"), random.Random(0)
    parts: dict[str, list[Sentence]] = {"train": [], "dev": []}
    sources = Sources(args.treebanks, args.texts)
    for path in sorted(args.trees.glob("*.jsonl")):
        for part, sentence in read_corrected(path, sources):
            parts[part].append(sentence)
    if not parts["train"]:
        raise SystemExit(f"{args.trees} has no trees: give the folder with the .jsonl files, models/corrected.")
    varied = [
        vary(sentence, rng, rng.choice(QUOTES), rng.choice("'’"), rng.choice(DASHES))
        for _ in range(COPIES)
        for sentence in parts["train"]
    ]
    args.output.mkdir(parents=True, exist_ok=True)
    for name, sentences in (("corrected", parts["train"] + varied), ("corrected-dev", parts["dev"])):
        docs = (make_doc(nlp, [sentence], spaces=False, paragraphs=False) for sentence in sentences)
        write(docs, args.output / f"{name}.spacy")


if __name__ == "__main__":
    main()

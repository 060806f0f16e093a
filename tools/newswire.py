"""Sentences of newswire in the tokens of the Penn Treebank: raw text for self-training (`tools/self_training.py`).

    python -m tools.newswire SOURCE OUTPUT --exclude TREES

SOURCE is a folder with the .sgm files of Reuters-21578, Distribution 1.0, which its owners made available for research
only (http://www.daviddlewis.com/resources/testcollections/reuters21578/). It is nothing that we distribute. OUTPUT gets
a sentence a line, words with spaces between them, in random order. Headlines, tables and what does not end like a
sentence are left out, and each sentence that shares eight words in a row with a tree of TREES, files of brackets: the
part that is scored must be among them. `en_parsetag_sm` finds the sentences.
"""

import argparse
import html
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import spacy
from nltk.tokenize import NLTKWordTokenizer

from spacy_parsetag.files.find import find_files
from spacy_parsetag.treebanks.formats.table import get_format

SENTENCES = 12_000  # at most
SHARED = 8  # words in a row that make a sentence another text's
BODY = re.compile(r"<BODY>(.*?)</BODY>", re.S)
ENDING = re.compile(r"\s*Reuter\s*$", re.I)
PARAGRAPH = re.compile(r"\n {2,}")  # its first line is indented


def read_paragraphs(path: Path) -> Iterator[str]:
    """The paragraphs of each article of a file, without tables, which are indented more than once or full of blanks."""
    for body in BODY.findall(path.read_text(encoding="latin1")):
        text = ENDING.sub("", re.sub(r"&#\d+;", "", html.unescape(body).replace("\x03", "")))
        for block in PARAGRAPH.split(text):
            if not re.search(r"\S {2,}\S", block):
                yield " ".join(block.split())


def is_sentence(words: list[str]) -> bool:
    """Check that words read like a sentence: first a capital or a quote, last a stop, and most of them words."""
    letters = sum(word.isalpha() for word in words)
    return (
        len(words) > 3
        and words[-1] in (".", "?", "!", "''")
        and (words[0][0].isupper() or words[0] == "``")
        and letters >= 0.6 * len(words)
        and not any(len(word) > 30 or "<" in word or ">" in word for word in words)
    )


def grams(words: list[str]) -> Iterator[tuple[str, ...]]:
    lower = [word.lower() for word in words]
    return (tuple(lower[i : i + SHARED]) for i in range(len(lower) - SHARED + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--exclude", type=Path, nargs="+", required=True, metavar="TREES", help="files of brackets")
    parser.add_argument("--splitter", default="en_parsetag_sm", help="a pipeline that finds sentences")
    args = parser.parse_args()
    excluded = {
        gram
        for file in find_files(args.exclude)
        for parse in get_format("penn").read_parses(file.path)
        for gram in grams(list(parse.words))
    }
    paths = sorted(args.source.glob("*.sgm"))
    if not paths:
        raise SystemExit(f"{args.source} has no .sgm file. Fetch Reuters-21578 and give the folder that holds them.")
    paragraphs = [paragraph for path in paths for paragraph in read_paragraphs(path)]
    random.Random(0).shuffle(paragraphs)
    splitter = spacy.load(args.splitter, exclude=["tagger", "parsetag"])
    tokenize = NLTKWordTokenizer().tokenize
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with args.output.open("w", encoding="utf-8") as file:
        for doc in splitter.pipe(paragraphs):
            for sentence in doc.sents:
                words = tokenize(sentence.text.strip())
                line = " ".join(words)
                reason = (
                    "no sentence" if not is_sentence(words)
                    else "twice" if line in seen
                    else "in a tree" if any(gram in excluded for gram in grams(words))
                    else "written"
                )  # fmt: skip
                seen.add(line)
                counts[reason] += 1
                if reason == "written":
                    file.write(f"{line}\n")
            if counts["written"] >= SENTENCES:
                break
    sys.stdout.write(f"{args.output}: {dict(counts)}\n")


if __name__ == "__main__":
    main()

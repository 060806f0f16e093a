"""Open English text for `tools/silver.py`: what its sources are, their terms, and how each becomes plain text.

    python -m tools.texts SOURCES OUTPUT

SOURCES is a folder with a folder for each entry of `KINDS` that is there: unpacked packages of NLTK's data, OpenStax
books at a commit whose LICENSE is CC BY 4.0 (later ones are not), transcripts of the Supreme Court of the United States
in PDF (which takes `pip install pypdf`), and files of data sets. OUTPUT gets one .txt file for each document, with an
empty line between paragraphs. Documents are taken in random order until a source has its number of words.
"""

import argparse
import csv
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from spacy_parsetag.tokens.spaces import spaces_after

Documents = Iterator[list[str]]  # the paragraphs of each

# Of MASC: parts of the Penn Treebank, and what is hardly prose.
MASC_LEFT_OUT = re.compile(r"wsj_|sw\d|tweets|Bed012|Bmr021")
CNXML_LEFT_OUT = {"exercise", "figure", "footnote", "link", "list", "math", "media", "metadata", "note", "table"}
SPEAKER = re.compile(r"^\s*(?:(?:MR|MS|MRS|GENERAL|JUSTICE|CHIEF JUSTICE)\.? [A-Z' ]+|QUESTION):", re.M)


def join(words: list[str]) -> str:
    return "".join(word + " " * space for word, space in zip(words, spaces_after(words), strict=True)).strip()


def read_masc(folder: Path) -> Documents:
    for path in sorted(folder.glob("*/*.txt")):
        if not MASC_LEFT_OUT.match(path.name):
            text = path.read_text(encoding="utf8", errors="replace")
            blocks = [[pair.rpartition("_")[0] for pair in block.split()] for block in text.split("\n\n")]
            yield [join(words) for words in blocks]


def read_plain(folder: Path) -> Documents:
    """Speeches of the last sixty years."""
    for path in sorted(folder.glob("*.txt")):
        if path.name >= "1961":
            lines = path.read_text(encoding="latin1").split("\n")
            yield [re.sub(r"\[[^]]*\]|\((?:Applause|Laughter)[^)]*\)", "", line) for line in lines if len(line) > 60]


def read_openstax(folder: Path) -> Documents:
    """The paragraphs of each section of each book."""
    namespace = "{http://cnx.rice.edu/cnxml}"
    for path in sorted(folder.glob("*/modules/*/index.cnxml")):
        body = ElementTree.parse(path).getroot().find(f"{namespace}content")

        def text_of(node: ElementTree.Element) -> str:
            own = [node.text or ""]
            for child in node:
                left_out = child.tag.removeprefix(namespace) in CNXML_LEFT_OUT
                own += ["" if left_out else text_of(child), child.tail or ""]
            return "".join(own)

        def paragraphs(node: ElementTree.Element) -> Iterator[str]:
            for child in node:
                name = child.tag.removeprefix(namespace)
                if name == "para":
                    yield re.sub(r"\s*\(\s*\)", "", " ".join(text_of(child).split()))  # where a figure was named
                elif name not in CNXML_LEFT_OUT:
                    yield from paragraphs(child)

        if body is not None:
            yield list(paragraphs(body))


def read_court(folder: Path) -> Documents:
    """What was said in each argument, without the index."""
    import pypdf

    for path in sorted(folder.glob("*.pdf")):
        pages = [page.extract_text() for page in pypdf.PdfReader(path).pages]
        lines = [line.strip() for page in pages for line in page.split("\n")]
        text = "\n".join(line for line in lines if line and not re.fullmatch(r"\d+|Official.*|Heritage.*", line))
        _, *spoken = SPEAKER.split(text.partition("P R O C E E D I N G S")[2].partition("was submitted")[0])
        yield [re.sub(r"\(.*?\)", "", " ".join(turn.split())).replace(" -- ", " – ") for turn in spoken]


def read_wiki_split(folder: Path) -> Documents:
    """Single sentences."""
    for path in sorted(folder.glob("*.tsv")):
        with path.open(encoding="utf8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            sentences = [re.sub(r"(?<=\w) - (?=\w)", "-", row[0].replace("''", '"')) for row in rows]
        for i in range(0, len(sentences), 50):
            yield [join(sentence.split()) for sentence in sentences[i : i + 50]]


def read_qed(folder: Path) -> Documents:
    for path in sorted(folder.glob("*.jsonlines")):
        for line in path.read_text(encoding="utf8").splitlines():
            words = json.loads(line)["paragraph_text"].replace("``", '"').replace("''", '"').replace(" - ", "-").split()
            yield [join(words)]


def read_taskmaster(folder: Path) -> Documents:
    for path in sorted(folder.glob("*.json")):
        for dialog in json.loads(path.read_text(encoding="utf8")):
            yield [turn["text"] for turn in dialog["utterances"] if turn["text"]]


class Source(NamedTuple):
    read: Callable[[Path], Documents]
    words: int  # at most
    terms: str
    url: str


KINDS = {
    "masc": Source(
        read_masc,
        600_000,
        "free for research and development, including commercial",
        "https://github.com/nltk/nltk_data (masc_tagged)",
    ),
    "state_union": Source(read_plain, 200_000, "public domain", "https://github.com/nltk/nltk_data"),
    "inaugural": Source(read_plain, 50_000, "public domain", "https://github.com/nltk/nltk_data"),
    "openstax": Source(read_openstax, 550_000, "CC BY 4.0", "https://github.com/openstax"),
    "court": Source(read_court, 150_000, "public domain", "https://github.com/joyce-john/supreme_court_oral_arguments"),
    "wiki_split": Source(
        read_wiki_split, 200_000, "CC BY-SA 4.0", "https://github.com/google-research-datasets/wiki-split"
    ),
    "qed": Source(read_qed, 150_000, "CC BY-SA 3.0", "https://github.com/google-research-datasets/QED"),
    "taskmaster": Source(
        read_taskmaster, 30_000, "CC BY 4.0", "https://github.com/google-research-datasets/Taskmaster (TM-4)"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name, source in KINDS.items():
        documents = list(source.read(args.sources / name))
        random.Random(args.seed).shuffle(documents)
        n_words = n_documents = 0
        for paragraphs in documents:
            if n_words >= source.words:
                break
            text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip())
            (args.output / f"{name}-{n_documents:04}.txt").write_text(text + "\n", encoding="utf8")
            n_words, n_documents = n_words + len(text.split()), n_documents + 1
        sys.stdout.write(f"{name}: {n_words:,} words of {n_documents:,} documents; {source.terms}; {source.url}\n")


if __name__ == "__main__":
    main()

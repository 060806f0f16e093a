"""Open English text for `tools/silver.py`: what its sources are, their terms, and how each becomes plain text.

    python -m tools.texts SOURCES OUTPUT

SOURCES is a folder that the repositories of `SOURCES` are fetched to, as far as they are not there: packages of NLTK's
data, OpenStax books, transcripts of the Supreme Court of the United States in PDF (which takes `pip install pypdf`),
data sets of Wikipedia and of dialogues. OUTPUT gets one .txt file for each document, with an empty line between
paragraphs. Documents are taken in random order until a source has its number of words.
"""

import argparse
import csv
import json
import random
import re
import shutil
import subprocess
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
    for path in sorted(folder.glob("masc_tagged/*/*.txt")):
        if not MASC_LEFT_OUT.match(path.name):
            text = path.read_text(encoding="utf8", errors="replace")
            blocks = [[pair.rpartition("_")[0] for pair in block.split()] for block in text.split("\n\n")]
            yield [join(words) for words in blocks]


def read_speeches(folder: Path) -> Documents:
    """Speeches of the last sixty years."""
    for path in sorted(folder.glob("*/*.txt")):
        if path.name >= "1961":
            lines = path.read_text(encoding="latin1").split("\n")
            yield [re.sub(r"\[[^]]*\]|\((?:Applause|Laughter)[^)]*\)", "", line) for line in lines if len(line) > 60]


def read_openstax(folder: Path) -> Documents:
    """The paragraphs of each section of a book."""
    namespace = "{http://cnx.rice.edu/cnxml}"
    for path in sorted(folder.glob("modules/*/index.cnxml")):
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


def spoken_turns(pages: list[str]) -> list[str]:
    """What was said in an argument, without numbers of lines, names of speakers and the index."""
    lines = [line.strip() for page in pages for line in page.split("\n")]
    text = "\n".join(line for line in lines if line and not re.fullmatch(r"\d+|Official.*|Heritage.*", line))
    _, *turns = SPEAKER.split(text.partition("P R O C E E D I N G S")[2].partition("was submitted")[0])
    return [re.sub(r"\(.*?\)", "", " ".join(turn.split())).replace(" -- ", " – ") for turn in turns]


def read_court(folder: Path) -> Documents:
    import pypdf

    for path in sorted(folder.rglob("*.pdf")):
        yield spoken_turns([page.extract_text() for page in pypdf.PdfReader(path).pages])


def read_wiki_split(folder: Path) -> Documents:
    """Single sentences."""
    for path in sorted(folder.glob("t*.tsv")):
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
    for path in sorted(folder.rglob("data_*.json")):
        for dialog in json.loads(path.read_text(encoding="utf8")):
            yield [turn["text"] for turn in dialog["utterances"] if turn["text"]]


class Source(NamedTuple):
    """Where text comes from, its terms, and how much of it is taken.

    repository (str): On GitHub, with the commit.
    path (str): Of what is used in it.
    """

    repository: str
    commit: str
    path: str
    terms: str
    words: int
    read: Callable[[Path], Documents]


NLTK = ("nltk/nltk_data", "5db857e6f7df11eabb5e5665836db9ec8df07e28")
MASC_TERMS = "free for research and development, including commercial"
CASES = ("joyce-john/supreme_court_oral_arguments", "386c13e03b1ca63dc6e29b7ab76dd30362b19229")
GOOGLE = "google-research-datasets"
# The last commits of these books under CC BY 4.0.
BOOKS = {
    "american-government": "5c90dd7907dbf25f42266417e63ca3bb0012f031",
    "entrepreneurship": "c1fa2c872ba07dc864c3aeb5a510b08b4f657288",
    "introduction-anthropology": "418eedd9bef21ec1a6fa1b472c0d82c084e35c70",
    "introduction-philosophy": "d7bd4f0f520529b3ad83272448a9c2be25c9040a",
    "psychology": "e061043bf2f9e86ace51c4e8dc9555160f60a99d",
    "us-history": "046331cfcea0ac1b1a8fd461b3e6aae638845af3",
}
SOURCES = {
    "masc": Source(*NLTK, "packages/corpora/masc_tagged.zip", MASC_TERMS, 600_000, read_masc),
    "state_union": Source(*NLTK, "packages/corpora/state_union.zip", "public domain", 200_000, read_speeches),
    "inaugural": Source(*NLTK, "packages/corpora/inaugural.zip", "public domain", 50_000, read_speeches),
    "court": Source(*CASES, "data/raw/2019_cases/1*.pdf", "public domain", 150_000, read_court),
    "wiki_split": Source(
        f"{GOOGLE}/wiki-split",
        "80f5bddf42d1a68201b7b107ee4b8d86d82e9fde",
        "t*.tsv",
        "CC BY-SA 4.0",
        200_000,
        read_wiki_split,
    ),
    "qed": Source(
        f"{GOOGLE}/QED",
        "2492920337122918bbfc7d12c1268b9af796c6cf",
        "qed-dev.jsonlines",
        "CC BY-SA 3.0",
        150_000,
        read_qed,
    ),
    "taskmaster": Source(
        f"{GOOGLE}/Taskmaster",
        "d92cb6af3005f1dc09c39e75e7daf4a04905e00b",
        "TM-4-2024/data/data_00.json",
        "CC BY 4.0",
        30_000,
        read_taskmaster,
    ),
    **{
        book: Source(f"openstax/osbooks-{book}", commit, "modules", "CC BY 4.0", 100_000, read_openstax)
        for book, commit in BOOKS.items()
    },
}


def fetch(source: Source, folder: Path, base: str) -> None:
    """Check out what is used of a source."""
    git = ["git", "-C", str(folder)]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run([*git, "remote", "add", "origin", f"{base}/{source.repository}"], check=True)
    subprocess.run([*git, "fetch", "-q", "--depth=1", "--filter=blob:none", "origin", source.commit], check=True)
    subprocess.run([*git, "checkout", "-q", source.commit, "--", source.path], check=True)
    if source.path.endswith(".zip"):
        shutil.unpack_archive(folder / source.path, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--base", default="https://github.com", help="where the repositories are")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        folder = args.sources / name
        if not folder.exists():
            fetch(source, folder, args.base)
        documents = list(source.read(folder))
        random.Random(args.seed).shuffle(documents)
        n_words = n_documents = 0
        for paragraphs in documents:
            if n_words >= source.words:
                break
            text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip())
            (args.output / f"{name}-{n_documents:04}.txt").write_text(text + "\n", encoding="utf8")
            n_words, n_documents = n_words + len(text.split()), n_documents + 1
        terms = f"{source.terms}; https://github.com/{source.repository}"
        sys.stdout.write(f"{name}: {n_words:,} words of {n_documents:,} documents; {terms}\n")


if __name__ == "__main__":
    main()

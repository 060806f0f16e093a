"""Texts whose sentence boundaries are known, to train the component that finds sentences.

    python -m tools.boundaries SENTENCES TEXTS OUTPUT

SENTENCES are docs of successive sentences of treebanks with their spaces (tools/english.py). Some are laid out anew, as
lines, as lists and in lines of equal width. TEXTS are .txt files of edited prose (tools/texts.py), with an empty line
between paragraphs. Treebanks that may be used have little direct speech; in edited prose a rule tells where its
sentences end: at a full stop, question mark or exclamation mark with the quotation mark behind it, unless the text goes
on in lower case ("Is it?" she said), or with a name and a verb of speech ("Is it?" Kim asked), or a title or an
initial is before the full stop. Paragraphs where the rule is not certain are left out. Of all that is laid out, a
quarter has the line ends of Windows. OUTPUT is a .spacy file.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_parsetag.tokens.sentences import set_sentence_starts

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.english import read, write

END = re.compile(r"(?P<stop>[.?!…]+)(?P<quote>[”’\"')\]]*)\s+(?=(?P<next>\S+(?:\s+\S+){0,3}))")
TITLE = re.compile(r"(?:^|[\s“‘\"'(])(?:Mr|Mrs|Ms|Dr|Prof|Rev|Hon|Capt|Col|Gen|Maj|Lieut|Lt|Sgt|St|Mme|Mlle|M|[A-Z])$")
ABBREVIATION = re.compile(r"(?:^|[\s“‘\"'(])(?:Jr|Sr|Esq|No|Vol|etc|vs|viz|Co|Inc|Ltd|[ei]\.[ge]|\w\.\w)$")
REPORT = re.compile(
    r"(?:(?:Mr|Mrs|Miss|Dr|Sir|Lady|Lord|Aunt|Uncle|Captain)\.?\s+)?[A-Z]\w*\s+(?:\w+ly\s+)?(?:said|asked|cried|replied|"
    r"answered|exclaimed|inquired|demanded|shouted|whispered|murmured|repeated|called|suggested|added|observed|remarked)\b"
)
PRONOUNS = {"He", "She", "They", "We", "It", "You", "This", "That", "Nobody", "Everybody"}
MARKERS = ["- ", "* ", "• ", "{}. ", "{}) ", "({}) "]


def split(paragraph: str) -> list[str] | None:
    """Cut a paragraph of edited prose into sentences; None where the rule is not certain."""
    cuts = [0]
    for match in END.finditer(paragraph):
        before = paragraph[: match.start()]
        following = match["next"]
        if match["stop"] == "." and ABBREVIATION.search(before):
            return None
        if match["stop"] == "." and not match["quote"] and TITLE.search(before):
            continue
        if following.lstrip("“‘\"'([—–-")[:1].islower():
            if match["stop"] == "." and not match["quote"]:
                return None
            continue
        if match["quote"] and REPORT.match(following):
            if following.split()[0] in PRONOUNS:
                return None
            if match["stop"] != ".":
                continue
        cuts.append(match.end())
    return [paragraph[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(paragraph)], strict=True)]


def straighten(text: str) -> str:
    return re.sub("[“”]", '"', re.sub("[‘’]", "'", text))


def write_out(sentences: Sequence[str], rng: random.Random, layout: str) -> list[str]:
    """The sentences, each with what stands before it and the white space behind it."""
    if layout in ("lines", "list"):
        marker = rng.choice(MARKERS) if layout == "list" else ""
        stops = rng.choice([".", ""])  # that each line loses
        return [marker.format(i) + sentence.rstrip(stops) + "\n" for i, sentence in enumerate(sentences, start=1)]
    width = rng.randint(50, 78) if layout == "wrapped" else sys.maxsize
    column = 0
    pieces = []
    for sentence in sentences:
        words = []
        for word in sentence.split(" "):
            column += len(word) + 1
            words.append(word + (" " if column <= width else "\n"))
            column = column if column <= width else 0
        pieces.append("".join(words))
    return pieces


def with_line_ends(layouts: Iterable[list[str]], rng: random.Random) -> Iterator[list[str]]:
    """Give a quarter of the texts the line ends of Windows."""
    for pieces in layouts:
        end = "\r\n" if rng.random() < 0.25 else "\n"
        yield [piece.replace("\n", end) for piece in pieces]


def doc_of_pieces(nlp: Language, pieces: Sequence[str]) -> Doc:
    """Make a doc of successive sentences, each with its white space, as spaCy cuts it."""
    doc = nlp.make_doc("".join(pieces))
    starts = set(accumulate(map(len, pieces), initial=0))
    set_sentence_starts(doc, [token.i for token in doc if token.idx in starts and not token.is_space])
    return doc


def laid_out(docs: Sequence[Doc], rng: random.Random) -> Iterator[list[str]]:
    """Some of the docs' sentences, in another layout."""
    for doc in docs:
        sentences = [" ".join(sentence.text.split()) for sentence in doc.sents]
        chance = rng.random()
        if chance < 0.24 and all(sentences):
            yield write_out(sentences, rng, "lines" if chance < 0.08 else "list" if chance < 0.11 else "wrapped")


def prose(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Successive paragraphs of edited prose, one to four together."""

    def draw() -> tuple[int, str, bool]:
        return rng.randint(1, 4), rng.choice(["", "", "wrapped"]), rng.random() < 0.5

    for path in sorted(folder.glob("*.txt")):
        pieces: list[str] = []
        n_left, layout, straight = draw()
        for block in path.read_text(encoding="utf8").split("\n\n"):
            sentences = split(" ".join(block.split()))
            if sentences is not None and all(sentences):
                paragraph = write_out([straighten(s) if straight else s for s in sentences], rng, layout)
                paragraph[-1] = paragraph[-1].rstrip() + "\n\n"
                pieces += paragraph
                n_left -= 1
            if pieces and (sentences is None or n_left == 0):  # what is left out ends a doc
                yield pieces
                pieces = []
                n_left, layout, straight = draw()
        if pieces:
            yield pieces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path, metavar="SENTENCES")
    parser.add_argument("texts", type=Path, metavar="TEXTS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    args = parser.parse_args()
    rng = random.Random(0)
    nlp = spacy.blank("en")
    treebank_docs = list(read([args.sentences], nlp.vocab))
    layouts = chain(laid_out(treebank_docs, rng), prose(args.texts, rng))
    write((doc_of_pieces(nlp, pieces) for pieces in with_line_ends(layouts, random.Random(1))), args.output)


if __name__ == "__main__":
    main()

"""The training data of the English pipelines: GUM, MASC and CRAFT in one convention, cut as spaCy does, and varied.

    python -m tools.english TREEBANKS OUTPUT

TREEBANKS holds `gum`, a checkout of github.com/amir-zeldes/gum (const/, dep/ and splits.md are read), `masc`, one of
github.com/lyonssp/cunning-linguist (see tools/masc.py), and `craft`, one of github.com/UCDenver-ccp/CRAFT, the last two
or folders with train.mrg and dev.mrg, one tree a line. Trees are repaired (tools/repairs.py). Written to OUTPUT:

    train/gold.spacy        runs of one to eight sentences: spaCy's tokens, tags, sentence boundaries, constituents
    sentences/gold.spacy    the same with their spaces, which tell an opening quote from a closing one; all of CRAFT
    second.spacy            each sentence as the treebank cuts it, and again as spaCy does, varied: all but long ones,
                            of GUM's a half
    dev.spacy               MASC's development part, one sentence a doc: the treebank's own tokens
    masc-dev.spacy, gum-dev.spacy   a document a doc, with the spaces of the original text and its paragraphs
    craft-dev.spacy         CRAFT's development part, in docs of twenty sentences

Spaces of MASC and CRAFT are guessed. Test parts are never read. Of GUM, only documents are trained on whose terms allow
commercial use; scores on its development part cover all genres, and are agreement with the parser that made its trees.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_parsetag.files.find import find_files
from spacy_parsetag.tokens.detokenize import spaces_after
from spacy_parsetag.tokens.groups import parses_from_doc, set_parses
from spacy_parsetag.treebanks.docfiles import DOCBIN_ATTRS
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.trees import Constituent, Parse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools import masc
from tools.repairs import repair

# What of GUM may be trained on: genres whose terms, in its LICENSE.txt or on its pages, allow commercial use, and of
# its textbooks the documents for which its general statement, CC BY, was confirmed. What is new in GUM is not used.
FREE_GENRES = {"academic", "bio", "conversation", "court", "interview", "news", "speech", "vlog", "voyage"}
FREE_TEXTBOOKS = {
    "artwork", "cognition", "entrepreneurship", "evoethics", "grit", "history", "sociology", "spacetime", "stats",
}  # fmt: skip
LONGEST = 250  # words
SHORT = 70  # words: batches of longer sentences take much memory
COPIES = 3  # variants of each document of GUM and MASC, in runs
CRAFT = 0.2  # the share of CRAFT in runs; of single sentences half of it


class Text(NamedTuple):
    """A sentence of a .conllu file.

    words, spaces: Its words, and whether a space follows each.
    paragraph (bool): Whether a paragraph begins with it.
    tags, heads, relations: Of each word, the treebank's tag, the word that it depends on (-1 for none), and how.
    """

    words: list[str]
    spaces: list[bool]
    paragraph: bool
    tags: list[str]
    heads: list[int]
    relations: list[str]


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence.

    spaces (Sequence[bool]): Whether a space follows each word.
    paragraph (bool): Whether a paragraph begins with it.
    by_hand (bool): Whether its tree was annotated by hand; `doc.user_data["by_hand"]` keeps it.
    """

    parse: Parse
    spaces: Sequence[bool]
    paragraph: bool = False
    by_hand: bool = field(default=False, kw_only=True)


# ---- Reading ----


def read_gum(folder: Path, part: str) -> Iterator[tuple[str, list[Sentence]]]:
    """The documents of a part of GUM, with the spaces and paragraphs of the original texts."""
    for name in gum_names(folder, part):
        trees = [repair(tree) for tree in get_format("penn").read_parses(folder / "const" / f"{name}.ptb")]
        texts = list(read_conllu(folder / "dep" / f"{name}.conllu"))
        if [list(tree.words) for tree in trees] != [text.words for text in texts]:
            raise SystemExit(f"{name}: const/ and dep/ have different words")
        yield (
            name,
            [
                Sentence(tree, text.spaces, text.paragraph)
                for tree, text in zip(trees, texts, strict=True)
                if len(tree) <= LONGEST
            ],
        )


def gum_names(folder: Path, part: str) -> list[str]:
    """The names of the documents of a part of GUM, without those of Reddit, whose texts are not in it."""
    section = re.search(rf"^## {part}$(.*?)(?=^## |\Z)", (folder / "splits.md").read_text(encoding="utf8"), re.M | re.S)
    if section is None:
        raise SystemExit(f"{folder / 'splits.md'} has no part {part}")
    return [name for name in re.findall(r"\* (GUM_\w+)", section[1]) if "_reddit_" not in name]


def is_free(name: str) -> bool:
    """Tell whether a document of GUM may be trained on."""
    _, genre, title = name.split("_", 2)
    return genre in FREE_GENRES or (genre == "textbook" and title in FREE_TEXTBOOKS)


def read_conllu(path: Path) -> Iterator[Text]:
    """Read the sentences of a file; a word that is several for the treebank is these."""
    for block in path.read_text(encoding="utf8").strip().split("\n\n"):
        text = Text([], [], bool(re.search(r"^# newpar\b", block, re.M)), [], [], [])
        multiword = (0, True)  # last word of what is written as one ("don't"), and whether a space follows it
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            number, word, _, _, tag, _, head, relation, _, misc = line.split("\t")
            space = "SpaceAfter=No" not in misc.split("|")
            if "-" in number:
                multiword = (int(number.split("-")[1]), space)
            elif "." not in number:
                text.words.append(word)
                text.tags.append(tag)
                text.heads.append(int(head) - 1)
                text.relations.append(relation)
                i = len(text.words)
                text.spaces.append(space if i > multiword[0] else multiword[1] if i == multiword[0] else False)
        yield text


def read_craft(folder: Path, part: str) -> Iterator[Sentence]:
    """The sentences of a part of CRAFT: of ten articles, by name, the ninth is for development, the tenth for tests."""
    if (folder / f"{part}.mrg").is_file():
        parses: Iterable[Parse] = get_format("penn").read_parses(folder / f"{part}.mrg")
    else:
        files = find_files([folder / "structural-annotation" / "treebank" / "penn"], suffixes=(".tree",))
        of_part = [file for i, file in enumerate(files) if {8: "dev", 9: "test"}.get(i % 10, "train") == part]
        parses = (parse for file in of_part for parse in get_format("craft").read_parses(file.path))
    for parse in map(repair, parses):
        if len(parse) <= LONGEST:
            yield Sentence(parse, spaces_after(parse.words, parse.pos), by_hand=True)


def read_masc(folder: Path, part: str) -> Iterator[tuple[str, list[Sentence]]]:
    """The documents of a part of MASC's Penn Treebank layer."""
    for name, parses in masc.read_documents(folder, part):
        repaired = [repair(parse) for parse in parses if len(parse) <= LONGEST]
        yield name, [Sentence(parse, spaces_after(parse.words, parse.pos), by_hand=True) for parse in repaired]


# ---- Tokens ----


def surface(words: Sequence[str], spaces: Sequence[bool]) -> str:
    """Write a sentence as it was before it was cut into words."""
    return "".join(word + " " * space for word, space in zip(words, spaces, strict=True))


class Retokenizer:
    """Cuts sentences where spaCy does, and also where a constituent ends inside one of spaCy's tokens.

    counts (Counter[str]): Words read; spaCy's tokens in them; tokens that were cut because a constituent ends there.
    """

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        self.counts: Counter[str] = Counter()

    def __call__(self, sentence: Sentence) -> Sentence:
        parse = sentence.parse
        words = ["".join(word.split()) for word in parse.words]  # a few hold a no-break space
        ends = list(accumulate(map(len, words), initial=0))  # places between words, counted in characters
        text = surface(words, sentence.spaces)
        tokens = [token for token in self.nlp.make_doc(text) if not token.is_space]
        token_bounds = set(accumulate((len(token) for token in tokens), initial=0))
        span_bounds = {ends[bound] for start, end, _ in parse.spans for bound in (start, end)}
        cuts = sorted(token_bounds | span_bounds)
        self.counts.update(words=len(words), tokens=len(tokens), cut=len(span_bounds - token_bounds))
        index = {cut: i for i, cut in enumerate(cuts)}
        place = {end: i for i, end in enumerate(ends)}
        characters = "".join(words)
        pieces = [characters[start:end] for start, end in pairwise(cuts)]
        word_ids = [i for i, word in enumerate(words) for _ in word]  # of each character
        tags = tuple(
            "HYPH" if piece == "-" and words[word_ids[end - 1]] != "-" else parse.pos[word_ids[end - 1]]
            for piece, end in zip(pieces, cuts[1:], strict=True)
        )
        spaces = [end in place and sentence.spaces[place[end] - 1] for end in cuts[1:]]
        spans = tuple(Constituent(index[ends[start]], index[ends[end]], label) for start, end, label in parse.spans)
        return replace(sentence, parse=Parse(tuple(pieces), tags, spans), spaces=spaces)


# ---- Variants ----

OPENING, CLOSING = {"``": "“", '"': '"'}, {"''": "”", '"': '"'}
QUOTES = [('"', '"'), ("“", "”"), ("``", "''")]
DASHES = ["-", "–", "—", "--"]


def vary(sentence: Sentence, rng: random.Random, quotes: tuple[str, str], apostrophe: str, dash: str) -> Sentence:
    """The sentence as others would have typed it: its quotes, apostrophes, dashes and case, without its full stop."""
    parse = sentence.parse
    words: list[str] = []
    for word, tag in zip(parse.words, parse.pos, strict=True):
        if tag in ("``", "''") and word in ('"', "“", "”", "``", "''"):
            word = quotes[tag == "''"]
        elif word in DASHES and tag != "HYPH":
            word = dash
        elif (len(word) > 1 and word[0] in "'’") or word.lower() in ("n't", "n’t"):
            word = word.replace("'", apostrophe).replace("’", apostrophe)
        words.append(word)
    chance = rng.random()
    if chance < 0.09:
        change = str.lower if chance < 0.05 else str.upper if chance < 0.07 else str.capitalize
        words = [change(word) for word in words]
    spans, n = parse.spans, len(words)
    if n > 2 and words[-1] in (".", "?", "!") and rng.random() < 0.06:
        n -= 1
        spans = tuple(Constituent(start, min(end, n), label) for start, end, label in spans if start < n)
    return replace(sentence, parse=Parse(tuple(words[:n]), parse.pos[:n], spans), spaces=sentence.spaces[:n])


def runs(sentences: Sequence[Sentence], rng: random.Random) -> Iterator[list[Sentence]]:
    """Successive sentences, one to eight together."""
    i = 0
    while i < len(sentences):
        n = 1 if rng.random() < 0.3 else rng.randint(2, 8)
        yield list(sentences[i : i + n])
        i += n


def variants(documents: Iterable[Sequence[Sentence]], rng: random.Random) -> Iterator[list[Sentence]]:
    for document in documents:
        for run in runs(document, rng):
            style = (rng.choice(QUOTES), rng.choice("'’"), rng.choice(DASHES))
            yield [vary(sentence, rng, *style) for sentence in run]


# ---- Docs ----


def make_doc(
    nlp: Language, sentences: Sequence[Sentence], *, spaces: bool, paragraphs: bool, rng: random.Random | None = None
) -> Doc:
    """Make a doc of successive sentences.

    spaces (bool): Set the spaces; else they are unknown, and spaCy trains on the tokens as they are.
    paragraphs (bool): Write paragraphs, as a token of two line feeds after the last sentence of one.
    rng (random.Random | None): To sprinkle in other white space, which becomes tokens of its own.
    """
    words: list[str] = []
    tags: list[str] = []
    space_after: list[bool] = []
    starts: list[bool | int | None] = []
    parses: list[tuple[list[int], Sequence[Constituent]]] = []
    for i, sentence in enumerate(sentences):
        if i and sentence.paragraph and paragraphs:
            words.append(rng.choice(["\n", "\n\n"]) if rng else "\n\n")
            tags.append("_SP")
            space_after[-1:] = [False, False]
            starts.append(False)
        tokens: list[int] = []
        for j, (word, tag, space) in enumerate(
            zip(sentence.parse.words, sentence.parse.pos, sentence.spaces, strict=True)
        ):
            if rng and words and rng.random() < 0.002:
                words.append(rng.choice(["\n", " ", "\u00a0"]))
                tags.append("_SP")
                space_after.append(False)
                starts.append(False)
            tokens.append(len(words))
            words.append(word)
            tags.append(tag)
            space_after.append(space)
            starts.append(j == 0)
        parses.append((tokens, sentence.parse.spans))
    if space_after:
        space_after[-1] = False
    doc = Doc(nlp.vocab, words=words, spaces=space_after if spaces else None, tags=tags, sent_starts=starts)
    doc.user_data["by_hand"] = all(sentence.by_hand for sentence in sentences)
    set_parses(doc, parses)
    return doc


def without_spaces(doc: Doc) -> Doc:
    """Copy a doc without its spaces: with spaces that it does not know, spaCy trains on the tokens as they are."""
    columns = ((token.text, token.tag_, token.is_sent_start) for token in doc)
    words, tags, starts = map(list, zip(*columns, strict=True))
    copy = Doc(doc.vocab, words=words, tags=tags, sent_starts=starts, user_data=doc.user_data)
    set_parses(copy, [(tokens, parse.spans) for tokens, parse in parses_from_doc(doc)])
    return copy


def read(paths: Iterable[Path], vocab: Vocab) -> Iterator[Doc]:
    for path in paths:
        yield from DocBin().from_disk(path).get_docs(vocab)


def write(docs: Iterable[Doc], path: Path) -> None:
    doc_list = list(docs)
    DocBin(attrs=DOCBIN_ATTRS, docs=doc_list, store_user_data=True).to_disk(path)
    n_words = sum(not token.is_space for doc in doc_list for token in doc)
    n_sentences = sum(1 for doc in doc_list for _ in doc.sents)
    sys.stdout.write(f"{path.name}: {len(doc_list):,} docs, {n_sentences:,} sentences, {n_words:,} words\n")


def name_doc(doc: Doc, name: str) -> Doc:
    doc.user_data["document"] = name
    return doc


def write_dev(treebanks: Path, output: Path, nlp: Language) -> None:
    """Write the development parts: documents as texts, and MASC's sentence by sentence to choose by."""
    masc_dev, gum_dev = (list(read(treebanks / name, "dev")) for read, name in ((read_masc, "masc"), (read_gum, "gum")))
    for name, documents in (("masc", masc_dev), ("gum", gum_dev)):
        write(
            (name_doc(make_doc(nlp, sentences, spaces=True, paragraphs=True), title) for title, sentences in documents),
            output / f"{name}-dev.spacy",
        )
    craft_dev = list(read_craft(treebanks / "craft", "dev"))
    write(
        (make_doc(nlp, craft_dev[i : i + 20], spaces=True, paragraphs=False) for i in range(0, len(craft_dev), 20)),
        output / "craft-dev.spacy",
    )
    sentences = [sentence for _, document in masc_dev for sentence in document]
    write((make_doc(nlp, [sentence], spaces=False, paragraphs=False) for sentence in sentences), output / "dev.spacy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, metavar="TREEBANKS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    args = parser.parse_args()
    rng = random.Random(0)
    nlp = spacy.blank("en")
    retokenize = Retokenizer(nlp)
    args.output.mkdir(parents=True, exist_ok=True)

    documents = list(read_gum(args.treebanks / "gum", "train"))
    gum = [document for name, document in documents if is_free(name)]
    sys.stdout.write(f"GUM: {len(gum)} of {len(documents)} training documents may be used\n")
    masc_train = [document for _, document in read_masc(args.treebanks / "masc", "train")]
    craft = list(read_craft(args.treebanks / "craft", "train"))
    retokenized: dict[str, list[list[Sentence]]] = {}
    for name, cut in (("GUM", gum), ("MASC", masc_train), ("CRAFT", [craft])):
        retokenized[name] = [[retokenize(sentence) for sentence in document] for document in cut]
        sys.stdout.write(f"{name}: {dict(retokenize.counts)}\n")
        retokenize.counts.clear()

    spoken = retokenized["GUM"] + retokenized["MASC"]
    plain = [run for document in spoken for run in runs(document, rng)]
    boundary_runs: list[list[Sentence]] = []  # of CRAFT, for sentence boundaries alone
    for run in runs(retokenized["CRAFT"][0], rng):
        (plain if rng.random() < CRAFT else boundary_runs).append(run)
    train = [make_doc(nlp, run, spaces=True, paragraphs=True) for run in plain]
    for _ in range(COPIES):
        for run in variants(spoken, rng):
            train.append(make_doc(nlp, run, spaces=True, paragraphs=rng.random() < 0.5, rng=rng))
    for folder in ("sentences", "train"):  # others put files beside what is written
        (args.output / folder).mkdir(exist_ok=True)
    boundary_docs = (make_doc(nlp, run, spaces=True, paragraphs=False) for run in boundary_runs)
    write([*train, *boundary_docs], args.output / "sentences" / "gold.spacy")
    write(map(without_spaces, train), args.output / "train" / "gold.spacy")

    # As the treebanks cut words, and as spaCy does, varied: of GUM half, later a quarter.
    def varied(documents: list[list[Sentence]], share: float) -> list[Sentence]:
        sentences = [sentence for run in variants(documents, rng) for sentence in run]
        return [sentence for sentence in sentences if rng.random() < share]

    by_hand = [sentence for document in masc_train for sentence in document] + varied(retokenized["MASC"], 1)
    by_hand += [sentence for sentence in craft if rng.random() < 0.7 * CRAFT / 2]
    by_hand += [sentence for sentence in retokenized["CRAFT"][0] if rng.random() < 0.3 * CRAFT / 2]
    parsed = [sentence for document in gum for sentence in document], varied(retokenized["GUM"], 0.5)
    half = [sentence for sentences in parsed for sentence in sentences if rng.random() < 0.5]
    short = [sentence for sentence in [*half, *by_hand] if len(sentence.parse) <= SHORT]
    docs = (make_doc(nlp, [sentence], spaces=False, paragraphs=False) for sentence in short)
    write(docs, args.output / "second.spacy")
    write_dev(args.treebanks, args.output, nlp)


if __name__ == "__main__":
    main()

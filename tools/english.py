"""The training data of `en_parsetag_sm`: GUM and CRAFT, cut into the tokens that spaCy finds, and varied.

    python -m tools.english TREEBANKS OUTPUT

TREEBANKS holds `gum`, a checkout of github.com/amir-zeldes/gum (const/, dep/ and splits.md are read), and `craft`, with
train.mrg and dev.mrg, one tree a line, or a checkout of github.com/UCDenver-ccp/CRAFT. Written to OUTPUT:

    train/gold.spacy        runs of one to eight sentences: spaCy's tokens, tags, sentence boundaries, constituents
    teacher.spacy           for a larger parser: each sentence as the treebank cuts it, and again as spaCy does, varied
    dev.spacy               GUM's development part, all genres, one sentence a doc: the treebank's own tokens
    gum-dev.spacy           the same, a document a doc, with the spaces of the original text and its paragraphs
    craft-dev.spacy         CRAFT's development part, in docs of twenty sentences, with spaces guessed

Test parts are never read. Texts whose terms forbid commercial use are not trained on, nor are those whose terms are
unknown; scores on the development part cover all genres.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_parsetag.tokens.spaces import spaces_after
from spacy_parsetag.tokens.spans import set_parses
from spacy_parsetag.treebanks.convert import DOCBIN_ATTRS
from spacy_parsetag.treebanks.files import find_files
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.trees import Constituent, Parse

# GUM's LICENSE.txt: CC BY-NC-SA, and Reddit's own terms (its words are masked in the repository).
NON_COMMERCIAL = {"essay", "fiction", "letter", "podcast", "reddit", "whow"}
# Textbooks for which GUM's general statement, CC BY, could not be confirmed.
UNKNOWN_TERMS = {"GUM_textbook_alamo", "GUM_textbook_anthropology"}
LONGEST = 250  # words


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence, whether a space follows each word, and whether a paragraph begins with it."""

    parse: Parse
    spaces: Sequence[bool]
    paragraph: bool = False


# ---- Reading ----


def read_gum(folder: Path, part: str) -> Iterator[tuple[str, list[Sentence]]]:
    """The documents of a part of GUM, with the spaces and paragraphs of the original texts."""
    section = re.search(rf"^## {part}$(.*?)(?=^## |\Z)", (folder / "splits.md").read_text(encoding="utf8"), re.M | re.S)
    if section is None:
        raise SystemExit(f"{folder / 'splits.md'} has no part {part}")
    for name in re.findall(r"\* (GUM_\w+)", section[1]):
        if "_reddit_" in name:
            continue
        trees = list(read_trees(folder / "const" / f"{name}.ptb"))
        texts = list(read_conllu(folder / "dep" / f"{name}.conllu"))
        if [list(tree.words) for tree in trees] != [words for words, _, _ in texts]:
            raise SystemExit(f"{name}: const/ and dep/ have different words")
        yield (
            name,
            [
                Sentence(tree, spaces, paragraph)
                for tree, (_, spaces, paragraph) in zip(trees, texts, strict=True)
                if len(tree) <= LONGEST
            ],
        )


def read_trees(path: Path, format: str = "penn") -> Iterator[Parse]:
    yield from get_format(format).read_parses(path)


def read_conllu(path: Path) -> Iterator[tuple[list[str], list[bool], bool]]:
    """Words of each sentence, whether a space follows each, and whether a paragraph begins."""
    for block in path.read_text(encoding="utf8").strip().split("\n\n"):
        words: list[str] = []
        spaces: list[bool] = []
        whole = (0, True)  # last word of what is written as one ("don't"), and whether a space follows it
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            number, word, *_, misc = line.split("\t")
            space = "SpaceAfter=No" not in misc.split("|")
            if "-" in number:
                whole = (int(number.split("-")[1]), space)
            elif "." not in number:
                words.append(word)
                i = len(words)
                spaces.append(space if i > whole[0] else whole[1] if i == whole[0] else False)
        yield words, spaces, bool(re.search(r"^# newpar\b", block, re.M))


def read_craft(folder: Path, part: str) -> Iterator[Sentence]:
    """The sentences of a part of CRAFT: of ten articles, by name, the ninth is for development, the tenth for tests."""
    if (folder / f"{part}.mrg").is_file():
        parses = read_trees(folder / f"{part}.mrg")
    else:
        files = find_files([folder / "structural-annotation" / "treebank" / "penn"], suffixes=(".tree",))
        own = [file for i, file in enumerate(files) if {8: "dev", 9: "test"}.get(i % 10, "train") == part]
        parses = (parse for file in own for parse in read_trees(file.path, "craft"))
    for parse in parses:
        if len(parse) <= LONGEST:
            yield Sentence(parse, spaces_after(parse.words, parse.pos))


# ---- Tokens ----


class Retokenizer:
    """Cuts sentences where spaCy does, and also where a constituent ends inside one of spaCy's tokens.

    counts (Counter[str]): Words read; spaCy's tokens in them; those that were cut because a constituent ends there.
    """

    def __init__(self, nlp: Language) -> None:
        self.nlp = nlp
        self.counts: Counter[str] = Counter()

    def __call__(self, sentence: Sentence) -> Sentence:
        parse = sentence.parse
        words = ["".join(word.split()) for word in parse.words]  # a few hold a no-break space
        ends = list(accumulate(map(len, words), initial=0))  # places between words, counted in characters
        text = "".join(word + " " * space for word, space in zip(words, sentence.spaces, strict=True))
        tokens = [token for token in self.nlp.make_doc(text) if not token.is_space]
        found = set(accumulate((len(token) for token in tokens), initial=0))
        needed = {ends[bound] for start, end, _ in parse.spans for bound in (start, end)}
        cuts = sorted(found | needed)
        self.counts.update(words=len(words), tokens=len(tokens), cut=len(needed - found))
        index = {cut: i for i, cut in enumerate(cuts)}
        place = {end: i for i, end in enumerate(ends)}
        characters = "".join(words)
        pieces = [characters[start:end] for start, end in pairwise(cuts)]
        owner = [i for i, word in enumerate(words) for _ in word]  # of each character
        tags = tuple(
            "HYPH" if piece == "-" and words[owner[end - 1]] != "-" else parse.pos[owner[end - 1]]
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
    known: list[bool] = []
    starts: list[bool | int | None] = []
    parses: list[tuple[list[int], Sequence[Constituent]]] = []
    for i, sentence in enumerate(sentences):
        if i and sentence.paragraph and paragraphs:
            words.append(rng.choice(["\n", "\n\n"]) if rng else "\n\n")
            tags.append("_SP")
            known[-1:] = [False, False]
            starts.append(False)
        own: list[int] = []
        for j, (word, tag, space) in enumerate(
            zip(sentence.parse.words, sentence.parse.pos, sentence.spaces, strict=True)
        ):
            if rng and words and rng.random() < 0.002:
                words.append(rng.choice(["\n", " ", "\u00a0"]))
                tags.append("_SP")
                known.append(False)
                starts.append(False)
            own.append(len(words))
            words.append(word)
            tags.append(tag)
            known.append(space)
            starts.append(j == 0)
        parses.append((own, sentence.parse.spans))
    if known:
        known[-1] = False
    doc = Doc(nlp.vocab, words=words, spaces=known if spaces else None, tags=tags, sent_starts=starts)
    set_parses(doc, parses)
    return doc


def write(docs: Iterable[Doc], path: Path) -> None:
    made = list(docs)
    DocBin(attrs=DOCBIN_ATTRS, docs=made, store_user_data=True).to_disk(path)
    n_words = sum(not token.is_space for doc in made for token in doc)
    n_sentences = sum(1 for doc in made for _ in doc.sents)
    sys.stdout.write(f"{path.name}: {len(made):,} docs, {n_sentences:,} sentences, {n_words:,} words\n")


def name_doc(doc: Doc, name: str) -> Doc:
    doc.user_data["document"] = name
    return doc


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, metavar="TREEBANKS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--copies", type=int, default=3, help="variants of each GUM document, beside it as it is")
    parser.add_argument("--craft", type=float, default=0.3, help="share of CRAFT to train on, as it is")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    nlp = spacy.blank("en")
    retokenize = Retokenizer(nlp)
    args.output.mkdir(parents=True, exist_ok=True)

    documents = list(read_gum(args.treebanks / "gum", "train"))
    free = [
        (name, document)
        for name, document in documents
        if name.split("_")[1] not in NON_COMMERCIAL and name not in UNKNOWN_TERMS
    ]
    sys.stdout.write(f"GUM: {len(free)} of {len(documents)} training documents may be used\n")
    gum = [[retokenize(sentence) for sentence in document] for _, document in free]
    sys.stdout.write(f"GUM: {dict(retokenize.counts)}\n")
    retokenize.counts.clear()
    craft = [retokenize(sentence) for sentence in read_craft(args.treebanks / "craft", "train")]
    sys.stdout.write(f"CRAFT: {dict(retokenize.counts)}\n")

    chosen = [run for run in runs(craft, rng) if rng.random() < args.craft]
    plain = [run for document in gum for run in runs(document, rng)]
    train = [make_doc(nlp, run, spaces=False, paragraphs=True) for run in plain + chosen]
    for _ in range(args.copies):
        for run in variants(gum, rng):
            train.append(make_doc(nlp, run, spaces=False, paragraphs=rng.random() < 0.5, rng=rng))
    (args.output / "train").mkdir(exist_ok=True)  # for silver trees too
    write(train, args.output / "train" / "gold.spacy")

    rng = random.Random(args.seed)
    sentences = [sentence for _, document in free for sentence in document]
    sentences += [sentence for run in variants(gum, rng) for sentence in run]
    half = args.craft / 2
    sentences += [sentence for sentence in read_craft(args.treebanks / "craft", "train") if rng.random() < half]
    sentences += [sentence for sentence in craft if rng.random() < half]
    write(
        (make_doc(nlp, [sentence], spaces=False, paragraphs=False) for sentence in sentences),
        args.output / "teacher.spacy",
    )

    dev = list(read_gum(args.treebanks / "gum", "dev"))
    write(
        (name_doc(make_doc(nlp, document, spaces=True, paragraphs=True), name) for name, document in dev),
        args.output / "gum-dev.spacy",
    )
    write(
        (make_doc(nlp, [sentence], spaces=False, paragraphs=False) for _, document in dev for sentence in document),
        args.output / "dev.spacy",
    )
    craft_dev = list(read_craft(args.treebanks / "craft", "dev"))
    write(
        (make_doc(nlp, craft_dev[i : i + 20], spaces=True, paragraphs=False) for i in range(0, len(craft_dev), 20)),
        args.output / "craft-dev.spacy",
    )


if __name__ == "__main__":
    main()

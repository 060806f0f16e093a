"""Silver trees: raw text, parsed by a larger pipeline, whose k best trees become soft targets of a smaller one.

    python -m tools.silver TEACHER TEXTS OUTPUT [--files PATTERN...] [--exclude TREEBANKS] [--held-out FILE]

TEACHER is a pipeline with the components `tagger` and `parsetag`, or with a `parsetag_ensemble`, which has no k best
trees; TEXTS a folder of .txt files with an empty line between paragraphs (`tools/texts.py` makes one), OUTPUT a folder
for .spacy files: runs of one to eight sentences with spaCy's tokens, the teacher's tags, its best tree, and its k best
trees with their probabilities, marked as soft; `doc.user_data["mended"]` says whether a rule of `tools/repairs.py`
changed one of them. Sentences that share eight words in a row with a text of TREEBANKS (as of tools/english.py) are
left out, and so is the whole document where three do; and sentences that are one of FILE, a .spacy file, or share
eight words in a row with one. What is no prose is left out too, and sentences in which the teacher
expects to get many constituents wrong (`--expected-f`). Of a teacher of English, sentences without a verb are left out,
trees are repaired, and half of the runs are typed otherwise. A teacher of another language needs a `--splitter` of
that language.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_parsetag.tokens.groups import SPANS_KEY, parses_from_doc, with_spans
from spacy_parsetag.trees import Parse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.english import (
    DASHES,
    QUOTES,
    Sentence,
    make_doc,
    read,
    read_conllu,
    read_craft,
    read_masc,
    runs,
    surface,
    vary,
    write,
)
from tools.repairs import repair

LONGEST = 60  # words
SHARED = 8  # words in a row that make a sentence another text's
SHARED_SENTENCES = 3  # such sentences that make a document another text's
CHUNK = 2000  # sentences that are sorted by length before they are parsed
K_BEST = 5  # trees of a sentence
RARE = 0.01  # trees less likely than this share of the best one are not kept


@dataclass(frozen=True)
class Silver(Sentence):
    """A sentence with its k best trees: log-probability and constituents of each, as attrs have them.

    mended (bool): Whether a rule changed one of the trees.
    """

    k_best: Sequence[Any] = ()
    mended: bool = False


def grams(text: str) -> Iterator[str]:
    """Successive words of a text, without apostrophes, hyphens and case: "don't", "do n't" and "Don’t" are one word."""
    joined = re.sub(r"(?<=\b(?:gon|wan|can|got|gim|lem)) (?=(?:na|not|ta|me)\b)", "", text.lower())  # gonna, cannot
    words = re.findall(r"\w+", re.sub(r"(?<=\w)['’]|\s+(?=n['’]t\b)", "", joined))
    return (" ".join(words[i : i + SHARED]) for i in range(len(words) - SHARED + 1))


def marks(text: str) -> set[str]:
    """Collect the marks of a sentence: its letters, whatever its quotes, dashes and case, and its word sequences."""
    return {"".join(filter(str.isalnum, text.lower())), *grams(text)}


def marks_of(paths: Iterable[Path]) -> set[str]:
    """Collect the marks of the sentences of .spacy files."""
    docs = read(paths, Vocab())
    return {mark for doc in docs for sentence in doc.sents for mark in marks(sentence.text)}


def without_marked(docs: Iterable[Doc], excluded: set[str]) -> Iterator[Doc]:
    """Leave out docs with a sentence that has a mark of one that is excluded."""
    return (doc for doc in docs if all(excluded.isdisjoint(marks(sentence.text)) for sentence in doc.sents))


def known_grams(treebanks: Path) -> set[int]:
    """Collect the word sequences of the treebanks' texts, of all parts there are; trees of test parts are not read.

    RAISES (SystemExit): If a treebank is not there.
    """
    hashes: set[int] = set()
    paths = sorted((treebanks / "gum" / "dep").glob("*.conllu"))
    if not paths:
        raise SystemExit(f"{treebanks / 'gum' / 'dep'} has no .conllu files. Fetch GUM with tools/treebanks.py.")
    for path in paths:
        text = " ".join(surface(sentence.words, sentence.spaces) for sentence in read_conllu(path))
        hashes.update(map(hash, grams(text)))
    for part in ("train", "dev"):
        masc = (sentence for _, document in read_masc(treebanks / "masc", part) for sentence in document)
        for sentence in chain(read_craft(treebanks / "craft", part), masc):
            hashes.update(map(hash, grams(surface(sentence.parse.words, sentence.spaces))))
    return hashes


def is_prose(sentence: Span) -> bool:
    words = [token for token in sentence if not token.is_space]
    letters = sum(token.is_alpha for token in words)
    return 0 < len(words) <= LONGEST and letters >= 0.6 * len(words) and not any(len(token) > 30 for token in words)


def read_sentences(
    paths: Iterable[Path],
    splitter: Language,
    excluded: set[int],
    counts: Counter[str],
    held_out: Set[str] = frozenset(),
) -> Iterator[list[Sentence]]:
    """The sentences of each text that may be used, each once.

    paths (Iterable[Path]): The texts.
    splitter (Language): Finds their sentences.
    excluded (set[int]): Hashes of word sequences of treebanks.
    counts (Counter[str]): What became of the sentences.
    held_out (Set[str]): Marks of single sentences that are scored.
    """
    seen: set[str] = set()
    for path in paths:
        document: list[Sentence] = []
        paragraphs = [" ".join(block.split()) for block in path.read_text(encoding="utf8").split("\n\n")]
        docs = list(splitter.pipe(filter(None, paragraphs)))
        shared = {
            (i, sent.start)
            for i, doc in enumerate(docs)
            for sent in doc.sents
            if excluded & set(map(hash, grams(sent.text)))
        }
        if len(shared) >= SHARED_SENTENCES:
            counts["documents of a treebank"] += 1
            continue
        for i, doc in enumerate(docs):
            for j, sentence in enumerate(doc.sents):
                text = sentence.text.strip()
                reason = (
                    "no prose" if not is_prose(sentence)
                    else "twice" if text in seen
                    else "in a treebank" if (i, sentence.start) in shared
                    else "held out" if not held_out.isdisjoint(marks(text))
                    else "read"
                )  # fmt: skip
                seen.add(text)
                counts[reason] += 1
                if reason == "read":
                    tokens = [token for token in sentence if not token.is_space]
                    words = tuple(token.text for token in tokens)
                    spaces = [bool(token.whitespace_) for token in tokens]
                    document.append(Sentence(Parse(words, ("X",) * len(words), ()), spaces, paragraph=j == 0))
        yield document


def silver_trees(
    teacher: Language, sentences: Sequence[Sentence], least_f: float, counts: Counter[str]
) -> list[Silver | None]:
    """The sentences with the teacher's trees, None for what it is unsure of."""
    silver: list[Silver | None] = [None] * len(sentences)
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].spaces))
    docs = (
        Doc(teacher.vocab, list(s.parse.words), list(s.spaces), sent_starts=[j == 0 for j in range(len(s.spaces))])
        for s in map(sentences.__getitem__, order)
    )
    english = teacher.lang == "en"  # tags and rules are those of English treebanks
    for i, doc in zip(order, teacher.pipe(docs), strict=True):
        attrs = doc.spans[SPANS_KEY].attrs
        ((_, parsed),) = parses_from_doc(doc)
        if attrs["expected_f"][0] < least_f:
            counts["unsure"] += 1
        elif english and len(parsed) > 5 and not any(tag.startswith(("VB", "MD")) for tag in parsed.pos):
            counts["no verb"] += 1
        else:
            counts["kept"] += 1
            counts["words"] += len(parsed)
            silver[i] = silver_of(doc, sentences[i].spaces, sentences[i].paragraph, repaired=english)
    return silver


def silver_of(doc: Doc, spaces: Sequence[bool], paragraph: bool, *, repaired: bool = True) -> Silver:
    """The sentence of a parsed doc, with its trees repaired by the rules for English or as they are."""
    ((_, parsed),) = parses_from_doc(doc)
    (trees,) = doc.spans[SPANS_KEY].attrs.get("k_best") or [[]]
    rules: Counter[str] = Counter()

    def mend(parse: Parse) -> Parse:
        return repair(parse, rules) if repaired else parse

    best = mend(parsed)
    k_best = [
        [p, [list(span) for span in mend(with_spans(best, spans)).spans]]
        for p, spans in trees
        if p >= trees[0][0] + np.log(RARE)
    ]
    del rules["IN is TO"]
    return Silver(best, spaces, paragraph, k_best, bool(rules))


def cut(sentence: Silver, varied: Sentence) -> Silver:
    """A variant with the trees of the sentence, over the words that it still has."""
    n = len(varied.parse)
    k_best = [
        [p, [[start, min(end, n), label] for start, end, label in spans if start < n]] for p, spans in sentence.k_best
    ]
    return Silver(varied.parse, varied.spaces, sentence.paragraph, k_best, sentence.mended)


def silver_runs(
    documents: Iterable[Sequence[Silver]], rng: random.Random, *, variants: bool = True
) -> Iterator[list[Silver]]:
    """Successive sentences, one to eight together; with variants, half of the runs as others would have typed them."""
    for document in documents:
        for run in runs(document, rng):
            sentences = [sentence for sentence in run if isinstance(sentence, Silver)]
            style = (rng.choice(QUOTES), rng.choice("'’"), rng.choice(DASHES))
            varied = variants and rng.random() < 0.5
            yield [cut(sentence, vary(sentence, rng, *style)) for sentence in sentences] if varied else sentences


def make_soft_doc(nlp: Language, run: Sequence[Silver], rng: random.Random, *, tags: bool = True) -> Doc:
    doc = make_doc(nlp, run, spaces=False, paragraphs=rng.random() < 0.5, rng=rng)
    for token in doc if not tags else ():
        token.tag_ = ""
    if all(sentence.k_best for sentence in run):
        doc.spans[SPANS_KEY].attrs.update(soft=True, k_best=[list(sentence.k_best) for sentence in run])
    doc.user_data["mended"] = any(sentence.mended for sentence in run)
    return doc


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path, metavar="TEACHER")
    parser.add_argument("texts", type=Path, metavar="TEXTS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--files", nargs="+", default=["*.txt"], metavar="PATTERN", help="those of TEXTS")
    parser.add_argument("--exclude", type=Path, metavar="TREEBANKS", help="of the English pipelines")
    parser.add_argument("--held-out", type=Path, metavar="FILE", help="docs that are scored")
    parser.add_argument("--splitter", default="en_parsetag_sm", help="a pipeline that finds sentences and words")
    parser.add_argument("--expected-f", type=float, default=0.8, help="at least, of the teacher's best tree, 0 to 1")
    parser.add_argument("--words", type=int, default=1_000_000, help="the number of words to stop after")
    parser.add_argument("--singles", type=Path, metavar="FOLDER", help="write each sentence as a doc of its own, too")
    parser.add_argument(
        "--no-tags", action="store_true", help="leave the teacher's tags out: the student has better ones"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    splitter = spacy.load(args.splitter, exclude=["tagger", "parsetag"])
    teacher = spacy.load(args.teacher, exclude=["sentencizer"])
    if splitter.lang != teacher.lang:
        languages = f"{args.splitter} has the language {splitter.lang}, and the teacher {teacher.lang}"
        raise SystemExit(f"{languages}: give a --splitter that cuts text as the teacher does.")
    if "parsetag" in teacher.pipe_names:
        pipe: Any = teacher.get_pipe("parsetag")
        pipe.probs, pipe.k_best = True, K_BEST
    counts: Counter[str] = Counter()
    rng, tags = random.Random(args.seed), not args.no_tags
    excluded = known_grams(args.exclude) if args.exclude else set()
    held_out = marks_of([args.held_out]) if args.held_out else set()
    paths = sorted({path for pattern in args.files for path in args.texts.glob(pattern)})
    if not paths:
        raise SystemExit(f"{args.texts} has no {' or '.join(args.files)}.")
    documents = list(read_sentences(paths, splitter, excluded, counts, held_out))
    rng.shuffle(documents)
    # A chunk is sorted by length: sentences of all its documents, so that batches have little padding.
    chunks: list[list[list[Sentence]]] = [[]]
    for document in documents:
        if sum(map(len, chunks[-1])) >= CHUNK:
            chunks.append([])
        chunks[-1].append(document)
    nlp = spacy.blank(str(teacher.lang))
    for folder in filter(None, (args.output, args.singles)):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("silver-*.spacy"):  # of an earlier run: a training reads all that is there
            path.unlink()
    for i, chunk in enumerate(chunks):
        if counts["words"] >= args.words:
            break
        parsed = iter(
            silver_trees(teacher, [sentence for document in chunk for sentence in document], args.expected_f, counts)
        )
        silver = [[s for s in islice(parsed, len(document)) if s is not None] for document in chunk]
        all_runs = list(silver_runs(silver, rng, variants=teacher.lang == "en"))
        write((make_soft_doc(nlp, run, rng, tags=tags) for run in all_runs), args.output / f"silver-{i:03}.spacy")
        if args.singles:
            singles = ([sentence] for run in all_runs for sentence in run)
            write((make_soft_doc(nlp, run, rng, tags=tags) for run in singles), args.singles / f"silver-{i:03}.spacy")
        sys.stdout.write(f"{dict(counts)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Silver trees of direct speech, whose quotation and reporting clause are parsed apart and joined by rule.

    python -m tools.speech PIPELINE TEXTS... --output FOLDER --exclude TREEBANKS [--held-out FILE]

GUM, MASC and CRAFT have hardly any direct speech with a reporting clause after it, so what is trained on them writes
`"...," said X.` as one clause. The Penn Treebank (Bies et al. 1995, sections 3.2 and 9) has three forms:

    (SINV `` (S Q) , '' (VP said) (NP X) .)             the verb comes first
    (S `` (S Q) , '' (NP X) (VP said ...) .)            the subject comes first
    (S `` Q ... (PRN , '' (S (NP X) (VP said)) ,) `` ... Q . '')     the quotation goes on

A sentence of TEXTS (as of tools/texts.py) that has one of them is cut there. PIPELINE, with the components `tagger` and
`parsetag`, parses the quotation as a sentence of its own, and so the reporting clause; with the verb first it parses
"he" and the clause, and what it finds beside the verb is hung next to it. What does not give one of the three forms is
left out, and so is what shares eight words in a row with a text of TREEBANKS, and a sentence of FILE. A third of the
trees lose their quotation marks, as in "It rains, he said." FOLDER gets .spacy files with a sentence a doc.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_parsetag.tokens.groups import SPANS_KEY, parses_from_doc
from spacy_parsetag.trees import Constituent, Parse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.english import DASHES, QUOTES, Sentence, make_doc, vary, write
from tools.silver import known_grams, marks_of, read_sentences

OPENING, CLOSING = {"“", "``"}, {"”", "''"}
VERBS = {"VBD", "VBZ", "VBP"}
SUBJECTS = {"PRP", "NNP", "NNPS", "DT", "PRP$", "NN", "NNS", "JJ"}
NO_REPORTS = {"be", "is", "was", "were", "are", "am", "has", "had", "have", "do", "does", "did", "'s", "’s", "'d", "’d"}
LEAST_F = 0.8  # expected by the pipeline of each part's tree
FILE_SIZE = 2000  # sentences


class Speech(NamedTuple):
    """The words of direct speech in a sentence: a quotation, a reporting clause, and what goes on, or nothing.

    The marks are the words of quotation marks. `first` ends before its comma, `rest` before its full stop.
    """

    marks: tuple[int, ...]
    first: range
    report: range
    rest: range


@dataclass(frozen=True)
class Part:
    """A part of a sentence: the tree that the pipeline gives it, and the F that it expects of the tree."""

    parse: Parse
    expected_f: float


def find_speech(words: Sequence[str]) -> Speech | None:
    """Find a quotation with a reporting clause after it, which ends the sentence or is within the quotation."""
    marks = [i for i, word in enumerate(words) if word in OPENING or word in CLOSING or word == '"']
    if not marks or len(words) < 5:
        return None
    is_open = words[marks[0]] in CLOSING or (words[marks[0]] == '"' and len(marks) % 2)  # since the sentence before
    bounds = [-1, *marks] if is_open else marks
    if len(bounds) not in (2, 3, 4) or (not is_open and bounds[0] != 0):
        return None
    start, end = bounds[0] + 1, bounds[1]
    if end - start < 2 or words[end - 1] not in (",", "?", "!"):
        return None
    first = range(start, end - 1 if words[end - 1] == "," else end)
    if len(bounds) == 2:
        last = len(words) - (words[-1] in (".", ";", ":"))
        return Speech(tuple(marks), first, range(end + 1, last), range(0))
    opening = bounds[2]
    closing = bounds[3] if len(bounds) == 4 else len(words)
    if words[opening - 1] != "," or closing < len(words) - 1 or words[end - 1] != ",":
        return None
    last = closing - (words[closing - 1] in (".", "?", "!", ","))
    return Speech(tuple(marks), first, range(end + 1, opening - 1), range(opening + 1, last))


def is_inverted(tags: Sequence[str], report: range) -> bool:
    """Tell whether the verb of a reporting clause comes before its subject."""
    return tags[report[0]] in VERBS and tags[report[1]] in SUBJECTS


def pieces(words: Sequence[str], tags: Sequence[str], speech: Speech) -> list[list[str]] | None:
    """List what is to be parsed: the quotation, and the reporting clause as a sentence with the subject first."""
    report = speech.report
    if not 2 <= len(report) <= 25 or len(speech.first) > 50:
        return None
    clause_words = [words[i] for i in report]
    if clause_words[0].lower() in NO_REPORTS:
        return None
    end = words[speech.first.stop - 1] if words[speech.first.stop - 1] in ("?", "!") else "."
    quoted = [words[i] for i in speech.first]
    quoted[0] = quoted[0][0].upper() + quoted[0][1:]
    if end == "." and not speech.rest:
        quoted.append(".")
    if speech.rest:
        quoted += [",", *(words[i] for i in speech.rest), "."]
    if is_inverted(tags, report):
        clause = ["He", clause_words[0], *clause_words[1 + (tags[report[1]] == "PRP") :], "."]
    elif tags[report[0]] in SUBJECTS:
        clause = [clause_words[0][0].upper() + clause_words[0][1:], *clause_words[1:], "."]
    else:
        return None
    return [quoted, clause]


def children(parse: Parse, root: int) -> list[int]:
    """List the constituents right under one, by index."""
    child_ids: list[int] = []
    reached = parse.spans[root].start
    for i in range(root + 1, len(parse.spans)):
        span = parse.spans[i]
        if span.start >= parse.spans[root].end:
            break
        if span.start >= reached:
            child_ids.append(i)
            reached = span.end
    return child_ids


def report_spans(parse: Parse, report: range, tags: Sequence[str]) -> tuple[str, list[Constituent]] | None:
    """Find the constituents of a reporting clause, in the words of the sentence, and the label of its clause."""
    if not parse.spans or parse.spans[0].label != "S":
        return None
    top = children(parse, 0)
    labels = [parse.spans[i].label for i in top]
    offset = report.start

    def shifted(spans: Sequence[Constituent]) -> list[Constituent]:
        return [Constituent(start + offset, min(end + offset, report.stop), label) for start, end, label in spans]

    if not is_inverted(tags, report):
        is_clause = labels[:1] == ["NP"] and labels.count("VP") == 1 and labels[-1] == "VP"
        return ("S", shifted(parse.spans[1:])) if is_clause and parse.spans[top[-1]].end >= len(report) else None
    if labels != ["NP", "VP"] or parse.spans[top[1]][:2] != (1, len(parse) - 1):
        return None
    inner = children(parse, top[1])
    if inner and parse.spans[inner[0]].label == "VP":
        return None
    spans = [Constituent(offset, offset + 1, "VP")]
    if tags[report[1]] == "PRP":
        spans.append(Constituent(offset + 1, offset + 2, "NP"))
        return "SINV", spans + shifted(parse.spans[top[1] + 1 :])
    if not inner or parse.spans[inner[0]].label != "NP" or parse.spans[inner[0]].start != 2:
        return None
    offset -= 1  # "He" is not in the sentence
    return "SINV", spans + shifted(parse.spans[top[1] + 1 :])


def join_trees(
    words: Sequence[str], speech: Speech, quoted: Parse, label: str, report: list[Constituent]
) -> list[Constituent]:
    """Join the trees of a quotation and of a reporting clause in one of the three forms."""
    n_words, first, rest = len(words), speech.first, speech.rest
    if not rest:
        inside = [
            Constituent(start + first.start, min(end, len(first)) + first.start, span_label)
            for start, end, span_label in quoted.spans
            if start < len(first)
        ]
        return [Constituent(0, n_words, label), *inside, *report]
    gap = len(first) + 1  # the comma is the last word before it

    def place(i: int) -> int:
        return i + first.start if i < gap else i - gap + rest.start

    spans: list[Constituent] = []
    for start, end, span_label in quoted.spans:
        last = min(end, gap + len(rest)) - 1
        if start >= gap + len(rest) or start == len(first):
            continue
        spans.append(Constituent(place(start), place(last if last != len(first) else last - 1) + 1, span_label))
    spans[0] = Constituent(0, n_words, spans[0].label)
    parenthesis = Constituent(first.stop, speech.report.stop + 1, "PRN")
    clause = Constituent(speech.report.start, speech.report.stop, label)
    added = [parenthesis, clause, *report]
    before = sum(span.start < parenthesis.start for span in spans)
    return [*spans[:before], *added, *spans[before:]]


def speeches(
    pipeline: Language, sentences: Sequence[tuple[Sequence[str], Sequence[str]]], counts: Counter[str]
) -> Iterator[tuple[int, Parse, tuple[int, ...]]]:
    """Make the trees of the sentences that have direct speech.

    pipeline (Language): Parses the parts.
    sentences (Sequence[tuple[Sequence[str], Sequence[str]]]): Words and tags of each.
    YIELDS (tuple[int, Parse, tuple[int, ...]]): The sentence's index, its tree, and its quotation marks.
    """
    candidates: list[tuple[int, Speech, list[list[str]]]] = []
    for i, (words, tags) in enumerate(sentences):
        speech = find_speech(words)
        to_parse = pieces(words, tags, speech) if speech else None
        if speech and to_parse:
            candidates.append((i, speech, to_parse))
    counts["found"] += len(candidates)
    parts = list(parse_parts(pipeline, [piece for _, _, to_parse in candidates for piece in to_parse]))
    for k, (i, speech, _) in enumerate(candidates):
        words, tags = sentences[i]
        quoted, clause = parts[2 * k : 2 * k + 2]
        report = report_spans(clause.parse, speech.report, tags)
        if min(quoted.expected_f, clause.expected_f) < LEAST_F or report is None:
            counts["unsure" if report else "another form"] += 1
            continue
        is_one_tree = quoted.parse.spans and quoted.parse.spans[0][:2] == (0, len(quoted.parse))
        if not is_one_tree or (speech.rest and quoted.parse.spans[0].label != "S"):
            counts["no one tree"] += 1
            continue
        label, spans = report
        counts[f"{label} in PRN" if speech.rest else label] += 1
        pos = list(tags)
        for source, target in zip(range(len(quoted.parse)), chain(speech.first, [None], speech.rest)):  # noqa: B905
            if target is not None:
                pos[target] = quoted.parse.pos[source]
        for mark in speech.marks:
            pos[mark] = "``" if mark + 1 in (speech.first.start, speech.rest.start) else "''"
        joined = join_trees(words, speech, quoted.parse, label, spans)
        yield i, Parse(tuple(words), tuple(pos), tuple(joined)), speech.marks


def one_sentence(pipeline: Language, words: Sequence[str]) -> Doc:
    return Doc(pipeline.vocab, list(words), sent_starts=[i == 0 for i in range(len(words))])


def parse_parts(pipeline: Language, parts: Sequence[list[str]]) -> Iterator[Part]:
    for doc in pipeline.pipe(one_sentence(pipeline, part) for part in parts):
        ((_, parse),) = parses_from_doc(doc)
        yield Part(parse, doc.spans[SPANS_KEY].attrs["expected_f"][0])


def without_words(parse: Parse, marks: Sequence[int]) -> Parse:
    """Take some words out of a parse."""
    indices = [i for i in range(len(parse)) if i not in marks]
    new_index = [sum(j < i for j in indices) for i in range(len(parse) + 1)]
    spans = [Constituent(new_index[start], new_index[end], label) for start, end, label in parse.spans]
    return Parse(tuple(parse.words[i] for i in indices), tuple(parse.pos[i] for i in indices), tuple(spans))


def as_typed(parse: Parse, marks: Sequence[int], rng: random.Random) -> Sentence:
    """Vary a sentence: other quotation marks, or none, and sometimes the present."""
    if rng.random() < 0.33:
        parse = without_words(parse, marks)
    if rng.random() < 0.2 and "said" in parse.words:
        i = parse.words.index("said")
        words, pos = list(parse.words), list(parse.pos)
        words[i], pos[i] = "says", "VBZ"
        parse = Parse(tuple(words), tuple(pos), parse.spans)
    style = (rng.choice(QUOTES), rng.choice("'’"), rng.choice(DASHES))
    return vary(Sentence(parse, [True] * len(parse)), rng, *style)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", metavar="PIPELINE")
    parser.add_argument("texts", type=Path, nargs="+", metavar="TEXTS")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--exclude", type=Path, required=True, metavar="TREEBANKS")
    parser.add_argument("--held-out", type=Path, metavar="FILE", help="docs that are scored")
    args = parser.parse_args()
    pipeline = spacy.load(args.pipeline, exclude=["sentencizer", "senter"])
    pipeline.get_pipe("parsetag").probs = True  # type: ignore[attr-defined]
    counts: Counter[str] = Counter()
    rng = random.Random(0)
    splitter = spacy.load("en_parsetag_sm", exclude=["tagger", "parsetag"])
    excluded = known_grams(args.exclude)
    held_out = marks_of([args.held_out]) if args.held_out else set()
    paths = [path for folder in args.texts for path in sorted(folder.glob("*.txt"))]
    documents = read_sentences(paths, splitter, excluded, counts, held_out)
    with_speech = [sentence for document in documents for sentence in document if find_speech(sentence.parse.words)]
    with pipeline.select_pipes(disable=["parsetag"]):
        docs = pipeline.pipe(one_sentence(pipeline, sentence.parse.words) for sentence in with_speech)
        tagged = [(s.parse.words, [token.tag_ for token in doc]) for s, doc in zip(with_speech, docs, strict=True)]
    varied = [as_typed(parse, marks, rng) for _, parse, marks in speeches(pipeline, tagged, counts)]
    rng.shuffle(varied)
    sys.stdout.write(f"{dict(counts)}\n")
    args.output.mkdir(parents=True, exist_ok=True)
    nlp = spacy.blank("en")
    for i in range(0, len(varied), FILE_SIZE):
        shard = (make_doc(nlp, [sentence], spaces=False, paragraphs=False) for sentence in varied[i : i + FILE_SIZE])
        write(shard, args.output / f"speech-{i // FILE_SIZE:03}.spacy")


if __name__ == "__main__":
    main()

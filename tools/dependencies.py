"""Trees for dependencies that were annotated by hand: a pipeline parses the sentences so that its trees agree.

    python -m tools.dependencies PIPELINE TREEBANKS OUTPUT

PIPELINE has a `tagger`, whose tags are kept, and a `parsetag`; TREEBANKS holds `gum` and `ewt`, as `tools/treebanks.py`
checks them out. In Universal Dependencies, a word and all that depends on it are a constituent, and of the words of a
constituent one depends on a word outside. Both have exceptions, where the Penn Treebank's conventions are others. So
what the pipeline is sure of stays, and the dependencies decide the rest, as constraints. Written to OUTPUT, of the
training parts:

    runs/ewt.spacy, gum.spacy       runs of one to eight sentences: tags by hand, and the best trees that are left, with
                                    their probabilities (see tools/silver.py); half of the runs varied
    singles/ewt.spacy, gum.spacy    the same, each sentence a doc of its own
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_parsetag.decode import Distribution
from spacy_parsetag.tokens.groups import SPANS_KEY

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.english import Text, gum_names, is_free, read_conllu, surface, write
from tools.silver import K_BEST, LONGEST, Silver, grams, known_grams, make_soft_doc, silver_of, silver_runs
from tools.turns import with_tags

# Words with these relations head constituents; "nmod" stands for "nmod:poss" too.
HEADS = {
    "acl", "advcl", "advmod", "amod", "appos", "ccomp", "conj", "csubj", "iobj", "nmod", "nsubj", "nummod", "obj",
    "obl", "xcomp",
}  # fmt: skip
ALONE = HEADS - {"advmod", "amod", "conj", "nmod", "nummod"}  # constituents even of one word
FLAT = {"nmod:desc", "nmod:unmarked"}  # before a noun, as in "Actor Kim": no constituents there
ARGUMENTS = {"appos", "conj", "iobj", "nmod", "nsubj", "obj", "obl"}  # noun phrases, where a noun is the head
NOUNS = {"NN", "NNS", "NNP", "NNPS", "PRP", "CD"}
MARKS = {"case", "mark"}  # "of", "because": they stand before the constituent in the constituent
CLAUSES = {"S", "SBAR", "VP"}
PHRASES = {"ADJP", "NP", "PP", "WHNP", "WHPP"} | CLAUSES
PAIRS = {"(": ")", "[": "]", "{": "}", "-LRB-": "-RRB-", "<": ">", "“": "”", "‘": "’", "``": "''", '"': '"', "'": "'"}
SURE = 0.995  # a constituent, or that there is none, is the pipeline's own business with this probability
POSSIBLE = 0.01  # a constituent that is less likely needs no constraint against it
CHUNK = 256  # sentences parsed at a time
LEAST_F = 0.85  # expected of the best tree


def relation(text: Text, word: int) -> str:
    """The relation of a word to its head, without its subtype."""
    return text.relations[word].partition(":")[0]


def descendants(text: Text) -> list[tuple[int, int] | None]:
    """The span of each word and all words that depend on it; None for one with a gap."""
    n = len(text.words)
    starts, ends, counts = list(range(n)), [i + 1 for i in range(n)], [1] * n
    for word in range(n):
        head = text.heads[word]
        while head >= 0:  # up to the root
            starts[head], ends[head] = min(starts[head], word), max(ends[head], word + 1)
            counts[head] += 1
            head = text.heads[head]
    return [(s, e) if e - s == c else None for s, e, c in zip(starts, ends, counts, strict=True)]


def trim(text: Text, start: int, end: int) -> tuple[int, int]:
    """Leave out punctuation at the ends of a span, but no bracket or quotation mark whose other half is inside."""
    punctuation = [name == "punct" for name in text.relations]
    while start < end:
        first, last, inside = text.words[start], text.words[end - 1], text.words[start + 1 : end - 1]
        pair = end - start > 1 and PAIRS.get(first) == last
        if punctuation[start] and punctuation[end - 1] and pair:
            start, end = start + 1, end - 1
        elif punctuation[end - 1] and not closes(last, [first, *inside]):
            end -= 1
        elif punctuation[start] and not opens(first, [*inside, last]):
            start += 1
        else:
            break
    return start, end


def with_punctuation(text: Text, start: int, end: int) -> list[tuple[int, int]]:
    """The span, and the span with punctuation before and after it: which of these it is, treebanks disagree about."""
    first_start, last_end = start, end
    while first_start > 0 and text.relations[first_start - 1] == "punct":
        first_start -= 1
    while last_end < len(text.words) and text.relations[last_end] == "punct":
        last_end += 1
    return [(i, j) for i in range(first_start, start + 1) for j in range(end, last_end + 1)]


def closes(mark: str, before: Sequence[str]) -> bool:
    """Tell whether a mark closes a pair that one of the words before it opens."""
    if PAIRS.get(mark) == mark:
        return before.count(mark) % 2 == 1
    return any(close == mark and before.count(open_) > before.count(mark) for open_, close in PAIRS.items())


def opens(mark: str, after: Sequence[str]) -> bool:
    """Tell whether a mark opens a pair that one of the words after it closes."""
    if PAIRS.get(mark) == mark:
        return after.count(mark) % 2 == 1
    return mark in PAIRS and after.count(PAIRS[mark]) > after.count(mark)


def outside(text: Text, start: int, end: int) -> list[int]:
    """The words of a span that depend on a word outside of it, without punctuation."""
    return [
        word for word in range(start, end)
        if text.relations[word] != "punct" and not start <= text.heads[word] < end
    ]  # fmt: skip


def constituents(text: Text) -> dict[tuple[int, int], str]:
    """The spans that should be constituents, each with the label that it should have, or ""."""
    labels: dict[tuple[int, int], str] = {}
    for word, span in enumerate(descendants(text)):
        if span is None or relation(text, word) not in HEADS or text.relations[word] in FLAT:
            continue
        start, end = trim(text, *span)
        if relation(text, word) == "conj":  # without "and"
            while start < end and text.relations[start] in ("cc", "punct"):
                start += 1
        core = start  # "the house" of "in the house"
        while core < word and (
            (text.heads[core] == word and text.relations[core] in MARKS)
            or (core > start and text.relations[core] == "fixed")
        ):
            core += 1
        for first in {start, core}:
            if end - first > 1 or (end > first and is_alone(text, word, after_case=first > start)):
                labels.setdefault((first, end), label_of(text, first, end))
    return labels


def is_alone(text: Text, word: int, *, after_case: bool) -> bool:
    """Tell whether a word is a constituent alone: arguments, clauses, and adverbs of verbs, but for "not"."""
    name, head = relation(text, word), text.heads[word]
    if name == "advmod":
        negation = text.words[word].lower() in ("not", "n't", "n’t")
        return text.tags[word].startswith("RB") and text.tags[head].startswith(("VB", "MD")) and not negation
    return name in ALONE or (name == "nmod" and after_case)


def label_of(text: Text, start: int, end: int) -> str:
    """Find the label of a span: NP for a noun and what depends on it, without preposition and copula; "" for others."""
    heads = outside(text, start, end)
    if len(heads) != 1 or text.tags[heads[0]] not in NOUNS or relation(text, heads[0]) not in ARGUMENTS:
        return ""
    relations = {text.relations[word] for word in range(start, end) if text.heads[word] == heads[0]}
    return "" if relations & {"cop", *MARKS} else "NP"


def is_split(text: Text, start: int, end: int, label: str) -> bool:
    """Tell whether a phrase joins words that depend on others outside, and so is no constituent."""
    heads = outside(text, start, end)
    relations = {relation(text, word) for word in heads}
    if len(heads) < 2 or label not in PHRASES or not relations <= HEADS - {"advmod", "amod", "nummod"}:
        return False
    # "want him to go": (S him to go), where both words depend on "want".
    return not (label in CLAUSES and relations & {"iobj", "nsubj", "obj"})


def likelihood(p: float) -> str:
    """Name the probability that the pipeline gives to what dependencies say."""
    return "against the pipeline" if p < 1 - SURE else "unlikely" if p < 0.5 else "likely"


def constrain(
    text: Text, probs: Mapping[tuple[int, int, str], float], counts: Counter[str]
) -> list[tuple[int, int, str, str]]:
    """Find the constraints on a sentence, (start, end, label, kind), the likeliest first.

    probs (Mapping[tuple[int, int, str], float]): The pipeline's probability of each constituent.
    """
    constraints: list[tuple[float, int, int, str, str]] = []
    known = dict(probs)  # of each span with the label "", too: the probability of its likeliest label
    for (start, end, _), p in probs.items():
        known[start, end, ""] = max(p, known.get((start, end, ""), 0.0))
    for span, wanted in constituents(text).items():
        candidates = with_punctuation(text, *span)
        for label in (wanted, ""):  # any label, where the one that is wanted is impossible
            p, (start, end) = max((known.get((*s, label), 0.0), s) for s in candidates)
            if p >= 1 - SURE:
                break
        counts[likelihood(p)] += 1
        if 1 - SURE <= p < SURE:
            constraints.append((p, start, end, label, "must"))
    for (start, end, label), p in probs.items():
        if p > POSSIBLE and is_split(text, start, end, label):
            counts[likelihood(1 - p)] += 1
            if p <= SURE:
                constraints.append((1 - p, start, end, label, "must not"))
    return [(start, end, label, kind) for _, start, end, label, kind in sorted(constraints, reverse=True)]


def constrained_trees(pipeline: Language, texts: Sequence[Text], counts: Counter[str]) -> list[Silver | None]:
    """Parse sentences of like length together; None for one whose tree the pipeline is unsure about."""
    parser: Any = pipeline.get_pipe("parsetag")
    parser.probs, parser.k_best, parser.conflicts = True, K_BEST, "drop"
    encoders = [name for name in pipeline.pipe_names if name in ("tok2vec", "transformer")]
    silver: list[Silver | None] = [None] * len(texts)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].words))
    for start in range(0, len(order), CHUNK):
        chunk = order[start : start + CHUNK]
        docs = [
            Doc(pipeline.vocab, t.words, t.spaces, tags=t.tags, sent_starts=[j == 0 for j in range(len(t.words))])
            for t in map(texts.__getitem__, chunk)
        ]
        with pipeline.select_pipes(enable=encoders):
            docs = list(pipeline.pipe(docs))
        probs = Distribution(parser.score_docs(docs)[0]).at(parser.temperature).constituents
        for s, (i, doc) in enumerate(zip(chunk, docs, strict=True)):
            doc.spans["parsetag_constraints"] = [
                Span(doc, start, end, label=label, kb_id=kind)
                for start, end, label, kind in constrain(texts[i], probs.sentence(s, 0.0005), counts)
            ]
        for i, doc in zip(chunk, parser.pipe(docs), strict=True):
            if doc.spans[SPANS_KEY].attrs["expected_f"][0] < LEAST_F:
                counts["unsure"] += 1
            else:
                counts["kept"] += 1
                silver[i] = silver_of(doc, texts[i].spaces, texts[i].paragraph)
    return silver


def is_prose(text: Text) -> bool:
    n = len(text.words)
    letters = sum(word.isalpha() for word in text.words)
    return n <= LONGEST and letters >= n / 2 and max(map(len, text.words)) <= 30 and "goeswith" not in text.relations


def read_texts(path: Path, excluded: set[int], counts: Counter[str]) -> Iterator[Text]:
    """Read the sentences of a document that may be used, and count the others."""
    for text in read_conllu(path):
        if not is_prose(text):
            counts["no prose"] += 1
        elif excluded & set(map(hash, grams(surface(text.words, text.spaces)))):
            counts["in a treebank"] += 1
        else:
            yield text


def read_ewt(folder: Path) -> Iterator[Path]:
    """The documents of the training part of the English Web Treebank."""
    root = folder / "not-to-release"
    for name in (root / "file-lists" / "files.train").read_text(encoding="utf8").split():
        yield root / "sources" / name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path, metavar="PIPELINE")
    parser.add_argument("treebanks", type=Path, metavar="TREEBANKS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    args = parser.parse_args()
    pipeline, nlp, rng = spacy.load(args.pipeline), spacy.blank("en"), random.Random(0)
    tagger: Any = pipeline.get_pipe("tagger")
    tags = tagger.labels
    gum = args.treebanks / "gum"
    # GUM's own texts are known, and are to be learned.
    sources: dict[str, tuple[Iterable[Path], set[int]]] = {
        "ewt": (read_ewt(args.treebanks / "ewt"), known_grams(args.treebanks)),
        "gum": ((gum / "dep" / f"{name}.conllu" for name in gum_names(gum, "train") if is_free(name)), set()),
    }
    for folder in ("runs", "singles"):
        (args.output / folder).mkdir(parents=True, exist_ok=True)
    for name, (paths, excluded) in sources.items():
        counts: Counter[str] = Counter()
        texts = [list(read_texts(path, excluded, counts)) for path in paths]
        parsed = iter(constrained_trees(pipeline, [text for document in texts for text in document], counts))
        documents = [[s for s in islice(parsed, len(document)) if s is not None] for document in texts]
        sys.stdout.write(f"{name}: {dict(counts)}\n")
        runs = list(silver_runs(documents, rng))
        for folder, groups in (("runs", runs), ("singles", [[sentence] for run in runs for sentence in run])):
            docs = (with_tags(make_soft_doc(nlp, group, rng), tags) for group in groups)
            write(docs, args.output / folder / f"{name}.spacy")


if __name__ == "__main__":
    main()

"""Constraints on docs: spans that must be constituents, must not be, or must stay whole.

doc.spans["parsetag_constraints"] = [Span(doc, 0, 3, label="NP")]                   must be an NP
Span(doc, 0, 3)                                                                     must be a constituent
Span(doc, 4, 6, label="VP", kb_id="must not")                                       must not be a VP
Span(doc, 2, 6, kb_id="uncrossed")                                                  no constituent may cross it
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, Token

from ..decode import Constraint, TagScores
from ..decode.batch import FOUND, NO_TREE
from ..decode.constraints import KINDS
from ..decode.repair import check_status, keep_possible
from ..errors import Errors, shorten
from ..tokens.groups import spans_of_group
from ..tokens.sentences import map_words

CONSTRAINTS_KEY = "parsetag_constraints"
QUOTES = {'"': '"', "“": "”", "``": "''", "«": "»", "„": "“"}
Finder = Callable[[Doc], Iterable[Span]]


class DocConstraint(Constraint):
    """A constraint that messages call by the span that it came from."""

    text: str

    def __new__(cls, start: int, end: int, label: str | None, kind: str, text: str) -> "DocConstraint":
        constraint = super().__new__(cls, start, end, label, kind)
        constraint.text = text
        return constraint

    def __str__(self) -> str:
        return self.text


class SentenceConstraints(NamedTuple):
    """Holds the constraints on a sentence, and what was left out since it cannot hold, whatever the others are."""

    constraints: list[DocConstraint]
    left_out: list[str]


def constraints_of_doc(
    doc: Doc, sentences: Sequence[Sequence[int]], find: Finder | None, *, drop: bool
) -> list[SentenceConstraints]:
    """Find the constraints on each sentence of a doc: `doc.spans["parsetag_constraints"]`, then the spans of `find`.

    The kind is the `kb_id` of the span, else its id, the group's attribute "kind", or "must". JSON keeps the `kb_id`
    alone. A span that is "uncrossed" may reach over several sentences: it counts in each of them for the part that is
    there.

    find (Callable[[Doc], Iterable[Span]] | None): Gives more spans; the group's attribute is not theirs.
    drop (bool): Leave out spans that must be constituents and cover no word or leave the sentence in which they start.
    RAISES (ValueError): If a kind is none of "must", "must not" and "uncrossed", or there is such a span that is not to
        be dropped; if the doc was retokenized since the group was set; if `find` gives something else than spans of
        the doc.
    """
    spans = _find_spans(doc, find)
    of_sentences = [SentenceConstraints([], []) for _ in sentences]
    if not spans:
        return of_sentences
    words = map_words(doc)
    bounds = [(words.before[tokens[0]], words.before[tokens[0]] + len(tokens)) for tokens in sentences]
    for span, kind in spans:
        start, end = words.before[span.start], words.before[span.end]
        label = span.label_ or None
        text = f"{kind} {label or 'constituent'} {shorten(span.text, 60)!r} (tokens {span.start} to {span.end})"
        if kind not in KINDS:
            kinds = ", ".join(map(repr, KINDS))
            raise ValueError(Errors.E260.format(kind=kind, text=repr(shorten(span.text, 60)), kinds=kinds))
        if kind == "uncrossed":
            for of_sentence, (first, stop) in zip(of_sentences, bounds, strict=True):
                if max(start, first) < min(end, stop):
                    part = max(start, first) - first, min(end, stop) - first
                    of_sentence.constraints.append(DocConstraint(*part, None, kind, text))
            continue
        at = start
        if bounds and start == end:  # white space, which may stand after all words of its sentence
            at = words.before[doc[min(span.start, len(doc) - 1)].sent.start]
        s = max(0, bisect_right(bounds, at, key=itemgetter(0)) - 1)  # in which it starts
        if s < len(bounds) and bounds[s][0] <= start < end <= bounds[s][1]:
            first = bounds[s][0]
            of_sentences[s].constraints.append(DocConstraint(start - first, end - first, label, kind, text))
        elif kind != "must not":  # which holds: no constituent leaves its sentence
            if not drop:
                raise ValueError(Errors.E261.format(text=text))
            if bounds:
                of_sentences[s].left_out.append(text)
    return of_sentences


def _find_spans(doc: Doc, find: Finder | None) -> list[tuple[Span, str]]:
    """Find the spans that constrain the trees of a doc, with their kinds."""
    group = doc.spans.get(CONSTRAINTS_KEY)
    of_group = "must" if group is None else group.attrs.get("kind", "must")
    spans = [(span, of_group) for span in spans_of_group(doc, CONSTRAINTS_KEY, Errors.E269)]
    found = () if find is None else find(doc)
    for span in found if isinstance(found, Iterable) else [found]:
        if not isinstance(span, Span) or span.doc is not doc:
            raise ValueError(Errors.E271.format(found=span))
        spans.append((span, "must"))
    return [(span, span.kb_id_ or span.id_ or kind) for span, kind in spans]


def constrain(
    batch: TagScores, of_sentences: Sequence[SentenceConstraints], *, drop: bool
) -> tuple[TagScores, list[list[str]]]:
    """Constrain the trees of a batch.

    drop (bool): Leave out constraints that cannot hold together with earlier ones, instead of raising an error.
    RETURNS (tuple[TagScores, list[list[str]]]): The batch, and what was left out of each sentence.
    RAISES (ValueError): If constraints cannot hold together, naming them; or if there is no tree even without them.
    """
    left_out = [[*of_sentence.left_out] for of_sentence in of_sentences]
    constraints = tuple(tuple(of_sentence.constraints) for of_sentence in of_sentences)
    if not any(constraints):
        return batch, left_out
    constrained = replace(batch.on_cpu(), constraints=constraints)
    possible, dropped = keep_possible(constrained)
    if not drop:
        check_status(constrained, np.asarray([NO_TREE if indices else FOUND for indices in dropped]), Errors.E262)
    for texts, of_sentence, indices in zip(left_out, constraints, dropped, strict=True):
        texts += [of_sentence[i].text for i in indices]
    return possible, left_out


def make_uncrossed(
    entities: bool = True, quotes: bool = True, spans_keys: str | Sequence[str] = ()
) -> Callable[[Doc], list[Span]]:
    """Make a finder of spans that no constituent may cross: entities, quotations, groups of spans such as markup.

    entities (bool): Take the spans of `doc.ents`.
    quotes (bool): Take quotations, with their marks.
    spans_keys (str | Sequence[str]): Keys of groups in `doc.spans`, or one key.
    RETURNS (Callable[[Doc], list[Span]]): The finder, for the setting `constraints` of the component. It raises a
        ValueError if the doc was retokenized since a group was set.
    """
    keys = (spans_keys,) if isinstance(spans_keys, str) else tuple(spans_keys)
    # A partial, unlike a function made here, can be pickled with the component that holds it.
    return partial(_find_uncrossed, entities=entities, quotes=quotes, spans_keys=keys)


def _find_uncrossed(doc: Doc, *, entities: bool, quotes: bool, spans_keys: Sequence[str]) -> list[Span]:
    grouped = (span for key in spans_keys for span in spans_of_group(doc, key, Errors.E269))
    spans = [*(doc.ents if entities else ()), *grouped]
    bounds = [(span.start, span.end) for span in spans] + (_quotations(doc) if quotes else [])
    return [Span(doc, start, end, kb_id="uncrossed") for start, end in bounds]


def _quotations(doc: Doc) -> list[tuple[int, int]]:
    """Find the first and end token of each quotation, from an opening mark to the one that closes it.

    A closing mark ends the innermost quotation of its kind; marks inside that have not been closed then count no more.
    """
    quotations = []
    opened: dict[str, list[int]] = {}  # the tokens that opened quotations, by the mark that closes them
    for token in doc:
        text = token.text
        if opened.get(text):
            start = opened[text].pop()
            quotations.append((start, token.i + 1))
            for starts in opened.values():
                while starts and starts[-1] > start:
                    starts.pop()
        elif text.count("\n") > 1:
            opened.clear()  # one that is not closed ends with its paragraph
        elif text in QUOTES and not _is_glued(token):
            opened.setdefault(QUOTES[text], []).append(token.i)
    return quotations


def _is_glued(token: Token) -> bool:
    """Tell whether a straight mark stands right behind a word or number, as in 19", and so opens nothing."""
    before = token.nbor(-1) if token.i else None
    return before is not None and token.text == '"' and not before.whitespace_ and before.text[-1].isalnum()

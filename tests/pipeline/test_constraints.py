"""What users know of a tree holds in the tree that they get."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from tiny import TINY_MODEL, make_examples, spans_of, train

from spacy_parsetag.pipeline.constraints import CONSTRAINTS_KEY, constraints_of_doc, make_uncrossed

TEXT = "The old dog sings and barked on papers"


@pytest.fixture
def nlp(trained: Callable[[str], Language]) -> Iterator[Language]:
    shared = trained("in")
    pipe = shared.get_pipe("parsetag")
    yield shared
    pipe.conflicts, pipe.constraints = "raise", None


def parse(nlp: Language, *spans: tuple[int, int, str, str], text: str = TEXT) -> Doc:
    doc = nlp.make_doc(text)
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, i, j, label=label, kb_id=kind) for i, j, label, kind in spans]
    return nlp(doc)


@pytest.mark.parametrize("order", ["in", "pre", "post"])
def test_each_kind(order: str, trained: Callable[[str], Language]) -> None:
    nlp = trained(order)
    free = spans_of(nlp(TEXT))
    bounds = {(start, end) for start, end, _ in free}
    assert (2, 5, "NP") not in free and (1, 3) not in bounds
    assert (2, 5, "NP") in spans_of(parse(nlp, (2, 5, "NP", "")))
    assert (1, 3) in {(start, end) for start, end, _ in spans_of(parse(nlp, (1, 3, "", "must")))}
    first = free[1]
    assert first not in spans_of(parse(nlp, (*first, "must not")))
    without = spans_of(parse(nlp, (first[0], first[1], "", "must not")))
    assert first[:2] not in {(start, end) for start, end, _ in without}
    whole = spans_of(parse(nlp, (3, 6, "", "uncrossed")))
    assert not any(start < 3 < end < 6 or 3 < start < 6 < end for start, end, _ in whole)


def test_the_rest_is_the_best_that_agrees(nlp: Language) -> None:
    """A constraint that holds anyway changes nothing."""
    free = spans_of(nlp(TEXT))
    assert spans_of(parse(nlp, *((*span, "must") for span in free))) == free


def test_what_a_finder_gives(nlp: Language) -> None:
    """Spans of the doc, and nothing else."""
    pipe = nlp.get_pipe("parsetag")
    other = nlp.make_doc("another text of some length")
    for found in ((0, 3, "NP"), "NP", other[0:2]):
        pipe.constraints = lambda doc, found=found: [found]
        with pytest.raises(ValueError, match=r"\[E271\].*constraints") as caught:
            nlp(TEXT)
        assert repr(found) in str(caught.value)
    pipe.constraints = lambda doc: None
    with pytest.raises(ValueError, match=r"\[E271\].* got None"):
        nlp(TEXT)


def test_conflicts(nlp: Language) -> None:
    spans = [(0, 3, "NP", ""), (2, 5, "", "must"), (6, 8, "PP", "")]
    with pytest.raises(ValueError, match="E262") as caught:
        parse(nlp, *spans)
    message = str(caught.value)
    assert "must NP 'The old dog' (tokens 0 to 3); must constituent 'dog sings and' (tokens 2 to 5)." in message
    assert "on papers" not in message
    nlp.get_pipe("parsetag").conflicts = "drop"
    doc = parse(nlp, *spans)
    assert (0, 3, "NP") in spans_of(doc) and (6, 8, "PP") in spans_of(doc)
    [dropped] = doc.spans["constituents"].attrs["dropped_constraints"]
    assert dropped == ["must constituent 'dog sings and' (tokens 2 to 5)"]
    others = list(nlp.pipe(["a cat sings", doc.text], batch_size=1))  # as beside a doc with constraints
    assert [other.spans["constituents"].attrs["dropped_constraints"] for other in others] == [[[]], [[]]]
    first = [spans[1], spans[0], spans[2]]
    assert any(span[:2] == (2, 5) for span in spans_of(parse(nlp, *first)))


def test_the_stack_is_in_the_way(nlp: Language) -> None:
    """Then no constraint is to blame, whatever there is."""
    pipe = nlp.get_pipe("parsetag")
    pipe.max_stack = 0
    with pytest.raises(ValueError, match=r"E152.*8 words.*stack bound of 0"):
        parse(nlp, (0, 3, "NP", ""))
    pipe.max_stack = None


def test_errors(nlp: Language) -> None:
    with pytest.raises(ValueError, match=r"E260.*'never'"):
        parse(nlp, (0, 2, "", "never"))
    doc = nlp.make_doc("a cat sings on the mat")
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 2, 4)]
    with pytest.raises(ValueError, match=r"E261.*'sings on'"):
        nlp(doc)
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 2, 4, kb_id="uncrossed")]
    nlp(doc)


@pytest.mark.parametrize(
    "copy",
    [
        lambda doc: Doc(doc.vocab).from_json(doc.to_json()),
        lambda doc: Example.from_dict(Doc(doc.vocab, words=doc.text.split()), Example(doc, doc).to_dict()).reference,
        lambda doc: Doc.from_docs([doc]),
        lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
        lambda doc: doc.copy(),
    ],
)
@pytest.mark.parametrize("kind", ["must", "must not", "uncrossed"])
def test_kinds_are_kept(nlp: Language, kind: str, copy: Callable[[Doc], Doc]) -> None:
    """What must not be is not what must be after spaCy has written the doc and read it."""
    doc = nlp.make_doc(TEXT)
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 2, 5, label="NP", kb_id=kind)]
    found, kept = (constraints_of_doc(each, [range(8)], None, drop=False) for each in (doc, copy(doc)))
    assert kept == found and found[0].constraints[0].kind == kind


def test_kinds_as_ids_and_attributes(nlp: Language) -> None:
    """JSON has neither, so that `kb_id` comes first."""
    doc = nlp.make_doc(TEXT)
    doc.spans[CONSTRAINTS_KEY] = [
        Span(doc, 2, 5, span_id="must not"),
        Span(doc, 3, 6),
        Span(doc, 4, 7, span_id="mine", kb_id="must"),
    ]
    doc.spans[CONSTRAINTS_KEY].attrs["kind"] = "uncrossed"
    (found,) = constraints_of_doc(doc, [range(8)], None, drop=False)
    assert [constraint.kind for constraint in found.constraints] == ["must not", "uncrossed", "must"]
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 2, 5, span_id="mine")]
    with pytest.raises(ValueError, match=r"E260.*'mine'"):
        nlp(doc)


@pytest.mark.parametrize("merged", [(0, 2), (5, 8)])
def test_tokens_changed_since(nlp: Language, merged: tuple[int, int]) -> None:
    """A component that merges tokens leaves the spans on other words, or beyond the end."""
    doc = nlp.make_doc(TEXT)
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 2, 4), Span(doc, 6, 8, label="PP")]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[slice(*merged)])
    with pytest.raises(ValueError, match=r"E269.*'parsetag_constraints'.*merge_entities"):
        nlp(doc)
    with pytest.raises(ValueError, match=r"E269.*'parsetag_constraints'"):
        make_uncrossed(spans_keys=[CONSTRAINTS_KEY])(doc)


def test_an_unknown_label(nlp: Language) -> None:
    with pytest.raises(ValueError, match=r"E178.*must XP 'The old'.*the label 'XP'. It knows .*NP.*VP"):
        parse(nlp, (0, 2, "XP", ""))
    parse(nlp, (0, 2, "XP", "must not"))  # no tree has it


def test_uncrossed(nlp: Language) -> None:
    """Entities, quotations and groups of spans, by a function in the config."""
    nlp.get_pipe("parsetag").constraints = make_uncrossed(spans_keys=["markup"])
    doc = nlp.make_doc('Kim " sings and " barked on the old mat')
    doc.ents = [Span(doc, 7, 9, label="PLACE")]
    doc.spans["markup"] = [Span(doc, 3, 6)]
    found = make_uncrossed(spans_keys=["markup"])(doc)
    assert [(span.start, span.end) for span in make_uncrossed(spans_keys="markup")(doc)] == [
        (span.start, span.end) for span in found
    ]
    assert [(span.start, span.end, span.kb_id_) for span in found] == [
        (7, 9, "uncrossed"),
        (3, 6, "uncrossed"),
        (1, 5, "uncrossed"),
    ]
    spans = spans_of(nlp(doc))
    for i, j in ((7, 9), (3, 6), (1, 5)):
        assert not any(start < i < end < j or i < start < j < end for start, end, _ in spans)
    assert make_uncrossed(entities=False, quotes=False)(doc) == []


@pytest.mark.parametrize(
    "text, found",
    [
        ('He has a 19" screen.\n\nThe old man who said "no" left.', ['"no"']),
        ('“Kim sings.\n\nThe club said "the old dog barked" loudly.', ['"the old dog barked"']),
        ('He said ("no") and “two\nlines”.', ['"no"', "“two\nlines”"]),
        ("“Kim said “no” today”, “he” said.", ["“no”", "“Kim said “no” today”", "“he”"]),
        ('« I heard “Kim and "no" » . "He"', ['"no"', '« I heard “Kim and "no" »', '"He"']),
        ("„Kim sings“, „he“ said.", ["„Kim sings“", "„he“"]),
    ],
)
def test_quotations(text: str, found: list[str]) -> None:
    """A stray mark takes no more than its paragraph or the quotation around it, and one of inches none."""
    assert [span.text for span in make_uncrossed()(spacy.blank("en")(text))] == found


def test_what_must_not_be_in_two_sentences(nlp: Language) -> None:
    """It never is; what must be cannot, and is left out where what cannot hold is."""
    doc = nlp.make_doc("Kim sings . The old dog barked")
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 1, 5, label="NP", kb_id="must not")]
    assert spans_of(nlp(doc))
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 1, 5, label="NP")]
    with pytest.raises(ValueError, match=r"\[E261\]"):
        nlp(doc)
    pipe: Any = nlp.get_pipe("parsetag")
    pipe.conflicts = "drop"
    dropped = nlp(doc).spans["constituents"].attrs["dropped_constraints"]
    assert dropped == [["must NP 'sings . The old' (tokens 1 to 5)"], []]
    assert [each.spans["constituents"].attrs["dropped_constraints"] for each in nlp.pipe(["", " "])] == [[], []]
    doc = Doc(nlp.vocab, ["Kim", "sings", "\n\n", "The", "dog", "barked"], sent_starts=[1, 0, 0, 1, 0, 0])
    doc.spans[CONSTRAINTS_KEY] = [Span(doc, 2, 3), Span(doc, 2, 5), Span(doc, 6, 6)]
    [[of_blank], [of_nothing]] = nlp(doc).spans["constituents"].attrs["dropped_constraints"]
    assert "(tokens 2 to 3)" in of_blank and "(tokens 6 to 6)" in of_nothing
    pipe.conflicts = "raise"


def test_in_a_config() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    config = {"model": TINY_MODEL, "constraints": {"@misc": "spacy-parsetag.Uncrossed.v1"}, "conflicts": "drop"}
    nlp.add_pipe("parsetag", config=config)
    train(nlp, make_examples(nlp), steps=1)
    assert nlp.from_bytes(nlp.to_bytes())('" a cat " sings').spans["constituents"].attrs["dropped_constraints"] == [[]]

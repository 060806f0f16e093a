"""Parse -> doc.spans -> Parse, through every way of storing a doc, and what is refused."""

import json
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from spacy.lang.en import English
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab, create_vocab
from strategies import parses

from spacy_parsetag.tokens import (
    doc_from_parses,
    doc_from_tree,
    doc_to_strings,
    has_parses,
    map_words,
    parses_from_doc,
    sentence_words,
    set_parses,
)
from spacy_parsetag.trees.parse import Constituent, Parse

VOCAB = create_vocab("en", English.Defaults)
SHE_ENJOYS = Parse(
    ("She", "enjoys", "reading", "papers"),
    ("PRP", "VBZ", "VBG", "NNS"),
    tuple(
        Constituent(*span)
        for span in ((0, 4, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "S"), (2, 4, "VP"), (3, 4, "NP"))
    ),
)


def read(doc: Doc) -> list[Parse]:
    return [sentence.parse for sentence in parses_from_doc(doc)]


def through_doc_bin(doc: Doc) -> Doc:
    bin_ = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes())
    return next(iter(bin_.get_docs(doc.vocab)))


def through_json(doc: Doc) -> Doc:
    return Doc(doc.vocab).from_json(json.loads(json.dumps(doc.to_json())))


WAYS = {
    "DocBin": through_doc_bin,
    "to_bytes": lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
    "to_json": through_json,
    "from_docs": lambda doc: Doc.from_docs([doc]),
    "copy": lambda doc: doc.copy(),
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
}


def test_one_sentence(vocab: Vocab) -> None:
    doc = doc_from_tree(vocab, SHE_ENJOYS)
    group = doc.spans["constituents"]
    assert [(span.start, span.end, span.label_) for span in group] == [tuple(span) for span in SHE_ENJOYS.spans]
    assert group.attrs == {"format": 1}
    ((tokens, parse),) = parses_from_doc(doc)
    assert list(tokens) == [0, 1, 2, 3]
    assert parse == SHE_ENJOYS


@given(parse=parses())
def test_round_trip(parse: Parse) -> None:
    assert read(doc_from_tree(VOCAB, parse)) == [parse]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_storing(way: Callable[[Doc], Doc]) -> None:
    @given(sentences=st.lists(parses(max_words=5), max_size=3))
    def round_trip(sentences: list[Parse]) -> None:
        assert read(way(doc_from_parses(VOCAB, sentences))) == sentences

    round_trip()


@given(sentences=st.lists(parses(max_words=4), min_size=1, max_size=4))
def test_concatenating_docs(sentences: list[Parse]) -> None:
    doc = Doc.from_docs([doc_from_tree(VOCAB, parse) for parse in sentences])
    assert read(doc) == sentences


@pytest.mark.parametrize("way", ["DocBin", "to_bytes", "copy", "pickle"])
def test_attrs_are_kept(way: str, vocab: Vocab) -> None:
    doc = doc_from_tree(vocab, SHE_ENJOYS, attrs={"score": -1.5, "beam": [1, 2]})
    assert WAYS[way](doc).spans["constituents"].attrs == {"score": -1.5, "beam": [1, 2], "format": 1}


@given(
    parse=parses(words=st.sampled_from(["a", "b"])), data=st.lists(st.sampled_from(["", " ", "\n", " \n "]), min_size=9)
)
def test_white_space_tokens(parse: Parse, data: list[str]) -> None:
    words: list[str] = []
    for gap, word in zip(data, [*parse.words, None], strict=False):
        words += [part for part in (gap, word) if part]
    doc = Doc(VOCAB, words=words, sent_starts=[i == 0 for i in range(len(words))])
    for i, tag in zip(map_words(doc).tokens, parse.pos, strict=True):
        doc[i].tag_ = tag
    (tokens,) = sentence_words(doc)
    assert [words[i] for i in tokens] == list(parse.words)
    group = set_parses(doc, [(tokens, parse.spans)])
    assert all(not span[0].is_space and not span[-1].is_space for span in group)
    assert read(doc) == [parse]
    # Spans that a user drew wider, over the white space beside them, mean the same.
    widened = [_widen(doc, span) for span in group]
    doc.spans["constituents"] = widened
    assert read(doc) == [parse]


def _widen(doc: Doc, span: Span) -> Span:
    end = span.end
    while end < len(doc) and doc[end].is_space:
        end += 1
    return Span(doc, span.start, end, label=span.label)


def test_sentences_of_white_space_are_left_out(vocab: Vocab) -> None:
    doc = Doc(vocab, words=["\n", "a", "b", "\n", "c"], sent_starts=[True, True, False, True, True])
    assert sentence_words(doc) == [[1, 2], [4]]
    set_parses(doc, [([1, 2], [(0, 2, "NP")]), ([4], [])])
    assert doc_to_strings(doc) == ["(TOP (NP (X a) (X b)))", "(TOP (X c))"]


def test_without_sentence_boundaries_a_doc_is_one_sentence(vocab: Vocab) -> None:
    doc = Doc(vocab, words=["a", "b", "c"])
    assert sentence_words(doc) == [[0, 1, 2]]
    set_parses(doc, [([0, 1, 2], [(0, 3, "S")])])
    assert doc_to_strings(doc) == ["(TOP (S (X a) (X b) (X c)))"]


def test_empty_doc(vocab: Vocab) -> None:
    doc = doc_from_parses(vocab, [])
    assert len(doc) == 0
    assert has_parses(doc)
    assert sentence_words(doc) == []
    assert parses_from_doc(doc) == []
    assert not has_parses(Doc(vocab))


def test_tags_come_from_tag_then_pos_then_x(vocab: Vocab) -> None:
    doc = Doc(vocab, words=["a", "b", "c"], tags=["DT", "", ""], pos=["DET", "NOUN", ""])
    set_parses(doc, [([0, 1, 2], [])])
    assert parses_from_doc(doc)[0].parse.pos == ("DT", "NOUN", "X")


@given(parse=parses(max_words=6, max_chain=1), random=st.randoms(use_true_random=False))
def test_unsorted_spans_are_sorted(parse: Parse, random: object) -> None:
    doc = doc_from_tree(VOCAB, parse)
    spans = list(doc.spans["constituents"])
    random.shuffle(spans)  # type: ignore[attr-defined]
    doc.spans["constituents"] = spans
    assert read(doc) == [parse]


@given(parse=parses(max_words=6))
def test_level_order_keeps_chains(parse: Parse) -> None:
    """Spans listed from large to small: each constituent still stands before those within it."""
    doc = doc_from_tree(VOCAB, parse)
    doc.spans["constituents"] = sorted(doc.spans["constituents"], key=lambda span: -len(span))
    assert read(doc) == [parse]


def make(vocab: Vocab, spans: list[tuple[int, int, str]]) -> Doc:
    doc = Doc(vocab, words=["a", "b", "c", "\n", "d"], sent_starts=[True, False, False, False, True])
    doc.spans["constituents"] = [Span(doc, start, end, label=label) for start, end, label in spans]
    return doc


@pytest.mark.parametrize(
    ("spans", "code", "says"),
    [
        ([(0, 2, "NP"), (1, 3, "VP")], "E301", "'a b' and 'b c'"),
        ([(0, 3, "S"), (2, 5, "VP")], "E301", "cross"),
        ([(2, 5, "VP")], "E302", "VP, tokens 2 to 5"),
        ([(0, 3, "S"), (3, 4, "NP")], "E303", "NP at tokens 3 to 4"),
        ([(1, 1, "NP")], "E303", "covers no word"),
        ([(0, 1, "NP"), (0, 1, "S"), (0, 3, "TOP")], "E304", "NP and S"),
        ([(0, 3, "S"), (0, 2, "")], "E305", "'a b' (tokens 0 to 2) in doc.spans['constituents'] has no label"),
        ([(0, 2, "NP"), (0, 3, "S"), (0, 2, "X")], "E304", "'a b' stands before 'a b c'"),
    ],
)
def test_no_tree(spans: list[tuple[int, int, str]], code: str, says: str, vocab: Vocab) -> None:
    with pytest.raises(ValueError, match=rf"\[{code}\]") as err:
        parses_from_doc(make(vocab, spans))
    assert says in str(err.value)


def test_no_constituents(vocab: Vocab) -> None:
    doc = Doc(vocab, words=["a"])
    doc.spans["other"] = []
    with pytest.raises(ValueError, match=r"\[E300\].*'constituents'.*'other'"):
        parses_from_doc(doc)


def test_format_of_a_later_version(vocab: Vocab) -> None:
    doc = doc_from_tree(vocab, SHE_ENJOYS)
    doc.spans["constituents"].attrs["format"] = 2
    with pytest.raises(ValueError, match=r"\[E306\]"):
        parses_from_doc(doc)


@pytest.mark.parametrize("span", [(-1, 2, "NP"), (0, 5, "NP"), (2, 2, "NP"), (3, 1, "NP")])
def test_set_parses_refuses_spans_outside_the_sentence(span: tuple[int, int, str], vocab: Vocab) -> None:
    doc = Doc(vocab, words=["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"\[E003\]"):
        set_parses(doc, [([0, 1, 2, 3], [span])])
    assert not has_parses(doc)


def test_other_spans_key(vocab: Vocab) -> None:
    doc = doc_from_tree(vocab, SHE_ENJOYS, spans_key="gold")
    assert not has_parses(doc)
    assert parses_from_doc(doc, "gold")[0].parse == SHE_ENJOYS
    assert doc_to_strings(doc, "gold") == [
        "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG reading) (NP (NNS papers)))))))"
    ]


def test_memory_zone() -> None:
    vocab = create_vocab("en", English.Defaults)
    for i in range(3):
        with vocab.memory_zone():
            label = f"LABEL{i % 2}"  # forgotten between the zones, then met again
            doc = doc_from_tree(vocab, Parse(("a",), ("NN",), (Constituent(0, 1, label),)))
            assert doc_to_strings(doc) == [f"(TOP ({label} (NN a)))"]
        assert label not in vocab.strings


def test_deep(vocab: Vocab) -> None:
    n = 5000
    chain = [Constituent(0, n, f"C{i % 7}") for i in range(n)]
    nested = [Constituent(i, n, "A") for i in range(n)]
    parse = Parse(("w",) * n, ("NN",) * n, (*chain, *nested))
    doc = doc_from_tree(vocab, parse)
    assert read(doc) == [parse]
    assert doc_to_strings(doc)[0].startswith("(TOP (C0 (C1 ")

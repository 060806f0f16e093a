"""Docs of every kind parse: empty ones, white space, long sentences, brackets, many sentences."""

from collections.abc import Callable

import numpy as np
import pytest
import spacy
from hypothesis import HealthCheck, given, settings, strategies as st
from nltk import Tree
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from strategies import n_examples
from tiny import ORDERS, make_examples, make_nlp, spans_of

from spacy_parsetag.tokens import doc_to_strings, parses_from_doc
from spacy_parsetag.trees import Parse, from_nltk

TEXTS = [
    "",
    " ",
    "\n\n \t",
    "Rain",
    " Rain",
    "Rain\n",
    "She enjoys reading papers .",
    "  She enjoys reading papers .",
    "She  enjoys \n reading   papers . \n",
    "( a cat ) { on } [ the mat ] -LRB-",
    "\u00a0\u3000",
    "a\u200bb ️",
    "She enjoys reading papers .\n\n\n",
]


def check_trees(doc: Doc) -> None:
    """The spans of a doc are trees over its words."""
    sentences = parses_from_doc(doc)
    assert [i for sentence in sentences for i in sentence.tokens] == [t.i for t in doc if not t.is_space]
    for sentence, string in zip(sentences, doc_to_strings(doc), strict=True):
        assert len(Parse.from_tree(from_nltk(Tree.fromstring(string)))) == len(sentence.tokens)


@pytest.mark.parametrize("order", ORDERS)
def test_odd_docs(order: str, trained: Callable[[str], Language]) -> None:
    nlp = trained(order)
    one_by_one = [nlp(text) for text in TEXTS]
    for doc in one_by_one:
        assert "constituents" in doc.spans
        check_trees(doc)
    expected = [spans_of(doc) for doc in one_by_one]
    for size in (1, 3, 1000):
        assert [spans_of(doc) for doc in nlp.pipe(TEXTS, batch_size=size)] == expected
    assert expected[:3] == [[], [], []]
    assert [span[2] for span in expected[3]] == ["FRAG", "NP"]


def test_words_between_white_space(trained: Callable[[str], Language]) -> None:
    """White space tokens are in no tag; constituents reach over them, and do not begin or end with them."""
    nlp = trained("in")
    words = ["\n", "She", "  ", "enjoys", "reading", "\n\n", "papers", ".", "\n"]
    doc = nlp(Doc(nlp.vocab, words=words))
    check_trees(doc)
    assert spans_of(doc)
    for span in doc.spans["constituents"]:
        assert not span[0].is_space and not span[-1].is_space


def test_several_sentences(trained: Callable[[str], Language]) -> None:
    """Sentences are parsed on their own; their trees do not depend on the doc, except through the encoder."""
    nlp = trained("in")
    pipe = nlp.get_pipe("parsetag")
    starts = [1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0]
    words = ["Rain", ".", "\n", "She", "enjoys", "papers", ".", "\n", "\n", "\n", "a", "cat", "\n"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[bool(start) for start in starts])
    parsed = pipe.predict([doc, nlp.make_doc(""), doc])
    assert [one.tokens for one in parsed[0]] == [[0, 1], [3, 4, 5, 6], [10, 11]]
    assert parsed[1] == [] and parsed[0] == parsed[2]
    pipe.set_annotations([doc], parsed[:1])
    check_trees(doc)


def test_sentences_by_hook(trained: Callable[[str], Language]) -> None:
    nlp = trained("in")
    doc = nlp.make_doc("She enjoys papers a cat")
    doc.user_hooks["sents"] = lambda doc: iter([doc[:3], doc[3:]])
    parsed = nlp.get_pipe("parsetag").predict([doc])
    assert [one.tokens for one in parsed[0]] == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize("order", ORDERS)
def test_long_sentences(order: str) -> None:
    nlp = make_nlp(order)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    output = nlp.get_pipe("parsetag").model.layers[2]
    output.set_param("W", np.random.default_rng(0).normal(size=output.get_param("W").shape).astype("f"))
    words = [f"w{i % 90}" for i in range(2000)]
    doc = nlp(Doc(nlp.vocab, words=words))
    (sentence,) = parses_from_doc(doc)
    assert len(sentence.parse) == 2000 and len(sentence.parse.spans) > 100
    assert Parse.from_tree(sentence.parse.to_tree()) == sentence.parse


def test_untrained_pipe_is_flat() -> None:
    """Without training all trees are equal; some tree comes out."""
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for text in TEXTS:
        check_trees(nlp(text))


@pytest.mark.parametrize("words", [[], ["\n"]], ids=["empty", "white space"])
def test_data_that_begins_without_words(words: list[str]) -> None:
    nlp = make_nlp()
    first = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words)) for _ in range(12)]
    examples = first + make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    assert nlp.update(examples, sgd=optimizer)["parsetag"] > 0


def test_no_sentence_boundaries(trained: Callable[[str], Language]) -> None:
    nlp = trained("in")
    with (
        pytest.raises(
            ValueError,
            match=r"\[E313\].*'parsetag'.*She enjoys.*is disabled.*enable it.*"
            r"sentencizer.*before='parsetag'.*one_sentence.*annotating_comp",
        ),
        nlp.select_pipes(disable="one_sentence"),
    ):
        nlp("She enjoys reading papers .")
    with nlp.select_pipes(disable="one_sentence"):
        assert spans_of(nlp("Rain")) and spans_of(nlp("")) == []  # nothing to be told apart
    # An error handler gets the batch, as with any component.
    failed: list[Doc] = []
    pipe = nlp.get_pipe("parsetag")
    docs = pipe.pipe([nlp.make_doc("Two words")])
    with pytest.raises(ValueError, match=r"\[E313\]"):
        list(docs)
    pipe.set_error_handler(lambda name, pipe, docs, err: failed.extend(docs))
    try:
        assert list(pipe.pipe([nlp.make_doc("Two words")])) == [] and len(failed) == 1
    finally:
        del pipe.error_handler


@pytest.mark.parametrize("batch_size", [1, 2, 16])
def test_only_the_bad_doc_of_a_batch_is_lost(batch_size: int, trained: Callable[[str], Language]) -> None:
    nlp = make_nlp("in").from_bytes(trained("in").to_bytes())
    failed: list[str] = []
    nlp.set_error_handler(lambda name, pipe, docs, err: failed.extend(doc.text for doc in docs))
    docs = [nlp.make_doc(f"She enjoys papers {i}") for i in range(9)]
    for i, doc in enumerate(docs):
        if i not in (2, 7):  # these two have no sentence boundaries
            doc[0].is_sent_start = True
            for token in doc[1:]:
                token.is_sent_start = False
    with nlp.select_pipes(disable="one_sentence"):
        parsed = list(nlp.pipe(docs, batch_size=batch_size))
    assert failed == ["She enjoys papers 2", "She enjoys papers 7"]
    assert parsed == [doc for i, doc in enumerate(docs) if i not in (2, 7)]
    for doc in parsed:
        check_trees(doc)
        assert spans_of(doc)


@pytest.mark.parametrize("component", ["sentencizer", "one_sentence"])
def test_components_that_help(component: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe(component)
    tree_nlp = make_nlp()
    examples = make_examples(tree_nlp)
    tree_nlp.initialize(lambda: examples)
    nlp.add_pipe("parsetag", source=tree_nlp)
    doc = nlp("She enjoys papers. A cat sings.")
    check_trees(doc)
    assert len(parses_from_doc(doc)) == (2 if component == "sentencizer" else 1)
    assert nlp.analyze_pipes()["problems"] == {component: [], "parsetag": []}


def test_one_sentence_keeps_boundaries() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("one_sentence")
    assert len(list(nlp("One. Two.").sents)) == 2
    assert [doc.has_annotation("SENT_START") for doc in nlp.pipe(["", "a", "a b"], disable=["sentencizer"])] == [
        True
    ] * 3
    again = spacy.blank("en")
    again.add_pipe("sentencizer")
    again.add_pipe("one_sentence")
    again.from_bytes(nlp.to_bytes())


WORDS = st.sampled_from(["She", "papers", "(", "\n", " ", "  \t", "\u3000", "."])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=n_examples(60))
@given(batch=st.lists(st.lists(st.tuples(WORDS, st.booleans()), max_size=9), max_size=4))
def test_sentences_of_a_batch(batch: list, trained: Callable[[str], Language]) -> None:
    """`predict` gives each sentence of `doc.sents` a tree over its words."""
    nlp = trained("in")
    docs = [
        Doc(
            nlp.vocab,
            words=[word for word, _ in words],
            sent_starts=[start or i == 0 for i, (_, start) in enumerate(words)],
        )
        for words in batch
    ]
    expected = [
        [sentence for sent in doc.sents if (sentence := [token.i for token in sent if not token.is_space])]
        for doc in docs
    ]
    parsed = nlp.get_pipe("parsetag").predict(docs)
    assert [[one.tokens for one in doc] for doc in parsed] == expected
    nlp.get_pipe("parsetag").set_annotations(docs, parsed)
    for doc in docs:
        check_trees(doc)

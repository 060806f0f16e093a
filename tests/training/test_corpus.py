"""The reader of the shipped configs: sentences of a treebank one by one or joined, with their boundaries or without."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from nltk import Tree
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.training.augment import (
    create_combined_augmenter,
    create_lower_casing_augmenter,
    create_orth_variants_augmenter,
)
from tiny import TREES, gold_doc, make_examples, make_nlp, spans_of, train

from spacy_parsetag.tokens import docs_from_trees, has_parses, parses_from_doc
from spacy_parsetag.training.corpus import TreebankCorpus


@pytest.fixture
def path(tmp_path: Path) -> Path:
    nlp = spacy.blank("en")
    docs = [gold_doc(nlp, tree) for tree in (*TREES, "(TOP (S (NP (UH Stop) (. !)) (VP (VBD said) (NP (PRP she)))))")]
    DocBin(docs=docs).to_disk(tmp_path / "trees.spacy")
    return tmp_path / "trees.spacy"


@pytest.mark.parametrize("n_sents, sizes", [(1, [1] * 7), (3, [3, 3, 1]), (20, [7])])
def test_sentences_are_joined(path: Path, n_sents: int, sizes: list[int]) -> None:
    nlp = spacy.blank("en")
    single = list(TreebankCorpus(path)(nlp))
    joined = list(TreebankCorpus(path, n_sents=n_sents)(nlp))
    assert [len(list(eg.reference.sents)) for eg in joined] == sizes
    assert [token.text for eg in joined for token in eg.predicted] == [t.text for eg in single for t in eg.reference]
    assert sum(len(spans_of(eg.reference)) for eg in joined) == sum(len(spans_of(eg.reference)) for eg in single)
    assert not any(eg.predicted.has_annotation("SENT_START") for eg in joined if len(eg.predicted) > 1)


def test_a_space_stands_between_sentences(tmp_path: Path) -> None:
    """As it does in text: words at a seam are not one."""
    nlp = spacy.blank("en")
    words = ["Kim", "sings", "."]
    docs = [Doc(nlp.vocab, words=words, spaces=[True, False, False]) for _ in range(3)]
    DocBin(docs=docs).to_disk(tmp_path / "texts.spacy")
    (eg,) = TreebankCorpus(tmp_path / "texts.spacy", n_sents=np.int64(3))(nlp)
    assert eg.predicted.text.strip() == eg.reference.text.strip() == "Kim sings. Kim sings. Kim sings."


@pytest.mark.parametrize("n_sents", [0, -2, 1.5])
def test_docs_of_no_sentences(path: Path, n_sents: Any) -> None:
    with pytest.raises(ValueError, match=rf"\[E308\].*got {n_sents}"):
        TreebankCorpus(path, n_sents=n_sents)


def test_gold_sentences_stay(path: Path) -> None:
    """The rule-based splitter cuts `Stop ! said she` in two, unless its boundaries are those of the treebank."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")

    def split(gold_sents: bool) -> list[int]:
        examples = list(TreebankCorpus(path, gold_sents=gold_sents)(nlp))
        assert all(eg.alignment.x2y.data.tolist() == list(range(len(eg.reference))) for eg in examples)
        docs: list[Doc] = list(nlp.pipe(eg.predicted for eg in examples))
        return [len(list(doc.sents)) for doc in docs]

    assert split(gold_sents=False) == [1, 1, 1, 1, 1, 1, 2]
    assert split(gold_sents=True) == [1] * 7


def test_words_keep_the_norms_of_the_tokenizer(tmp_path: Path) -> None:
    """Features are those of text, in training and wherever trees are scored."""
    nlp = spacy.blank("en")
    DocBin(docs=[nlp("I don't sing"), nlp("We'll come")]).to_disk(tmp_path / "texts.spacy")
    for settings in ({}, {"gold_sents": True}, {"n_sents": 2}):
        examples = TreebankCorpus(tmp_path / "texts.spacy", **settings)(nlp)
        norms = [token.norm_ for eg in examples for token in eg.predicted if not token.is_space]
        assert norms == ["i", "do", "not", "sing", "we", "will", "come"]


def test_words_keep_the_tags_of_the_tokenizer(tmp_path: Path) -> None:
    """So training shows what a tagger does that leaves them alone; a tokenizer of Japanese sets them."""
    nlp = spacy.blank("en")
    DocBin(docs=[nlp("I sing"), nlp("We come")]).to_disk(tmp_path / "texts.spacy")
    tokenize = nlp.tokenizer

    def tag(text: str) -> Doc:
        doc = tokenize(text)
        for token in doc:
            token.tag_, token.pos_, token.lemma_ = f"T{token.i}", "X", token.lower_
            token.set_morph("Case=Nom")
        return doc

    nlp.tokenizer = tag
    for settings in ({}, {"gold_sents": True}, {"n_sents": 2}):
        for eg in TreebankCorpus(tmp_path / "texts.spacy", **settings)(nlp):
            values = [(token.tag_, token.pos_, token.lemma_, str(token.morph)) for token in eg.predicted]
            assert values[:2] == [(f"T{i}", "X", eg.predicted[i].lower_, "Case=Nom") for i in range(2)]
            assert not any(token.tag for token in eg.reference)


def test_trees_are_scored_over_gold_sentences(path: Path) -> None:
    """Scores are those of a pipeline without a splitter of sentences."""
    nlp = make_nlp()
    train(nlp, make_examples(nlp))
    wanted = nlp.evaluate(list(TreebankCorpus(path)(nlp)))["parsetag_f"]
    nlp.replace_pipe("one_sentence", "sentencizer")
    assert nlp.evaluate(list(TreebankCorpus(path, gold_sents=True)(nlp)))["parsetag_f"] == wanted


def test_marked_docs_are_not_joined(path: Path) -> None:
    """A joined doc has no attributes, and its trees would count as complete."""
    nlp = spacy.blank("en")
    docs = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    docs[2].spans["constituents"].attrs["partial"] = True
    docs[5].spans["constituents"].attrs["soft"] = True
    DocBin(docs=docs).to_disk(path)
    examples = list(TreebankCorpus(path, n_sents=2)(nlp))
    assert [len(list(eg.reference.sents)) for eg in examples] == [2, 1, 2, 1, 1]
    attrs = [eg.reference.spans["constituents"].attrs for eg in examples]
    assert [(of_doc.get("partial"), of_doc.get("soft")) for of_doc in attrs] == [
        (None, None),
        (True, None),
        (None, None),
        (None, True),
        (None, None),
    ]


@pytest.mark.parametrize("is_whole", [True, False])
def test_marks_of_whole_trees_are_joined(path: Path, is_whole: bool) -> None:
    """A doc that says that its tree is whole silences a warning; joined with one that does not, it says nothing."""
    nlp = spacy.blank("en")
    docs = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    for doc in docs[not is_whole :]:
        doc.spans["constituents"].attrs["partial"] = False
    DocBin(docs=docs).to_disk(path)
    joined = next(iter(TreebankCorpus(path, n_sents=2)(nlp))).reference
    assert joined.spans["constituents"].attrs.get("partial") == (False if is_whole else None)


def test_limit(path: Path) -> None:
    assert len(list(TreebankCorpus(path, limit=2)(spacy.blank("en")))) == 2


def test_no_path() -> None:
    with pytest.raises(ValueError, match="Corpus path can't be None"):
        TreebankCorpus(None)


@pytest.mark.filterwarnings("error")
def test_docs_without_trees_stay_by_themselves(tmp_path: Path) -> None:
    """Beside a doc with trees, a sentence whose tree is not known would be one that has no constituents."""
    nlp = make_nlp()
    docs = [gold_doc(nlp, tree) for tree in TREES[:2] * 2]
    del docs[1].spans["constituents"]
    for number, doc in enumerate(docs):  # of which spaCy would warn, doc by doc, as they cannot be joined
        doc.user_data.update(id=f"s{number}", meta={"n": number})
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "some.spacy")
    examples = list(TreebankCorpus(tmp_path / "some.spacy", n_sents=8)(nlp))
    assert [len(eg.reference) for eg in examples] == [len(docs[0]), len(docs[1]), len(docs[2]) + len(docs[3])]
    assert [has_parses(eg.reference) for eg in examples] == [True, False, True]


def test_augmented_trees_keep_their_marks(tmp_path: Path) -> None:
    """A partial tree in lower case is not a whole one, and a soft one has its best trees."""
    nlp = spacy.blank("en")
    docs = [gold_doc(nlp, tree) for tree in TREES[:3]]
    docs[0].spans["constituents"].attrs["partial"] = True
    docs[1].spans["constituents"].attrs.update(soft=True, k_best=[[[0.0, [[0, 5, "S"]]]]])
    DocBin(docs=docs).to_disk(tmp_path / "trees.spacy")
    augmenter = create_lower_casing_augmenter(1.0)
    read = [eg.reference for eg in TreebankCorpus(tmp_path / "trees.spacy", augmenter=augmenter)(nlp)]
    assert [doc.text for doc in read] == [doc.text.lower() for doc in docs]
    assert [doc.spans["constituents"].attrs for doc in read] == [doc.spans["constituents"].attrs for doc in docs]


def test_augmented_sentences_keep_their_boundaries(tmp_path: Path) -> None:
    """spaCy's augmenters know where one begins, and lose that no other word does."""
    docs = [gold_doc(nlp := spacy.blank("en"), tree) for tree in TREES[:2]]
    DocBin(docs=docs).to_disk(tmp_path / "trees.spacy")
    corpus = TreebankCorpus(tmp_path / "trees.spacy", gold_sents=True, augmenter=create_lower_casing_augmenter(1.0))
    for eg, doc in zip(corpus(nlp), docs, strict=True):
        starts = [token.is_sent_start for token in doc]
        assert [token.is_sent_start for token in eg.predicted] == starts == [True] + [False] * (len(doc) - 1)


def test_augmented_docs_that_begin_with_white_space(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["\n", "She", "sings", "He", "reads"], sent_starts=[True, False, False, True, False])
    DocBin(docs=[doc]).to_disk(tmp_path / "trees.spacy")
    (eg,) = TreebankCorpus(tmp_path / "trees.spacy", augmenter=create_lower_casing_augmenter(1.0))(nlp)
    assert [sent.text for sent in eg.reference.sents] == [sent.text.lower() for sent in doc.sents]


def test_long_docs_are_augmented_in_linear_time(tmp_path: Path) -> None:
    """Where each token is marked by itself this takes more than 20 seconds: each looks through the whole doc."""
    nlp = spacy.blank("en")
    starts = [i % 20 == 0 for i in range(32_000)]
    DocBin(docs=[Doc(nlp.vocab, words=["a"] * 32_000, sent_starts=[*starts])]).to_disk(tmp_path / "long.spacy")
    (eg,) = TreebankCorpus(tmp_path / "long.spacy", augmenter=lambda nlp, eg: iter([eg]))(nlp)
    assert [token.is_sent_start for token in eg.reference] == starts


def augmenters() -> dict[str, Any]:
    """Those of spaCy's that change the number of characters, or of tokens."""
    variants = {"single": [{"tags": ["VBZ"], "variants": ["enjoys", "sings", "dances", "goes-on"]}], "paired": []}
    return {
        "lower": create_lower_casing_augmenter(1.0),
        "orth": create_orth_variants_augmenter(1.0, 0.0, variants),
        "space": create_combined_augmenter(0.0, 0.0, None, 1.0, 0.5, ["\n", "  "]),
        "none": create_lower_casing_augmenter(0.0),
    }


@pytest.mark.parametrize("detokenize", [False, True])
@pytest.mark.parametrize("name", augmenters())
def test_augmented_trees_are_the_same_trees(name: str, detokenize: bool, tmp_path: Path) -> None:
    """Sentence by sentence, whatever becomes of the characters."""
    nlp = spacy.blank("en")
    trees = [Tree.fromstring(tree) for tree in TREES]
    docs = list(docs_from_trees(nlp.vocab, trees, n_sents=3, detokenize=detokenize))
    for doc in docs:
        doc.spans["other"] = [Span(doc, 1, 3, "A", kb_id="Q1", span_id="one")]
    DocBin(docs=docs).to_disk(tmp_path / "trees.spacy")
    read = list(TreebankCorpus(tmp_path / "trees.spacy", augmenter=augmenters()[name])(nlp))
    texts = [eg.reference.text for eg in read]
    assert (texts == [doc.text for doc in docs]) == (name == "none")
    for eg, doc in zip(read, docs, strict=True):
        parses, expected = (parses_from_doc(each) for each in (eg.reference, doc))
        assert [parse.spans for _, parse in parses] == [parse.spans for _, parse in expected]
        assert [parse.pos for _, parse in parses] == [parse.pos for _, parse in expected]
        (span,) = eg.reference.spans["other"]
        assert (span.label_, span.kb_id_, span.id_) == ("A", "Q1", "one")
        # The tokens of the treebank, unless it has spaces: then those of the tokenizer, as without an augmenter.
        assert detokenize or [token.text for token in eg.predicted] == [token.text for token in eg.reference]
    assert name != "space" or any(token.is_space for eg in read for token in eg.reference)


def test_augmenters_keep_the_number_of_words(path: Path) -> None:
    def cut(nlp: Language, eg: Example) -> Iterator[Example]:
        yield Example(eg.predicted, eg.reference[:1].as_doc())

    with pytest.raises(ValueError, match=r"\[E228\].* 1 words for 'She enjoys.*', which has 5"):
        list(TreebankCorpus(path, augmenter=cut)(spacy.blank("en")))

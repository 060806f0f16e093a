"""Gold trees over other tokens: the same tree, or none."""

import gc
import pickle
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from nltk import Tree
from spacy.lang.en import English
from spacy.tokens import Doc, Span
from spacy.training import Corpus, Example
from spacy.vocab import Vocab, create_vocab
from strategies import n_examples, parses
from tiny import TREES, gold_doc, make_examples, make_learner, make_nlp

from spacy_parsetag.linearize import InOrder
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.pipeline import align, gold
from spacy_parsetag.pipeline.align import read_gold
from spacy_parsetag.pipeline.gold import GoldReader
from spacy_parsetag.tokens import doc_to_strings, parse_string, set_parses
from spacy_parsetag.tokens.groups import SentenceParse, parses_from_doc
from spacy_parsetag.training.corpus import TreebankCorpus
from spacy_parsetag.treebanks.docfiles import DocFile
from spacy_parsetag.trees import Parse, from_nltk

VOCAB = create_vocab("en", English.Defaults)
KEY = "constituents"


def gold_sentences(eg: Example, spans_key: str) -> list[SentenceParse]:
    """The gold trees that fit the predicted tokens."""
    return [sentence for _, sentence in read_gold(eg, spans_key) if sentence is not None]


def project(tree: str, words: Sequence[str]) -> list[str]:
    """The gold trees in brackets over the given predicted tokens."""
    gold = gold_doc(make_nlp(), tree)
    return [
        parse_string(sentence.parse)
        for sentence in gold_sentences(Example(Doc(gold.vocab, words=words), gold), KEY)
    ]  # fmt: skip


CAT = "(TOP (NP (NP (DT a) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))))"
PP = "(PP (X on) (NP (X the) (X mat)))"
AND = "(TOP (S (NP (PRP I)) (VP (MD can) (VP (VB go)))) (. .))"


@pytest.mark.parametrize(
    "tree, words, projected",
    [
        # Aligned, but for white space
        (CAT, ["a", "cat", "on", "the", "mat"], CAT),
        (CAT, ["\n", "a", "cat", " ", "on", "the", "mat", "\n"], f"(TOP (NP (NP (X a) (X cat)) {PP}))"),
        # Merged within a constituent
        (CAT, ["acat", "on", "the", "mat"], f"(TOP (NP (NP (X acat)) {PP}))"),
        (CAT, ["acatonthemat"], None),
        # Merged across its bounds
        (CAT, ["a", "caton", "the", "mat"], None),
        (CAT, ["a", "cat", "onthe", "mat"], None),
        # Split
        (CAT, ["a", "c", "at", "on", "the", "mat"], f"(TOP (NP (NP (X a) (X c) (X at)) {PP}))"),
        (AND, ["I", "c", "an", "go", "."], "(TOP (S (NP (X I)) (VP (X c) (X an) (VP (X go)))) (X .))"),
        (AND, ["I", "cango", "."], None),
        # Split and merged: the bound lies at a token's bound in both
        (AND, ["I", "ca", "n", "g", "o", "."], "(TOP (S (NP (X I)) (VP (X ca) (X n) (VP (X g) (X o)))) (X .))"),
        (AND, ["I", "ca", "ngo", "."], None),
        (AND, ["I", "can", "go."], None),
    ],
)  # fmt: skip
def test_projection(tree: str, words: list[str], projected: str | None) -> None:
    assert project(tree, words) == ([projected] if projected else [])


def test_brackets_are_words() -> None:
    nlp = make_nlp()
    gold = gold_doc(nlp, TREES[4])
    assert "(" in [token.text for token in gold] and "-LRB-" not in gold.text
    (sentence,) = gold_sentences(Example(nlp.make_doc("Kim sings and dances (badly)"), gold), KEY)
    assert sentence.parse.words == ("Kim", "sings", "and", "dances", "(", "badly", ")")
    assert sentence.parse.spans == Parse.from_tree(from_nltk(Tree.fromstring(TREES[4]))).spans


def test_no_gold() -> None:
    doc = Doc(VOCAB, words=["a", "b"])
    assert gold_sentences(Example(doc, doc), KEY) == []
    for words in (["a", "b"], ["ab"]):
        gold = Doc(VOCAB, words=["a", "b"])
        set_parses(gold, [])
        (sentence,) = gold_sentences(Example(Doc(VOCAB, words=words), gold), KEY)
        assert sentence.parse.spans == () and sentence.parse.words == tuple(words)


def test_other_text_is_an_error() -> None:
    """spaCy's own words for it: the texts have to be the same but for white space."""
    nlp = make_nlp()
    gold = gold_doc(nlp, CAT)
    with pytest.raises(ValueError, match="E949"):
        gold_sentences(Example(nlp.make_doc("a dog on the mat"), gold), KEY)


def test_crossing_gold_spans_are_an_error() -> None:
    doc = Doc(VOCAB, words=["a", "b", "c"])
    doc.spans[KEY] = [doc[0:2], doc[1:3]]
    with pytest.raises(ValueError, match=r"\[E301\]"):
        gold_sentences(Example(Doc(VOCAB, words=["a", "b", "c"]), doc), KEY)


def chars(doc: Doc) -> list[int]:
    """Position of each token bound, counted in characters other than white space."""
    bounds = [0]
    for token in doc:
        bounds.append(bounds[-1] + len("".join(token.text.split())))
    return bounds


def by_chars(doc: Doc, sentence: SentenceParse) -> tuple[int, int, tuple[tuple[int, int, str], ...]]:
    bounds = chars(doc)
    tokens = sentence.tokens
    spans = tuple((bounds[tokens[a]], bounds[tokens[b - 1] + 1], label) for a, b, label in sentence.parse.spans)
    return bounds[tokens[0]], bounds[tokens[-1] + 1], spans


@st.composite
def with_space(draw: st.DrawFn, words: list[str]) -> list[str]:
    """Words with white space tokens among them."""
    mixed: list[str] = []
    for word in words:
        if draw(st.integers(0, 5)) == 0:
            mixed.append(draw(st.sampled_from([" ", "\n", "\t\t"])))
        mixed.append(word)
    return mixed + draw(st.lists(st.just("\n"), max_size=1))


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """One text, cut into tokens in two ways, with gold trees over the first."""
    trees = draw(st.lists(parses(max_words=5, words=st.text("ab.", min_size=1, max_size=3)), min_size=1, max_size=3))
    words: list[str] = []
    starts: list[bool] = []
    groups = []
    for tree in trees:
        mixed = draw(with_space(list(tree.words)))
        tokens = [len(words) + i for i, word in enumerate(mixed) if not word.isspace()]
        starts += [i == 0 for i in range(len(mixed))]
        words += mixed
        groups.append((tokens, tree.spans))
    gold = Doc(VOCAB, words=words, sent_starts=starts)
    set_parses(gold, groups)
    text = "".join("".join(tree.words) for tree in trees)
    ends = {b for b in chars(gold) if 0 < b < len(text)}
    changed: set[int] = draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=3)) - {len(text)}
    cuts = [0, *sorted(ends ^ changed), len(text)]
    predicted = [text[a:b] for a, b in pairwise(cuts)]
    return Example(Doc(VOCAB, words=draw(with_space(predicted))), gold)


@settings(deadline=None, max_examples=n_examples(200))
@given(eg=examples())
def test_the_same_tree_or_none(eg: Example) -> None:
    """What is projected has the same constituents over the same characters; left out is only what cannot have them."""
    found = {by_chars(eg.predicted, sentence) for sentence in gold_sentences(eg, KEY)}
    gold = gold_sentences(Example(eg.reference, eg.reference), KEY)
    bounds = set(chars(eg.predicted))
    fitting = set()
    for sentence in gold:
        start, end, spans = by_chars(eg.reference, sentence)
        if {start, end, *(b for span in spans for b in span[:2])} <= bounds:
            fitting.add((start, end, spans))
    assert found == fitting
    for sentence in gold_sentences(eg, KEY):
        assert sentence.parse.words == tuple(eg.predicted[i].text for i in sentence.tokens)
        assert Parse.from_tree(sentence.parse.to_tree()) == sentence.parse


def test_training_on_other_tokens() -> None:
    """Sentences that do not fit are left out, the others of the same doc are learned."""
    nlp = make_nlp(loss={"@misc": "spacy-parsetag.TagLoss.v1"})  # the other knows one tree only, and learns nothing
    eg = half_aligned(nlp.vocab)
    with pytest.warns(UserWarning, match=r"\[W251\] 1 of 2"):
        optimizer = nlp.initialize(lambda: [eg])
    pipe = nlp.get_pipe("parsetag")
    assert {"NP"} == set(pipe.constituent_labels)
    scores = pipe.model.predict([eg.predicted])
    with pytest.warns(UserWarning, match=r"\[W251\] 1 of 2"):
        gradient = pipe.get_loss([eg], scores)[1].rows
    assert gradient[:5].any(axis=1).all() and not gradient[5:].any()
    assert nlp.update([eg], sgd=optimizer)["parsetag"] > 0


def test_a_sentence_may_begin_with_white_space() -> None:
    """It is a token of the reference alone, and the sentence begins with its first word."""
    vocab = make_nlp().vocab
    gold = Doc(vocab, words=["Kim", " ", "She", "sings"], sent_starts=[True, True, False, False])
    eg = Example(Doc(vocab, words=["Kim", "She", "sings"]), gold)
    align.set_gold_sentences(eg)
    assert [sentence.text for sentence in eg.predicted.sents] == ["Kim", "She sings"]


def half_aligned(vocab: Vocab) -> Example:
    """Two sentences, of which the second does not fit the predicted tokens."""
    gold = Doc(vocab, words=["a", "cat", "b", "c"], sent_starts=[True, False, True, False])
    set_parses(gold, [([0, 1], [(0, 2, "NP")]), ([2, 3], [(0, 2, "VP"), (0, 1, "V")])])
    return Example(Doc(vocab, words=["a", "c", "at", "bc"]), gold)


class TestCounts:
    """What cannot be learned is counted, and said."""

    def test_nothing_to_say(self) -> None:
        reader = GoldReader()
        reader.check("parsetag", complete=True)
        nlp = make_nlp()
        for eg in make_examples(nlp):
            assert len(reader.sentences(eg, KEY)) == 1
        reader.check("parsetag", complete=True)
        assert (reader.n_sentences, reader.n_bad.total()) == (6, 0)

    def test_other_tokens(self) -> None:
        reader = GoldReader()
        eg = half_aligned(VOCAB)
        assert len(reader.sentences(eg, KEY)) == 1
        with pytest.warns(UserWarning, match=r"\[W250\].*'parser'.*\[W251\] 1 of 2 sentences \(50.0%\).*in 'b c'\. "):
            reader.check("parser", complete=True)
        for _ in range(8):  # up to 18 sentences
            reader.sentences(eg, KEY)
            reader.check("parser")
        reader.sentences(eg, KEY)
        with pytest.warns(UserWarning, match="10 of 20"):
            reader.check("parser")

    def test_unknown_tags(self) -> None:
        reader = GoldReader()
        nlp = make_nlp()
        examples = make_examples(nlp)
        tags = TagSet({tag for kind in "lrLR" for tag in (kind, f"{kind}/NP", f"{kind}/FRAG+NP")})
        for _ in range(3):  # also when the tags are remembered
            found = [reader.encode(eg, KEY, tags, InOrder()) for eg in examples]
        assert sum(not gold.teaches for eg in found for gold in eg) == 5
        assert (reader.n_sentences, reader.n_bad.total()) == (18, 15)
        with pytest.warns(UserWarning, match=r"\[W252\] 15 of 18 sentences \(83.3%\).*example ./\S+ in 'She enjoys"):
            reader.check("parsetag")

    def test_nothing_is_left(self) -> None:
        reader = GoldReader()
        gold = Doc(VOCAB, words=["a", "b"])
        set_parses(gold, [([0, 1], [(0, 1, "NP")])])
        eg = Example(Doc(VOCAB, words=["ab"]), gold)
        assert reader.sentences(eg, KEY) == []
        with pytest.raises(ValueError, match=r"\[E259\].*'parsetag'.*1 of 1 sentences \(100.0%\).*'a b'"):
            reader.check("parsetag", complete=True)
        with pytest.warns(UserWarning, match=r"\[W250\]"):  # a batch: what comes may be better
            reader.check("parsetag")
        for _ in range(99):
            reader.sentences(eg, KEY)
        with pytest.raises(ValueError, match=r"100 of 100"):
            reader.check("parsetag")

    def test_by_the_pipe(self) -> None:
        """At `initialize`, where nothing fits; and where a trained pipeline is trained on with labels it never saw."""
        nlp = make_nlp()
        gold = Doc(nlp.vocab, words=["a", "b"])
        set_parses(gold, [([0, 1], [(0, 1, "NP")])])
        with pytest.raises(ValueError, match=r"\[E259\].*\[W251\]"):
            nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["ab"]), gold)])
        examples = make_examples(nlp)
        nlp.initialize(lambda: examples)
        optimizer = nlp.resume_training()
        others = make_examples(nlp, [tree.replace("NP", "NP-SBJ") for tree in TREES if "NP" in tree])
        with pytest.warns(UserWarning, match=r"\[W250\].*\[W252\] 5 of 5 sentences \(100.0%\).*NP-SBJ"):
            assert nlp.update(others, sgd=optimizer)["parsetag"] == 0.0
        with warnings.catch_warnings(), pytest.raises(ValueError, match=r"\[E259\].*100 of 100"):
            warnings.simplefilter("ignore")
            for _ in range(19):
                nlp.update(others, sgd=optimizer)


def test_some_tags_are_learned() -> None:
    """Of trees that each have an unknown tag TagLoss learns the others; that is no reason to stop."""
    nlp = make_nlp(loss={"@misc": "spacy-parsetag.TagLoss.v1"})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    optimizer = nlp.resume_training()
    others = make_examples(nlp, [tree.replace("NP", "NP-SBJ", 1) for tree in TREES if "NP" in tree])
    with pytest.warns(UserWarning, match=r"\[W252\]"):
        losses = [nlp.update(others, sgd=optimizer)["parsetag"] for _ in range(40)]
    assert 0 < losses[-1] < losses[0]


def test_no_tag_is_learned_alone_where_successive_tags_are_scored() -> None:
    nlp = make_learner("CRF", loss="Tag")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    others = make_examples(nlp, 20 * [tree.replace("NP", "NP-SBJ", 1) for tree in TREES if "NP" in tree])
    with pytest.raises(ValueError, match=r"\[E259\].*100 of 100.*where transitions"):
        nlp.update(others)


def test_gold_trees_come_back() -> None:
    nlp = make_nlp()
    for eg, tree in zip(make_examples(nlp), TREES, strict=True):
        (sentence,) = gold_sentences(eg, KEY)
        assert parse_string(sentence.parse) == tree == doc_to_strings(eg.reference)[0]


def test_gold_tags_are_kept_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read once a doc, and anew when its constituents, sentences or words, or the tags change."""
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    reader = GoldReader()
    read: list[Doc] = []

    def count(doc: Doc, spans_key: str) -> list[SentenceParse]:
        read.append(doc)
        return parses_from_doc(doc, spans_key)

    for module in (gold, align):
        monkeypatch.setattr(module, "parses_from_doc", count)

    def ids(eg: Example) -> list[list[int]]:
        sentences = reader.encode(eg, KEY, pipe.tag_set, pipe.linearizer)
        return [ids.tolist() for sentence in sentences for _, ids in sentence.trees]

    first = [ids(eg) for eg in examples]
    assert [ids(eg) for eg in examples] == first and len(read) == len(examples)
    eg = examples[0]
    group = eg.reference.spans[KEY]
    again = Example(Doc(nlp.vocab, words=[token.text for token in eg.reference]), eg.reference)
    assert ids(again) == first[0] and len(read) == len(examples)
    # In place, with as many spans as before.
    spans = list(group)
    spans[-1] = Span(eg.reference, spans[-1].start, spans[-1].end, label="VP")
    eg.reference.spans[KEY] = spans
    assert ids(eg) != first[0]
    eg.reference.spans[KEY] = list(group)
    assert ids(eg) == first[0]
    spans = [Span(eg.reference, 0, 1, label="NP"), Span(eg.reference, 1, 3, label="NP")]
    eg.reference.spans[KEY] = spans
    eg.reference[1].is_sent_start = True
    assert [len(tags) for tags in ids(eg)] == [1, 7]
    eg.reference.spans[KEY] = spans
    eg.reference[1].is_sent_start = False
    assert [len(tags) for tags in ids(eg)] == [9]
    # Marked as partial after it was read, and as whole again.
    eg.reference.spans[KEY].attrs["partial"] = True
    assert ids(eg) == []
    eg.reference.spans[KEY].attrs["partial"] = False
    assert [len(tags) for tags in ids(eg)] == [9]
    # Other tokens are projected each time.
    n_read = len(read)
    words = [token.text for token in examples[1].reference]
    merged = Example(Doc(nlp.vocab, words=[words[0] + words[1], *words[2:]]), examples[1].reference)
    ids(merged), ids(merged)
    assert len(read) == n_read + 2
    assert pickle.loads(pickle.dumps(reader))._encoded._values == {}
    del eg, again, merged, group, spans, examples[:], read[:]
    gc.collect()
    assert not len(reader._encoded._values)


def test_no_constituents_in_a_training_that_goes_on() -> None:
    """A pipeline is not initialized again, where their absence is an error; spaCy's `gold_preproc` loses them."""
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    gold = [eg.reference for eg in make_examples(nlp)]
    cut = [Example(nlp.make_doc(doc.text), next(doc.sents).as_doc()) for doc in gold] * 20
    stated = r"\[W256\] None of the first 100 docs.*'constituents'.*frozen_components.*gold_preproc = false"
    with pytest.warns(UserWarning, match=stated):
        assert nlp.update(cut)["parsetag"] == 0
    nlp.update(cut)  # once is enough


def test_docs_without_constituents_among_others(tmp_path: Path) -> None:
    """spaCy's reader cuts docs that are too long, and loses their constituents; what convert writes has them."""
    nlp = make_nlp()
    file = DocFile(tmp_path / "train.spacy", nlp.vocab, n_sents=2)
    empty_parses = [Parse(("Well",), ("UH",), ()), Parse(("a", "b"), ("X", "X"), ())]
    for parse in [*(Parse.from_tree(from_nltk(Tree.fromstring(tree))) for tree in TREES), *empty_parses]:
        file.add(parse)
    file.write(file.path)
    partial, blank = nlp.make_doc("Kim sings"), nlp.make_doc(" ")
    set_parses(partial, [], attrs={"partial": True})
    more = [Example(nlp.make_doc(doc.text), doc) for doc in (partial, blank, nlp.make_doc(""))]
    for reader in (Corpus(file.path), TreebankCorpus(file.path, n_sents=2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nlp.initialize(lambda reader=reader: [*reader(nlp), *more])
    cut = Corpus(file.path, max_length=8)
    n_without = sum(KEY not in eg.reference.spans for eg in cut(nlp))
    with pytest.warns(
        UserWarning, match=rf"\[W261\] {n_without} of .*'parsetag'.*'constituents'.*max_length = 0"
    ) as found:
        nlp.initialize(lambda: [*cut(nlp), *more])
    assert n_without > 1 and len(found) == 1
    with pytest.raises(ValueError, match=r"\[E251\].*gold_preproc = false"):
        make_nlp().initialize(lambda: Corpus(file.path, gold_preproc=True)(nlp))

"""Span, Token and Doc extensions, against a plain walk over the tree."""

import gc
import pickle
import warnings
from collections import Counter
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from nltk import Tree
from spacy.lang.en import English
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab, create_vocab
from strategies import parses

from spacy_parsetag import render
from spacy_parsetag.search.docs import TreeMatcher
from spacy_parsetag.tokens import (
    doc_from_parses,
    doc_from_tree,
    doc_to_strings,
    register_extensions,
    set_parses,
)
from spacy_parsetag.tokens.extensions import EXTENSIONS
from spacy_parsetag.tokens.nodes import _CACHE, DocNodes
from spacy_parsetag.trees import Constituent, Parse, from_nltk, to_nltk
from spacy_parsetag.trees.brackets import format_tree
from spacy_parsetag.trees.escape import escape_label

VOCAB = create_vocab("en", English.Defaults)
Bounds = tuple[int, int]
# The fixture only registers getters; it holds for all examples.
with_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


class Node(NamedTuple):
    labels: tuple[str, ...]
    children: list[Bounds]
    parent: Bounds | None
    text: str


def walk(parse: Parse) -> dict[Bounds, Node]:
    """The nodes of a small tree in pre-order, by plain recursion; one a chain, and the bare words."""
    nodes: dict[Bounds, Node] = {}

    def is_word(tree: Tree) -> bool:
        return not isinstance(tree[0], Tree)

    def size(tree: Tree) -> int:
        return 1 if is_word(tree) else sum(size(child) for child in tree)

    def add(tree: Tree, start: int, parent: Bounds | None, is_forest: bool = False) -> Bounds:
        bounds = (start, start + size(tree))
        text = format_tree(from_nltk(tree))
        labels: list[str] = []
        while not is_word(tree) and not is_forest:
            labels.append(labels_of[tree.label()])
            if len(tree) > 1:
                break
            tree = tree[0]
        children: list[Bounds] = []
        nodes[bounds] = Node(tuple(labels), children, parent, text)
        if not is_word(tree):
            for child in tree:
                children.append(add(child, start, None if is_forest else bounds))
                start += size(child)
        return bounds

    # Trees escape labels; the extensions give them as they are.
    labels_of = {escape_label(span.label): span.label for span in parse.spans}
    root = to_nltk(parse.to_tree())
    if len(root) == 1:
        add(root[0], 0, None)
    else:
        add(root, 0, None, is_forest=True)
    return nodes


def bounds_of(span: Span | Token | None, offset: int = 0) -> Bounds | None:
    if isinstance(span, Token):
        return span.i - offset, span.i + 1 - offset
    return None if span is None else (span.start - offset, span.end - offset)


def seen(span: Span | Token | None) -> tuple[Any, ...]:
    """Words and label of a constituent; a word is a token, and has no label."""
    return (span.text, span.label_) if isinstance(span, Span) else (getattr(span, "text", None),)


@given(parse=parses())
@with_fixture
def test_like_a_walk_over_the_tree(extensions: None, parse: Parse) -> None:
    doc = doc_from_tree(VOCAB, parse)
    nodes = walk(parse)
    n = len(parse)
    for start in range(n):
        for end in range(start + 1, n + 1):
            span = doc[start:end]
            node = nodes.get((start, end))
            assert span._.is_constituent == (node is not None)
            if node is None:
                continue
            assert span._.labels == node.labels
            assert [bounds_of(child) for child in span._.children] == node.children
            for child in span._.children:
                labels = nodes[bounds_of(child)].labels  # type: ignore[index]
                assert child.label_ == labels[0] if isinstance(child, Span) else not labels
            assert bounds_of(span._.parent) == node.parent
            within = [(i, j) for i, j in nodes if start <= i and j <= end and nodes[i, j].labels]
            assert [bounds_of(constituent) for constituent in span._.constituents] == within
            assert [each.label_ for each in span._.constituents] == [nodes[bounds].labels[0] for bounds in within]
            assert span._.parse_string == format_tree(from_nltk(span._.tree)) == node.text
    for token in doc:
        word = nodes[token.i, token.i + 1]
        assert token._.labels == word.labels
        assert bounds_of(token._.parent) == word.parent
        assert token._.parent is None or token._.parent.label_ == nodes[word.parent].labels[0]  # type: ignore[index]
        assert token._.parse_string == word.text
    assert [bounds_of(span) for span in doc._.constituents] == [each for each in nodes if nodes[each].labels]
    assert Counter(span.label_ for span in doc._.constituents) == Counter(
        n.labels[0] for n in nodes.values() if n.labels
    )
    assert doc._.parse_strings == doc_to_strings(doc)


@given(first=parses(max_words=4), second=parses(max_words=4))
@with_fixture
def test_sentences_do_not_mix(extensions: None, first: Parse, second: Parse) -> None:
    doc = doc_from_parses(VOCAB, [first, second])
    for offset, parse, sentence in zip((0, len(first)), (first, second), doc.sents, strict=True):
        nodes = walk(parse)
        found = [bounds_of(span, offset) for span in sentence._.constituents]
        assert found == [each for each in nodes if nodes[each].labels]
        for (start, end), node in nodes.items():
            span = doc[start + offset : end + offset]
            assert span._.labels == node.labels
            assert [bounds_of(child, offset) for child in span._.children] == node.children
            assert bounds_of(span._.parent, offset) == node.parent
            assert span._.parse_string == node.text


def sample(vocab: Vocab) -> Doc:
    """\\n Big dogs bark \\n \\n loudly . \\n, as ((NP Big dogs) (VP bark loudly) .), and a sentence of white space."""
    words = ["\n", "Big", "dogs", "bark", "\n", "\n", "loudly", ".", "\n", "\n\n"]
    doc = Doc(vocab, words=words, sent_starts=[True, *[False] * 8, True])
    set_parses(doc, [([1, 2, 3, 6, 7], [(0, 2, "NP"), (2, 4, "VP"), (3, 4, "ADVP")])])
    return doc


def test_white_space(extensions: None, vocab: Vocab) -> None:
    doc = sample(vocab)
    forest, blank = doc.sents
    assert forest._.parse_string == "(TOP (NP (X Big) (X dogs)) (VP (X bark) (ADVP (X loudly))) (X .))"
    assert forest._.is_constituent
    assert forest._.labels == ()
    assert forest._.parent is None
    assert list(map(seen, forest._.children)) == [seen(Span(doc, 1, 3, "NP")), seen(Span(doc, 3, 7, "VP")), (".",)]
    assert doc[0:3]._.labels == doc[1:3]._.labels == ("NP",)
    assert doc[3:6]._.labels == ()  # "bark" with white space behind it
    assert doc[4:9]._.is_constituent is False
    for span in (blank, doc[0:1], doc[4:6], doc[2:2]):
        assert span._.is_constituent is False
        assert span._.labels == ()
        assert list(span._.children) == list(span._.constituents) == []
        assert span._.parse_string == ""
        with pytest.raises(ValueError, match=r"\[E309\]"):
            _ = span._.tree
    noun, verb = Span(doc, 1, 3, "NP"), Span(doc, 3, 7, "VP")
    assert [token._.parent for token in doc] == [None, noun, noun, *[verb] * 4, None, None, None]
    assert [token._.labels for token in doc] == [(), (), (), (), (), (), ("ADVP",), (), (), ()]
    assert [span.label_ for span in doc._.constituents] == ["NP", "VP", "ADVP"]


def test_no_constituent(extensions: None, vocab: Vocab) -> None:
    doc = sample(vocab)
    names = ("labels", "children", "parent", "constituents", "tree", "parse_string")
    for name in names:
        with pytest.raises(ValueError, match=r"\[E307\] 'dogs bark' \(tokens 2 to 4\).*No constituent contains it"):
            doc[2:4]._.get(name)
    set_parses(doc, [([1, 2, 3, 6, 7], [(0, 5, "S"), (2, 4, "VP")])])
    with pytest.raises(ValueError, match=r"'dogs bark'.*smallest constituent around it is 'Big dogs.*\(S\)"):
        _ = doc[2:4]._.labels
    unparsed = Doc(vocab, words=["a", "b"])
    assert unparsed[0:1]._.is_constituent is False
    for name in names:
        with pytest.raises(ValueError, match=r"\[E300\].*parsetag"):
            unparsed[0:1]._.get(name)
    for name in ("constituents", "parse_strings", "base_nps"):
        with pytest.raises(ValueError, match=r"\[E300\].*parsetag"):
            unparsed._.get(name)


def test_sentence_boundaries_absent(extensions: None, vocab: Vocab) -> None:
    doc = Doc(vocab, words=["a", "b", "c"])
    set_parses(doc, [([0, 1, 2], [(0, 2, "NP")])])
    assert doc[:]._.parse_string == "(TOP (NP (X a) (X b)) (X c))"
    assert [span.text for span in doc._.constituents] == ["a b"]
    assert list(doc_from_parses(vocab, [])._.constituents) == []


def test_changes_are_seen(extensions: None, vocab: Vocab) -> None:
    doc = Doc(vocab, words=["a", "b", "c", "d"])
    group = set_parses(doc, [([0, 1, 2, 3], [(0, 4, "S"), (1, 3, "NP"), (2, 3, "X")])])
    assert doc[1:3]._.labels == ("NP",)
    group.append(Span(doc, 3, 4, label="NP"))  # another span
    assert doc[3]._.labels == ("NP",)
    # A span replaced within the group is not noticed, as the documentation says, until the group is another one.
    group[1] = Span(doc, 1, 4, label="VP")
    assert doc[1:3]._.labels == ("NP",)
    doc.spans["constituents"] = list(group)
    assert not doc[1:3]._.is_constituent
    assert doc[1:4]._.labels == ("VP",)
    assert doc[2]._.parent == Span(doc, 1, 4, "VP")
    doc.spans["constituents"] = [Span(doc, 0, 4, label="FRAG")]  # another group
    assert doc[3]._.labels == ()
    assert doc[:]._.labels == ("FRAG",)
    doc.spans["constituents"] = [Span(doc, 0, 4, label="S"), Span(doc, 1, 3, label="NP")]
    assert doc[2]._.parent == Span(doc, 1, 3, "NP")
    del doc.spans["constituents"]
    with pytest.raises(ValueError, match=r"\[E300\]"):
        _ = doc[2]._.parent


@pytest.mark.parametrize("merged", [(0, 2), (1, 3), (2, 5)])
def test_retokenizing_is_an_error(extensions: None, merged: tuple[int, int], vocab: Vocab) -> None:
    """spaCy leaves span groups as they are, so that they point at other tokens, or beyond the end."""
    doc = doc_from_tree(vocab, Parse(tuple("abcde"), ("X",) * 5, (Constituent(1, 3, "NP"), Constituent(3, 5, "VP"))))
    assert doc[1:3]._.labels == ("NP",)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[merged[0] : merged[1]])
    with pytest.raises(ValueError, match=r"\[E310\].*merge_entities"):
        _ = doc[1]._.parent
    with pytest.raises(ValueError, match=r"\[E310\]"):
        doc_to_strings(doc)


def test_tokens_merged_before_the_end(extensions: None, vocab: Vocab) -> None:
    """The only span ends beyond the doc now, and spaCy itself raises an error, another one, for such a span."""
    doc = doc_from_tree(vocab, Parse(tuple("abcde"), ("X",) * 5, (Constituent(0, 5, "S"), Constituent(3, 5, "VP"))))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:5])
    matcher = TreeMatcher(vocab)
    matcher.add("VP", ["VP"])
    for ask in (doc_to_strings, lambda doc: doc[0]._.parent, lambda doc: doc._.base_nps, matcher, render):
        with pytest.raises(ValueError, match=r"\[E310\].*merge_entities"):
            ask(doc)


def test_constituents_that_are_no_tree(extensions: None, vocab: Vocab) -> None:
    """The same error whatever is asked, without a file and a line, which a doc has not."""
    doc = doc_from_tree(vocab, Parse(tuple("abc"), ("X",) * 3, (Constituent(0, 2, "NP"),)))
    doc.spans["constituents"].append(Span(doc, 1, 3, label="VP"))
    for ask in (doc_to_strings, lambda doc: doc[0]._.parent, lambda doc: doc._.base_nps):
        with pytest.raises(ValueError, match=r"^\[E301\]"):
            ask(doc)


def test_nothing_is_stored_on_the_doc(extensions: None, vocab: Vocab) -> None:
    doc = doc_from_tree(vocab, Parse(("a",), ("NN",), (Constituent(0, 1, "NP"),)))
    before = doc.to_bytes()
    assert doc[0]._.parse_string == "(NP (NN a))"
    assert doc.to_bytes() == before
    assert doc.copy()[0]._.labels == ("NP",)
    assert doc in _CACHE._values
    n_docs = len(_CACHE._values)
    del doc
    gc.collect()
    assert len(_CACHE._values) < n_docs


def test_the_doc_is_read_once(extensions: None, vocab: Vocab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking about every constituent of a long doc does not read the doc again and again."""
    n_words, n_sentences = 25, 40
    spans = [Constituent(i, n_words, "VP") for i in range(n_words)] + [Constituent(i, i + 1, "N") for i in range(24)]
    spans.sort(key=lambda span: (span.start, -span.end))
    parse = Parse(("w",) * n_words, ("NN",) * n_words, tuple(spans))
    doc = doc_from_parses(vocab, [parse] * n_sentences)
    made: list[DocNodes] = []
    make = DocNodes.__init__

    def count(self: DocNodes, *args: Any) -> None:
        made.append(self)
        make(self, *args)

    monkeypatch.setattr(DocNodes, "__init__", count)
    for span in doc.spans["constituents"]:
        assert span._.labels
        assert span._.parent is not None or span.start % n_words == 0
        assert len(list(span._.children)) == (2 if len(span) > 1 else 0)
    assert len(made) == 1


def test_deep(extensions: None, vocab: Vocab) -> None:
    n = 2000
    doc = doc_from_tree(vocab, Parse(("w",) * n, ("NN",) * n, tuple(Constituent(i, n, "A") for i in range(n))))
    span: Span | None = doc[n - 1 : n]
    depth = 0
    while span is not None:
        assert span._.labels == ("A",)
        span = span._.parent
        depth += 1
    assert depth == n
    assert sum(1 for _ in doc[:]._.constituents) == n
    assert doc[:]._.parse_string.count("(A ") == n
    assert doc[:]._.tree.label() == "A"


def test_in_a_memory_zone(extensions: None) -> None:
    vocab = create_vocab("en", English.Defaults)
    with vocab.memory_zone():
        doc = doc_from_tree(vocab, Parse(("a",), ("NN",), (Constituent(0, 1, "ZONE"),)))
        assert doc[0]._.labels == ("ZONE",)
        del doc


@pytest.mark.usefixtures("clean_extensions")
class TestRegister:
    def test_twice(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            register_extensions()
            register_extensions()
        for owner, names in EXTENSIONS.items():
            assert all(owner.has_extension(name) for name in names)

    def test_others_stay_unless_forced(self, vocab: Vocab) -> None:
        doc = doc_from_tree(vocab, Parse(("a",), ("NN",), (Constituent(0, 1, "NP"),)))
        Span.set_extension("labels", getter=lambda span: "theirs")
        with pytest.warns(UserWarning, match=r"\[W300\] The extension Span\._\.labels"):
            register_extensions()
        assert doc[:]._.labels == "theirs"
        register_extensions(force=True)
        assert doc[:]._.labels == ("NP",)

    def test_other_key(self, vocab: Vocab) -> None:
        register_extensions("gold")
        doc = doc_from_tree(vocab, Parse(("a",), ("NN",), (Constituent(0, 1, "NP"),)), spans_key="gold")
        assert doc[:]._.labels == doc[0]._.labels == ("NP",)
        assert doc._.parse_strings == ["(TOP (NP (NN a)))"]

    def test_getters_can_be_sent_to_other_processes(self) -> None:
        register_extensions()
        names: set[str] = set(EXTENSIONS[Token])
        for name in names:
            getter = Token.get_extension(name)[2]
            assert pickle.loads(pickle.dumps(getter)).func is EXTENSIONS[Token][name]

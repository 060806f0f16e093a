"""Trees and bracket strings, to docs and back."""

from dataclasses import replace

import pytest
from hypothesis import given
from spacy.lang.en import English
from spacy.tokens import DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab, create_vocab
from strategies import parses

from spacy_parsetag.tokens import (
    doc_from_parses,
    doc_from_tree,
    doc_to_strings,
    docs_from_trees,
    parse_string,
    spaces_after,
)
from spacy_parsetag.tokens.conversion import as_parse
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Constituent, Parse, Tree, to_nltk
from spacy_parsetag.trees.brackets import format_tree

VOCAB = create_vocab("en", English.Defaults)


def tree_of(text: str) -> Tree:
    (tree,) = read_string(text)
    return tree


def test_words_are_text_on_the_doc(vocab: Vocab) -> None:
    brackets = "(TOP (S (-LRB- -LRB-) (NP (PRP She)) (VP (VBZ owns) (NP (CD 1\\/2) (NN C:\\\\dir))) (-RRB- -RRB-)))"
    doc = doc_from_tree(vocab, tree_of(brackets))
    assert [token.text for token in doc] == ["(", "She", "owns", "1/2", "C:\\dir", ")"]
    assert [token.tag_ for token in doc] == ["-LRB-", "PRP", "VBZ", "CD", "NN", "-RRB-"]
    assert [token.is_sent_start for token in doc] == [True, False, False, False, False, False]
    assert doc.has_unknown_spaces
    assert doc_to_strings(doc) == [brackets.replace("\\/", "/")]


@given(parse=parses())
def test_doc_to_strings_inverts_doc_from_tree(parse: Parse) -> None:
    text = parse_string(parse)
    doc = doc_from_tree(VOCAB, tree_of(text))
    assert tuple(token.text for token in doc) == parse.words
    assert doc_to_strings(doc) == [text]


@given(parse=parses(min_words=0))
def test_from_tree_inverts_to_tree(parse: Parse) -> None:
    assert Parse.from_tree(parse.to_tree()) == parse
    assert as_parse(to_nltk(parse.to_tree())) == as_parse(parse.to_tree()) == parse


@given(parse=parses(forests=False))
def test_without_root(parse: Parse) -> None:
    text = parse_string(parse, root=None)
    assert parse_string(parse) == f"(TOP {text})"
    assert doc_to_strings(doc_from_tree(VOCAB, parse), root="ROOT") == [f"(ROOT {text})"]


def test_docs_from_trees(vocab: Vocab) -> None:
    trees = [tree_of(f"(TOP (NP (NN w{i})))") for i in range(5)]
    assert [len(doc) for doc in docs_from_trees(vocab, iter(trees))] == [1] * 5
    docs = list(docs_from_trees(vocab, iter(trees), n_sents=2))
    assert [[sent.text for sent in doc.sents] for doc in docs] == [["w0", "w1"], ["w2", "w3"], ["w4"]]
    assert [string for doc in docs for string in doc_to_strings(doc)] == [format_tree(tree) for tree in trees]
    with pytest.raises(ValueError, match=r"\[E308\]"):
        next(docs_from_trees(vocab, trees, n_sents=0))
    for tree in (trees[0], to_nltk(trees[0]), as_parse(trees[0])):
        with pytest.raises(TypeError, match=r"\[E011\]"):
            next(docs_from_trees(vocab, tree))  # type: ignore[arg-type]


def test_parses_from_an_iterator(vocab: Vocab) -> None:
    doc = doc_from_parses(vocab, (as_parse(tree_of(f"(TOP (NP (NN w{i})))")) for i in range(2)), detokenize=True)
    assert doc_to_strings(doc) == ["(TOP (NP (NN w0)))", "(TOP (NP (NN w1)))"]


@pytest.mark.parametrize("word", ["", " ", "\n", "\u00a0"])
def test_words_that_no_doc_can_hold(word: str, vocab: Vocab) -> None:
    parse = Parse(("a", word), ("NN", "NN"), (Constituent(0, 2, "NP"),))
    with pytest.raises(ValueError, match=r"\[E008\] Word 1"):
        doc_from_tree(vocab, parse)
    with pytest.raises(ValueError, match=r"\[E008\]"):
        doc_from_tree(vocab, to_nltk(parse.to_tree()))


def test_no_tree_over_words(vocab: Vocab) -> None:
    with pytest.raises(ValueError, match=r"\[E001\]"):
        doc_from_tree(vocab, Tree("S", ("She", Tree("VP", ("reads",)))))


def test_corpus_gives_gold_tokens(tmp_path: object, vocab: Vocab) -> None:
    """Spaces are unknown, so training and evaluation run on the treebank's own words."""
    path = tmp_path / "train.spacy"  # type: ignore[operator]
    DocBin(docs=docs_from_trees(vocab, [tree_of("(TOP (S (NP (NN do-not)) (VP (VB split.this))))")])).to_disk(path)
    (example,) = Corpus(path)(English())
    assert [token.text for token in example.predicted] == ["do-not", "split.this"]
    assert doc_to_strings(example.reference) == ["(TOP (S (NP (NN do-not)) (VP (VB split.this))))"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("They wo n't ( I hope ) pay $ 5 .", "They won't (I hope) pay $5."),
        ('" No , " he said , " I \'m here ! "', '"No," he said, "I\'m here!"'),
        ("`` Go ; now '' : the boys ' dog 's 10 % ...", "``Go; now'': the boys' dog's 10%..."),
        ("He said ' yes ' and ` no ' , did he ?", "He said 'yes' and `no', did he?"),
        ("I 'm gon na go , I can not stay [ here ] .", "I'm gonna go, I cannot stay [here]."),
        ("US$ 3 – 4 “ so ” they 've", "US$3 – 4 “so” they've"),
        ("native - like and / or not", "native - like and/or not"),
        ('Yes , I do . "', 'Yes, I do."'),
        ('No "', 'No"'),
        ("Gon na go", "Gonna go"),
        ("dogs ' tails", "dogs' tails"),
        ("' I see trees . '", "'I see trees.'"),
        ('"', '"'),
        (".", "."),
    ],
)
def test_spaces(words: str, text: str) -> None:
    tokens = words.split(" ")
    spaces = spaces_after(tokens)
    assert "".join(word + " " * space for word, space in zip(tokens, spaces, strict=True)) == text + " "


@pytest.mark.parametrize(
    "words, text",
    [
        ("在 Deep Blue , 就 是 電腦 之前 。", "在Deep Blue,就是電腦之前。"),
        ("は ２ 月 12 日 に 「 ITEL 」 と 言っ た", "は２月12日に「ITEL」と言った"),
        ("顕如 （ 1558 年 - 1614 年 ） ― ― 「 100 m 」", "顕如（1558年-1614年）――「100 m」"),
        ("แมว กิน ปลา 2 ตัว", "แมวกินปลา2ตัว "),
        ("Ichiyō ( 樋口 一葉 ) wrote", "Ichiyō (樋口 一葉) wrote "),
        ("그 는 北 미사일 을 보 았 다", "그 는 北 미사일 을 보 았 다 "),
        ("", ""),
    ],
)
def test_scripts_without_spaces(words: str, text: str) -> None:
    tokens = words.split()
    assert "".join(word + " " * space for word, space in zip(tokens, spaces_after(tokens), strict=True)) == text


def test_hyphens_are_told_by_their_tag() -> None:
    assert spaces_after(["old", "-", "fashioned", "-", "yes"], ["JJ", "HYPH", "VBN", ":", "UH"]) == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_detokenize(vocab: Vocab) -> None:
    sentences: list[Parse] = [
        Parse(("(", "She", ")", "."), ("-LRB-", "PRP", "-RRB-", "."), (Constituent(0, 4, "S"),)),
        Parse(("Yes", "!"), ("UH", "."), (Constituent(0, 2, "INTJ"),)),
    ]
    doc = doc_from_parses(vocab, sentences, detokenize=True)
    assert doc.text == "(She). Yes!"
    assert not doc.has_unknown_spaces
    assert doc_to_strings(doc) == [
        "(TOP (S (-LRB- -LRB-) (PRP She) (-RRB- -RRB-) (. .)))",
        "(TOP (INTJ (UH Yes) (. !)))",
    ]


def test_parses_that_differ_in_their_ids_alone_are_equal() -> None:
    parse = Parse(("a",), ("NN",), (Constituent(0, 1, "NP"),))
    named = replace(parse, id="s1")
    assert named == parse and hash(named) == hash(parse) and named.id == "s1"

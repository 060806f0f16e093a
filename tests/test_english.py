"""The tool that makes the training data of en_parsetag_sm."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_parsetag.tokens import doc_to_strings
from spacy_parsetag.treebanks.docfiles import DOCBIN_ATTRS
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from tools.english import Retokenizer, Sentence, is_free, make_doc, read_conllu, read_gum, runs, vary, without_spaces

CONLLU = """# newdoc id = GUM_news_x
# newpar
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\t_\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\t_\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\t_\tVB\t_\t0\troot\t_\tX=y|SpaceAfter=No
4\t.\t.\t_\t.\t_\t3\tpunct\t_\t_

1-2\twanna\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\twan\twant\t_\tVBP\t_\t0\troot\t_\t_
2\tna\tto\t_\tTO\t_\t1\txcomp\t_\t_
3\t?\t?\t_\t.\t_\t1\tpunct\t_\t_
"""
TREES = """(ROOT (S (VP (VB Do) (RB n't) (VP-X (VB go))) (. .)))
(ROOT (S (VP (VBP wan) (S (VP (TO na)))) (. ?)))
"""


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("en")


def sentence(brackets: str, spaces: str) -> Sentence:
    """A sentence from brackets; each character of `spaces` stands for a word: "_" if a space follows it."""
    return Sentence(Parse.from_tree(read_string(brackets)[0]), [mark == "_" for mark in spaces])


def brackets(nlp: Language, *sentences: Sentence) -> list[str]:
    return doc_to_strings(make_doc(nlp, sentences, spaces=False, paragraphs=False))


def test_spaces_and_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(CONLLU, encoding="utf8")
    first, second = read_conllu(path)
    assert first[:3] == (["Do", "n't", "go", "."], [False, True, False, True], True)
    assert first[3:] == (["VB", "RB", "VB", "."], [2, 2, -1, 2], ["aux", "advmod", "root", "punct"])
    assert second[:3] == (["wan", "na", "?"], [False, False, True], False)


def test_documents_of_a_part(tmp_path: Path, nlp: Language) -> None:
    (tmp_path / "splits.md").write_text("## dev\n\n  * GUM_news_y\n\n## train\n\n  * GUM_news_x\n  * GUM_reddit_z\n")
    for folder, text in (("const", TREES), ("dep", CONLLU)):
        (tmp_path / folder).mkdir()
        name = "GUM_news_x.ptb" if folder == "const" else "GUM_news_x.conllu"
        (tmp_path / folder / name).write_text(text, encoding="utf8")
    ((name, document),) = read_gum(tmp_path, "train")
    doc = make_doc(nlp, document, spaces=True, paragraphs=True)
    assert (name, doc.text) == ("GUM_news_x", "Don't go. wanna?")
    assert [sent.text for sent in doc.sents] == ["Don't go.", "wanna?"]
    # A list of what may be trained on, so that a genre that GUM gets one day is not.
    free = ("GUM_news_x", "GUM_textbook_history", "GUM_reddit_x", "GUM_poem_x", "GUM_textbook_x", "GUM_whow_x")
    assert [is_free(name) for name in free] == [True, True, False, False, False, False]
    with pytest.raises(SystemExit, match="no part test"):
        list(read_gum(tmp_path, "test"))
    (tmp_path / "const" / "GUM_news_x.ptb").write_text(TREES.replace("go", "come"))
    with pytest.raises(SystemExit, match="different words"):
        list(read_gum(tmp_path, "train"))


@pytest.mark.parametrize(
    ("tree", "spaces", "expected"),
    [
        # spaCy cuts more
        ("(TOP (NP (JJ first-rate) (NN work)))", "__", "(TOP (NP (JJ first) (HYPH -) (JJ rate) (NN work)))"),
        # and less: words that are joined without a constituent ending between them
        ("(TOP (NP (CD 3) (CD .5) (NN m)))", "._.", "(TOP (NP (CD 3.5) (NN m)))"),
        # but a constituent's end stays
        ("(TOP (NP (NP (CD 3)) (NP (CD .5) (NN m))))", "._.", "(TOP (NP (NP (CD 3)) (NP (CD .5) (NN m))))"),
    ],
)
def test_tokens(nlp: Language, tree: str, spaces: str, expected: str) -> None:
    retokenize = Retokenizer(nlp)
    found = retokenize(sentence(tree, spaces))
    assert brackets(nlp, found) == [expected]
    assert retokenize.counts["cut"] == (1 if "(NP (CD 3))" in tree else 0)


def test_variants_keep_the_tree(nlp: Language) -> None:
    text = "(TOP (S (`` ``) (S (NP (PRP I)) (VP (VBD did) (RB n't) (VP (VB go)))) ('' '') (: -) (NP (NN home)) (. .)))"
    original = sentence(text, ".________")
    assert brackets(nlp, original) == [text]
    seen = set()
    for seed in range(200):
        varied = vary(original, random.Random(seed), ("“", "”"), "’", "–")
        (found,) = brackets(nlp, varied)
        seen.update(varied.parse.words)
        n = len(varied.parse)
        assert n in (len(original.parse), len(original.parse) - 1) and len(varied.spaces) == n
        cut = [(min(start, n), min(end, n), label) for start, end, label in original.parse.spans]
        assert list(varied.parse.spans) == cut
        assert found.startswith("(TOP (S (`` ")
    assert {"“", "”", "n’t", "–", "HOME", "i", "."} <= seen and "n't" not in seen


def test_white_space_is_in_no_tree(nlp: Language) -> None:
    sentences = [sentence("(TOP (S (NP (PRP She)) (VP (VBZ reads)) (. .)))", "_._")] * 3
    lines = brackets(nlp, *sentences)
    sentences[1:] = [Sentence(sentences[0].parse, sentences[0].spaces, paragraph=True)] * 2
    for seed in range(20):
        doc = make_doc(nlp, sentences, spaces=False, paragraphs=True, rng=random.Random(seed))
        assert doc_to_strings(doc) == lines
        assert sum(token.tag_ == "_SP" for token in doc) >= 2
        assert [sent.text.split() for sent in doc.sents] == [["She", "reads", "."]] * 3
    assert sum(map(len, runs(sentences * 20, random.Random(0)))) == 60


def test_docs_without_spaces_keep_their_trees_in_a_file(nlp: Language) -> None:
    """spaCy keeps the characters of a span, which are others where each word has a space after it."""
    doc = make_doc(
        nlp, [sentence("(S (VP (VB Do) (RB n't) (VP (VB go))) (. .))", ".__.")] * 2, spaces=True, paragraphs=True
    )
    docs = DocBin(attrs=DOCBIN_ATTRS, docs=[without_spaces(doc)], store_user_data=True)
    (found,) = DocBin().from_bytes(docs.to_bytes()).get_docs(nlp.vocab)
    assert found.has_unknown_spaces and [token.tag_ for token in found] == [token.tag_ for token in doc]
    assert doc_to_strings(found) == doc_to_strings(doc) and len(list(found.sents)) == 2

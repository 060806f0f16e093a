"""`render`: a doc or a span as text, SVG and HTML, and in a notebook."""

import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import pytest
import spacy
from nltk import Tree
from spacy.tokens import Doc
from spacy.vocab import Vocab

import spacy_parsetag
from spacy_parsetag.draw.docs import draw_page, render
from spacy_parsetag.tokens import docs_from_trees, set_parses
from spacy_parsetag.tokens.extensions import get_tree

TREES = (
    "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (NP (NNS papers))) (. .)))",
    "(TOP (UH Yes) (, ,) (INTJ (UH please)) (-LRB- -LRB-) (NN a&lt;b) (-RRB- -RRB-))",
    "(TOP (FRAG (NN <script>)))",
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def doc() -> Doc:
    [doc] = docs_from_trees(spacy.blank("en").vocab, map(Tree.fromstring, TREES), n_sents=5, detokenize=True)
    return doc


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in fromstring(svg).iter(f"{SVG}text")]


class Page(HTMLParser):
    """Reads a page: its tags in order, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.data += data


def test_text(doc: Doc) -> None:
    drawn = render(doc, width=80)
    assert drawn.splitlines()[-1].split() == ["<script>"]
    assert drawn.count("\n\n") == 2 and "\x1b" not in drawn
    assert drawn.splitlines()[-7].split() == ["Yes", ",", "please", "(", "a&lt;b", ")"]
    assert repr(drawn) == str(drawn) and pickle.loads(pickle.dumps(drawn)) == drawn


def test_of_a_span(doc: Doc) -> None:
    first = next(doc.sents)
    assert render(first, width=80).split()[0] == "S"
    assert texts(render(doc[1:3], "svg")) == ["VP", "VBZ", "enjoys", "NP", "NNS", "papers"]
    with pytest.raises(ValueError, match=r"\[E307\]"):
        render(doc[0:2])


def test_svg(doc: Doc) -> None:
    svg = render(doc, "svg")
    words = texts(svg)
    assert words[0] == "S" and "(" in words and "<script>" in words
    trees = fromstring(svg).findall(f"{SVG}svg")
    assert [float(tree.get("y") or 0) for tree in trees] == sorted({float(tree.get("y") or 0) for tree in trees})
    assert len(trees) == 3


def test_latex(doc: Doc) -> None:
    latex = render(doc, "latex")
    assert latex.count(r"\begin{forest}") == latex.count(r"\end{forest}") == 3
    assert r"[FRAG [NN [{\textless{}script\textgreater{}}]]]" in latex
    assert "PRP" in latex and "PRP" not in render(doc, "latex", tags=False)


def test_page(doc: Doc) -> None:
    html = render(doc, "html")
    page = Page(html)
    assert html.startswith("<!DOCTYPE html>") and '<html lang="en">' in html
    assert html.count("<pre>") == html.count('<pre class="brackets">') == 3  # an outline is not to be wrapped
    assert page.tags.count("section") == 3 and "script" not in page.tags and "link" not in page.tags
    assert "src=" not in html and "url(" not in html
    assert "She enjoys papers." in page.data and "(TOP (FRAG (NN <script>)))" in page.data
    assert "noun phrase" in page.data and "pronoun, personal" in page.data and "interjection" in page.data
    assert "pronoun, personal" not in render(doc, "html", tags=False)


def test_only_the_text_of_a_page_turns_round(vocab: Vocab) -> None:
    """Drawings of right-to-left text are mirrored already."""
    [doc] = docs_from_trees(vocab, [Tree.fromstring("(S (NP (NN שלום)) (VP (VV עולם)))")])
    assert re.findall(r'<(\w+)[^>]*\bdir="(\w+)"', render(doc, "html")) == [("p", "auto")]


def test_words_that_would_break_a_page(vocab: Vocab) -> None:
    doc = Doc(vocab, words=["</title><b>", "a\u202eb", "\x1b[2J", "\x00"])
    set_parses(doc, [([0, 1, 2, 3], [(0, 4, "X\u202e")])])
    html = render(doc, "html")
    page = Page(html)
    assert "b" not in page.tags and "<title>&lt;/title&gt;&lt;b&gt; " in html
    assert not {"\u202e", "\x1b", "\x00"} & set(html + render(doc) + render(doc, "svg"))
    set_parses(doc, [([0, 1, 2, 3], [(0, 4, "NP-<b>")])])
    page = Page(render(doc, "html"))
    assert "b" not in page.tags and "NP-<b>noun phrase" in page.data  # the last in the table of labels
    assert Page(draw_page([], lang='"><b>')).tags[:2] == ["html", "head"]


def test_in_a_notebook(doc: Doc) -> None:
    html = render(doc)._repr_html_()
    page = Page(html)
    assert page.tags.count("section") == 3 and page.tags[0] == "div"
    assert not {"html", "body", "head"}.intersection(page.tags)
    assert get_tree(doc[1:3])._repr_svg_().startswith("<svg")


def test_colors(doc: Doc, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[38;5;33mNP\x1b[0m" in render(doc, color=True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" in render(doc)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render(doc)


def test_width_of_the_terminal(doc: Doc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    assert render(doc) == render(doc, width=24) != render(doc, width=80)
    monkeypatch.setenv("COLUMNS", "3")
    assert render(doc) == render(doc, width=20)


def test_white_space_and_no_sentence_boundaries(vocab: Vocab) -> None:
    doc = Doc(vocab, words=["\n", "Big", "\n\n", "dogs", " "])
    set_parses(doc, [([1, 3], [(0, 2, "NP")])])
    assert render(doc, width=80).splitlines()[-1].split() == ["Big", "dogs"]
    assert texts(render(doc, "svg")) == ["NP", "Big", "dogs"]
    with pytest.raises(ValueError, match=r"\[E309\]"):
        render(doc[0:1])
    assert render([doc[0:1], doc[1:4], doc[4:5]], width=80) == render(doc[1:4], width=80)  # as spaCy's sentences may be


def test_empty(vocab: Vocab) -> None:
    doc = Doc(vocab)
    assert render(doc) == ""  # it has no constituents to miss
    set_parses(doc, [])
    assert render(doc) == ""
    assert fromstring(render(doc, "svg")).findall(f"{SVG}svg") == []
    assert "There are no sentences" in render(doc, "html") and render(doc, "latex") == ""


def test_errors(doc: Doc, vocab: Vocab) -> None:
    for what in ("The dog barked.", None, doc[0], Tree.fromstring(TREES[0]), ["a"]):
        with pytest.raises(ValueError, match=r"\[E042\] Cannot draw a thing of type (str|NoneType|Token|Tree)"):
            render(what)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\[E041\].*'png'"):
        render(doc, "png")
    for style in ("text", "svg", "html", "latex"):
        with pytest.raises(ValueError, match=r"\[E300\].*parsetag"):
            render(Doc(vocab, words=["a"]), style)


def test_from_the_top() -> None:
    """`import spacy_parsetag` imports nothing of what it gives."""
    code = (
        "import sys, spacy_parsetag; loaded = [name for name in sys.modules if name.startswith('spacy')];"
        "assert loaded == ['spacy_parsetag'], loaded; assert spacy_parsetag.explain('NP') == 'noun phrase';"
        "assert 'spacy' not in sys.modules; assert callable(spacy_parsetag.render)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert spacy_parsetag.render is render
    assert spacy_parsetag.explain("VP") == "verb phrase" and spacy_parsetag.TreeMatcher.__name__ == "TreeMatcher"
    with pytest.raises(AttributeError, match="no attribute 'paint'"):
        _ = spacy_parsetag.paint  # type: ignore[attr-defined]

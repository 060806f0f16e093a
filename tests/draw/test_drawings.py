"""Trees drawn in text and as SVG: nothing is lost, nothing is too wide, and what NLTK draws is drawn as NLTK does."""

import re
import sys
import unicodedata
from xml.etree.ElementTree import fromstring, tostring

import nltk
import pytest
from hypothesis import given, strategies as st
from strategies import parses

from spacy_parsetag.draw.labels import explain, family
from spacy_parsetag.draw.latex import draw_latex, escape_latex
from spacy_parsetag.draw.nodes import DrawnNode, n_columns, nodes_of
from spacy_parsetag.draw.svg import COLORS, draw_svg
from spacy_parsetag.draw.text import draw_text
from spacy_parsetag.trees import Parse, Tree
from spacy_parsetag.trees.nltk_trees import from_nltk
from spacy_parsetag.trees.tree import preorder

SPECIAL = '\\{}&%$#_~^<>|"'  # to LaTeX
LONG = (
    "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP he)) (VP (MD would) (VP (VB "
    "bark)))))) (. .)))"
)


def read(text: str) -> Tree:
    return from_nltk(nltk.Tree.fromstring(text))


def comb(n: int) -> Tree:
    """A tree of n words that is as deep as it has words."""
    spans = tuple((i, n, "VP") for i in range(n))
    return Parse(tuple(f"word{i}" for i in range(n)), ("VB",) * n, spans).to_tree()  # type: ignore[arg-type]


def words_of(svg: str) -> list[str]:
    return [text.text or "" for text in fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def read_forest(latex: str) -> DrawnNode:
    """Read what forest would: outside of braces, brackets are nodes, and commas and equals signs would be options."""
    (body,) = re.findall(r"\A\\begin{forest}\n(.*)\n\\end{forest}\n\Z", latex)
    escaped = {escape_latex(char): char for char in SPECIAL}
    stack = [DrawnNode("", "")]
    depth = 0
    for token in re.findall(r"\\(?:text\w+|char34){}|{\\kern0pt}|\\.|.", body):
        if token == r"{\kern0pt}":
            assert depth
        elif not depth and token == "[":
            stack.append(DrawnNode("", ""))
            stack[-2].children.append(stack[-1])
        elif not depth and token == "]":
            stack.pop()
        elif token in "{}":
            depth += 1 if token == "{" else -1
        else:
            assert depth or token not in ",="
            assert token not in {*SPECIAL}
            stack[-1].text += escaped.get(token, token) if depth else token.strip()
    return stack[0].children[0]


def shape(node: DrawnNode) -> tuple[object, ...]:
    return (node.text, *map(shape, node.children))


def test_as_nltk_draws_it() -> None:
    tree = nltk.Tree.fromstring("(S (NP (PRP She)) (VP (VBZ enjoys) (NP (NNS papers))))")
    lines = nltk.tree.TreePrettyPrinter(tree).text(unicodelines=True).splitlines()
    assert draw_text(from_nltk(tree), 80).splitlines() == [line.rstrip() for line in lines]


def test_without_tags() -> None:
    tree = read("(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (X papers)))))")
    assert draw_text(tree, 80, tags=False).splitlines() == [
        "      S",
        " ┌────┴────┐",
        " │         VP",
        " │    ┌────┴────┐",
        " NP   │         NP",
        " │    │         │",
        "She reads     papers",
    ]
    assert "X" not in draw_text(tree, 80)
    assert "\n./" not in draw_text(read("(S (NP (PRP I)) (VP (VBP am)) (. .))"), 20)


def test_outline() -> None:
    assert draw_text(read(LONG), 40).splitlines() == [
        "S",
        "├─ NP The/DT old/JJ dog/NN",
        "├─ VP",
        "│  ├─ said/VBD",
        "│  └─ SBAR",
        "│     ├─ that/IN",
        "│     └─ S",
        "│        ├─ NP he/PRP",
        "│        └─ VP",
        "│           ├─ would/MD",
        "│           └─ VP bark/VB",
        "└─ .",
    ]


def test_children_stand_beside_a_label_where_they_fit() -> None:
    tree = read("(S (NP (DT the) (JJ old) (NN dog)) (VP (VBD barked) (ADVP (RB loudly) (RB badly))))")
    assert draw_text(tree, 27).splitlines()[1] == "├─ NP the/DT old/JJ dog/NN"
    assert draw_text(tree, 26).splitlines()[1:3] == ["├─ NP", "│  ├─ the/DT"]


def test_deep_constituents_are_drawn_below() -> None:
    lines = draw_text(comb(200), 80).splitlines()
    assert max(map(len, lines)) <= 80
    apart = [line for line in lines if line[0] == "["]
    assert len(apart) > 5 and apart[0] == "[1] VP"
    assert sum(line.endswith(" VP [1]") for line in lines) == 1
    assert re.findall(r"word\d+", "\n".join(lines)) == [f"word{i}" for i in range(200)]


def test_the_deepest_tree_that_is_drawn() -> None:
    """NLTK's drawing is recursive: of more than 60 levels, the tag and the word among them, there is an outline."""
    assert ["┌" in draw_text(comb(n), 10_000) for n in (58, 59)] == [True, False]


def test_least_widths() -> None:
    """NLTK's drawing takes four columns for a short word but the last; an outline leaves 24 for a label and a word."""
    row = read("(S " + " ".join(f"(NN {letter})" for letter in "abcdefgh") + ")")
    assert ["┌" in draw_text(row, width, tags=False) for width in (30, 31)] == [False, True]
    assert "\n" + " " * 33 + "└─ VP [1]\n" in draw_text(comb(20), 60)
    labels = read("(S (ALONGLABELOFAPHRASE (NN a)) (ALONGLABELOFAPHRASE (NN b)))")
    width = max(map(len, draw_text(labels, 200).splitlines()))
    assert ["┌" in draw_text(labels, width + more) for more in (-1, 0)] == [False, True]


def test_long_words_go_on_in_the_next_line() -> None:
    text = draw_text(read(f"(NP (DT the) (NN {'a' * 70}))"), 30, tags=False)
    assert max(map(len, text.splitlines())) == 30
    assert text.count("a") == 70


def test_long_labels_of_numbered_parts_go_on_in_the_next_line() -> None:
    label = "(VERYLONGLABEL-SBJ (NN a) "
    text = draw_text(read(label * 60 + "(NN b)" + ")" * 60), 20)
    assert "[10] VERYL" in text and max(map(len, text.splitlines())) == 20


@given(parse=parses(max_words=8), width=st.integers(20, 60))
def test_everything_is_drawn_within_the_width(parse: Parse, width: int) -> None:
    tree = parse.to_tree()
    shown = nodes_of(tree)
    labels = sum(len(node.text.replace(" ", "")) for node in preorder(shown) if node.text.isascii())
    text = draw_text(tree, width)
    assert all(n_columns(line) <= width for line in text.splitlines())
    assert len(text.replace(" ", "")) >= labels
    words = [node.text for node in preorder(shown) if node.kind == "word"]
    if "┌" in text and not text.startswith("["):
        assert re.sub(r"[\u200e\s]", "", text.splitlines()[-1]) == re.sub(r"\s", "", "".join(words))
    colored = draw_text(tree, width, color=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == text


@given(parse=parses(max_words=8))
def test_all_words_are_in_the_svg(parse: Parse) -> None:
    texts = words_of(tostring(draw_svg(parse.to_tree()), encoding="unicode"))
    assert sorted(filter(None, texts)) == sorted(node.text for node in preorder(nodes_of(parse.to_tree())) if node.text)


@given(st.lists(st.text(SPECIAL + "[],=-.aé'`!?", min_size=1), min_size=1, max_size=4), st.booleans())
def test_latex_reads_the_same_tree(words: list[str], tags: bool) -> None:
    spans = ((0, len(words), "NP|<A,B>"), (0, 1, "ADJP_1"))
    tree = Parse(tuple(words), ("NN", "$", "-LRB-", ",")[: len(words)], spans).to_tree()  # type: ignore[arg-type]
    assert shape(read_forest(draw_latex(tree, tags=tags))) == shape(nodes_of(tree, tags=tags))


def test_latex() -> None:
    tree = read("(TOP (S (NP (PRP$ Its)) (VP (VBZ 's) (NP-1 (CD 5) (NN %))) (, ,) (-LRB- -LRB-)))")
    assert draw_latex(tree).splitlines() == [
        r"\begin{forest}",
        r"[S [NP [{PRP\$} [Its]]] [VP [VBZ [{'s}]] [NP-1 [CD [5]] [NN [{\%}]]]] [{,}] [-LRB- [{(}]]]",
        r"\end{forest}",
    ]
    assert draw_latex(comb(5000)).count("[VP") == 5000
    assert "[{a\\char34{}b}]" in draw_latex(read('(NN a"b)')) and "[a-b]" in draw_latex(read("(NN a-b)"))


@pytest.mark.parametrize("pair", ["--", "''", "``", ",,", "!`", "?`"])
def test_latex_makes_no_ligatures(pair: str) -> None:
    first, second = pair
    assert escape_latex(f"a{pair}{second}b") == rf"a{first}{{\kern0pt}}{second}{{\kern0pt}}{second}b"


def test_wide_letters_line_up() -> None:
    wide = draw_text(read("(S (NP (NN 狗)) (VP (VV 叫) (NP (NN 东西))))"), 80)
    narrow = draw_text(read("(S (NP (NN ab)) (VP (VV ab) (NP (NN abcd))))"), 80)
    assert wide == narrow.replace("abcd", "东西").replace("ab", "狗", 1).replace("ab", "叫")
    assert n_columns("狗叫") == 4 and n_columns("e\u0301") == 1
    assert n_columns("한국") == n_columns(unicodedata.normalize("NFD", "한국")) == 4


def test_right_to_left() -> None:
    tree = read("(S (NP (NN שלום)) (VP (VV עולם)))")
    last = draw_text(tree, 80).splitlines()[-1]
    assert last.index("עולם") < last.index("שלום")
    assert last.count("\u200e") == 2
    assert words_of(tostring(draw_svg(tree), encoding="unicode")) == ["S", "VP", "VV", "עולם", "NP", "NN", "שלום"]


@pytest.mark.parametrize("bad", ["a\nb", "a\x1b[31mb", "a\ud800b", "a\ufffeb", "a\u2028b"])
def test_characters_that_would_break_a_drawing(bad: str) -> None:
    tree = Tree("NP", (Tree("NN", (bad,)), Tree("NN", ("a\u202eb",))))
    text = draw_text(tree, 80)
    assert "�" in text and bad not in text and "ab" in text
    assert "�" in words_of(tostring(draw_svg(tree), encoding="unicode"))[2]


def test_deep_svg() -> None:
    limit = sys.getrecursionlimit()
    svg = tostring(draw_svg(comb(2000)), encoding="unicode")
    assert sys.getrecursionlimit() == limit
    assert "word1999" in svg and svg.count(">VP<") == 60
    assert len(svg) < 200_000


def test_words_under_a_triangle_are_in_the_order_of_the_text() -> None:
    """Whoever shows right-to-left text turns it round."""
    n = 65
    tree = Parse(("שלום",) * (n - 2) + ("אב", "גד"), ("NN",) * n, tuple((i, n, "VP") for i in range(n))).to_tree()
    assert any(text.endswith("אב גד") for text in words_of(tostring(draw_svg(tree), encoding="unicode")))


def test_rows_of_text() -> None:
    """The base line of a label is one size of letters below its top; that of a word under its tag 1.1 further."""
    svg = tostring(draw_svg(read("(NP (NN dog))")), encoding="unicode")
    assert re.findall(r'<text[^>]* y="([0-9.]+)"', svg) == ["15.0", "15.0", "31.5"]


def test_edges() -> None:
    """A line to each child; a word is one with its tag."""
    svg = tostring(draw_svg(read("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")), encoding="unicode")
    assert svg.count("<line") == 5


def test_names_of_labels_are_shown() -> None:
    svg = tostring(draw_svg(read("(NP-SBJ (NN a&amp;b))")), encoding="unicode")
    assert "<title>noun phrase, subject</title>" in svg


def test_capitals_have_room() -> None:
    """Two words by the widths of Helvetica, 3.722 and 5.277 ems, and a space between them."""
    svg = draw_svg(read("(NP (NNS WARNS) (NNS MAMMOTH))"))
    assert float(str(svg.get("width")).removesuffix("px")) > (3.722 + 0.278 + 5.277) * 15


def luminance(color: str) -> float:
    """That of the guidelines for accessible web pages."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", sorted({*COLORS} - {"word"}))
def test_contrast(kind: str) -> None:
    """On white and on black what level AA asks for."""
    light = luminance(COLORS[kind]) + 0.05
    assert min(1.05 / light, light / 0.05) >= 4.5


def test_one_word() -> None:
    assert draw_text(read("(X Yes)"), 80) == "Yes"
    assert draw_text(read("(UH Yes)"), 80).split() == ["UH", "│", "Yes"]
    assert words_of(tostring(draw_svg(read("(X Yes)")), encoding="unicode")) == ["Yes"]


def test_narrow() -> None:
    with pytest.raises(ValueError, match=r"\[E040\].*20 columns; got 19"):
        draw_text(read("(NP (NN a))"), 19)


def test_labels() -> None:
    assert explain("NP=2") == "noun phrase" and explain("-LRB-") is None and family("-LRB-") == "other"
    assert explain("S+VP+NP") == "sentence or clause over verb phrase over noun phrase"
    assert explain("PRT|ADVP") == "particle of a verb or adverb phrase"
    assert explain("S+ZZ") is explain("+") is explain("") is None and explain("VROOT") == explain("TOP") == "root"
    assert family("WHNP-1") == "noun" and family("-LRB-") == family("NEW") == "other"

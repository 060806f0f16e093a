import pytest
from hypothesis import given, strategies as st
from nltk import Tree as NltkTree

from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Tree, from_nltk, to_nltk
from spacy_parsetag.trees.brackets import format_tree
from spacy_parsetag.trees.escape import escape_label, escape_token, split_tokens, unescape_label, unescape_token

# Any string, lone surrogates too, with what matters here made likely.
PIECES = [
    "-LRB-",
    "-RRB",
    "LCB-",
    "-",
    "(",
    ")",
    "{",
    "}",
    "[",
    "\\",
    "\\u0041",
    "\\U00110000",
    "\\e",
    "u00",
    "/",
    "*",
    " ",
]
any_text = st.text(st.characters(exclude_categories=())) | st.lists(st.sampled_from(PIECES) | st.text()).map("".join)


@pytest.mark.parametrize(
    "text, written",
    [
        ("dog", "dog"),
        ("(", "-LRB-"),
        ("}", "-RCB-"),
        ("[", "["),
        ("f(x)", "f-LRB-x-RRB-"),
        ("-LRB-", "\\-LRB-"),
        ("-LRB(", "\\-LRB-LRB-"),
        ("1/2", "1/2"),
        ("\\", "\\u005c"),
        ("\\a\\", "\\\\a\\u005c"),
        ("", "\\e"),
        ("\\e", "\\\\e"),
        ("New York", "New\\u0020York"),
        ("1\u00a0000", "1\\u00a0000"),
        ("\n\n", "\\u000a\\u000a"),
        ("\U000e0001", "\\U000e0001"),
        ("naïve", "naïve"),
        ("語", "語"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
    ],
)
def test_escape_token(text: str, written: str) -> None:
    assert escape_token(text) == written
    assert unescape_token(written) == text


@given(any_text)
def test_nltk_reads_it_as_a_word(text: str) -> None:
    assert NltkTree.fromstring(f"(TOP {escape_token(text)})").leaves() == [escape_token(text)]


@pytest.mark.parametrize(
    "written, text",
    [
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("1\\/2", "1/2"),
        ("\\*", "*"),
        ("C:\\dir", "C:\\dir"),
        ("hy\\-phen", "hy\\-phen"),
        ("-lrb-", "-lrb-"),
        ("\\u12", "\\u12"),
    ],
)
def test_unescape_what_treebanks_write(written: str, text: str) -> None:
    assert unescape_token(written) == text


@given(any_text)
def test_any_token_comes_back(text: str) -> None:
    written = escape_token(text)
    assert unescape_token(written) == text
    tree = Tree("TOP", (Tree("NN", (text,)),))
    assert read_string(format_tree(tree)) == [tree]
    assert to_nltk(tree)[0][0] == written and from_nltk(to_nltk(tree)) == tree
    written.encode("utf8")


@given(any_text)
def test_any_label_comes_back(label: str) -> None:
    written = escape_label(label)
    assert unescape_label(written) == label
    tree = Tree("TOP", (Tree(label or "X", (Tree(label, ("dog",)),)),))
    assert read_string(format_tree(tree)) == [tree]
    assert to_nltk(tree)[0][0].label() == written and from_nltk(to_nltk(tree)) == tree


@pytest.mark.parametrize("after", [" ", "(", ")", "\t", "\u00a0", "\\", "u0041", "U00000041"])
def test_a_backslash_before_what_is_escaped_comes_back(after: str) -> None:
    r"""The escape of a space after a backslash begins with one too: `\ ` is not to become a backslash and `u0020`."""
    label = "NP\\" + after
    assert escape_label(label).startswith("NP\\\\")
    assert unescape_label(escape_label(label)) == label
    tree = Tree("TOP", (Tree(label, (Tree("NN", ("dog",)),)),))
    assert read_string(format_tree(tree)) == [tree]


@pytest.mark.parametrize(
    "label", ["NP", "-LRB-", "-NONE-", "S\\NP", "S+VP", "PRP$", "NP|<DT-NN>", "A@B", "a:b", "``", "\\+", "名詞"]
)
def test_ordinary_labels_stay(label: str) -> None:
    assert escape_label(label) == label


@pytest.mark.parametrize("label", ["A\\ B", "\\ ", "\\(", "\\\\", "\\u0041", "\\\u00a0", "S\\\\NP", "A \\", "\\é"])
def test_backslashes_before_what_is_escaped(label: str) -> None:
    written = escape_label(label)
    assert unescape_label(written) == label and " " not in written and "(" not in written


def test_only_ascii_white_space_separates() -> None:
    """As the bracket reader has it: the spaces of other scripts, and line separators, are parts of words."""
    line = "a\u00a0b\u3000c\u2028d\x85e f\tg\x0bh\x0ci\r\n"
    tokens = split_tokens(line)
    assert tokens == ["a\u00a0b\u3000c\u2028d\x85e", "f", "g", "h", "i"]
    [tree] = read_string(f"(TOP {' '.join(f'(X {token})' for token in tokens)})")
    assert [node.children[0] for node in tree.children if isinstance(node, Tree)] == tokens
    assert split_tokens(" \n") == []

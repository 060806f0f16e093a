"""Hypothesis strategies that several test packages share."""

from itertools import pairwise

from hypothesis import settings, strategies as st

from spacy_parsetag.trees.parse import Constituent, Parse

# Every character that means something in a label, a chain, a tag or a bracket file, and the labels one meets.
LABELS = st.one_of(
    st.sampled_from(
        ["S", "NP", "VP", "S+VP", "S/NP", "S\\NP", "NP|<NN>", "X@Y", "A:B", "-NONE-", "NP-SBJ", "l/NP", "L"]
    ),
    st.text(alphabet="AB+/|@\\:-=#", min_size=1, max_size=4),
)
POS_TAGS = st.sampled_from(["NN", "VBZ", "-LRB-", ",", "``", "PRP$", "A+B", "X"])
# Words as text: no white space alone, which is no word of a spaCy doc.
WORDS = st.one_of(
    st.sampled_from(["She", "(", ")", "[", "{", "}", "-LRB-", "\\", "1/2", "*", '"', "``", "New York", "ü", "\\e"]),
    st.text(alphabet="ab()\\-LRB{}[]'\" \n", min_size=1, max_size=6).filter(lambda word: not word.isspace()),
)


def n_examples(n: int) -> int:
    """So many examples before a release, and as large a share of them in other runs as their profile has."""
    return max(1, n * settings().max_examples // settings.get_profile("large").max_examples)


@st.composite
def parses(
    draw: st.DrawFn,
    *,
    min_words: int = 1,
    max_words: int = 8,
    max_chain: int = 3,
    forests: bool = True,
    words: st.SearchStrategy[str] = WORDS,
    labels: st.SearchStrategy[str] = LABELS,
    tags: st.SearchStrategy[str] = POS_TAGS,
) -> Parse:
    """Random parses, with unary chains (repeated labels too), bare words, and several nodes at the top.

    min_words, max_words (int): Least and most words.
    max_chain (int): Longest unary chain.
    forests (bool): Whether nothing, or several nodes, may stand at the top. Otherwise one constituent covers all words.
    words, labels, tags (SearchStrategy[str]): What to draw them from.
    """
    n_words = draw(st.integers(min_words, max_words))
    spans: list[Constituent] = []
    regions: list[tuple[int, int]] = [(0, n_words)] if n_words else []
    while regions:
        start, end = regions.pop()
        top = (start, end) == (0, n_words)
        chain = draw(st.lists(labels, min_size=int(top and not forests), max_size=max_chain))
        spans.extend(Constituent(start, end, label) for label in chain)
        if end - start > 1:
            cuts = sorted(draw(st.sets(st.integers(start + 1, end - 1), min_size=1, max_size=3)))
            bounds = [start, *cuts, end]
            regions.extend(reversed(list(pairwise(bounds))))
    fixed = {"min_size": n_words, "max_size": n_words}
    return Parse(tuple(draw(st.lists(words, **fixed))), tuple(draw(st.lists(tags, **fixed))), tuple(spans))

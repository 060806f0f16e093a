"""What an encoder reads: text as pages have it, token for token that of the doc."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_parsetag.tokens.running_text import as_running_text, running_text

QUOTED = "`` It 's late , '' she said -- `` do n't go ( yet ) . ''"
WORD = st.sampled_from(["``", "''", '"', "'", "--", "n't", "do", "(", ")", ".", "$", "5", "\n", "  ", "日本"])


@pytest.mark.parametrize(
    "words, spaces, text",
    [
        (QUOTED.split(), None, "“It's late,” she said — “don't go (yet).” "),
        # A line of tokens says that a space follows each.
        (QUOTED.split(), [True] * 17 + [False], "“It's late,” she said — “don't go (yet).” "),
        # Spaces of raw text are what they are.
        (["No", ",", '"', "he", "said", '"', "-", '"', "no"], [0, 1, 0, 1, 0, 0, 0, 0, 0], "No, “he said”-“no"),
        (["rock", "'", "n", "'", "roll"], [1, 0, 0, 1, 0], "rock 'n' roll"),
        ([], None, ""),
        (["``"], None, "“ "),
    ],
)
def test_text(vocab: Vocab, words: list[str], spaces: Sequence[bool] | None, text: str) -> None:
    doc = Doc(vocab, words=words, spaces=None if spaces is None else [bool(space) for space in spaces])
    before = doc.text
    assert as_running_text(doc).text == text
    assert doc.text == before


@given(st.lists(WORD, max_size=12), st.booleans())
def test_tokens_stay_where_they_are(words: list[str], known: bool) -> None:
    doc = Doc(Vocab(), words=words, spaces=[i % 2 == 0 for i in range(len(words))] if known else None)
    written = as_running_text(doc)
    assert len(written) == len(doc)
    for old, new in zip(doc, written, strict=True):
        assert old.text == new.text or (old.text in {"``", "''", '"', "--"} and new.text in {"“", "”", "—"})


def test_windows(vocab: Vocab) -> None:
    pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
    docs = [Doc(vocab, words=QUOTED.split()), Doc(vocab), Doc(vocab, words=["No", "."])]
    spans = running_text(window=6, stride=4)(docs)
    assert [[(span.start, span.end) for span in own] for own in spans] == [
        [(0, 6), (4, 10), (8, 14), (12, 18)],
        [],
        [(0, 2)],
    ]
    assert [spans[0][0].text, spans[2][0].text] == ["“It's late,”", "No."]

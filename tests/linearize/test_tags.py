"""The tag set: a column for each tag, one range of columns for each class."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import LABELS

from spacy_parsetag.linearize import CLASS_NAMES, make_tag, split_tag
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.trees import join_chain

TAGS = st.builds(make_tag, st.integers(0, 3), st.one_of(st.just(""), st.lists(LABELS, min_size=1).map(join_chain)))


@given(tags=st.lists(TAGS, max_size=12), complete=st.booleans())
def test_columns(tags: list[str], complete: bool) -> None:
    found = TagSet(tags, complete=complete)
    assert set(found.tags) == {*tags, *(CLASS_NAMES if complete else ())} and len(found) == len(found.tags)
    assert [found.id(tag) for tag in found.tags] == list(range(len(found)))
    assert found.decode(found.encode(tags)) == tags
    # Each class is one range, and the order does not depend on that of the tags.
    for c in range(4):
        of_class = found.tags[found.offsets[c] : found.offsets[c + 1]]
        assert all(split_tag(tag)[0] == c for tag in of_class)
        assert list(of_class) == sorted(of_class)
    assert found.offsets[0] == 0 and found.offsets[4] == len(found) and (found.classes == np.sort(found.classes)).all()
    assert TagSet(reversed(tags), complete=complete) == found
    assert hash(TagSet(reversed(tags), complete=complete)) == hash(found)
    assert [join_chain(chain) for chain in found.unaries] == [split_tag(tag)[1] for tag in found.tags]
    assert found.labelled.tolist() == [len(tag) > 1 for tag in found.tags]


def test_unknown_tags() -> None:
    found = TagSet(["l/NP"])
    assert found.encode(["r/X", "l/NP", "l"]).tolist() == [-1, 1, 0] and found.encode([]).dtype == np.int32
    assert found[1] == "l/NP"
    with pytest.raises(ValueError, match=r"\[E054\] Tag 'r/X' is not in the tag set of 5 tags"):
        found.id("r/X")
    with pytest.raises(ValueError, match=r"\[E052\]"):
        TagSet(["NP"])
    assert found.decode(found.encode(found.tags)) == [*found.tags]
    for unknown in (-1, len(found)):
        with pytest.raises(ValueError, match=rf"\[E055\] Id {unknown} .* {len(found)} tags"):
            found.decode([0, unknown])
    assert found != found.tags

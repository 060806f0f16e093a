from collections.abc import Iterator

import pytest
import spacy
from spacy.language import Language
from thinc.api import NumpyOps, Ops, get_current_ops, set_current_ops


@pytest.fixture(autouse=True)
def ops() -> Iterator[Ops]:
    """The operations of the thread, as they were before, afterwards."""
    before = get_current_ops()
    set_current_ops(NumpyOps())
    yield before
    set_current_ops(before)


def make_pipeline() -> Language:
    config = {"nlp": {"before_creation": {"@callbacks": "spacy-parsetag.NumPyBLAS.v1"}}}
    nlp = spacy.blank("en", config=config)
    nlp.add_pipe("parsetag")
    return nlp


def uses_blis(nlp: Language) -> set:
    return {node.ops.use_blis for node in nlp.get_pipe("parsetag").model.walk()}


def test_numpy_multiplies_in_pipelines_that_ask_for_it(tmp_path) -> None:
    nlp = make_pipeline()
    assert uses_blis(nlp) == {False}
    nlp.to_disk(tmp_path)
    set_current_ops(NumpyOps())
    assert uses_blis(spacy.load(tmp_path)) == {False}


def test_numpy_stays_out_of_other_operations() -> None:
    class OwnOps(NumpyOps):
        """As a package for one kind of CPU registers them."""

    own = OwnOps()
    set_current_ops(own)
    make_pipeline()
    assert get_current_ops() is own

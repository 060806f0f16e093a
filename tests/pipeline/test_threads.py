"""One pipeline, loaded once and shared by threads: the same trees as in one thread."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tiny import make_examples, make_learner, spans_of, train, words_only

from spacy_parsetag.decode import ExactDecoder


@pytest.mark.parametrize("learner", ["Tags", "CRF"])
def test_threads_share_a_pipeline(learner: str) -> None:
    nlp = make_learner(learner)
    examples = make_examples(nlp)
    train(nlp, examples, steps=2)
    docs = [words_only(nlp, eg.reference) for eg in examples]
    expected = [spans_of(doc) for doc in nlp.pipe(doc.copy() for doc in docs)]
    nlp.get_pipe("parsetag").decoder = ExactDecoder(n_threads=2)

    def parse(_: int) -> list[Any]:
        return [[spans_of(doc) for doc in nlp.pipe(doc.copy() for doc in docs)] for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(parse, range(8)):
            assert found == [expected] * 5

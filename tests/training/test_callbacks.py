"""Callbacks: they change the pipeline whose config names them, and nothing else."""

import os
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from thinc.api import NumpyOps, Ops, get_current_ops, use_ops
from threadpoolctl import threadpool_info, threadpool_limits
from tiny import make_examples, spans_of, train

from spacy_parsetag.ml._mlp import limit_registers, multiply
from spacy_parsetag.training import callbacks

BLAS = {"nlp": {"after_pipeline_creation": {"@callbacks": "spacy-parsetag.NumPyBLAS.v1"}}}


def make_pipeline(config: dict) -> Language:
    source = {"components": {"one_sentence": {"factory": "one_sentence"}, "parsetag": {"factory": "parsetag"}}}
    names = {"nlp": {**config.get("nlp", {}), "lang": "en", "pipeline": ["one_sentence", "parsetag"]}}
    return spacy.util.load_model_from_config({**source, **names}, auto_fill=True)


def all_ops(nlp: Language) -> set[Ops]:
    return {node.ops for node in nlp.get_pipe("parsetag").model.walk()}


def uses_blis(nlp: Language) -> set[bool]:
    return {ops.use_blis for ops in all_ops(nlp)}


def test_numpy_multiplies_in_the_pipeline_that_asks_for_it(tmp_path: Path) -> None:
    with use_ops("numpy"):
        before = get_current_ops()
        nlp = make_pipeline(BLAS)
        assert uses_blis(nlp) == {False}
        assert get_current_ops() is before and before.use_blis
        assert uses_blis(make_pipeline({})) == {True}
        examples = make_examples(nlp)
        train(nlp, examples, steps=2)
        expected = [spans_of(nlp(eg.predicted.copy())) for eg in examples]
        nlp.to_disk(tmp_path)
        for copy in (nlp, spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
            assert uses_blis(copy) == {False}
            assert [spans_of(copy(eg.predicted.copy())) for eg in make_examples(copy)] == expected


@pytest.mark.parametrize("config, expected", [({}, {1}), ({"n_threads": None}, {2})])
def test_products_have_one_thread(monkeypatch: pytest.MonkeyPatch, config: dict, expected: set[int]) -> None:
    """Also where others set NumPy's BLAS to two, which have them again afterwards."""
    for name in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    found, gemm = set(), Ops.gemm

    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    def counting(self: Ops, *args: Any, **kwargs: Any) -> Any:
        found.update(threads())
        return gemm(self, *args, **kwargs)

    with use_ops("numpy"), threadpool_limits(2, user_api="blas"):
        nlp = make_pipeline({"nlp": {"after_pipeline_creation": {**BLAS["nlp"]["after_pipeline_creation"], **config}}})
        train(nlp, make_examples(nlp), steps=1)
        monkeypatch.setattr(Ops, "gemm", counting)
        assert nlp("She reads").has_annotation("SENT_START") and found == expected and threads() == {2}


@pytest.mark.parametrize("n_bytes", [64, 16])
def test_products_of_layers(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    """By compiled code on wide registers, and the same as NumPy's, whatever the arrays are."""
    [ops] = all_ops(make_pipeline(BLAS))
    counts: Counter[str] = Counter()
    monkeypatch.setattr(callbacks, "multiply", lambda *args: counts.update(compiled=1) or multiply(*args))
    rng = np.random.default_rng(0)
    many, few, weights = (rng.normal(size=(n, 20)).astype("f") for n in (100, 10, 30))
    wide = rng.normal(size=(100, 40)).astype("f")
    before = limit_registers(n_bytes)
    try:
        for x, y, is_fit in (
            (many, weights, True),
            (few, weights, False),
            (wide[:, ::2], weights, False),
            (many.astype("d"), weights, False),
            (np.asfortranarray(many), weights, False),
        ):
            counts.clear()
            np.testing.assert_allclose(ops.gemm(x, y, trans2=True), x @ y.T, rtol=1e-4, atol=1e-5)
            assert counts["compiled"] == (is_fit and limit_registers(0) >= 64)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # who wants threads gets NumPy's
            monkeypatch.setenv(name, "2")
            counts.clear()
            ops.gemm(many, weights, trans2=True)
            monkeypatch.setenv(name, "1")
            assert not counts
        with pytest.raises(ValueError):
            ops.gemm(many, wide, trans2=True)
        np.testing.assert_allclose(ops.gemm(many, many, trans1=True), many.T @ many, rtol=1e-4, atol=1e-5)
    finally:
        limit_registers(-before)


def test_numpy_stays_out_of_other_operations() -> None:
    class OwnOps(NumpyOps):
        """As a package for one kind of CPU registers them."""

    nlp = make_pipeline({})
    own = OwnOps()
    for node in nlp.get_pipe("parsetag").model.walk():
        node.ops = own
    callback: Callable[[Language], Language] = spacy.registry.callbacks.get("spacy-parsetag.NumPyBLAS.v1")()
    assert callback(nlp) is nlp and all_ops(nlp) == {own}


def test_measured_scores() -> None:
    """Scores that nobody measured stay out of the meta, and so out of the README that `spacy package` writes."""
    nlp = make_pipeline({})
    nlp.config["training"]["score_weights"] = {"sents_f": None, "pos_acc": None, "tag_acc": 0.0, "parsetag_f": None}
    nlp.meta["performance"] = {
        "sents_f": 1.0,
        "tag_acc": 0.9,
        "pos_acc": 0.0,
        "parsetag_f": 0.8,
        "parsetag_per_type": {},
    }
    callback: Callable[[Language], Language] = spacy.registry.callbacks.get("spacy-parsetag.MeasuredScores.v1")()
    assert callback(nlp) is nlp
    assert nlp.meta["performance"] == {"tag_acc": 0.9, "parsetag_f": 0.8, "parsetag_per_type": {}}

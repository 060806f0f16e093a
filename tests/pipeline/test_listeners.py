"""A pipe whose encoder is a component of its own, in pipelines with and without it."""

from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model
from tiny import TINY_MODEL, make_examples, spans_of, train

from spacy_parsetag.ml.words import require_upstream

WIDTH = TINY_MODEL["tok2vec"]["width"]
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "tok2vec"}


@pytest.fixture(scope="module")
def listening() -> Language:
    """A pipeline of an encoder, and of a parser that listens to it."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("tok2vec", config={"model": TINY_MODEL["tok2vec"]})
    nlp.add_pipe("parsetag", config={"model": {**TINY_MODEL, "tok2vec": LISTENER}})
    train(nlp, make_examples(nlp), steps=10)
    return nlp


def test_with_the_encoder(listening: Language) -> None:
    pipe = listening.get_pipe("parsetag")
    docs = [*listening.pipe(["She enjoys papers", "", "\n"], disable=["parsetag"])]
    require_upstream(pipe.model, docs, name="parsetag")
    # What passes can be predicted on: the check lets through what the model takes, and no more.
    scores, empty = pipe.model.predict(docs), pipe.model.predict([listening.make_doc("")])
    assert scores.rows.shape == (2 * 3, len(pipe.labels)) and not len(empty.rows)
    with pytest.raises(ValueError, match=r"\[E216\]"):
        require_upstream(pipe.model, [*docs, listening.make_doc("She")], name="parsetag")


def test_without_listeners() -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("parsetag", config={"model": TINY_MODEL})
    nlp.initialize(lambda: make_examples(nlp))
    docs = [nlp.make_doc("She")]
    require_upstream(pipe.model, docs, name="parsetag")  # no vectors are missing, because it listens to none
    assert pipe.model.predict(docs).rows.shape == (2, len(pipe.labels))


def test_without_the_encoder(listening: Language) -> None:
    pipe = listening.get_pipe("parsetag")
    with pytest.raises(ValueError, match=r"\[E216\].*'parsetag'.*'tok2vec'.*no vectors.*add_pipe\('tok2vec', source"):
        require_upstream(pipe.model, [listening.make_doc(""), listening.make_doc("She")], name="parsetag")


def test_annotating_in_a_training(listening: Language) -> None:
    """A training asks the parser for trees, and not its encoder for vectors, unless both are annotating components."""
    examples = make_examples(listening)
    listening.update(examples, sgd=listening.create_optimizer(), annotates=["one_sentence", "tok2vec", "parsetag"])
    with pytest.raises(ValueError, match=r"\[E216\].*Where 'parsetag' is one of the annotating_.*'tok2vec' has to be"):
        listening.update(examples, sgd=listening.create_optimizer(), annotates=["one_sentence", "parsetag"])


def test_sourced_without_the_encoder(listening: Language) -> None:
    """Not nonsense trees. Docs without words need no vectors."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag", source=listening)
    assert spans_of(nlp("")) == spans_of(nlp("\n")) == []
    with pytest.raises(ValueError, match=r"\[E216\]"):
        nlp("She enjoys papers")
    advice = r"\[E216\].*'tok2vec' is disabled.*enable it"
    with listening.select_pipes(disable="tok2vec"), pytest.raises(ValueError, match=advice):
        listening("She enjoys papers")


def test_another_encoder(listening: Language) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": {**TINY_MODEL["tok2vec"], "width": 8}})
    nlp.initialize()
    with pytest.raises(ValueError, match=r"\[E216\].*width 8, not 32.*replace_listeners\('tok2vec', 'parsetag'"):
        require_upstream(listening.get_pipe("parsetag").model, [nlp("She")], name="parsetag")


def test_listener_to_a_transformer() -> None:
    """What spacy-transformers and spacy-curated-transformers have in common: a name upstream, and `doc._.trf_data`."""

    class Listener(Model[Any, Any]):
        upstream_name = "*"

    listener = Listener("transformer-listener", lambda model, X, is_train: (X, lambda dX: dX))
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match=r"\[E216\].*'transformer'"):
        require_upstream(listener, [nlp.make_doc("She")], name="parsetag")
    had = Doc.has_extension("trf_data")
    if not had:
        Doc.set_extension("trf_data", default=None)
    try:
        doc = nlp.make_doc("She")
        with pytest.raises(ValueError, match=r"\[E216\]"):
            require_upstream(listener, [doc], name="parsetag")
        doc._.trf_data = SimpleNamespace()
        require_upstream(listener, [doc], name="parsetag")
    finally:
        if not had:
            Doc.remove_extension("trf_data")


def test_the_advice_works(listening: Language) -> None:
    """Both ways that the message names make the same trees as the whole pipeline."""
    text = "She enjoys reading papers"
    expected = spans_of(listening(text))
    both = spacy.blank("en")
    for name in ("one_sentence", "tok2vec", "parsetag"):
        both.add_pipe(name, source=listening)
    assert spans_of(both(text)) == expected
    other = spacy.blank("en")
    other.add_pipe("one_sentence")
    other.add_pipe("tok2vec", config={"model": {**TINY_MODEL["tok2vec"], "width": 8}})
    other.initialize()
    copied = listening.from_config(listening.config).from_bytes(listening.to_bytes())
    copied.replace_listeners("tok2vec", "parsetag", ["model.tok2vec"])
    other.add_pipe("parsetag", source=copied)
    assert not any(isinstance(node, Tok2VecListener) for node in other.get_pipe("parsetag").model.walk())
    assert spans_of(other(text)) == expected

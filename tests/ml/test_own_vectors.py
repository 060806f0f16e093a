"""Word vectors that travel with a component: equal to spaCy's, in pipelines with other vectors and with none."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.attrs import LOWER
from spacy.language import Language
from spacy.ml.models import MultiHashEmbed
from spacy.training import Example
from spacy.vectors import Vectors

from spacy_parsetag.ml.vectors import build_own_vectors

WORDS = ["dog", "cat", "barked", "the"]


def with_vectors(seed: int, width: int = 6) -> Language:
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=width)
    for word, vector in zip(WORDS, np.random.default_rng(seed).normal(size=(len(WORDS), width)), strict=True):
        nlp.vocab.set_vector(word, vector.astype("float32"))
    return nlp


def make_embed(with_own_vectors: bool, attr: str | None = None):
    embed = MultiHashEmbed(width=8, attrs=["NORM", "SHAPE"], rows=[50, 50], include_static_vectors=True)
    return build_own_vectors(embed, attr) if with_own_vectors else embed


@pytest.mark.parametrize("attr", ["ORTH", "LOWER"])
def test_equal_to_spacys(attr: str) -> None:
    nlp = with_vectors(0)
    table = nlp.vocab.vectors
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=table.data, keys=[*table], attr=attr)
    docs = [nlp("the dog barked"), nlp("an unknown word"), nlp(""), nlp("The DOG")]
    theirs, ours = make_embed(with_own_vectors=False), make_embed(with_own_vectors=True)
    theirs.initialize(X=docs)
    ours.initialize(X=docs)
    for source, target in zip(theirs.walk(), ours.walk(), strict=True):
        for name in source.param_names:
            target.set_param(name, source.get_param(name))
    for is_train in (False, True):
        (expected, back), (found, own_back) = theirs(docs, is_train), ours(docs, is_train)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    back(expected)
    own_back(found)
    (source,), (target,) = ([node for node in m.walk() if node.name == "static_vectors"] for m in (theirs, ours))
    np.testing.assert_allclose(source.get_grad("W"), target.get_grad("W"), rtol=1e-6)


def test_what_words_are_looked_up_by(tmp_path: Path) -> None:
    """spaCy saves vectors without their `attr`: what is loaded has to be told."""
    nlp = with_vectors(0)
    table = nlp.vocab.vectors
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=table.data, keys=[*table], attr="LOWER")
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    found = []
    for attr in (None, "LOWER"):
        embed = make_embed(with_own_vectors=True, attr=attr)
        embed.initialize(X=[loaded("the dog")])
        (node,) = (node for node in embed.walk() if "table" in node.attrs)
        copy = make_embed(with_own_vectors=True).from_bytes(embed.to_bytes())
        (copied,) = (node for node in copy.walk() if "table" in node.attrs)
        doc = loaded("DOG")
        vectors, _ = node([doc], False)
        np.testing.assert_array_equal(copied.predict([doc]).data, vectors.data)
        found.append(bool(vectors.data.any()))
    assert found == [loaded.vocab.vectors.attr == LOWER, True]


def test_travels() -> None:
    """Sourced into pipelines without vectors and with others, and through bytes, a tok2vec gives the same vectors."""
    nlp = with_vectors(0)
    embed = {
        "@architectures": "spacy-parsetag.OwnVectors.v1",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2", "width": 8, "attrs": ["NORM"], "rows": [50],
            "include_static_vectors": True,
        },
    }  # fmt: skip
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2", "width": 8, "depth": 1, "window_size": 1, "maxout_pieces": 2,
    }  # fmt: skip
    nlp.add_pipe("tok2vec", config={"model": {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}})
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("the dog barked"), {})])
    expected = nlp("the dog barked").tensor
    for other in (spacy.blank("en"), with_vectors(1, width=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # W113: the vectors of the two pipelines differ
            other.add_pipe("tok2vec", source=nlp)
        np.testing.assert_array_equal(other("the dog barked").tensor, expected)
        again = spacy.util.load_model_from_config(other.config).from_bytes(other.to_bytes())
        np.testing.assert_array_equal(again("the dog barked").tensor, expected)


def test_initialized_again() -> None:
    """What `spacy debug data` does with a component that a config takes from another pipeline."""
    embed = make_embed(with_own_vectors=True)
    (node,) = (node for node in embed.walk() if "table" in node.attrs)
    tables = []
    for nlp in (with_vectors(0), spacy.blank("en"), with_vectors(1)):
        embed.initialize(X=[nlp("the dog barked")])
        tables.append(node.attrs["table"])
        assert len(embed.predict([nlp("the dog")])[0]) == 2
    assert tables[1] is tables[0] and (tables[2] != tables[0]).any()


def test_refused() -> None:
    with pytest.raises(ValueError, match="E214"):
        build_own_vectors(MultiHashEmbed(width=8, attrs=["NORM"], rows=[50], include_static_vectors=False))
    for attr in ("lower", "", "HEAD", "IS_ALPHA"):
        with pytest.raises(ValueError, match=f"E220.*'{attr}'"):
            make_embed(with_own_vectors=True, attr=attr)
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="E215"):
        make_embed(with_own_vectors=True).initialize(X=[nlp("a word")])

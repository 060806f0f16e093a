"""The learner that scores spans beside tags, in the pipe."""

import pickle
import warnings
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from tiny import (
    TREES,
    check_gradient,
    make_examples,
    make_learner,
    needs_torch,
    outputs,
    random_scores,
    spans_of,
    train,
    words_only,
)


@pytest.mark.parametrize("span_width", [32, None])
@pytest.mark.parametrize("max_words", [250, 3])
def test_overfitting_IO_with_spans(span_width: int | None, max_words: int, tmp_path: Path) -> None:
    """The learner that scores spans, with and without them, and where some sentences are too long for it."""
    settings = {"span_width": span_width, "max_words": max_words}
    nlp = make_learner("Spans", loss="Tree", **settings)
    examples = make_examples(nlp)
    losses = train(nlp, examples, steps=60)
    expected = [spans_of(eg.reference) for eg in examples]
    if span_width is None or max_words > 3:  # labels are those of short sentences else
        assert losses["parsetag"] / sum(len(eg.reference) for eg in examples) < 0.1
        assert outputs(nlp) == expected
    expected = outputs(nlp)
    nlp.to_disk(tmp_path)
    assert outputs(spacy.load(tmp_path)) == expected
    again = make_learner("Spans", loss="Tree", **settings).from_bytes(nlp.to_bytes())
    assert outputs(again) == outputs(pickle.loads(pickle.dumps(again))) == expected
    assert [spans_of(doc) for doc in again.pipe(words_only(nlp, eg.reference) for eg in examples)] == expected


@needs_torch
def test_layers_between_encoder_and_spans() -> None:
    """A BiLSTM over the words of each sentence, white space left out."""
    layer = {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "depth": 1, "hidden_width": 8}
    nlp = make_learner("Spans", encoder=layer)
    examples = make_examples(nlp)
    train(nlp, examples, steps=60)
    assert outputs(nlp) == [spans_of(eg.reference) for eg in examples]
    model = nlp.get_pipe("parsetag").model
    assert model.get_ref("leaf_hidden").get_dim("nI") == 16
    plain, spaced = (model.predict([Doc(nlp.vocab, words=words)]) for words in (["a", "cat"], ["a", "\n", "cat"]))
    # The tok2vec sees white space; what is above it does not.
    shape = (1, len(nlp.get_pipe("parsetag").tag_set.node_labels))
    assert plain.spans.scores.shape == spaced.spans.scores.shape == shape
    loaded = make_learner("Spans", encoder=layer).from_bytes(nlp.to_bytes())
    assert outputs(loaded) == outputs(nlp)


@pytest.mark.parametrize("span_width", [8, None])
def test_a_sentence_is_lost_once(span_width: int | None) -> None:
    """One that is cut and has unknown labels is two problems; the other half of the data teaches all the same."""
    nlp = make_learner("Spans", span_width=span_width)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    [other] = make_examples(nlp, [TREES[0].replace("NP", "NP-SBJ")])
    words = [token.text for token in other.reference]
    cut = Example(Doc(nlp.vocab, words=words, sent_starts=[i in (0, 2) for i in range(len(words))]), other.reference)
    with pytest.warns(UserWarning, match=r"\[W252\] 60 of 120.*\[W253\] 60 of 120"):
        nlp.update([examples[0], cut] * 60)


def test_loss_of_spans_through_the_pipe() -> None:
    """Gradients by finite differences where gold sentences are not the learner's, and nothing where they are cut."""
    nlp = make_learner("Spans")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    two = Doc.from_docs([examples[0].reference, examples[1].reference])
    words = [token.text for token in two]
    whole = Example(Doc(nlp.vocab, words=words), two)  # two gold sentences in one of the learner's
    exact = Example(Doc(nlp.vocab, words=words, sent_starts=[token.is_sent_start for token in two]), two)
    cut = Example(Doc(nlp.vocab, words=words, sent_starts=[i in (0, 2, 5) for i in range(len(two))]), two)
    for batch in ([whole, exact], [exact], [whole, cut]):
        scores = random_scores(pipe, batch, seed=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, gradients = pipe.get_loss(batch, scores)
            check_gradient(pipe, batch, scores)
        assert [("W253" in str(warning.message)) for warning in caught] == [True] * (cut in batch)
        # The probability that goes to other roots is what the gold one gains, in each sentence.
        assert gradients.spans.scores.shape == scores.spans.scores.shape
        assert (gradients.rows < -1e-9).any()


def test_training_sees_sentences() -> None:
    """Predicted docs get the boundaries of the reference, also where tokens differ."""
    nlp = make_learner("Spans")
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    two = Doc.from_docs([examples[0].reference, examples[1].reference])
    words = [token.text for token in two]
    docs = [Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=["\n", *words])]
    given = Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])
    pipe = nlp.get_pipe("parsetag")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe.update([Example(doc, two) for doc in (*docs, given)], sgd=optimizer)
    assert [[sentence.start for sentence in doc.sents] for doc in (*docs, given)] == [[0, 5], [0, 1, 6], [0]]

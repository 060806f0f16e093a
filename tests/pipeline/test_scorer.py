"""The registered scorer, on Docs made by hand."""

import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from nltk import Tree
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab
from tiny import make_examples, make_nlp

from spacy_parsetag.evalb import evalb
from spacy_parsetag.linearize import linearize
from spacy_parsetag.pipeline.scorer import SCORES, make_evalb_scorer
from spacy_parsetag.trees import Parse, from_nltk

VOCAB = Vocab()
GOLD = "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG reading) (NP (NNS papers))))) (. .)))"
TEST = "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (VP (VBG reading) (NP (NNS papers)))) (. .)))"


def make_doc(trees: Sequence[str], key: str = "constituents") -> Doc:
    """A Doc whose sentences are the trees."""
    parses = [Parse.from_tree(from_nltk(Tree.fromstring(tree))) for tree in trees]
    doc = Doc(
        VOCAB,
        words=[word for parse in parses for word in parse.words],
        tags=[tag for parse in parses for tag in parse.pos],
        sent_starts=[i == 0 for parse in parses for i in range(len(parse))],
    )
    spans: list[Span] = []
    offset = 0
    for parse in parses:
        spans += [Span(doc, offset + start, offset + end, label) for start, end, label in parse.spans]
        offset += len(parse)
    doc.spans[key] = spans
    return doc


def score(*pairs: tuple[Doc, Doc], **kwargs: Any) -> dict[str, Any]:
    """Score pairs of gold and predicted Docs."""
    return make_evalb_scorer(**kwargs)([Example(test, gold) for gold, test in pairs])


def test_registered_and_picklable() -> None:
    assert registry.scorers.get("spacy-parsetag.evalb_scorer.v1")
    scorer = pickle.loads(pickle.dumps(make_evalb_scorer(params="spmrl", order="pre")))
    assert scorer([])["parsetag_f"] is None


@pytest.mark.parametrize("merged", [slice(0, 2), slice(3, 5)])
def test_tokens_changed_since(merged: slice) -> None:
    """Spans would be compared where they no longer are."""
    predicted = make_doc([GOLD])
    with predicted.retokenize() as retokenizer:
        retokenizer.merge(predicted[merged])
    with pytest.raises(ValueError, match=r"\[E310\].*merge_entities"):
        score((make_doc([GOLD]), predicted))


def test_scores() -> None:
    scores = score((make_doc([GOLD]), make_doc([TEST])))
    assert tuple(scores) == tuple(f"parsetag_{name}" for name in SCORES)
    assert scores["parsetag_p"] == 1.0 and scores["parsetag_r"] == pytest.approx(5 / 6)
    assert scores["parsetag_f"] == pytest.approx(10 / 11) and scores["parsetag_em"] == 0.0
    assert scores["parsetag_per_type"]["S"] == {"p": 1.0, "r": 0.5, "f": pytest.approx(2 / 3)}
    assert list(scores["parsetag_per_type"]) == ["NP", "S", "VP"]
    scores = score((make_doc([GOLD]), make_doc([GOLD])))
    assert scores["parsetag_f"] == scores["parsetag_em"] == scores["parsetag_tag_acc"]["all"] == 1.0


def test_tag_accuracy_of_constituents_in_other_orders() -> None:
    """As training reads them: constituents come before those within them, and otherwise as someone added them."""
    doc, other = make_doc([GOLD]), make_doc([GOLD])
    other.spans["constituents"] = sorted(other.spans["constituents"], key=lambda span: span.start - span.end)
    assert [*other.spans["constituents"]] != [*doc.spans["constituents"]]
    for pair in ((doc, other), (other, doc)):
        assert score(pair)["parsetag_tag_acc"]["all"] == 1.0


@pytest.mark.parametrize("order", ["in", "pre", "post"])
def test_tag_accuracy_per_kind(order: str) -> None:
    gold, test = (linearize(Tree.fromstring(tree), order) for tree in (GOLD, TEST))
    accuracy = score((make_doc([GOLD]), make_doc([TEST])), order=order)["parsetag_tag_acc"]
    for kind in "lrLR":
        pairs = [(a, b) for a, b in zip(gold, test, strict=True) if a[0] == kind]
        assert accuracy[kind] == (sum(a == b for a, b in pairs) / len(pairs) if pairs else None)
    assert accuracy["all"] == sum(a == b for a, b in zip(gold, test, strict=True)) / len(gold)


def test_settings_of_the_component() -> None:
    """`Pipe.score` passes the component's cfg and labels; arguments of the factory come first."""
    docs = [make_doc([tree], key="mine") for tree in (GOLD, TEST)]
    example = Example(docs[1], docs[0])
    scores = make_evalb_scorer()([example], spans_key="mine", order="post", labels=("l",), threshold=1)
    assert scores["parsetag_mine_f"] and scores == score((docs[0], docs[1]), spans_key="mine", order="post")
    of_own_order = make_evalb_scorer()([example], spans_key="mine", order="left-corner")
    assert of_own_order == score((docs[0], docs[1]), spans_key="mine", order="in")
    with pytest.warns(UserWarning, match=r"\[W255\] None of the 1 docs .*'other'.*'mine'.*scorer = null"):
        assert make_evalb_scorer(spans_key="other")([example], spans_key="mine")["parsetag_other_f"] is None
    with pytest.raises(ValueError, match="E051"):
        make_evalb_scorer(order="up")  # when the pipeline is made, not at the first check of a training
    with pytest.raises(ValueError, match=r"E352"):
        make_evalb_scorer(params="unknown")


def test_parameter_files_stay_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that was trained beside a parameter file parses where there is none. Scoring says what is missing."""
    monkeypatch.chdir(tmp_path)
    Path("mine.prm").write_text("DELETE_LABEL TOP\nDELETE_LABEL NP\n")
    config = {"scorer": {"@scorers": "spacy-parsetag.evalb_scorer.v1", "params": "mine.prm"}}
    nlp = make_nlp(**config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert "NP" not in nlp.evaluate(examples)["parsetag_per_type"]
    nlp.to_disk("pipeline")
    Path("mine.prm").unlink()
    loaded = spacy.load("pipeline")
    assert loaded("Kim sings").spans["constituents"] is not None
    with pytest.raises(ValueError, match=r"E352.*'mine.prm'"):
        loaded.evaluate(examples)


def test_two_parsers_in_one_pipeline() -> None:
    """Each has scores of its own."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag")
    nlp.add_pipe("parsetag", name="second", config={"spans_key": "second"})
    gold = make_doc([GOLD])
    gold.spans["second"] = [Span(gold, 0, len(gold), "X")]
    predicted = Doc(gold.vocab, words=[token.text for token in gold])
    predicted.spans["constituents"] = []
    predicted.spans["second"] = [Span(predicted, 0, len(gold), "X")]
    scores = Scorer(nlp=nlp).score([Example(predicted, gold)])
    assert scores["parsetag_f"] == 0.0 and scores["parsetag_second_f"] == 1.0
    assert {f"parsetag_{name}" for name in SCORES} | {f"parsetag_second_{name}" for name in SCORES} <= set(scores)


def test_names_fit_the_training_table() -> None:
    """spaCy's logger cuts names of more than 13 letters."""
    nlp = spacy.blank("en")
    nlp.add_pipe("parsetag")
    shown = [name for name, weight in nlp.config["training"]["score_weights"].items() if weight is not None]
    assert shown == ["parsetag_f", "parsetag_p", "parsetag_r", "parsetag_em"] and max(map(len, shown)) <= 13


def test_no_gold_constituents() -> None:
    plain = Doc(VOCAB, words=["a"])
    assert set(score((plain, plain)).values()) == {None}
    assert set(score().values()) == {None}
    # An example without gold constituents is left out beside one that has them.
    assert score((plain, make_doc(["(TOP (NP (NN a)))"])), (make_doc([GOLD]), make_doc([GOLD])))["parsetag_p"] == 1.0
    # A gold tree without constituents is annotated.
    flat = make_doc(["(TOP (NN a))"])
    assert score((flat, flat))["parsetag_em"] == 1.0 and score((flat, flat))["parsetag_f"] == 0.0
    assert score((flat, make_doc(["(TOP (NP (NN a)))"])))["parsetag_em"] == 0.0
    empty = Doc(VOCAB)
    empty.spans["constituents"] = []
    assert score((empty, Doc(VOCAB)))["parsetag_em"] == 0.0


def test_failures_count_as_zero() -> None:
    gold = make_doc([GOLD])
    nothing = Doc(VOCAB, words=[token.text for token in gold])
    scores = score((gold, nothing), (gold, gold))
    assert (scores["parsetag_p"], scores["parsetag_r"], scores["parsetag_em"]) == (1.0, 0.5, 0.5)
    assert scores["parsetag_tag_acc"]["all"] == 0.5
    other_text = Doc(VOCAB, words=["Quite", "another", "text"])
    other_text.spans["constituents"] = [Span(other_text, 0, 3, "S")]
    assert score((gold, other_text), (gold, gold))["parsetag_r"] == 0.5
    # Also where there is no bracket to miss. A predicted tree without any is right there.
    flat = make_doc(["(TOP (UH Yes))"])
    for predicted, exact in ((Doc(VOCAB, words=["Yes"]), 0.0), (other_text, 0.0), (flat, 1.0)):
        scores = score((flat, predicted))
        assert scores["parsetag_em"] == exact and scores["parsetag_tag_acc"]["all"] in (exact, None)
    crossing = Doc(VOCAB, words=[token.text for token in gold])
    crossing.spans["constituents"] = [Span(crossing, 0, 3, "S"), Span(crossing, 1, 4, "VP")]
    assert score((gold, crossing))["parsetag_f"] == pytest.approx(2 * (1 / 2 * 1 / 6) / (1 / 2 + 1 / 6))


def test_deletion_by_gold_tags() -> None:
    gold = make_doc(["(TOP (S (NP (NN a)) (, ,) (VP (VB b))))"])
    test = make_doc(["(TOP (S (NP (NN a) (NN ,)) (VP (VB b))))"])
    assert score((gold, test))["parsetag_em"] == 1.0
    assert score((gold, test), params="spmrl")["parsetag_em"] == 0.0
    only = make_doc(["(TOP (X (. .)))"])
    assert score((only, Doc(VOCAB, words=["."])), (gold, test))["parsetag_em"] == 1.0


def test_equal_labels_share_a_row() -> None:
    scores = score((make_doc(["(TOP (PRT (RB a)))"]), make_doc(["(TOP (ADVP (RB a)))"])))
    assert scores["parsetag_per_type"] == {"ADVP": {"p": 1.0, "r": 1.0, "f": 1.0}}


def with_tokens(
    words: Sequence[str], spaces: Sequence[bool], spans: Sequence[tuple[int, int, str]], **attrs: Any
) -> Doc:
    doc = Doc(VOCAB, words=list(words), spaces=list(spaces), **attrs)
    doc.spans["constituents"] = [Span(doc, start, end, label) for start, end, label in spans]
    return doc


def test_whitespace_tokens_are_ignored() -> None:
    gold = make_doc([GOLD, GOLD])
    words = [
        "\n",
        "She",
        "enjoys",
        "  ",
        "reading",
        "papers",
        ".",
        "\n\n",
        "She",
        "enjoys",
        "reading",
        "papers",
        ".",
        " ",
    ]
    index = [i for i, word in enumerate(words) if word.strip()]
    spans = [(index[span.start], index[span.end - 1] + 1, span.label_) for span in gold.spans["constituents"]]
    test = with_tokens(words, [False] * len(words), spans)
    scores = score((gold, test))
    assert scores["parsetag_f"] == scores["parsetag_em"] == scores["parsetag_tag_acc"]["all"] == 1.0
    # Spans that reach over whitespace at their ends hold the same words; and so from the other side.
    test.spans["constituents"] = [Span(test, 0, 8, "S"), *(Span(test, *span[:2], span[2]) for span in spans[1:])]
    assert score((gold, test))["parsetag_f"] == 1.0
    tags = [gold[index.index(i)].tag_ if i in index else "_SP" for i in range(len(words))]
    reference = with_tokens(
        words, [False] * len(words), spans, tags=tags, sent_starts=[i in (0, 8) for i in range(len(words))]
    )
    assert score((reference, gold)) == score((gold, gold))


def test_case_is_ignored() -> None:
    """As by spaCy's alignment in training: text in lower case learns from trees in mixed case."""
    gold = make_doc([GOLD])
    lower = make_doc([GOLD.replace("She", "she").replace("papers", "PAPERS")])
    assert score((gold, lower)) == score((gold, gold))
    merged = with_tokens(["she", "enjoys", "reading", "papers."], [True] * 4, [(0, 1, "NP"), (0, 4, "S")])
    assert 0 < score((gold, merged))["parsetag_p"] == 1.0


def test_other_tokens_are_compared_by_characters() -> None:
    gold = make_doc(["(TOP (S (NP (PRP They)) (VP (MD can) (RB not) (VP (VB go))) (. .)))"])
    test = with_tokens(
        ["They", "cannot", "go", "."],
        [True, True, False, False],
        [(0, 4, "S"), (0, 1, "NP"), (1, 3, "VP"), (2, 3, "VP")],
    )
    scores = score((gold, test))
    assert scores["parsetag_f"] == scores["parsetag_em"] == 1.0
    assert scores["parsetag_tag_acc"] == dict.fromkeys(["l", "r", "L", "R", "all"])
    # A punctuation mark glued to a word is deleted by the characters of the gold token.
    test = with_tokens(
        ["They", "cannot", "go."], [True, True, False], [(0, 3, "S"), (0, 1, "NP"), (1, 3, "VP"), (2, 3, "VP")]
    )
    assert score((gold, test))["parsetag_em"] == 1.0
    test = with_tokens(
        ["Theycan", "not", "go", "."], [True] * 4, [(0, 4, "S"), (0, 1, "NP"), (1, 3, "VP"), (2, 3, "VP")]
    )
    assert score((gold, test))["parsetag_r"] == 0.5


def test_sentences_of_the_reference_count() -> None:
    gold = make_doc([GOLD, "(TOP (X (UH Oh) (. .)))", GOLD])
    assert score((gold, gold))["parsetag_em"] == 1.0
    test = make_doc([GOLD, "(TOP (UH Oh) (. .))", TEST])
    assert score((gold, test))["parsetag_em"] == pytest.approx(1 / 3)
    copied = [Span(test, span.start, span.end, span.label) for span in gold.spans["constituents"]]
    # Spans over sentence boundaries are wrong, wherever the predicted boundaries lie.
    test.spans["constituents"] = [Span(test, 0, len(test), "S"), *copied]
    scores = score((gold, test))
    assert scores["parsetag_r"] == 1.0 and scores["parsetag_p"] == pytest.approx(13 / 14)
    # Without boundaries the Doc is one sentence.
    whole = with_tokens(["a", "b"], [True, True], [(0, 2, "S")])
    assert not whole.has_annotation("SENT_START") and score((whole, whole))["parsetag_em"] == 1.0


def random_tree(rng: random.Random, words: Sequence[tuple[str, str]]) -> Tree:
    """A random tree over words with tags."""
    nodes = [Tree(tag, [word]) for word, tag in words]
    for _ in range(rng.randint(0, 2 * len(words))):
        start = rng.randrange(len(nodes))
        end = min(len(nodes), start + rng.choice([1, 2, 3, 6]))
        nodes[start:end] = [Tree(rng.choice(["NP", "VP", "S-X", "ADVP", "PRT"]), nodes[start:end])]
    return Tree("TOP", nodes)


def random_pairs(n: int, longest: int, seed: int = 0) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    pairs = []
    for _ in range(n):
        words = [(f"w{i}", rng.choice(["NN", "VB", "IN", ",", "."])) for i in range(rng.randint(1, longest))]
        gold = random_tree(rng, words)
        test = gold if rng.random() < 0.2 else random_tree(rng, words)
        pairs.append((" ".join(str(gold).split()), " ".join(str(test).split())))
    return pairs


@pytest.mark.parametrize("params", ["collins", "new", "spmrl"])
@pytest.mark.parametrize("per_doc", [1, 7])
def test_equal_to_evalb_on_trees(params: str, per_doc: int) -> None:
    pairs = random_pairs(70, 12)
    docs = [pairs[i : i + per_doc] for i in range(0, len(pairs), per_doc)]
    scores = score(*((make_doc([a for a, _ in doc]), make_doc([b for _, b in doc])) for doc in docs), params=params)
    result = evalb(*([Tree.fromstring(pair[side]) for pair in pairs] for side in (0, 1)), params=params)
    assert scores["parsetag_f"] * 100 == pytest.approx(result.f)
    assert scores["parsetag_p"] * 100 == pytest.approx(result.all.precision)
    assert scores["parsetag_r"] * 100 == pytest.approx(result.all.recall)
    assert scores["parsetag_em"] * 100 == pytest.approx(result.exact_match)

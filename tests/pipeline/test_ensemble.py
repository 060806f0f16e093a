"""Several pipelines, one tree."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from tiny import TREES, gold_doc, make_examples, spans_of, words_only

TEXT = "The old dog sings and barked on papers"


@pytest.fixture(scope="module")
def folders(trained: Callable[[str], Language], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Trained pipelines of the three orders."""
    paths = [tmp_path_factory.mktemp(order) for order in ("in", "pre", "post")]
    for path in paths:
        trained(path.name.rstrip("0123456789")).to_disk(path)
    return [str(path) for path in paths]


def make_ensemble(pipelines: list[str], **config: float) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag_ensemble", config={"pipelines": pipelines, **config})
    return nlp


def test_three_orders(folders: list[str], trained: Callable[[str], Language], tmp_path: Path) -> None:
    nlp = make_ensemble(folders)
    for tree in TREES:
        gold = gold_doc(nlp, tree)
        assert spans_of(nlp(words_only(nlp, gold))) == spans_of(gold)
    assert nlp.evaluate(make_examples(nlp))["parsetag_f"] == 1.0
    doc = nlp(TEXT)
    attrs = doc.spans["constituents"].attrs
    # Each probability is the mean of those of the members.
    found = []
    for order in ("in", "pre", "post"):
        member = trained(order)
        batch, *_ = member.get_pipe("parsetag").score_docs([member.get_pipe("one_sentence")(member.make_doc(TEXT))])
        found.append(batch.trees.constituents.sentence(0))
    expected = [np.mean([one.get(span, 0.0) for one in found]) for span in spans_of(doc)]
    assert attrs["probs"] == pytest.approx(expected, rel=1e-5)
    assert min(span._.prob for span in doc._.constituents if span._.labels) == min(attrs["probs"])
    assert 0 < attrs["expected_f"][0] <= 1

    docs = list(nlp.pipe([TEXT, "", "Rain"]))
    assert [spans_of(one) for one in docs] == [spans_of(doc), [], spans_of(nlp("Rain"))]
    nlp.to_disk(tmp_path / "saved")
    for path in folders:
        assert path not in str(sorted((tmp_path / "saved" / "parsetag_ensemble").iterdir()))
    loaded = spacy.load(tmp_path / "saved", config={"components": {"parsetag_ensemble": {"pipelines": []}}})
    assert loaded(TEXT).spans["constituents"].attrs == attrs
    again = make_ensemble([]).from_bytes(nlp.to_bytes())
    assert spans_of(again(TEXT)) == spans_of(doc)


def test_one_member_is_mbr(folders: list[str]) -> None:
    nlp = make_ensemble(folders[:1])
    mbr = spacy.load(folders[0], config={"components.parsetag.decoder": {"@misc": "spacy-parsetag.MBRDecoder.v1"}})
    assert spans_of(nlp(TEXT)) == spans_of(mbr(TEXT))


def test_saved_over_another(folders: list[str], tmp_path: Path) -> None:
    """What is saved is what is loaded: no member of a larger ensemble that was there; other files do not count."""
    make_ensemble(folders).to_disk(tmp_path)
    (tmp_path / "parsetag_ensemble" / "notes.txt").write_text("not a member")
    (tmp_path / "parsetag_ensemble" / "old").mkdir()
    nlp = make_ensemble(folders[1:])
    nlp.to_disk(tmp_path)
    for _ in range(2):  # over itself, too
        loaded = spacy.load(tmp_path)
        members = loaded.get_pipe("parsetag_ensemble").members
        assert [member.get_pipe("parsetag").linearizer.order for member in members] == ["pre", "post"]
        assert spans_of(loaded(TEXT)) == spans_of(nlp(TEXT))
        loaded.to_disk(tmp_path)


def test_errors(folders: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="E264"):
        make_ensemble([])(TEXT)
    blank = spacy.blank("en")
    blank.to_disk(tmp_path)
    with pytest.raises(ValueError, match="E265"):
        make_ensemble([str(tmp_path), folders[0]])(TEXT)
    nlp = make_ensemble(folders)
    nlp.remove_pipe("one_sentence")
    with pytest.raises(ValueError, match="E250"):
        nlp(TEXT)
    with pytest.raises(ValueError, match="E250"):
        list(nlp.pipe([TEXT]))
    assert spans_of(nlp(Doc(nlp.vocab))) == []

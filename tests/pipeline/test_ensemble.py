"""Several pipelines, one tree."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span
from tiny import TREES, gold_doc, make_examples, make_learner, spans_of, words_only

from spacy_parsetag.decode import Distribution, TagScores

TEXT = "The old dog sings and barked on papers"


@pytest.fixture(scope="module")
def folders(trained: Callable[[str], Language], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Trained pipelines of the three orders."""
    paths = [tmp_path_factory.mktemp(order) for order in ("in", "pre", "post")]
    for path in paths:
        trained(path.name.rstrip("0123456789")).to_disk(path)
    return [str(path) for path in paths]


def make_ensemble(pipelines: list[str], **config: Any) -> Language:
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
    of_members = []
    for order in ("in", "pre", "post"):
        member = trained(order)
        batch, *_ = member.get_pipe("parsetag").score_docs([member.get_pipe("one_sentence")(member.make_doc(TEXT))])
        of_members.append(Distribution(batch).constituents.sentence(0))
    expected = [np.mean([probs.get(span, 0.0) for probs in of_members]) for span in spans_of(doc)]
    assert attrs["probs"] == pytest.approx(expected, rel=1e-5)
    assert min(span._.prob for span in doc._.constituents if span._.labels) == min(attrs["probs"])
    assert 0 < attrs["expected_f"][0] <= 1

    docs = list(nlp.pipe([TEXT, "", "Rain"]))
    assert [spans_of(parsed) for parsed in docs] == [spans_of(doc), [], spans_of(nlp("Rain"))]
    assert docs[1].spans["constituents"].attrs == {"probs": [], "expected_f": [], "rivals": [], "format": 1}
    nlp.to_disk(tmp_path / "saved")
    for path in folders:
        assert path not in str(sorted((tmp_path / "saved" / "parsetag_ensemble").iterdir()))
    # The members that were saved count, and the component says so.
    loaded = spacy.load(tmp_path / "saved", config={"components": {"parsetag_ensemble": {"pipelines": folders[:1]}}})
    assert loaded(TEXT).spans["constituents"].attrs == attrs
    ensemble: Any = loaded.get_pipe("parsetag_ensemble")
    assert ensemble.pipelines == [str(tmp_path / "saved" / "parsetag_ensemble" / name) for name in "012"]
    again = make_ensemble(folders[:1]).from_bytes(nlp.to_bytes())
    ensemble = again.get_pipe("parsetag_ensemble")
    assert spans_of(again(TEXT)) == spans_of(doc) and ensemble.pipelines == []


def test_what_members_require(folders: list[str], trained: Callable[[str], Language], tmp_path: Path) -> None:
    """The package of an ensemble needs it, too."""
    trained("in").to_disk(tmp_path / "member")
    meta = srsly.read_json(tmp_path / "member" / "meta.json")
    srsly.write_json(tmp_path / "member" / "meta.json", {**meta, "requirements": ["a[b]>=1", "c"]})
    nlp = make_ensemble([str(tmp_path / "member"), folders[0], str(tmp_path / "member")])
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "member").rename(tmp_path / "elsewhere")
    loaded = spacy.load(tmp_path / "saved")
    assert nlp.meta["requirements"] == loaded.meta["requirements"] == ["a[b]>=1", "c"]


def test_what_configs_of_members_require(trained: Callable[[str], Language], tmp_path: Path) -> None:
    """`spacy train` writes no requirements. What is not installed does not keep an ensemble from being made."""
    trained("in").to_disk(tmp_path)
    config = (tmp_path / "config.cfg").read_text(encoding="utf-8")
    spacy.registry.misc("of_nltk.v1", func=nltk.bigrams)
    for name, distributions in (("of_nltk.v1", ["nltk"]), ("of_nobody.v1", [])):
        text = f'{config}\n[components.parsetag.constraints]\n@misc = "{name}"\n'
        (tmp_path / "config.cfg").write_text(text.replace("constraints = null", ""), encoding="utf-8")
        requirements = make_ensemble([str(tmp_path)]).meta["requirements"]
        assert [re.split("[<>=]", requirement)[0] for requirement in requirements] == distributions


def test_installed_packages(folders: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package has its meta.json beside `__init__.py`, and the rest of the pipeline in a folder there."""
    nlp = spacy.load(folders[0])
    nlp.meta.update(name="of_tests", version="1.0", requirements=["a[b]>=1"])
    package = tmp_path / "en_of_tests"
    package.mkdir()
    nlp.to_disk(package / "en_of_tests-1.0")
    (package / "meta.json").write_bytes((package / "en_of_tests-1.0" / "meta.json").read_bytes())
    code = "from spacy.util import load_model_from_init_py as read\nload = lambda **given: read(__file__, **given)"
    (package / "__init__.py").write_text(code, encoding="utf-8")
    (tmp_path / "en_of_tests-1.0.dist-info").mkdir()
    (tmp_path / "en_of_tests-1.0.dist-info" / "METADATA").write_text("Name: en_of_tests\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    nlp = make_ensemble(["en_of_tests", *folders[1:]])
    assert nlp.meta["requirements"] == ["a[b]>=1"]
    assert spans_of(nlp(TEXT)) == spans_of(make_ensemble(folders)(TEXT))


def test_one_member_is_mbr(folders: list[str]) -> None:
    nlp = make_ensemble(folders[:1])
    mbr = spacy.load(folders[0], config={"components.parsetag.decoder": {"@misc": "spacy-parsetag.MBRDecoder.v1"}})
    assert spans_of(nlp(TEXT)) == spans_of(mbr(TEXT))


def test_a_member_that_cuts_sentences(trained: Callable[[str], Language], tmp_path: Path) -> None:
    """The sentences are those of the doc, whatever the member's components find."""
    trained("in").to_disk(tmp_path / "plain")
    member = spacy.load(tmp_path / "plain")
    member.add_pipe("sentencizer", before="parsetag", config={"overwrite": True})
    member.to_disk(tmp_path / "cutting")
    text = "She sings . The old dog barked ."
    assert len([*member(text).sents]) == 2
    plain, cutting = (make_ensemble([str(tmp_path / name)])(text) for name in ("plain", "cutting"))
    assert len([*cutting.sents]) == 1
    assert cutting.spans["constituents"].attrs == plain.spans["constituents"].attrs


def constrained(nlp: Language, *spans: tuple[int, int, str]) -> Doc:
    doc = nlp.make_doc(TEXT)
    doc.spans["parsetag_constraints"] = [Span(doc, start, end, label=label) for start, end, label in spans]
    return nlp(doc)


def test_constraints_hold(folders: list[str]) -> None:
    nlp = make_ensemble(folders)
    free = spans_of(nlp(TEXT))
    assert (2, 5, "NP") not in free
    doc = constrained(nlp, (2, 5, "NP"))
    assert (2, 5, "NP") in spans_of(doc)
    assert doc._.span_prob(2, 5, "NP") == pytest.approx(1.0)
    assert "dropped_constraints" not in doc.spans["constituents"].attrs
    assert set(free) <= set(spans_of(constrained(nlp, *free)))
    with pytest.raises(ValueError, match=r"E262.*The old dog.*dog sings and"):
        constrained(nlp, (0, 3, "NP"), (2, 5, ""))
    with pytest.raises(ValueError, match=r"E178.*'XP'"):
        constrained(nlp, (0, 3, "XP"))
    # They count more than those of a member.
    cautious = make_ensemble(folders[:1])
    for member in cautious.get_pipe("parsetag_ensemble").members:
        member.get_pipe("parsetag").constraints = lambda doc: [Span(doc, 3, 7, kb_id="uncrossed")]
    assert constrained(cautious, (2, 5, "NP"))._.span_prob(2, 5, "NP") == pytest.approx(1.0)
    lenient = make_ensemble(folders, conflicts="drop")
    doc = constrained(lenient, (0, 3, "NP"), (2, 5, ""))
    assert doc.spans["constituents"].attrs["dropped_constraints"] == [
        ["must constituent 'dog sings and' (tokens 2 to 5)"]
    ]
    assert lenient("").spans["constituents"].attrs["dropped_constraints"] == []
    with pytest.raises(ValueError, match="E263"):
        make_ensemble(folders, conflicts="ignore")


def test_temperatures_of_members(folders: list[str], tmp_path: Path) -> None:
    """They count for the probabilities that are stated, not for the tree."""
    members = [spacy.load(folder) for folder in folders]
    for i, member in enumerate(members):
        pipe: Any = member.get_pipe("parsetag")
        pipe.probs, pipe.temperature = True, 2.0 + i
        member.to_disk(tmp_path / str(i))
    doc = make_ensemble([str(tmp_path / str(i)) for i in range(3)])(TEXT)
    assert spans_of(doc) == spans_of(make_ensemble(folders)(TEXT))
    parsed = [member(TEXT) for member in members]
    for span, prob in zip(doc.spans["constituents"], doc.spans["constituents"].attrs["probs"], strict=True):
        of_members = [other._.span_prob(span.start, span.end, span.label_) for other in parsed]
        assert prob == pytest.approx(np.mean(of_members), abs=0.01)  # below which members keep none


def test_likely_constituents_that_the_tree_has_not(folders: list[str], trained: Callable[[str], Language]) -> None:
    nlp = make_ensemble(folders[:1])
    doc = nlp(TEXT)
    member = trained("in")
    batch, *_ = member.get_pipe("parsetag").score_docs([member.get_pipe("one_sentence")(member.make_doc(TEXT))])
    found = set(spans_of(doc))
    others = {
        span: prob for span, prob in Distribution(batch).constituents.sentence(0, 0.01).items() if span not in found
    }
    assert others
    for (start, end, label), prob in others.items():
        assert doc._.span_prob(start, end, label) == pytest.approx(prob)


def test_only_the_bad_doc_of_a_batch_is_lost(folders: list[str]) -> None:
    nlp = make_ensemble(folders)
    failed: list[str] = []
    nlp.set_error_handler(lambda name, pipe, docs, err: failed.extend(doc.text for doc in docs))
    docs = [nlp.make_doc(f"She enjoys papers {i}") for i in range(5)]
    docs[3].spans["parsetag_constraints"] = [Span(docs[3], 0, 2, label="XP")]
    assert [doc.text[-1] for doc in nlp.pipe(docs)] == ["0", "1", "2", "4"]
    assert failed == ["She enjoys papers 3"]


def test_memory_does_not_grow_with_the_batch(folders: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums over spans are those of some thousand rows at a time; each sentence has its own constraints."""
    nlp = make_ensemble(folders[:2], conflicts="drop")
    docs = [nlp.make_doc(TEXT if i % 2 else "She enjoys reading papers") for i in range(300)]
    for doc in docs[1::50]:
        doc.spans["parsetag_constraints"] = [Span(doc, 2, 5, label="NP"), Span(doc, 0, 3, label="NP")]
    expected = [(spans_of(doc), doc.spans["constituents"].attrs) for doc in map(nlp, [doc.copy() for doc in docs])]
    rows: list[int] = []

    def distribution(batch: TagScores) -> Distribution:
        rows.append(len(batch.scores))
        return Distribution(batch)

    monkeypatch.setattr("spacy_parsetag.pipeline.ensemble.Distribution", distribution)
    for doc, (spans, attrs) in zip(nlp.pipe(docs, batch_size=300), expected, strict=True):
        found = doc.spans["constituents"].attrs
        assert spans_of(doc) == spans and found.get("dropped_constraints") == attrs.get("dropped_constraints")
        assert found["probs"] == pytest.approx(attrs["probs"], rel=1e-5)
    assert max(rows) < 2100 and sum(rows) > 2 * 300 * 11


def test_in_a_forked_process(folders: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's threads do not survive a fork: it gets one before anything before the ensemble, or in it, predicts."""
    calls: list[str] = []
    monkeypatch.setattr("spacy_parsetag.pipeline.ensemble.one_thread_after_fork", lambda: calls.append("one thread"))
    make_ensemble(folders).get_pipe("parsetag_ensemble").pipe(iter(()))
    assert calls == ["one thread"]


def test_in_a_memory_zone(folders: list[str]) -> None:
    """What members read is forgotten with the docs, so that memory stays level over many texts."""
    nlp = make_ensemble(folders[:2])
    ensemble: Any = nlp.get_pipe("parsetag_ensemble")
    expected = [spans_of(doc) for doc in nlp.pipe([TEXT, "Rain"])]
    known = [len(member.vocab.strings) for member in ensemble.members]
    for i in range(2):
        with nlp.memory_zone():
            assert [spans_of(doc) for doc in nlp.pipe([f"never{i} seen{i}", TEXT, "Rain"])][1:] == expected
        assert [len(member.vocab.strings) for member in ensemble.members] == known
    assert [spans_of(doc) for doc in nlp.pipe([TEXT, "Rain"])] == expected


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
    crf = make_learner("CRF")
    crf.initialize(lambda: make_examples(crf))
    crf.to_disk(tmp_path / "crf")
    with pytest.raises(ValueError, match=rf"E273.*'parsetag' of the pipeline {re.escape(str(tmp_path / 'crf'))} "):
        make_ensemble([folders[0], str(tmp_path / "crf")])(TEXT)
    nlp = make_ensemble(folders)
    nlp.remove_pipe("one_sentence")
    with pytest.raises(ValueError, match="E313"):
        nlp(TEXT)
    with pytest.raises(ValueError, match="E313"):
        list(nlp.pipe([TEXT]))
    assert spans_of(nlp(Doc(nlp.vocab))) == []

"""Trainings are compared over all of their seeds, and sentences are drawn with the trees of all of them."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import srsly
from spacy.language import Language
from spacy.tokens import DocBin
from tiny import TREES, make_examples, make_nlp, train

from spacy_parsetag.evalb import EvalbResult, evalb
from spacy_parsetag.treebanks.penn import read_string

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments"))

import differ


def results(*tests: str) -> EvalbResult:
    golds = [tree for text in TREES[:2] for tree in read_string(text)]
    return evalb(golds, [tree for text in tests for tree in read_string(text)], "collins")


def test_sentences_are_drawn_with_all_of_their_seeds() -> None:
    flat = "(TOP (S (DT The) (JJ old) (NN dog) (VBD barked) (RB loudly)))"
    right, worse = results(*TREES[:2]), results(TREES[0], flat)
    found = differ.compare([worse, worse], [right, worse])
    assert found["units"] == 2 and found["second"] > found["first"] and found["high"] > found["low"] == 0.0
    once = differ.compare([worse], [right])
    assert differ.compare([worse, worse], [right, right]) == once  # seeds that agree say no more than one
    with pytest.raises(SystemExit, match="1 and 2 seeds"):
        differ.compare([right], [right, worse])


def trained(steps: int) -> Language:
    nlp = make_nlp()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    train(nlp, examples, steps)
    return nlp


def write_training(folder: Path, nlp: Language, seed: int, dropout: float = 0.1) -> None:
    """What a run leaves behind."""
    folder.mkdir(parents=True)
    nlp.to_disk(folder / "model-last")
    config = nlp.config.copy()
    config["system"]["seed"] = seed
    config["training"].update(dropout=dropout, logger={"output_file": str(folder / "steps.jsonl")})
    config.to_disk(folder / "config.cfg")
    settings = {"seed": seed, "config": f"hash of seed {seed} and dropout {dropout}", "epochs": 0}
    srsly.write_json(folder / "trained.json", {"settings": settings})


def test_pipelines_of_other_settings_are_no_seeds(tmp_path: Path) -> None:
    """They lie beside those of a training when it was made anew."""
    nlp = make_nlp()
    for seed in (0, 1):
        write_training(tmp_path / f"dev-{seed}-a", nlp, seed)
    (tmp_path / "dev-2-a" / "model-last").mkdir(parents=True)  # not finished
    assert differ.find_seeds(tmp_path) == [tmp_path / f"dev-{seed}-a" / "model-last" for seed in (0, 1)]
    write_training(tmp_path / "dev-3-b", nlp, 3, dropout=0.2)
    with pytest.raises(SystemExit, match=r"dev-0-a, dev-1-a, dev-3-b differ in more than the seed"):
        differ.find_seeds(tmp_path)
    shutil.rmtree(tmp_path / "dev-3-b")
    write_training(tmp_path / "dev-1-b", nlp, 1)
    with pytest.raises(SystemExit, match=r"dev-1-a, dev-1-b differ"):
        differ.find_seeds(tmp_path)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = trained(30)
    DocBin(docs=[eg.reference for eg in make_examples(nlp)], store_user_data=True).to_disk(tmp_path / "dev.spacy")
    for seed in (0, 1):
        for name, pipeline in (("known", nlp), ("guesses", trained(2))):
            write_training(tmp_path / name / f"dev-{seed}-{seed:016}", pipeline, seed)
    monkeypatch.setattr("record.command", lambda: "python experiments/differ.py")
    output = tmp_path / "out.json"
    words = [str(tmp_path / name) for name in ("guesses", "known")]
    differ.main([*words, "--dev", str(tmp_path / "dev.spacy"), "--output", str(output)])
    report = json.loads(output.read_text(encoding="utf-8"))
    assert report["trainings"]["known"] == {"f": [100.0, 100.0], "mean": 100.0, "deviation": 0.0}
    (difference,) = report["differences"]
    assert difference["trainings"] == ["guesses", "known"] and difference["second"] == 100.0
    assert "known: 100.00, 100.00; mean 100.00" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no dev-0-HASH"):
        differ.main([str(tmp_path), "--dev", str(tmp_path / "dev.spacy")])

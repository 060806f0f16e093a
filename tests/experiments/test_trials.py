"""Cross-validation: who trains on what, and that what is done is not done again."""

import json
import sys
from pathlib import Path

import pytest
import srsly
from command_treebank import write_treebank

EXPERIMENTS = Path(__file__).resolve().parent.parent.parent / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import trials  # noqa: E402
from run import StepFailed  # noqa: E402

SMALL = [
    "vars.width=8", "components.tok2vec.model.embed.rows=[50,50,50,50]", "components.tok2vec.model.encode.depth=1",
    "training.max_steps=2", "training.eval_frequency=1",
]  # fmt: skip


def test_folds() -> None:
    """Each sentence is in one fold, with its block."""
    parts = trials.make_parts(101, trials.parse_arguments(["--folds", "3", "--block", "10"]))
    assert sorted(i for own in parts.values() for i in own) == list(range(101))
    assert parts["fold0of3"] == {*range(10), *range(30, 40), *range(60, 70), *range(90, 100)}
    splits = trials.make_parts(101, trials.parse_arguments(["--splits", "2", "--block", "10", "--share", "0.2"]))
    assert set(splits) == {"split0", "split1"} and splits["split0"] != splits["split1"]
    assert all(10 < len(own) <= 20 for own in splits.values())
    with pytest.raises(SystemExit, match="11 blocks"):
        trials.make_parts(101, trials.parse_arguments(["--folds", "12", "--block", "10"]))


@pytest.mark.usefixtures("spacy_transformers")
def test_length_of_a_trial() -> None:
    config = trials.make_config(trials.parse_arguments(["--epochs", "20"]), 3, 3396)
    training = config["training"]
    assert training["max_steps"] == 2140 and training["eval_frequency"] == 107 and config["system"]["seed"] == 3
    assert training["optimizer"]["learn_rate"]["total_steps"] == 2140
    assert training["optimizer"]["learn_rate"]["warmup_steps"] == 160
    assert config["training"] == trials.make_config(trials.parse_arguments([]), 3, 7)["training"]


def fake_call(command: list[str], log: Path, threads: int) -> None:
    """What the commands of a run leave behind. Training fails where the config says so."""
    if "train" in command:
        config = Path(command[3])
        if "dropout = 2.0" in config.read_text(encoding="utf8"):
            raise StepFailed("no")
        for name in ("model-last", "model-best"):
            (config.parent / name).mkdir(exist_ok=True)
        srsly.write_jsonl(config.parent / "steps.jsonl", [{"step": 1, "score": None}, {"step": 2, "score": 0.5}])
    else:
        model, target = Path(command[1]), Path(command[3])
        (decoder,) = srsly.read_json(command[command.index("--decoders") + 1]).values()
        f = 70.0 if model.name == "model-last" else 71.0
        srsly.write_json(target, {"own": {"f": f + 5 * decoder["@misc"].endswith("MBRDecoder.v1")}})


def trial(folder: Path) -> list[str]:
    """The words of a small trial of two folds."""
    bank = write_treebank(folder / "bank")
    words = ["small", "--what", "few steps", "--treebank", str(bank), "--config", "cnn.cfg", "--folds", "2"]
    return [*words, "--block", "1", f"--output={folder / 'out'}", f"--work={folder / 'work'}", "--set", *SMALL]


def test_a_trial_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "call", fake_call)
    words = trial(tmp_path)
    assert trials.run_trial(trials.parse_arguments([*words, "--seeds", "0", "--parts", "fold1of2"])) == 0
    (path,) = (tmp_path / "out" / "small").iterdir()
    run = srsly.read_json(path)
    assert path.name == "fold1of2-0.json" and run["sentences"] == {"train": 2, "dev": 1}
    assert run["f"] == {"last": 70.0, "best": 71.0} and run["curve"] == [[2, 0.5]] and run["made"]["commit"]
    assert str(tmp_path) not in path.read_text(encoding="utf-8")
    assert not list((tmp_path / "work").rglob("model-*"))
    written = path.stat().st_mtime_ns
    assert trials.run_trial(trials.parse_arguments([*words, "--seeds", "0", "1"])) == 0
    assert path.stat().st_mtime_ns == written and len(list(path.parent.iterdir())) == 4
    changed = trials.parse_arguments([*words, "training.dropout=0.5", "--seeds", "0", "--parts", "fold1of2"])
    capsys.readouterr()
    assert trials.run_trial(changed) == 0
    assert "made again" in capsys.readouterr().out and path.stat().st_mtime_ns > written
    table = trials.write_table(tmp_path / "out")
    assert "| small | few steps | fold0of2 to fold1of2 of train | 2 | 70.00 | 0.00 | 71.00 |" in table
    assert (tmp_path / "out" / "table.md").read_text(encoding="utf-8") == table


def test_the_development_part_chooses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is asked for."""
    monkeypatch.setattr(trials, "call", fake_call)
    words = [*trial(tmp_path), "--seeds", "0"]
    found = {}
    for folds_of, more in (("train", []), ("train and dev", ["--with-dev"])):
        assert trials.run_trial(trials.parse_arguments([*words, *more])) == 0
        runs = [srsly.read_json(path) for path in (tmp_path / "out" / "small").iterdir()]
        assert {run["folds_of"] for run in runs} == {folds_of}
        found[folds_of] = sum(run["sentences"]["dev"] for run in runs)
    bank = tmp_path / "bank"
    n = {part: (bank / f"{part}.mrg").read_text(encoding="utf8").count("(TOP") for part in ("train", "dev")}
    assert found == {"train": n["train"], "train and dev": n["train"] + n["dev"]} and n["dev"] > 0


def test_another_decoder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trial kept is scored by another decoder; it must have been kept, and nothing else may differ."""
    monkeypatch.setattr(trials, "call", fake_call)
    small = trials.parse_arguments(words := [*trial(tmp_path), "--seeds", "0"])
    changes = [*SMALL, 'components.parsetag.decoder={"@misc": "spacy-parsetag.MBRDecoder.v1"}']
    words = ["mbr", *words[1:], "--of", "small", "--set", *changes]
    assert trials.run_trial(small) == 0 and trials.run_trial(trials.parse_arguments(words)) == 2
    assert "needs --keep" in capsys.readouterr().out
    for path in (tmp_path / "out" / "small").iterdir():
        path.unlink()
    small.keep = True
    assert trials.run_trial(small) == 0 and trials.run_trial(trials.parse_arguments(words)) == 0
    run = srsly.read_json(tmp_path / "out" / "mbr" / "fold0of2-0.json")
    trained = srsly.read_json(tmp_path / "out" / "small" / "fold0of2-0.json")
    assert run["f"] == {"last": 75.0, "best": 76.0} and trained["f"] == {"last": 70.0, "best": 71.0}
    assert run["seconds"] == trained["seconds"] and run["settings"] != trained["settings"]
    assert len(list((tmp_path / "work").rglob("model-last"))) == 2
    other = ["other", *words[1:], "training.dropout=0.4"]
    assert trials.run_trial(trials.parse_arguments(other)) == 2
    assert "more than the decoder" in capsys.readouterr().out


def test_runs_that_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "call", fake_call)
    assert trials.run_trial(trials.parse_arguments([*trial(tmp_path), "training.dropout=2.0", "--seeds", "0"])) == 2
    assert trials.write_table(tmp_path / "out") == "no runs yet"


CODE = """
from spacy.util import registry
from spacy_parsetag.decode import ExactDecoder

registry.misc("own.Exact.v1")(ExactDecoder)
"""


@pytest.mark.slow
def test_one_run_of_a_trial(tmp_path: Path) -> None:
    """Trained and scored in earnest, for two steps, with a decoder of one's own."""
    (tmp_path / "code.py").write_text(CODE, encoding="utf-8")
    words = [*trial(tmp_path), 'components.parsetag.decoder={"@misc": "own.Exact.v1"}', "--seeds", "0"]
    words += ["--parts", "fold0of2", "--code", str(tmp_path / "code.py")]
    assert trials.run_trial(trials.parse_arguments(words)) == 0
    run = srsly.read_json(tmp_path / "out" / "small" / "fold0of2-0.json")
    assert 0 <= run["f"]["last"] <= 100 and run["curve"][-1][0] == 2


def test_table(tmp_path: Path) -> None:
    """Trials on the same parts together, best mean first; the deviation is that of the last checkpoints, and one run
    has none. The last checkpoint may be the best, even if training did not check it."""
    for name, part, values, more in (
        ("a", "fold0", (80.0, 82.0), 1),
        ("b", "fold0", (90.0, 90.0), 1),
        ("c", "fold0", (70.0,), -70),
        ("d", "split0", (95.0,), 1),
    ):
        for seed, f in enumerate(values):
            run = {
                "trial": name, "what": name * 2, "part": part, "seed": seed, "f": {"last": f, "best": f + more},
                "seconds": 10, "made": {"command": "python x.py", "commit": "abc"},
            }  # fmt: skip
            path = tmp_path / name / f"{part}-{seed}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(run), encoding="utf-8")
    other = srsly.read_json(tmp_path / "b" / "fold0-1.json")
    srsly.write_json(tmp_path / "b" / "fold1-1.json", {**other, "part": "fold1"})
    for path in (tmp_path / "d").iterdir():
        srsly.write_json(path, {**srsly.read_json(path), "folds_of": "train"})
    lines = trials.write_table(tmp_path).splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    assert rows == [
        "| d | dd | split0 of train | 1 | 95.00 | - | 96.00 | 10 |",
        "| a | aa | fold0 of train and dev | 2 | 81.00 | 1.41 | 82.00 | 10 |",
        "| c | cc | fold0 of train and dev | 1 | 70.00 | - | 70.00 | 10 |",
        "| b | bb | fold0 to fold1 of train and dev | 2 | 90.00 | 0.00 | 91.00 | 10 |",
    ]
    assert lines[-4] == "- d, at abc: `python x.py`"

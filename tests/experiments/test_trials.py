"""Cross-validation: who trains on what, and that what is done is not done again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import srsly
from command_treebank import write_treebank
from thinc.api import Config
from tiny import make_examples, make_nlp, train

EXPERIMENTS = Path(__file__).resolve().parent.parent.parent / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import report  # noqa: E402
import run as runs  # noqa: E402
import spec  # noqa: E402
from prepare import choose  # noqa: E402
from record import write_runs  # noqa: E402

SMALL = [
    "vars.width=8", "components.tok2vec.model.embed.rows=[50,50,50,50]", "components.tok2vec.model.encode.depth=1",
    "training.max_steps=2", "training.eval_frequency=1",
]  # fmt: skip


def test_folds() -> None:
    """Each sentence is in one fold, with its block."""
    names = spec.part_names(runs.parse_arguments(["x", "--treebanks", "b", "--folds", "3"]))
    parts = {name: choose(101, name, block=10, share=0.1) for name in names}
    assert sorted(i for sentences in parts.values() for i in sentences) == list(range(101))
    assert parts["fold0of3"] == {*range(10), *range(30, 40), *range(60, 70), *range(90, 100)}
    names = spec.part_names(runs.parse_arguments(["x", "--treebanks", "b", "--splits", "2"]))
    splits = {name: choose(101, name, block=10, share=0.2) for name in names}
    assert set(splits) == {"split0", "split1"} and splits["split0"] != splits["split1"]
    assert all(10 < len(sentences) <= 20 for sentences in splits.values())
    with pytest.raises(SystemExit, match="11 blocks"):
        choose(101, "fold0of12", block=10, share=0.1)


def make_config(folder: Path, sentences: int, *words: str) -> Config:
    """The config of the first run of a trial."""
    words = ("x", "--treebanks", str(folder), "--config", "transformer.cfg", "--folds", "2", "--seeds", "3", *words)
    table = spec.read_spec(arguments := runs.parse_arguments(list(words)))
    config = spec.build_runs(table, [spec.Treebank.find(str(folder), "train.mrg", "dev.mrg")], arguments)[0].config
    spec.set_length(config, table, sentences)
    return config


@pytest.mark.usefixtures("spacy_transformers")
def test_length_of_a_trial(tmp_path: Path) -> None:
    bank = write_treebank(tmp_path / "bank")
    config = make_config(bank, 3396, "--epochs", "20")
    training = config["training"]
    assert training["max_steps"] == 2140 and training["eval_frequency"] == 107 and config["system"]["seed"] == 3
    assert training["optimizer"]["learn_rate"]["total_steps"] == 2140
    assert training["optimizer"]["learn_rate"]["warmup_steps"] == 160
    assert training == make_config(bank, 7)["training"]
    # What is set stays, and epochs are those of batches that are set.
    cfg = make_config(bank, 3396, "--epochs", "20", "--set", "training.batcher.size=16", "training.eval_frequency=700")
    assert cfg["training"]["max_steps"] == 4260 and cfg["training"]["eval_frequency"] == 700


def fake_call(command: list[str], log: Path, threads: int) -> dict[str, Any]:
    """What the commands of a run leave behind. Training fails where the config says so."""
    log.write_text("E    #\nSaved /some/where/model-last\n", encoding="utf-8")
    if "train" in command:
        config = Path(command[3])
        if "dropout = 2.0" in config.read_text(encoding="utf8"):
            raise runs.StepFailed("no")
        for name in ("model-last", "model-best"):
            (config.parent / name).mkdir(exist_ok=True)
        steps = [{"step": 1, "epoch": 0, "score": None}, {"step": 2, "epoch": 1, "score": 0.5}]
        srsly.write_jsonl(config.parent / "steps.jsonl", steps)
        TRAINED.append(config.parent.name.rpartition("-")[0])
    else:
        model, target = Path(command[1]), Path(command[3])
        (decoders,) = (word.partition("=")[2] for word in command if word.startswith("--decoders="))
        ((name, decoder),) = srsly.read_json(decoders).items()
        assert f"model-{name}" == model.name
        f = 70.0 if name == "last" else 71.0
        srsly.write_json(target, {name: {"f": f + 5 * decoder["@misc"].endswith("MBRDecoder.v1")}})
    return {"seconds": 7.0, "cpu_seconds": 6.0, "peak_mb": 5}


TRAINED: list[str] = []


@pytest.fixture(autouse=True)
def no_training(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "slow" not in request.keywords:
        monkeypatch.setattr(runs, "call", fake_call)


def words_of(folder: Path, *options: str) -> list[str]:
    """The words of a small training."""
    bank = folder / "bank"
    if not bank.exists():
        write_treebank(bank)
    words = ["small", "--what", "few steps", "--treebanks", str(bank), "--config", "cnn.cfg", *options]
    return [*words, f"--output={folder / 'out'}", f"--work={folder / 'work'}", "--set", *SMALL]


@pytest.fixture(autouse=True)
def named_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded commands name the folder of a test."""
    monkeypatch.setenv("PARSETAG_TEST", str(tmp_path))


def trial(folder: Path) -> list[str]:
    """The words of a small trial of two folds."""
    return words_of(folder, "--folds", "2", "--block", "1")


def make(words: list[str]) -> int:
    return runs.run_table(runs.parse_arguments(words))


def found(folder: Path, name: str = "small") -> dict[str, dict[str, Any]]:
    return {run["run"]: run for run in report.read_table(folder / "out" / "trials" / name)}


def test_a_trial_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = trial(tmp_path)
    assert make([*words, "--seeds", "0", "--parts", "fold1of2"]) == 0
    (run,) = found(tmp_path).values()
    assert run["run"] == "fold1of2-0" and [run["data"][part]["sentences"] for part in ("train", "dev")] == [2, 1]
    assert {name: scores["f"] for name, scores in run["results"].items()} == {"last": 70.0, "best": 71.0}
    assert run["training"]["curve"] == [[2, 1, 0.5]] and run["training"]["cpu_seconds"] == 6.0 and run["made"]["commit"]
    path = tmp_path / "out" / "trials" / "small" / "runs.jsonl"
    assert str(tmp_path) not in path.read_text(encoding="utf-8")
    assert not list((tmp_path / "work").rglob("model-*"))
    TRAINED.clear()
    assert make([*words, "--seeds", "0", "1"]) == 0
    assert TRAINED == ["fold0of2-0", "fold0of2-1", "fold1of2-1"]
    assert found(tmp_path)["fold1of2-0"] == run and len(found(tmp_path)) == 4
    changed = [*words, "training.dropout=0.5", "--seeds", "0", "--parts", "fold1of2"]
    capsys.readouterr()
    assert make(changed) == 0
    assert "1 runs, 0 of them done" in capsys.readouterr().out and found(tmp_path)["fold1of2-0"] != run
    assert len([*(tmp_path / "work" / "trials" / "small").glob("fold1of2-0-*")]) == 2
    table = report.trials_table(path.parent.parent)
    # Runs with other settings are not averaged with the others.
    assert "| small | few steps | fold0of2 to fold1of2 of train | 2 | 70.00 | 0.00 | 71.00 | 7 |" in table
    assert "| small | few steps | fold1of2 of train | 1 | 70.00 | - | 71.00 | 7 |" in table
    assert (path.parent.parent / "table.md").read_text(encoding="utf-8") == table


def test_a_training_has_a_run_for_each_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It trains on the whole training part, and its pipeline, from which others go on, stays."""
    bank = write_treebank(tmp_path / "bank")
    more = bank / "more.mrg"
    more.write_text((bank / "dev.mrg").read_text(encoding="utf8"), encoding="utf8")
    TRAINED.clear()
    assert make([*words_of(tmp_path, "--extra", str(more)), "--seeds", "3"]) == 0
    assert make([*words_of(tmp_path, "--extra", str(more)), "--seeds", "3", "5"]) == 0
    assert TRAINED == ["dev-3", "dev-5"]
    for name, run in found(tmp_path).items():
        assert [run["data"][part]["sentences"] for part in ("train", "dev")] == [6, 3]
        assert run["config"]["system"]["seed"] == run["settings"]["seed"] == int(name[-1])
        log = tmp_path / "out" / "trials" / "small" / f"{name}.log"
        assert log.read_text(encoding="utf-8") == "E    #\nSaved model-last\n"
    assert len(list((tmp_path / "work").rglob("model-last"))) == 2
    table = report.write_report(tmp_path / "out" / "trials")
    assert "| small | few steps | dev | 2 | 70.00 | 0.00 | 71.00 | 7 |" in table
    # The line is gone, the pipeline is not: nothing is trained again, unless the commit is another.
    for commit, n_trained in (("0" * 12, 2), ("1" * 12, 3)):
        monkeypatch.setattr("record.commit", lambda commit=commit: commit)
        (tmp_path / "out" / "trials" / "small" / "runs.jsonl").unlink()
        assert make([*words_of(tmp_path, "--extra", str(more)), "--seeds", "3"]) == 0 and len(TRAINED) == n_trained
        (run,) = found(tmp_path).values()
        assert run["made"]["commit"] == run["training"]["commit"] == commit


def test_what_goes_on_from_a_pipeline(tmp_path: Path) -> None:
    """A sourced component stays one, and keeps its decoder; the folder of its pipeline is not recorded."""
    nlp = make_nlp()
    train(nlp, make_examples(nlp), steps=1)
    nlp.to_disk(tmp_path / "first")
    head = '[paths]\nfirst = null\n[nlp]\nlang = "en"\npipeline = ["parsetag"]\n[components]\n[components.parsetag]\n'
    (tmp_path / "second.cfg").write_text(head + "source = ${paths.first}\n", encoding="utf8")
    words = ["x", "--treebanks", str(write_treebank(tmp_path / "bank")), "--config", str(tmp_path / "second.cfg")]
    arguments = runs.parse_arguments([*words, "--set", f"paths.first={tmp_path / 'first'}"])
    table = spec.read_spec(arguments)
    (run,) = spec.build_runs(table, [spec.Treebank.find(words[2], "train.mrg", "dev.mrg")], arguments)
    assert run.config["components"]["parsetag"] == {"source": "${paths.first}"}
    assert run.settings["decoders"] == {"last": {"last": None}, "best": {"best": None}}
    found = spec.resolved(run.config, None)
    assert found["components"]["parsetag"]["source"] == "first" and str(tmp_path) not in json.dumps(found)


def test_names_that_are_no_table(tmp_path: Path) -> None:
    bank = write_treebank(tmp_path / "bank")
    with pytest.raises(SystemExit, match="no table 'decoder'; a training or a trial needs --config"):
        make(["decoder", "--treebanks", str(bank)])
    for options in (["--folds", "3"], ["--seeds", "0", "1"]):
        with pytest.raises(SystemExit, match="no folds, and one seed"):
            make(["languages", "--treebanks", str(bank), *options])
    with pytest.raises(SystemExit):
        make(["x", "--treebanks", str(bank), "--config", "cnn.cfg", "--with-dev"])
    with pytest.raises(SystemExit, match=r"--rows: no sideways; there is in, independent, pre, post\."):
        make(["languages", "--treebanks", str(bank), "--rows", "in", "sideways"])
    trial = ["x", "--treebanks", str(bank), "--config", "cnn.cfg", "--folds", "3"]
    with pytest.raises(SystemExit, match=r"--parts: no fold3of3, foo; there is fold0of3, fold1of3, fold2of3\."):
        make([*trial, "--parts", "foo", "fold3of3", "fold1of3"])
    for options in (["--seeds", "0", "0"], ["--treebanks", f"a={bank}", f"b={bank}"]):
        with pytest.raises(SystemExit, match=r"called fold0of3-0\. A training takes one treebank, .* seed once\."):
            make([*trial, "--parts", "fold0of3", *options])
    with pytest.raises(SystemExit, match=r"--rows: no 1; there is fold0of3, 0, fold1of3, fold2of3\."):
        make([*trial, "--rows", "1"])


def test_the_development_part_chooses_nothing(tmp_path: Path) -> None:
    """Unless it is asked for."""
    words = [*trial(tmp_path), "--seeds", "0"]
    sizes = {}
    for folds_of, options in (("train", []), ("train and dev", ["--with-dev"])):
        assert make([*words, *options]) == 0
        assert {run["settings"]["folds_of"] for run in found(tmp_path).values()} == {folds_of}
        sizes[folds_of] = sum(run["data"]["dev"]["sentences"] for run in found(tmp_path).values())
    bank = tmp_path / "bank"
    n = {part: (bank / f"{part}.mrg").read_text(encoding="utf8").count("(TOP") for part in ("train", "dev")}
    assert sizes == {"train": n["train"], "train and dev": n["train"] + n["dev"]} and n["dev"] > 0


def test_another_decoder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trial kept is scored by another decoder; it must have been kept, and nothing else may differ."""
    small = [*trial(tmp_path), "--seeds", "0"]
    changes = [*SMALL, 'components.parsetag.decoder={"@misc": "spacy-parsetag.MBRDecoder.v1"}']
    words = ["mbr", *small[1:], "--of", "small", "--set", *changes]
    assert make(small) == 0 and make(words) == 2
    assert "needs --keep" in capsys.readouterr().out
    (tmp_path / "out" / "trials" / "small" / "runs.jsonl").unlink()
    assert make([*small, "--keep"]) == 0 and make(words) == 0
    run, trained = found(tmp_path, "mbr")["fold0of2-0"], found(tmp_path)["fold0of2-0"]
    assert [scores["f"] for scores in run["results"].values()] == [75.0, 76.0]
    assert [scores["f"] for scores in trained["results"].values()] == [70.0, 71.0]
    assert run["training"] == trained["training"] and run["settings"] != trained["settings"]
    assert len(list((tmp_path / "work").rglob("model-last"))) == 2
    assert make(["other", *words[1:], "training.dropout=0.4"]) == 2
    assert "more than the decoder" in capsys.readouterr().out
    monkeypatch.setattr("record.commit", lambda: "1" * 12)
    (tmp_path / "out" / "trials" / "mbr" / "runs.jsonl").unlink()
    assert make(words) == 0
    assert "- mbr, at 111111111111, 000000000000: `" in report.write_report(tmp_path / "out" / "trials")


def test_another_decoder_of_a_split(tmp_path: Path) -> None:
    """Its share is what it was, to the last digit."""
    small = [*words_of(tmp_path, "--splits", "1", "--share", "0.7", "--block", "1"), "--seeds", "0"]
    assert make([*small, "--keep"]) == 0 and make(["again", *small[1:], "--of", "small"]) == 0
    assert set(found(tmp_path, "again")) == {"split0-0"}


def test_runs_that_fail(tmp_path: Path) -> None:
    assert make([*trial(tmp_path), "training.dropout=2.0", "--seeds", "0"]) == 2
    assert report.write_report(tmp_path / "out" / "trials") == "no runs yet"


CODE = """
from spacy.util import registry
from spacy_parsetag.decode import ExactDecoder

registry.misc("own.Exact.v1")(ExactDecoder)
"""


@pytest.mark.slow
@pytest.mark.release
def test_one_run_of_a_trial(tmp_path: Path) -> None:
    """Trained and scored in earnest, for two steps, with a decoder of one's own."""
    (tmp_path / "code.py").write_text(CODE, encoding="utf-8")
    words = [*trial(tmp_path), 'components.parsetag.decoder={"@misc": "own.Exact.v1"}', "--seeds", "0"]
    assert make([*words, "--parts", "fold0of2", "--code", str(tmp_path / "code.py")]) == 0
    run = found(tmp_path)["fold0of2-0"]
    assert 0 <= run["results"]["last"]["f"] <= 100 and run["training"]["curve"][-1][0] == 2
    assert run["training"]["peak_mb"] > 50 and run["training"]["cpu_seconds"] > 0


@pytest.mark.slow
def test_a_step_ends_with_the_run(tmp_path: Path) -> None:
    """It would go on to write where the next run does."""
    (tmp_path / "code.py").write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(tmp_path / 'made')!r}).write_text(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'made')!r}, {str(tmp_path / 'pid')!r})\n"
        "time.sleep(600)\n",
        encoding="utf-8",
    )
    words = [*words_of(tmp_path), "--seeds", "0", "--code", str(tmp_path / "code.py")]
    process = subprocess.Popen([sys.executable, str(EXPERIMENTS / "run.py"), *words])
    try:
        while process.poll() is None and not (tmp_path / "pid").exists():
            time.sleep(0.1)
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
    finally:
        process.kill()
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_committed_trials() -> None:
    """The table in the repository is what its runs give."""
    folder = EXPERIMENTS / "results" / "trials"
    assert report.trials_table(folder) == (folder / "table.md").read_text(encoding="utf-8")


def test_table(tmp_path: Path) -> None:
    """Trials on the same parts together, best mean first; the deviation is that of the last checkpoints, and one run
    has none. The last checkpoint may be the best, even if training did not check it."""
    for name, folds_of, parts, values, more in (
        ("a", "train and dev", ("fold0", "fold0"), (80.0, 82.0), 1),
        ("b", "train and dev", ("fold0", "fold1"), (90.0, 90.0), 1),
        ("c", "train and dev", ("fold0",), (70.0,), -70),
        ("d", "train", ("split0",), (95.0,), 1),
    ):
        made = {"command": "python x.py", "commit": "abc"}
        runs_of = [
            {
                "run": f"{part}-{seed}", "what": name * 2, "data": {}, "config": {}, "made": made,
                "training": {"seconds": 10},
                "settings": {"trial": name, "part": part, "seed": seed, "folds_of": folds_of},
                "results": {"last": {"f": f}, "best": {"f": f + more}},
            }
            for seed, (part, f) in enumerate(zip(parts, values, strict=True))
        ]  # fmt: skip
        write_runs(tmp_path / name, runs_of)
    lines = report.trials_table(tmp_path).splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    assert rows == [
        "| d | dd | split0 of train | 1 | 95.00 | - | 96.00 | 10 |",
        "| a | aa | fold0 of train and dev | 2 | 81.00 | 1.41 | 82.00 | 10 |",
        "| c | cc | fold0 of train and dev | 1 | 70.00 | - | 70.00 | 10 |",
        "| b | bb | fold0 to fold1 of train and dev | 2 | 90.00 | 0.00 | 91.00 | 10 |",
    ]
    assert lines[-4] == "- d, at abc: `python x.py`"

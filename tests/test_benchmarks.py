"""What benchmark scripts record of how a figure was made."""

import argparse
import json
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import record  # noqa: E402

MADE = {"commit": "0" * 12}


@pytest.fixture
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_command_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    monkeypatch.setenv("PARSETAG_DATA", str(tmp_path))
    outside, inside = tmp_path / "a b" / "train.mrg", ROOT / "configs" / "cnn.cfg"
    arguments = ["benchmarks/x.py", "it's", str(outside), f"--set=vars.encoder={outside}", f"{inside}", "--n", "3"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert record.command() == (
        "python benchmarks/x.py 'it'\"'\"'s' \"$PARSETAG_DATA\"/'a b/train.mrg' "
        "--set=vars.encoder=\"$PARSETAG_DATA\"/'a b/train.mrg' configs/cnn.cfg --n 3"
    )
    monkeypatch.delenv("PARSETAG_DATA")
    with pytest.raises(SystemExit, match="outside the repository"):
        record.command()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="root of the repository"):
        record.command()


def test_no_speed_beside_other_processes(
    monkeypatch: pytest.MonkeyPatch, in_root: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def parse(load: float, *options: str) -> argparse.Namespace:
        monkeypatch.setattr(record, "commit", lambda: "0" * 12)
        monkeypatch.setattr(record.os, "getloadavg", lambda: (load, load, load), raising=False)
        monkeypatch.setattr(sys, "argv", ["benchmarks/x.py", *options])
        return record.parse_arguments(argparse.ArgumentParser())

    assert parse(0.2, "--output", "x.json").made_by["machine"]["load_average"] == 0.2
    assert parse(3.0).output is None  # figures that are only printed
    with pytest.raises(SystemExit):
        parse(3.0, "--output", "x.json")
    assert "load average is 3.0" in capsys.readouterr().err
    assert parse(3.0, "--output", "x.json", "--force").made_by["command"].endswith("--output x.json --force")


def test_result_file(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/x.py"])
    monkeypatch.setattr(record, "commit", lambda: "0" * 12)
    config = tmp_path / "config.cfg"
    config.write_text('[paths]\ntrain = "/somewhere/train"\n', encoding="utf-8")
    made = record.made_by()
    assert set(made) == {"command", "commit", "date", "machine", "versions"}
    assert {"python", "spacy", "thinc"} <= set(made["versions"]) and made["machine"]["cores"] > 0
    record.write_result({"f": 0.5, "counts": [1, 2, -3]}, tmp_path / "x.json", made, config=config)
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    assert found["f"] == 0.5 and '"counts": [1, 2, -3]' in text
    digest = found["made_by"].pop("config_sha256")
    assert found["made_by"] == made
    config.write_text('[paths]\ntrain = "/elsewhere/train"\n', encoding="utf-8")
    assert record.config_hash(config) == digest  # folders do not count
    config.write_text('[paths]\ntrain = "/elsewhere/dev"\n', encoding="utf-8")
    assert record.config_hash(config) != digest
    record.write_result({}, None, None)
    for name, text in (("config.cfg", "a"), ("parsetag/model", "b"), ("meta.json", "c"), ("README.md", "d")):
        (tmp_path / "en" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "en" / name).write_text(text, encoding="utf-8")
    record.write_result({}, tmp_path / "x.json", made, pipelines=[tmp_path / "en"])
    (digest,) = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["made_by"]["pipelines_sha256"]
    (tmp_path / "en" / "README.md").write_text("figures", encoding="utf-8")
    assert record.pipeline_hash(tmp_path / "en") == digest  # a card is no part of what was measured
    (tmp_path / "en" / "parsetag" / "model").write_text("c", encoding="utf-8")
    assert record.pipeline_hash(tmp_path / "en") != digest
    monkeypatch.setattr(record, "commit", lambda: "1" * 12)
    with pytest.raises(SystemExit, match="was 000000000000 at first and is 111111111111 now"):
        record.write_result({}, tmp_path / "x.json", made)


def test_no_record_of_changed_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Results of other runs may differ from the commit, nothing else."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "benchmarks" / "results" / "x.json").write_text("{}", encoding="utf-8")
    assert len(record.commit()) == 12
    (tmp_path / "x.py").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"Commit first[\s\S]*x\.py"):
        record.commit()
    monkeypatch.setattr(record, "ROOT", tmp_path / "benchmarks" / "results")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match="git finds none"):
        record.commit()


def test_no_record_of_another_package(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    """The commit is that of the sources, which must be those of the package that runs, and of its compiled modules."""
    monkeypatch.setattr(record, "commit", lambda: "0" * 12)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=f"not from this repository: set PYTHONPATH={tmp_path}"):
        record.made_by("python benchmarks/x.py")
    folder = tmp_path / "spacy_parsetag" / "decode"
    folder.mkdir(parents=True)
    origin = str(folder.parent / "__init__.py")
    monkeypatch.setattr(record, "find_spec", lambda name: ModuleSpec(name, None, origin=origin))
    source, header, built = (folder / name for name in ("_a.pyx", "_b.hpp", f"_a{EXTENSION_SUFFIXES[0]}"))
    for time, path in enumerate((source, header, built), 1):
        path.touch()
        os.utime(path, (time, time))
    assert record.made_by("python benchmarks/x.py")["commit"] == "0" * 12
    for path in (source, header):
        os.utime(path, (9, 9))
        with pytest.raises(SystemExit, match=r"_a\.pyx is not built as it is now"):
            record.made_by("python benchmarks/x.py")
        os.utime(path, (1, 1))
    built.unlink()
    with pytest.raises(SystemExit, match="not built"):
        record.made_by("python benchmarks/x.py")


def test_one_core_is_taken_before_numpy_counts_them(in_root: None) -> None:
    code = "import {}sys; sys.path.append('benchmarks'); from cores import one_core; one_core(); print(1)"
    for module, returncode in (("", 0), ("numpy, ", 1)):
        done = subprocess.run([sys.executable, "-c", code.format(module)], capture_output=True, text=True)
        assert done.returncode == returncode and ("call one_core before" in done.stderr) == returncode


def test_no_part_takes_longer_than_the_whole(monkeypatch: pytest.MonkeyPatch, in_root: None) -> None:
    """The ratio of a part to the whole is not written where noise is larger than that."""
    import pipeline
    import spacy
    import timing

    nlp = spacy.blank("en")
    for name in ("tok2vec", "sentencizer", "parsetag"):
        nlp.add_pipe(name)
    seconds = {"encoder": (3.0, 1.0, 3.0), "whole": (2.0, 2.0, 2.0)}
    times = {name: timing.Times(values, values) for name, values in seconds.items()}
    monkeypatch.setattr(pipeline, "in_turn", lambda runs, repeats: times)
    with pytest.raises(SystemExit, match="whole took less time than the encoder"):
        pipeline.measure(nlp, [["She", "reads"]], 1)


def test_programs_run_in_turn() -> None:
    import timing

    order: list[str] = []
    times = timing.in_turn({name: lambda name=name: order.append(name) for name in "ab"}, 3)  # type: ignore[misc]
    assert order == ["a", "b"] * 4 and {len(found.cpu) for found in times.values()} == {3}
    fast, slow = timing.Times((2.0, 1.0), (3.0, 4.0)), timing.Times((4.0, 3.0), (9.0, 8.0))
    assert slow.over(fast) == 3.0 and slow.median_over(fast) == 2.5
    assert fast.figures() == {"cpu_seconds": 1.0, "wall_seconds": 3.0}


def test_two_clones_run_in_turn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import pairs

    setup = "import spacy_parsetag; n = 10**6"
    words = ["pairs.py", str(ROOT), str(ROOT), "sum(range(n))", "--setup", setup, "--old-setup", f"{setup} // 100"]
    monkeypatch.setattr(sys, "argv", [*words, "--repeats", "3"])
    pairs.main()
    ratios = dict(line.split(": ") for line in capsys.readouterr().out.splitlines()[2:])
    assert float(ratios["new_over_old"]) > 10 and float(ratios["median_of_rounds"]) > 10


def test_a_clone_that_is_not_built(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import pairs

    with pytest.raises(SystemExit):
        pairs.Clone(tmp_path, "import spacy_parsetag", "pass", {})
    assert f"did not import spacy_parsetag from {tmp_path}" in capfd.readouterr().err


def test_memory_of_a_command_is_its_own(in_root: None, tmp_path: Path) -> None:
    """However much the benchmark holds that starts it."""
    import search

    (tmp_path / "trees.mrg").write_text("(TOP (S (NP (PRP She)) (VP (VBZ reads))))\n")
    ballast = b"x" * (800 << 20)
    figures = search.run_command("NP", str(tmp_path / "trees.mrg"), "--count", "--quiet")
    assert 20 < figures["most_memory_mb"] < len(ballast) >> 20
    assert figures["printed"] == ["1\ttrees", "1\ttrees with a match", "1\tmatches"]


def test_tables_of_the_pages_are_those_of_the_files(in_root: None) -> None:
    import table

    for name, make in table.TABLES.items():
        for page in table.PAGES[name]:
            text = page.read_text(encoding="utf-8")
            assert text.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0] == "\n".join(make()), (
                page
            )


def test_who_asks_for_help_changes_no_page(monkeypatch: pytest.MonkeyPatch, in_root: None) -> None:
    import table

    monkeypatch.setattr(table, "PAGES", {})
    monkeypatch.setattr(sys, "argv", ["table.py", "--help"])
    with pytest.raises(SystemExit):
        table.main()


def test_trainings_come_from_both_kinds_of_files(
    monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path
) -> None:
    import table

    monkeypatch.setattr(table, "ROOT", tmp_path)
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    made = {"command": "python experiments/run.py wsj-self --config transformer.cfg", "commit": "0" * 12}
    one = {"made_by": made, "evaluations": 2, "last": {"f": 80.0, "complete_match": 30.0}}
    (tmp_path / "wsj-self-0.json").write_text(json.dumps(one), encoding="utf-8")
    assert "| `transformer.cfg`, " in table.accuracy()[2] and "| 80.00 | 30.0 | last; one |" in table.accuracy()[2]
    runs = [
        {"run": f"dev-{seed}", "data": {}, "made": made, "training": {"curve": [[0, 0, 0.0]]},
         "settings": {"seed": seed, "config": f"hash {seed}"}, "config": {"system": {"seed": seed}},
         "results": {"last": {"f": f, "exact_match": 40.0}, "best": {"f": 99.0, "exact_match": 40.0}}}
        for seed, f in enumerate((81.0, 82.0))
    ]  # fmt: skip
    record.write_runs(tmp_path / "experiments" / "results" / "trials" / "wsj-self", runs)
    (row,) = table.accuracy()[2:]
    assert "| 81.50 | 40.0 | last; mean of 2, 81.00 to 82.00 |" in row
    assert "| `transformer.cfg`, " in row and "| `experiments/results/trials/wsj-self/runs.jsonl`, 0000000 |" in row
    runs[1]["config"] = {"system": {"seed": 1}, "training": {"dropout": 0.5}}
    record.write_runs(tmp_path / "experiments" / "results" / "trials" / "wsj-self", runs)
    with pytest.raises(SystemExit, match=r"wsj-self/runs\.jsonl: runs differ in more than the seed"):
        table.accuracy()


def test_settings_of_runs_that_have_a_mean() -> None:
    """Parts of a trial have as many steps as their sentences ask for, where its length is in epochs."""

    def settings(seed: int, part: int, steps: int, epochs: int, **training: float) -> str:
        training.update(seed=seed, max_steps=steps)
        config = {"system": {"seed": seed}, "training": {**training, "optimizer": {"learn_rate": 0.1}}}
        run = {"settings": {"seed": seed, "part": f"fold{part}", "epochs": epochs, "config": str(config)}}
        return record.settings_in_common({**run, "config": config})

    assert settings(0, 0, 10, 5) == settings(1, 1, 11, 5) != settings(0, 0, 10, 6)
    assert settings(0, 0, 10, 0) == settings(1, 1, 10, 0) != settings(0, 0, 11, 0)
    assert settings(0, 0, 10, 5) != settings(0, 0, 10, 5, dropout=0.2)


def test_outputs_of_other_parsers(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    """mctb_peers.py scores the outputs that come with MCTB, and table.py sets them beside the pipelines."""
    import mctb
    import mctb_peers
    import table

    gold = "(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers)))))\n"
    outputs = tmp_path / "data" / "parsed_outputs"
    outputs.mkdir(parents=True)
    for domain in mctb.DOMAINS:
        (tmp_path / f"{domain}.txt").write_text(gold, encoding="utf8")
        (outputs / f"mctb_{domain}.inorder").write_text(gold.replace("(NP (NNS", "(PP (NNS"), encoding="utf8")
        (outputs / f"mctb_{domain}.inorder_bert").write_text(gold if domain != "forum" else "\n", encoding="utf8")
    monkeypatch.setattr(mctb_peers, "made_by", lambda: MADE)
    monkeypatch.setattr(record, "commit", lambda: MADE["commit"])
    output = tmp_path / "mctb_peers.json"
    monkeypatch.setattr(sys, "argv", ["benchmarks/mctb_peers.py", str(tmp_path), "--output", str(output)])
    mctb_peers.main()
    figures = json.loads(output.read_text(encoding="utf8"))
    assert figures["inorder"]["mean_f"] == 75.0 and figures["inorder_bert"]["domains"]["law"] == 100.0
    # As of the pipelines, a sentence without a tree counts as zero.
    assert figures["inorder_bert"]["failures"]["forum"] == 1 and figures["inorder_bert"]["errors"]["forum"] == 0
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    assert "| the same, BERT-large | news | 100.0 | 0.0 | 100.0 | 100.0 | 100.0 | 80.0 | – |" in table.peers()


def test_domains_of_a_clone(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    """mctb.py finds the trees of each domain, scores them, and counts what the texts of the silver trees share."""
    import mctb
    from tiny import make_examples, make_nlp, train

    nlp = make_nlp()
    train(nlp, make_examples(nlp), steps=40)
    nlp.to_disk(tmp_path / "pipeline")
    long = "(TOP (S (NP (PRP She)) (VP (VBZ says) (SBAR (S (NP (PRP he)) (VP (VBZ reads) (NP (DT the) (JJ old) (NNS "
    trees = f"(TOP (S (NP (PRP She)) (VP (VBZ reads))))\n{long}papers) (NN here))))))))\n"
    clone = tmp_path / "clone"
    for domain in mctb.DOMAINS:
        (clone / "outputs").mkdir(parents=True, exist_ok=True)
        for path in (clone / f"{domain}.txt", clone / "outputs" / f"{domain}.txt"):
            path.write_text(trees, encoding="utf8")
        (clone / f"{domain}_words.txt").write_text("She reads\n", encoding="utf8")
        (clone / f"{domain}_notes.txt").write_bytes("é".encode("latin-1"))
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("“She says he reads the old papers here,” said Kim.\n", encoding="utf8")
    monkeypatch.setattr(mctb, "made_by", lambda: MADE)
    monkeypatch.setattr(record, "commit", lambda: MADE["commit"])
    output = tmp_path / "figures.json"
    command = [str(tmp_path / "pipeline"), str(clone), "--texts", str(texts), "--output", str(output)]
    monkeypatch.setattr(sys, "argv", ["benchmarks/mctb.py", *command])
    mctb.main()
    figures = json.loads(output.read_text(encoding="utf8"))
    assert set(figures["domains"]) == set(mctb.DOMAINS) and figures["texts"] == 1
    assert figures["mean_f"] == figures["domains"]["law"]["f"] > 0
    assert figures["domains"]["law"]["sentences"] == 2 and figures["domains"]["law"]["in_texts"] == 1
    assert figures["domains"]["law"]["without_them"]["sentences"] == 1
    (clone / "forum.txt").unlink()
    with pytest.raises(SystemExit, match="--forum FILE"):
        mctb.main()

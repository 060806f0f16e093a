"""Train and score all runs of a table, a trial or a training, then write the table and its figures.

    python experiments/run.py decoders --treebanks PTB --encoder bert-large-uncased
    python experiments/run.py languages --treebanks TREEBANK TREEBANK ... --jobs 2
    python experiments/run.py gum-cnn --config cnn.cfg --treebanks GUM --seeds 0 1 2
    python experiments/run.py chart --what "spans, BiLSTM, POS" --config transformer.cfg --treebanks WSJ \\
        --encoder all-MiniLM-L6-v2 --folds 5 --seeds 0 1 2 --epochs 12 --keep
    python experiments/run.py chart-exact --what "the first, likeliest trees" --of chart ... \\
        --set components.parsetag.decoder='{"@misc": "spacy-parsetag.ExactDecoder.v1"}'

A treebank is a folder with train.mrg and dev.mrg, or others by --train and --dev. What is no table (a .yml file) is a
training: --config, on the training part, scored on the development part, with a run for each seed. With --folds it is a
trial: each run trains on all but one fold of the training part and is scored on that fold, so that the development part
chooses nothing. Folds are made of blocks of successive sentences, so that a sentence and the next one are rarely on
both sides; with --splits N there are N random choices of blocks instead. Both are scored twice: the last checkpoint,
which nothing chose, and the one that did best on what it is scored on. With --of TRIAL nothing is trained: the
pipelines that TRIAL kept (--keep) are scored with the decoder of this config.

Each run adds its line to OUTPUT/TABLE/runs.jsonl, or OUTPUT/trials/NAME/runs.jsonl. Runs that are there with the same
settings are not made again, so that what was stopped goes on where it was. Each step of a run is a process of its own;
what the steps print stays in --work, and so do pipelines, but those of folds without --keep.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import srsly
from prepare import prepare
from report import write_report
from spec import HERE, NUMBERS, Run, Treebank, build_runs, read_spec, resolved, set_length, set_logger
from thinc.api import Config

sys.path.append(str(HERE.parent / "benchmarks"))
from record import check_commit, made_by, portable, read_runs, without_folders, write_runs

RUNNING: set["subprocess.Popen[bytes]"] = set()  # the steps


class StepFailed(Exception):
    pass


def stop(number: int, _: Any) -> None:
    """End at a signal, and the steps with it, which would go on writing where the next runs do."""
    for process in [*RUNNING]:
        process.terminate()
    raise SystemExit(128 + number)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def call(command: list[str], log: Path, threads: int) -> dict[str, Any]:
    """Run one step as a process, and say what it took; what it prints goes to a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
    start = time.perf_counter()
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [sys.executable, *command], stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=HERE.parent
        )
        RUNNING.add(process)
        _, status, usage = os.wait4(process.pid, 0)
        RUNNING.discard(process)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        raise StepFailed("\n".join([f"{' '.join(command[:3])} ended with {process.returncode}; see {log}", *tail]))
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": usage.ru_maxrss // 1024,
    }


def train(run: Run, config: Config, data: Path, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train, unless that was done at this commit; what it took, and the commit."""
    path = folder / "trained.json"
    is_trained = path.exists() and (folder / "model-best").exists()
    # srsly reads 0.7 as 0.7000000000000001, which is another share.
    trained: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if is_trained else {}
    if arguments.of is not None:
        if not trained:
            problem = "the trial that trains them needs --keep, and may not differ by more than the decoder"
            raise StepFailed(f"{folder} has no pipelines: {problem}")
    elif (trained.get("settings"), trained.get("commit")) != (run.settings, arguments.made["commit"]):
        path.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "steps.jsonl").unlink(missing_ok=True)
        config = config.copy()
        set_logger(config, folder / "steps.jsonl")
        config["paths"].update(train=str(data / "train.spacy"), dev=str(data / "dev.spacy"))
        config.to_disk(folder / "config.cfg", interpolate=False)
        command = ["train", str(folder / "config.cfg"), "--output", str(folder), *own_options(arguments)]
        took = call(["-m", "spacy", *command], folder / "train.log", arguments.threads)
        trained = {"settings": run.settings, "commit": arguments.made["commit"], **took}
        srsly.write_json(path, trained)
    return {name: value for name, value in trained.items() if name != "settings"}


def score(run: Run, data: Path, folder: Path, repeats: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Score each checkpoint of a run with its decoders."""
    scores: dict[str, Any] = {}
    for checkpoint, decoders in run.settings["decoders"].items():
        paths = {name: folder / f"{name}-{checkpoint}.json" for name in ("decoders", "scores")}
        srsly.write_json(paths["decoders"], decoders)
        files = [folder / f"model-{checkpoint}", data / "dev.spacy", paths["scores"]]
        options = [f"--decoders={paths['decoders']}", f"--params={run.settings['params']}", f"--repeats={repeats}"]
        command = [str(HERE / "evaluate.py"), *map(str, files), *options, *own_options(arguments)]
        call(command, folder / f"evaluate-{checkpoint}.log", arguments.threads)
        scores.update(srsly.read_json(paths["scores"]))
    return scores


def own_options(arguments: argparse.Namespace) -> list[str]:
    code = ["--code", str(arguments.code.resolve())] if arguments.code else []
    return ["--gpu-id", str(arguments.gpu_id), *code]


def execute(run: Run, spec: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Train and score: everything there is to say about a run."""
    data = prepare(run, arguments.work, arguments.extra, arguments.made["commit"])
    figures = srsly.read_json(data / "data.json")
    trial = arguments.of or spec["folder"].name
    folder = (arguments.work / spec["table"] / (trial if spec["table"] == "trials" else "") / run.folder).resolve()
    config = run.config.copy()
    set_length(config, spec, figures["train"]["sentences"])
    training = train(run, config, data, folder, arguments)
    results = score(run, data, folder, spec["repeats"], arguments)
    part = run.settings.get("part")
    if part not in (None, "dev") and arguments.of is None and not arguments.keep:
        for checkpoint in run.settings["decoders"]:
            shutil.rmtree(folder / f"model-{checkpoint}")
    rows = [row for row in srsly.read_jsonl(folder / "steps.jsonl") if row["score"] is not None]
    log = (folder / "train.log").read_text(encoding="utf-8", errors="replace")
    if part == "dev":
        spec["folder"].mkdir(parents=True, exist_ok=True)
        (spec["folder"] / f"{run.name}.log").write_text(without_folders(log), encoding="utf-8")
    return {
        "run": run.name,
        "what": arguments.what,
        "settings": run.settings,
        "data": figures,
        "config": resolved(config, arguments.encoder_name),
        "training": {
            **training,
            "device": "CPU" if arguments.gpu_id < 0 else "GPU",
            "threads": arguments.threads,
            "jobs": arguments.jobs,
            "curve": [[row["step"], row["epoch"], row["score"]] for row in rows],
            "rate_lowered_to": [float(rate) for rate in re.findall(r"Learning rate .* lowered to (\S+)", log)],
        },
        "results": results,
        "made": arguments.made,
    }


def made() -> dict[str, Any]:
    """As `record.made_by`, also of a script that `spacy project run` starts in this folder. Call it before the runs."""
    script, *words = sys.argv
    return made_by(" ".join(["python", f"experiments/{Path(script).name}", *map(portable, words)]))


def run_table(arguments: argparse.Namespace) -> int:
    """Make what runs are missing, and the report; the number of runs that failed."""
    spec = read_spec(arguments)
    treebanks = [Treebank.find(text, arguments.train, arguments.dev) for text in arguments.treebanks]
    output = spec["folder"]
    runs = build_runs(spec, treebanks, arguments)
    records = {run["run"]: run for run in read_runs(output)}
    missing = [run for run in runs if run.name not in records or records[run.name]["settings"] != run.settings]
    say(f"{output.name}: {len(runs)} runs, {len(runs) - len(missing)} of them done")
    arguments.made = made() if missing else None
    for run in missing:
        try:
            prepare(run, arguments.work, arguments.extra, arguments.made["commit"])
        except (OSError, ValueError) as err:
            say(f"{run.treebank.name}: cannot be read. {err}")
            return 1

    def attempt(run: Run) -> tuple[str, dict[str, Any] | None]:
        start = time.perf_counter()
        try:
            record = execute(run, spec, arguments)
        except StepFailed as err:
            say(f"{run.name}: failed. {err}")
            return run.name, None
        f_scores = ", ".join(f"{name} {scores['f']:.2f}" for name, scores in record["results"].items())
        say(f"{run.name}: {f_scores}; {time.perf_counter() - start:.0f} s")
        return run.name, record

    n_failed = 0
    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        for name, record in pool.map(attempt, missing):
            if record is None:
                n_failed += 1
                continue
            records[name] = record
            check_commit(arguments.made)
            write_runs(output, list(records.values()))  # what is there so far
            write_report(output)
    say(write_report(output))
    return n_failed


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="decoders, languages, or a .yml file like theirs; else the name of a training")
    parser.add_argument("--what", default="", help="what the table says of a training or trial")
    parser.add_argument("--treebanks", nargs="+", required=True, metavar="[NAME=]FOLDER", help="a training has one")
    parser.add_argument("--train", default="train.mrg", help="training file in each folder, may be a pattern")
    parser.add_argument("--dev", default="dev.mrg", help="development file in each folder, may be a pattern")
    parser.add_argument("--extra", type=Path, nargs="*", default=[], help="files that every run trains on too")
    parser.add_argument("--format", default="penn", help="as `parsetag convert` takes it; .spacy files need none")
    parser.add_argument("--encoding", default=None)
    parser.add_argument("--config", default=None, help="base config; default: that of the table")
    parser.add_argument("--encoder", default=None, help="transformer: a name, or a folder")
    parser.add_argument("--encoder-name", default=None, help="what the table calls it")
    for name in NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=None)
    parser.add_argument("--seeds", type=int, nargs="+", help="a run of a training or of a fold for each")
    parser.add_argument("--params", default=None, help="EVALB's parameters")
    parser.add_argument("--set", nargs="*", metavar="KEY=VALUE", help="changes to the config")
    parser.add_argument("--code", type=Path, help="Python file that registers parts of a config")
    parser.add_argument("--rows", nargs="*", metavar="ORDER|LEARNER", help="just these rows")
    folds = parser.add_mutually_exclusive_group()
    folds.add_argument("--folds", type=int, default=0, help="cross-validate within the training part")
    folds.add_argument("--splits", type=int, default=0, help="random splits instead of folds")
    parser.add_argument("--with-dev", action="store_true", help="folds of the development part too")
    parser.add_argument("--share", type=float, default=0.1, help="of a split's sentences that it is scored on")
    parser.add_argument("--block", type=int, default=20, help="successive sentences that stay together")
    parser.add_argument("--parts", nargs="*", metavar="FOLD", help="just these folds or splits, such as fold0of5")
    parser.add_argument("--of", metavar="TRIAL", help="train nothing; score what TRIAL kept, with another decoder")
    parser.add_argument("--keep", action="store_true", help="keep the pipelines of folds")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="folder for corpora and pipelines")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of each run")
    parser.add_argument("--repeats", type=int, default=None, help="timed passes over what is scored")
    parser.add_argument("--gpu-id", type=int, default=-1)
    arguments = parser.parse_args(words)
    if arguments.with_dev and not arguments.folds + arguments.splits:
        parser.error("--with-dev needs --folds or --splits")
    return arguments


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    sys.exit(min(1, run_table(parse_arguments())))

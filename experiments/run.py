"""Train and score all runs of a table, then write the table and its figures.

    python experiments/run.py decoders --treebanks PTB --encoder bert-large-uncased
    python experiments/run.py languages --treebanks TREEBANK TREEBANK ... --jobs 2

A treebank is a folder with train.mrg and dev.mrg, or others by --train and --dev. Each run adds its line to
OUTPUT/TABLE/runs.jsonl. Runs that are there with the same settings are not made again, so that a stopped table goes on
where it was. Each step of a run is a process of its own; pipelines, and what the steps print, stay in --work.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import srsly
from report import read_runs, write_report, write_runs
from spec import HERE, NUMBERS, Run, Treebank, build_runs, read_spec, resolved, set_length, set_logger

sys.path.append(str(HERE.parent / "benchmarks"))
from record import made_by


class StepFailed(Exception):
    pass


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def call(command: list[str], log: Path, threads: int) -> None:
    """Run one step as a process; what it prints goes to a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            [sys.executable, *command], stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=HERE.parent
        )
    if done.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        raise StepFailed("\n".join([f"{' '.join(command[:3])} ended with {done.returncode}; see {log}", *tail]))


def prepare(run: Run, arguments: argparse.Namespace) -> Path:
    """The treebank's .spacy files, made once for all runs on it."""
    chosen = {
        name: run.settings[name] for name in ("train", "dev", "limit", "dev_limit", "max_length", "format", "encoding")
    }
    folder: Path = arguments.work / "data" / ("-".join([run.treebank.name, *map(str, chosen.values())]))
    if not (folder / "data.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        numbers = [f"--{name.replace('_', '-')}={chosen[name]}" for name in ("limit", "dev_limit", "max_length")]
        files = [str(path.resolve()) for path in (run.treebank.train, run.treebank.dev, folder)]
        options = [f"--format={arguments.format}", f"--encoding={arguments.encoding or ''}"]
        call([str(HERE / "prepare.py"), *files, *numbers, *options], folder / "prepare.log", 1)
    return folder.resolve()


def execute(run: Run, spec: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Train and score: everything there is to say about a run."""
    data = prepare(run, arguments)
    figures = srsly.read_json(data / "data.json")
    folder = (arguments.work / spec["table"] / run.name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    config = run.config.copy()
    set_length(config, spec, figures["train"]["sentences"])
    trained = folder / "trained.json"
    if not trained.exists() or srsly.read_json(trained)["settings"] != run.settings:
        trained.unlink(missing_ok=True)
        (folder / "steps.jsonl").unlink(missing_ok=True)
        to_train = config.copy()
        set_logger(to_train, folder / "steps.jsonl")
        to_train["paths"].update(train=str(data / "train.spacy"), dev=str(data / "dev.spacy"))
        to_train.to_disk(folder / "config.cfg", interpolate=False)
        start = time.perf_counter()
        command = ["train", str(folder / "config.cfg"), "--output", str(folder), "--gpu-id", str(arguments.gpu_id)]
        call(["-m", "spacy", *command], folder / "train.log", arguments.threads)
        srsly.write_json(trained, {"settings": run.settings, "seconds": round(time.perf_counter() - start, 1)})
    srsly.write_json(folder / "decoders.json", spec["decoders"])
    scoring = [str(HERE / "evaluate.py"), str(folder / "model-best"), str(data / "dev.spacy")]
    scoring += [str(folder / "scores.json"), f"--decoders={folder / 'decoders.json'}", f"--params={spec['params']}"]
    scoring += [f"--repeats={arguments.repeats}", f"--gpu-id={arguments.gpu_id}"]
    call(scoring, folder / "evaluate.log", arguments.threads)
    rows = [row for row in srsly.read_jsonl(folder / "steps.jsonl") if row["score"] is not None]
    log = (folder / "train.log").read_text(encoding="utf-8", errors="replace")
    return {
        "run": run.name,
        "settings": run.settings,
        "data": figures,
        "config": resolved(config, arguments.encoder_name),
        "training": {
            "seconds": srsly.read_json(trained)["seconds"],
            "device": "CPU" if arguments.gpu_id < 0 else "GPU",
            "threads": arguments.threads,
            "jobs": arguments.jobs,
            "curve": [[row["step"], row["epoch"], row["score"]] for row in rows],
            "rate_lowered_to": [float(rate) for rate in re.findall(r"Learning rate .* lowered to (\S+)", log)],
        },
        "results": srsly.read_json(folder / "scores.json"),
        "made": arguments.made,
    }


def made() -> dict[str, Any]:
    """As `record.made_by`. Paths of the command that lead out of here lose their folders. Call it before the runs."""
    script, *words = (re.sub(r"(?<![^=])(?:/|\.\./)\S*/(?=[^/\s])", "PATH/", word) for word in sys.argv)
    return made_by(shlex.join(["python", f"experiments/{Path(script).name}", *words]))


def run_table(arguments: argparse.Namespace) -> int:
    """Make what runs are missing, and the report; the number of runs that failed."""
    spec_path = Path(arguments.table)
    spec = read_spec(spec_path if spec_path.is_file() else HERE / f"{arguments.table}.yml", arguments)
    treebanks = [Treebank.find(text, arguments.train, arguments.dev) for text in arguments.treebanks]
    output = arguments.output / spec["table"]
    runs = build_runs(spec, treebanks, arguments)
    done = {run["run"]: run for run in read_runs(output)}
    missing = [run for run in runs if run.name not in done or done[run.name]["settings"] != run.settings]
    say(f"{spec['table']}: {len(runs)} runs, {len(runs) - len(missing)} of them done")
    arguments.made = made() if missing else None
    try:
        for run in {run.treebank: run for run in missing}.values():
            prepare(run, arguments)
    except StepFailed as err:
        say(f"{run.treebank.name}: cannot be read. {err}")
        return 1

    def attempt(run: Run) -> tuple[str, dict[str, Any] | None]:
        start = time.perf_counter()
        try:
            record = execute(run, spec, arguments)
        except StepFailed as err:
            say(f"{run.name}: failed. {err}")
            return run.name, None
        say(f"{run.name}: {time.perf_counter() - start:.0f} s")
        return run.name, record

    failed = 0
    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        for name, record in pool.map(attempt, missing):
            if record is None:
                failed += 1
                continue
            done[name] = record
            write_runs(output, list(done.values()))  # what is there so far
            write_report(output)
    say(write_report(output))
    return failed


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="decoders, languages, or a .yml file like theirs")
    parser.add_argument("--treebanks", nargs="+", required=True, metavar="[NAME=]FOLDER")
    parser.add_argument("--train", default="train.mrg", help="training file in each folder, may be a pattern")
    parser.add_argument("--dev", default="dev.mrg", help="development file in each folder, may be a pattern")
    parser.add_argument("--format", default="penn", help="as `parsetag convert` takes it; .spacy files need none")
    parser.add_argument("--encoding", default=None)
    parser.add_argument("--config", default=None, help="base config; default: that of the table")
    parser.add_argument("--encoder", default=None, help="transformer: a name, or a folder")
    parser.add_argument("--encoder-name", default=None, help="what the table calls it")
    for name in NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=None)
    parser.add_argument("--params", default=None, help="EVALB's parameters")
    parser.add_argument("--set", nargs="*", metavar="KEY=VALUE", help="changes to the config")
    parser.add_argument("--rows", nargs="*", metavar="ORDER|LEARNER", help="just these rows")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="folder for corpora and pipelines")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of each run")
    parser.add_argument("--repeats", type=int, default=3, help="timed passes over the development part")
    parser.add_argument("--gpu-id", type=int, default=-1)
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(min(1, run_table(parse_arguments())))

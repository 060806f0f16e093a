"""Cross-validate a config over the training part of a treebank: mean F and spread, a row in a table.

    python experiments/trials.py chart --what "spans, BiLSTM, POS" --config transformer.cfg --treebank WSJ \\
        --encoder all-MiniLM-L6-v2 --folds 5 --seeds 0 1 2 --epochs 12 --keep
    python experiments/trials.py chart-tags --what "the same, spans off" ... \\
        --set components.parsetag.model.span_width=null
    python experiments/trials.py chart-exact --what "the first, likeliest trees" --of chart ... \\
        --set components.parsetag.decoder='{"@misc": "spacy-parsetag.ExactDecoder.v1"}'
    python experiments/trials.py

Each run trains on all but one fold and is scored on that fold, twice: its last checkpoint, which nothing chose, and
beside it the one that did best on the same fold. Each writes one file, OUTPUT/NAME/FOLD-SEED.json. A run that is there
with the same settings is not made again, so a stopped trial goes on where it was, and others can be added to it. The
table, OUTPUT/table.md, is made of all files that are there; without a name that is all that is done. With --of TRIAL
nothing is trained: the pipelines that TRIAL kept (--keep) are scored with the decoder of this trial's config.

Folds are of the training part alone, so that the development part chooses nothing. With --with-dev it is folded in, as
it was in the first trials: a figure on the development part is then one that these sentences helped to choose.

Folds are made of blocks of successive sentences, so that a sentence and the next one are rarely on both sides. With
--splits N there are N random choices of blocks for the development part instead of folds.
"""

import argparse
import json
import random
import shutil
import statistics
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import srsly
from prepare import read_all
from run import StepFailed, call, made, say
from spacy.util import load_config
from spacy.vocab import Vocab
from spec import HERE, Treebank, read_change, read_config, resolved, set_length, set_logger, set_value, short_hash
from thinc.api import Config

from spacy_parsetag.treebanks.docfiles import DocFile
from spacy_parsetag.trees import Parse

Run = dict[str, Any]


def make_parts(n: int, arguments: argparse.Namespace) -> dict[str, set[int]]:
    """Choose the development sentences of n, by the name of the fold or split."""
    blocks = [range(start, min(start + arguments.block, n)) for start in range(0, n, arguments.block)]
    if not arguments.splits:
        if len(blocks) < arguments.folds:
            raise SystemExit(f"{len(blocks)} blocks of {arguments.block} sentences for {arguments.folds} folds.")
        chosen = {f"fold{k}of{arguments.folds}": blocks[k :: arguments.folds] for k in range(arguments.folds)}
    else:
        size = max(1, round(arguments.share * len(blocks)))
        chosen = {f"split{k}": random.Random(k).sample(blocks, size) for k in range(arguments.splits)}
    return {name: {i for block in own for i in block} for name, own in chosen.items()}


def make_config(arguments: argparse.Namespace, seed: int, sentences: int) -> Config:
    """The config of a run, without paths."""
    config = read_config(arguments.config)
    if arguments.encoder is not None:
        set_value(config, "vars.encoder", arguments.encoder)
    set_value(config, "system.seed", seed)
    if arguments.epochs:
        set_length(config, {"steps": 0, "epochs": arguments.epochs, "checks": 1}, sentences)
    for key, value in map(read_change, arguments.set):
        set_value(config, key, value)
    return config


def train(config: Config, folder: Path, parts: dict[str, list[Parse]], arguments: argparse.Namespace) -> int:
    """Train in a folder; the seconds it took."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, own in parts.items():
        target = DocFile(folder / f"{name}.spacy", Vocab())
        for parse in own:
            target.add(parse)
        target.write(target.path)
        config["paths"][name] = str(target.path)
    set_logger(config, folder / "steps.jsonl")
    config.to_disk(folder / "config.cfg", interpolate=False)
    start = time.perf_counter()
    words = ["train", str(folder / "config.cfg"), "--output", str(folder), "--gpu-id", str(arguments.gpu_id)]
    words += ["--code", str(arguments.code.resolve())] if arguments.code else []
    call(["-m", "spacy", *words], folder / "train.log", arguments.threads)
    return round(time.perf_counter() - start)


def check_kept(config: Config, folder: Path, result: Path) -> int:
    """The seconds that the training took whose pipelines a trial kept; nothing but the decoder may be another one."""
    if not result.exists() or not (folder / "model-last").exists():
        raise StepFailed(f"{folder} has no pipelines; the trial that trains them needs --keep")
    kept = load_config(folder / "config.cfg", interpolate=False)

    def rest(config: Config) -> Config:
        config = config.copy()
        for section in (config["paths"], config["training"]["logger"], config["components"]["parsetag"]["decoder"]):
            section.clear()
        return config

    if rest(kept) != rest(config):
        raise StepFailed(f"{folder} was trained with another config, by more than the decoder")
    return int(srsly.read_json(result)["seconds"])


def score(folder: Path, model: str, config: Config, arguments: argparse.Namespace) -> float:
    """F of a checkpoint on the fold, with the decoder of the config."""
    decoders, scores = folder / "decoders.json", folder / f"scores-{model}.json"
    parser = config.interpolate()["components"]["parsetag"]
    srsly.write_json(decoders, {"own": {**parser["decoder"], "max_stack": parser.get("max_stack")}})
    words = [str(folder / model), str(folder / "dev.spacy"), str(scores), "--decoders", str(decoders), "--repeats", "1"]
    words += ["--params", arguments.params, "--gpu-id", str(arguments.gpu_id)]
    words += ["--code", str(arguments.code.resolve())] if arguments.code else []
    call([str(HERE / "evaluate.py"), *words], folder / f"scores-{model}.log", arguments.threads)
    return float(srsly.read_json(scores)["own"]["f"])


def execute(part: str, seed: int, parts: dict[str, set[int]], parses: list[Parse], extra: list[Parse],
            arguments: argparse.Namespace) -> None:  # fmt: skip
    """Train and score, unless that has been done: one file in the trial's folder."""
    chosen = parts[part]
    train_parses = [parse for i, parse in enumerate(parses) if i not in chosen] + extra
    dev = [parses[i] for i in sorted(chosen)]
    config = make_config(arguments, seed, len(train_parses))
    settings = {
        "config": short_hash(json.dumps(resolved(config, arguments.encoder_name), sort_keys=True).encode()),
        "train": short_hash(repr(train_parses).encode()),
        "dev": short_hash(repr(dev).encode()),
        "params": arguments.params,
        **({"code": short_hash(arguments.code.read_bytes())} if arguments.code else {}),
    }
    path = arguments.output / arguments.name / f"{part}-{seed}.json"
    if path.exists():
        if srsly.read_json(path)["settings"] == settings:
            return
        say(f"{path.name}: its settings were others; it is made again")
    trained = (arguments.work / (arguments.of or arguments.name) / f"{part}-{seed}").resolve()
    if arguments.of is None:
        seconds = train(config, trained, {"train": train_parses, "dev": dev}, arguments)
    else:
        seconds = check_kept(config, trained, arguments.output / arguments.of / path.name)
    f = {name: score(trained, f"model-{name}", config, arguments) for name in ("last", "best")}
    if arguments.of is None and not arguments.keep:
        for name in f:
            shutil.rmtree(trained / f"model-{name}")
    run = {
        "trial": arguments.name,
        "what": arguments.what,
        "part": part,
        "seed": seed,
        "settings": settings,
        "encoder": arguments.encoder_name,
        "folds_of": arguments.folds_of,
        "sentences": {"train": len(train_parses), "dev": len(dev)},
        "f": f,
        "curve": [[row["step"], row["score"]] for row in srsly.read_jsonl(trained / "steps.jsonl") if row["score"]],
        "seconds": seconds,
        "threads": arguments.threads,
        "jobs": arguments.jobs,
        "made": arguments.made,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
    say(f"{path.name}: last {f['last']:.2f}, best {f['best']:.2f}; {seconds} s")


def write_table(output: Path) -> str:
    """The table of all runs that are there: a row for each trial; those on the same parts together, best mean first."""
    trials: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for path in sorted(output.glob("*/*.json")):
        run = srsly.read_json(path)
        # The first trials do not say it: theirs are of both parts.
        trials[run["trial"], run.get("folds_of", "train and dev")].append(run)
    if not trials:
        return "no runs yet"
    rows = []
    for (name, folds_of), runs in trials.items():
        # A checkpoint that was not checked in training may be the best one: the last.
        last, best = [run["f"]["last"] for run in runs], [max(run["f"].values()) for run in runs]
        spread = f"{statistics.stdev(last):.2f}" if len(last) > 1 else "-"
        parts, seeds = (sorted({run[key] for run in runs}) for key in ("part", "seed"))
        seconds = statistics.mean(run["seconds"] for run in runs)
        scored_on = f"{' to '.join(dict.fromkeys((parts[0], parts[-1])))} of {folds_of}"
        row = (name, runs[0]["what"], scored_on, str(len(seeds)),
               f"{statistics.mean(last):.2f}", spread, f"{statistics.mean(best):.2f}", f"{seconds:,.0f}")  # fmt: skip
        rows.append((folds_of, parts, -statistics.mean(last), row, runs[-1]["made"]))
    rows.sort()
    lines = [
        "# Trials",
        "",
        "F of EVALB on what a run did not train on: mean of the last checkpoints, their standard deviation over runs, "
        "and mean of the checkpoints that did best there. Compare trials that were scored on the same parts, and at "
        "commits whose configs are the same. `-dirty`: files differed from the commit, and nobody can make the run "
        "again as it was; no such run is recorded any more. Written by `experiments/trials.py`.",
        "",
        "| trial | what | scored on | seeds | F | spread | best | seconds a run |",
        "|---|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for *_, row, _ in rows),
        "",
        *(f"- {row[0]}, at {made['commit']}: `{made['command']}`" for *_, row, made in rows),
    ]
    text = "\n".join(lines) + "\n"
    (output / "table.md").write_text(text, encoding="utf-8")
    return text


def run_trial(arguments: argparse.Namespace) -> int:
    """Make the runs that are missing, and the table; the number of runs that failed."""
    arguments.made = made()
    treebank = Treebank.find(arguments.treebank, arguments.train, arguments.dev)
    parses = read_all(treebank.train, arguments)
    if arguments.with_dev:
        parses += read_all(treebank.dev, arguments)
    arguments.folds_of = "train and dev" if arguments.with_dev else "train"
    extra = [parse for path in arguments.extra for parse in read_all(path, arguments)]
    parts = make_parts(len(parses), arguments)
    runs = [(part, seed) for seed in arguments.seeds for part in arguments.parts or parts]

    def attempt(run: tuple[str, int]) -> int:
        try:
            execute(*run, parts, parses, extra, arguments)
        except StepFailed as err:
            say(f"{run[0]}-{run[1]}: failed. {err}")
            return 1
        return 0

    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        return sum(pool.map(attempt, runs))


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="what the trial is called; none: just write the table")
    parser.add_argument("--what", default="", help="what the table says of it")
    parser.add_argument("--treebank", metavar="[NAME=]FOLDER")
    parser.add_argument("--train", default="train.mrg", help="training file in the folder")
    parser.add_argument("--dev", default="dev.mrg", help="development file in the folder")
    parser.add_argument("--with-dev", action="store_true", help="folds of the development part too")
    parser.add_argument("--extra", type=Path, nargs="*", default=[], help="files that every run trains on too")
    parser.add_argument("--format", default="penn", help="as `parsetag convert` takes it; .spacy files need none")
    parser.add_argument("--encoding", default=None)
    parser.add_argument("--max-length", type=int, default=0, help="most words of a sentence; 0: any")
    parser.add_argument("--config", default="transformer.cfg")
    parser.add_argument("--encoder", default=None, help="transformer: a name, or a folder")
    parser.add_argument("--encoder-name", default=None, help="what results call it")
    parser.add_argument("--of", metavar="TRIAL", help="train nothing; score what TRIAL kept, with another decoder")
    parser.add_argument("--code", type=Path, help="Python file that registers parts of a config")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="changes to the config")
    parser.add_argument("--epochs", type=int, default=0, help="times over the data, a check each; 0: as in the config")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--splits", type=int, default=0, help="number of random splits, instead of folds")
    parser.add_argument("--share", type=float, default=0.1, help="of the sentences of a split that are for development")
    parser.add_argument("--block", type=int, default=20, help="successive sentences that stay together")
    parser.add_argument("--parts", nargs="*", metavar="FOLD", help="just these folds or splits, such as fold0of5")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--params", default="collins", help="EVALB's parameters")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "trials")
    parser.add_argument("--work", type=Path, default=HERE / "work" / "trials", help="folder for corpora and pipelines")
    parser.add_argument("--keep", action="store_true", help="keep the trained pipelines")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of each run")
    parser.add_argument("--gpu-id", type=int, default=-1)
    arguments = parser.parse_args(words)
    if arguments.name and not arguments.treebank:
        parser.error("a trial needs --treebank")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    failed = run_trial(arguments) if arguments.name else 0
    say(write_table(arguments.output))
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())

"""One training run, kept as evidence: the command, the log, and EVALB's figures on the development part.

    python benchmarks/train.py wsj-transformer --config configs/transformer.cfg \\
        --train $PARSETAG_SHARED/treebanks/wsj_sample/train.mrg --dev $PARSETAG_SHARED/treebanks/wsj_sample/dev.mrg \\
        --set vars.encoder=$PARSETAG_ENCODER vars.matmul_precision=medium

writes benchmarks/results/NAME.json and NAME.log: figures of the best checkpoint on the development part, and beside
them the last one's, which was not chosen by it. Folders are left out of the log, so that it reads the same on
every machine. `--only-score` takes a run that has been trained already. What training took is beside them, in seconds
of CPU and in memory; in seconds by the clock only if no other process took the machine when it began.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from record import RESULTS, is_busy, made_by, without_folders, write_result
from spacy.util import load_config


def spacy(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "spacy", *arguments]


def convert(inputs: list[Path], output: Path) -> None:
    """Convert each file into a folder of .spacy files."""
    output.mkdir(parents=True, exist_ok=True)
    for path in inputs:
        target = output / f"{path.parent.name}-{path.stem}.spacy"
        if not target.exists():
            subprocess.run(spacy("parsetag", "convert", str(path), str(target)), check=True)


def train(args: argparse.Namespace, folder: Path, log: Path, made: dict[str, Any]) -> None:
    """Train, and keep beside the pipeline how it was made."""
    command = spacy("train", str(args.config), "--output", str(folder / "pipeline"))
    command += ["--paths.train", str(folder / "train"), "--paths.dev", str(folder / "dev")]
    for change in args.set:
        key, _, value = change.partition("=")
        command += [f"--{key}", value]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    start = time.perf_counter()
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"The training ended with {os.waitstatus_to_exitcode(status)}; see {log}")
    cost = {
        "seconds": None if is_busy(made) else round(time.perf_counter() - start),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime),
        "peak_mb": usage.ru_maxrss // 1024,
    }
    (folder / "trained.json").write_text(json.dumps({"made_by": made, **cost}), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="what the run is called")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--train", type=Path, nargs="+", required=True, help="bracket files")
    parser.add_argument("--dev", type=Path, required=True, help="bracket file")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="changes to the config")
    parser.add_argument("--work", type=Path, default=Path("runs"), help="folder for corpora and pipelines")
    parser.add_argument("--only-score", action="store_true", help="the pipeline is trained; its log is in --work")
    args = parser.parse_args()
    made = made_by()
    folder = args.work / args.name
    log = args.work / f"{args.name}.log"
    convert(args.train, folder / "train")
    convert([args.dev], folder / "dev")
    if not args.only_score:
        train(args, folder, log, made)
    trained = json.loads((folder / "trained.json").read_text(encoding="utf-8"))
    dev = next((folder / "dev").glob("*.spacy"))
    pipeline = folder / "pipeline" / "model-best"
    found = {}
    for checkpoint in ("model-best", "model-last"):
        scored = folder / f"{checkpoint}.json"
        evaluated = str(folder / "pipeline" / checkpoint)
        subprocess.run(spacy("parsetag", "evaluate", evaluated, str(dev), "--output", str(scored)), check=True)
        found[checkpoint] = json.loads(scored.read_text(encoding="utf-8"))
    figures = found["model-best"]
    config = load_config(pipeline / "config.cfg", interpolate=True)
    rows = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    report = {
        "name": args.name,
        "train": [f"{path.parent.name}/{path.name}" for path in args.train],
        "dev": f"{args.dev.parent.name}/{args.dev.name}",
        "pipeline": config["nlp"]["pipeline"],
        "seed": config["training"]["seed"],
        **{key: value for key, value in trained.items() if key != "made_by"},
        "evaluations": sum(1 for row in rows if len(row) > 4 and row[0].isdigit()),
        "parsetag_f": figures["scores"]["parsetag_f"],
        "parsetag_tag_acc": figures["scores"]["parsetag_tag_acc"],
        "evalb": figures["evalb"],
        "last": found["model-last"]["evalb"]["all"],
    }
    write_result(report, RESULTS / f"{args.name}.json", trained["made_by"], config=pipeline / "config.cfg")
    text = without_folders(log.read_text(encoding="utf-8"))
    (RESULTS / f"{args.name}.log").write_text(f"$ {trained['made_by']['command']}\n{text}", encoding="utf-8")
    sys.stdout.write(f"{args.name}: dev F {report['last']['f']:.2f}, best {100 * report['parsetag_f']:.2f}\n")


if __name__ == "__main__":
    main()

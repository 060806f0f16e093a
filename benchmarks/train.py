"""One training run, kept as evidence: the command, the log, and EVALB's figures on the development part.

    python benchmarks/train.py wsj-transformer --config configs/transformer.cfg \\
        --train WSJ/train.mrg --dev WSJ/dev.mrg --set vars.encoder=ENCODER vars.matmul_precision=medium

writes benchmarks/results/NAME.json and NAME.log. Folders are left out of both, so that they read the same on every
machine: of a path only the last part is kept. `--only-score` takes a run that has been trained already.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("spacy-parsetag", "spacy", "thinc", "spacy-transformers", "torch", "numpy")


def spacy(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "spacy", *arguments]


def convert(inputs: list[Path], output: Path) -> None:
    """Convert each file into a folder of .spacy files."""
    output.mkdir(parents=True, exist_ok=True)
    for path in inputs:
        target = output / f"{path.parent.name}-{path.stem}.spacy"
        if not target.exists():
            subprocess.run(spacy("parsetag", "convert", str(path), str(target)), check=True)


def without_folders(text: str) -> str:
    """Keep the last part of each absolute path, and no colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"(?<![\w.])(?:/[\w.+-]+)+/([\w.+-]+)", r"\1", text)


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except ImportError:  # importlib's PackageNotFoundError
            continue
    return found


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

    folder = args.work / args.name
    log = args.work / f"{args.name}.log"
    convert(args.train, folder / "train")
    convert([args.dev], folder / "dev")
    command = spacy("train", str(args.config), "--output", str(folder / "pipeline"))
    command += ["--paths.train", str(folder / "train"), "--paths.dev", str(folder / "dev")]
    for change in args.set:
        key, _, value = change.partition("=")
        command += [f"--{key}", value]
    start = time.perf_counter()
    if not args.only_score:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        with log.open("w", encoding="utf-8") as file:
            subprocess.run(command, check=True, stdout=file, stderr=subprocess.STDOUT, env=environment)
    seconds = time.perf_counter() - start
    scored = folder / "scores.json"
    dev = next((folder / "dev").glob("*.spacy"))
    pipeline = str(folder / "pipeline" / "model-best")
    subprocess.run(spacy("parsetag", "evaluate", pipeline, str(dev), "--output", str(scored)), check=True)
    figures = json.loads(scored.read_text(encoding="utf-8"))
    rows = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    report = {
        "name": args.name,
        "command": without_folders(" ".join(["python", *command[1:]])),
        "train": [f"{path.parent.name}/{path.name}" for path in args.train],
        "dev": f"{args.dev.parent.name}/{args.dev.name}",
        "versions": versions(),
        "seconds": None if args.only_score else round(seconds),
        "evaluations": sum(1 for row in rows if len(row) > 4 and row[0].isdigit()),
        "parsetag_f": figures["scores"]["parsetag_f"],
        "parsetag_tag_acc": figures["scores"]["parsetag_tag_acc"],
        "evalb": figures["evalb"],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{args.name}.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    text = without_folders(log.read_text(encoding="utf-8"))
    (RESULTS / f"{args.name}.log").write_text(f"$ {report['command']}\n{text}", encoding="utf-8")
    sys.stdout.write(f"{args.name}: dev F {100 * report['parsetag_f']:.2f}\n")


if __name__ == "__main__":
    main()

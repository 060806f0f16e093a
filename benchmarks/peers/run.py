"""Sentences a second of this parser and of three others, each in an environment of its own, on the same encoder.

    python benchmarks/peers/run.py --treebank $PARSETAG_SHARED/treebanks/wsj_sample/dev.mrg \\
        --encoder $PARSETAG_ENCODER/. --output benchmarks/results/peers.json

The peers are benepar's spaCy plugin, supar's CRF parser and Stanza's shift-reduce parser, over the same weights of the
encoder, with random weights above it: for charts speed does not depend on what is learned, and Stanza's is led along
the true trees. Environments are made in --folder, and used again by the next run. One core, CPU time, all by turns, the
fastest run of each. A parser that fails is named with its last line, and all that it wrote is in FOLDER/NAME.log.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import gettempdir
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from cores import ONE_CORE  # noqa: E402
from record import parse_arguments, write_result  # noqa: E402

from spacy_parsetag.tokens import parse_string  # noqa: E402
from spacy_parsetag.treebanks.formats.table import get_format  # noqa: E402

# Newest versions with which each still works.
COMMON = ["torch==2.13.0", "transformers==4.53.2", "numpy<2.5", "spacy>=3.8,<3.9"]
OURS = ("ours", "ours_float32", "ours_int8")  # the last two exported to ONNX Runtime
PEERS = {
    "benepar": ["benepar==0.2.0", "torch-struct==0.5", "protobuf", "sentencepiece"],
    "supar": ["supar==1.1.4", "dill", "stanza==1.15.0"],
    "stanza": ["stanza==1.15.0", "peft"],
}


def write_inputs(treebank: Path, folder: Path) -> int:
    """Write what `peer.py` reads. Returns the number of sentences."""
    parses = list(get_format("penn").read_parses(treebank))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.json").write_text(json.dumps([parse.words for parse in parses]), encoding="utf-8")
    (folder / "trees.mrg").write_text("".join(f"{parse_string(parse)}\n" for parse in parses), encoding="utf-8")
    return len(parses)


def make_environment(folder: Path, packages: list[str]) -> Path:
    """The Python of an environment with some packages, made if it is not there yet."""
    python = folder / "bin" / "python"
    done = folder / "installed.txt"
    listing = "\n".join([*COMMON, *packages])
    if done.exists() and done.read_text(encoding="utf-8") == listing:
        return python
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(python), "-m", "pip", "install", "-q"]
    # First PyTorch, so that nothing after it brings another.
    subprocess.run([*pip, *COMMON], check=True)
    (folder / "constraints.txt").write_text("\n".join(COMMON), encoding="utf-8")
    subprocess.run([*pip, "-c", str(folder / "constraints.txt"), *packages], check=True)
    done.write_text(listing, encoding="utf-8")
    return python


def time_peer(
    python: Path | str, name: str, folder: Path, encoder: str, repeats: int, limit: float
) -> list[float] | str:
    """CPU seconds of each run, or why there are none."""
    command = [str(python), str(HERE / "peer.py"), name, str(folder), encoder, str(repeats)]
    env = {**os.environ, **ONE_CORE, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(HERE.parent.parent)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not done in {limit:.0f} seconds"
    if done.returncode:
        (folder / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    seconds: list[float] = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebank", type=Path, required=True, help="bracket file")
    parser.add_argument("--encoder", required=True, help="folder of a Hugging Face encoder")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "parsetag-peers")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2, help="runs in each turn")
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a peer may take in a turn")
    args = parse_arguments(parser)
    n_sentences = write_inputs(args.treebank, args.folder)
    pythons: dict[str, Path | str] = dict.fromkeys(OURS, sys.executable)
    for name in args.peers:
        pythons[name] = make_environment(args.folder / name, PEERS[name])
    seconds: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for _ in range(args.turns):
        for name, python in pythons.items():
            if name in failed:
                continue
            result = time_peer(python, name, args.folder, args.encoder, args.repeats, args.limit)
            if isinstance(result, str):
                failed[name] = result
            else:
                seconds.setdefault(name, []).extend(round(value, 3) for value in result)
    figures: dict[str, Any] = {"sentences": n_sentences, "cpu_seconds": seconds, "failed": failed}
    figures["sentences_a_second"] = {name: round(n_sentences / min(values), 1) for name, values in seconds.items()}
    figures["packages"] = {name: PEERS[name] for name in args.peers}
    speeds = figures["sentences_a_second"]
    if any(name in speeds for name in args.peers):
        best = max(speeds[name] for name in args.peers if name in speeds)
        figures["over_the_best_peer"] = {name: round(speeds[name] / best, 2) for name in OURS if name in speeds}
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

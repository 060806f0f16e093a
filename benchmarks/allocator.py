"""What training a transformer on a CPU takes in memory and time, with the C library's allocator and with jemalloc.

    python benchmarks/allocator.py --train corpus/train.spacy --dev corpus/dev.spacy --encoder "$PARSETAG_ENCODER" \\
        --jemalloc /usr/lib/x86_64-linux-gnu/libjemalloc.so.2

Each is a `spacy train` of `configs/transformer.cfg` of its own, with few steps. Tensors of a training differ in
size from batch to batch, and glibc keeps the holes that this leaves in its heap.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from record import ROOT, parse_arguments, write_result


def train(args: argparse.Namespace, output: str, **variables: str) -> dict[str, Any]:
    """Peak memory and CPU time of one training."""
    changes = {
        "paths.train": args.train,
        "paths.dev": args.dev,
        "vars.encoder": args.encoder,
        "vars.matmul_precision": "medium",
        "training.max_steps": args.steps,
        "training.eval_frequency": args.steps,
        "training.logger.progress_bar": "null",
    }
    command = [sys.executable, "-m", "spacy", "train", str(ROOT / "configs" / "transformer.cfg"), "--output", output]
    command += [word for key, value in changes.items() for word in (f"--{key}", str(value))]
    process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"The training ended with {os.waitstatus_to_exitcode(status)}.")
    return {"peak_mb": usage.ru_maxrss // 1024, "user_seconds": usage.ru_utime, "system_seconds": usage.ru_stime}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help=".spacy file")
    parser.add_argument("--dev", type=Path, required=True, help=".spacy file, parsed at both ends")
    parser.add_argument("--encoder", required=True, help="a transformer's name or folder")
    parser.add_argument("--jemalloc", type=Path, required=True, help="the shared library")
    parser.add_argument("--steps", type=int, default=60)
    args = parse_arguments(parser)
    with TemporaryDirectory() as output:
        figures = {
            "steps": args.steps,
            "glibc": train(args, output),
            "jemalloc": train(args, output, LD_PRELOAD=str(args.jemalloc)),
        }
    for name, value in figures.items():
        print(f"{name}: {value}")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

"""The README's first command, timed: `python -m spacy project run all`, in the folder of the project.

    python benchmarks/synthetic.py

writes benchmarks/results/synthetic.json with EVALB's figures on the test part. `--collect` takes the figures of a run
that has been made already.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", action="store_true", help="the project has been run")
    args = parser.parse_args()
    command = ["python", "-m", "spacy", "project", "run", "all"]
    start = time.perf_counter()
    if not args.collect:
        subprocess.run([sys.executable, *command[1:], "--force"], check=True, cwd=HERE.parent)
    seconds = None if args.collect else round(time.perf_counter() - start)
    metrics = json.loads((HERE.parent / "metrics" / "synthetic_evalb.json").read_text(encoding="utf-8"))
    report = {"command": " ".join(command), "seconds": seconds, "evalb": metrics["evalb"]}
    target = HERE / "results" / "synthetic.json"
    target.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"F {report['evalb']['all']['f']:.2f} on the test part\n")


if __name__ == "__main__":
    main()

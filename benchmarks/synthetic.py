"""The training on the synthetic treebank, timed: draw the treebank, and run the project on it.

    python benchmarks/synthetic.py

writes benchmarks/results/synthetic.json with EVALB's figures on the test part.
"""

import argparse
import json
import subprocess
import sys
import time

from record import RESULTS, ROOT, parse_arguments, write_result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args = parse_arguments(parser, output=RESULTS / "synthetic.json")
    start = time.perf_counter()
    for command in ("tools.synthetic treebank", "spacy project run all --force"):
        subprocess.run([sys.executable, "-m", *command.split()], check=True, cwd=ROOT)
    seconds = round(time.perf_counter() - start)
    metrics = json.loads((ROOT / "metrics" / "treebank_evalb.json").read_text(encoding="utf-8"))
    config = ROOT / "training" / "treebank" / "model-best" / "config.cfg"
    write_result({"seconds": seconds, "evalb": metrics["evalb"]}, args.output, args.made_by, config=config)
    sys.stdout.write(f"F {metrics['evalb']['all']['f']:.2f} on the test part\n")


if __name__ == "__main__":
    main()

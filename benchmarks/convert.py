"""Time and memory of `parsetag convert` on a treebank.

    python benchmarks/convert.py TREEBANK/*.mrg --output benchmarks/results/convert.json

The command runs in a process of its own; memory is the peak of its resident set.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import parse_arguments, write_result
from spacy.tokens import DocBin

from spacy_parsetag.tokens import SPANS_KEY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, nargs="+", help="bracket files")
    args = parse_arguments(parser)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "treebank.spacy"
        command = [sys.executable, "-m", "spacy", "parsetag", "convert", *map(str, args.treebank), str(target)]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        # Of all children, the greatest; there is one. In KiB, in bytes on macOS.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        docs = DocBin().from_disk(target)
        figures = {
            "treebank": [f"{path.parent.name}/{path.name}" for path in args.treebank],
            "trees": len(docs),
            "with_constituents": sum(1 for spans in docs.span_groups if SPANS_KEY.encode() in spans),
            "seconds": round(seconds, 1),
            "peak_mebibytes": round(peak / 2**20),
            "file_mebibytes": round(target.stat().st_size / 2**20, 1),
        }
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

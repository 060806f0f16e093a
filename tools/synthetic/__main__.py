"""Draw the synthetic treebank: `python -m tools.synthetic FOLDER`, in the folder of the project.

Writes train.mrg, dev.mrg and test.mrg. The sentences are made up by a program: good for trying a pipeline out and for
tests, no measure of how well a parser does on real text.
"""

import argparse
import sys
from pathlib import Path

from . import write_parts

parser = argparse.ArgumentParser(
    "python -m tools.synthetic", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("folder", type=Path, help="folder for the files; older ones are replaced")
parser.add_argument("--train", type=int, default=16000, help="number of training trees (%(default)s)")
parser.add_argument("--dev", type=int, default=500, help="number of development trees (%(default)s)")
parser.add_argument("--test", type=int, default=500, help="number of test trees (%(default)s)")
parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same files on every machine")
args = parser.parse_args()
sizes = {"train": args.train, "dev": args.dev, "test": args.test}
if min(sizes.values()) < 0:
    parser.error("a number of trees is below 0")
write_parts(args.folder, sizes, seed=args.seed)
for name, size in sizes.items():
    sys.stdout.write(f"{size:,} trees: {args.folder / name}.mrg\n")

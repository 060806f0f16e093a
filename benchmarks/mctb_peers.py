"""F on MCTB of the parsers whose outputs come with it.

    python benchmarks/mctb_peers.py "$PARSETAG_DATA"/multi-domain-parsing-analysis \\
        --output benchmarks/results/mctb_peers.json

CLONE is that of `benchmarks/mctb.py`. It has the trees that two parsers gave to each sentence: the in-order parser of
Liu and Zhang (2017), and the same over BERT-large; both learned the Penn Treebank's news. F is EVALB's with Collins'
parameters, and sentences without a tree over the same words count as zero, as there.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from mctb import DOMAINS, find_trees
from record import made_by, write_result

from spacy_parsetag.evalb import evalb, read_tree_lines

PARSERS = ("inorder", "inorder_bert")


def score_outputs(clone: Path, parser: str) -> dict[str, Any]:
    """Score a parser's outputs on each domain.

    clone (Path): The clone.
    parser (str): How the files of its outputs end.
    RETURNS (dict[str, Any]): F of each domain, in which failures count as zero, and their mean; failures of each
        domain, and those of them that are EVALB's errors.
    """
    scores, failures, errors = {}, {}, {}
    for domain in DOMAINS:
        output = clone / "data" / "parsed_outputs" / f"mctb_{domain}.{parser}"
        result = evalb(read_tree_lines(find_trees(clone, domain)), read_tree_lines(output))
        scores[domain] = round(result.strict.f, 2)
        failures[domain], errors[domain] = result.failures, result.all.errors
    mean_f = round(sum(scores.values()) / len(scores), 2)
    return {"domains": scores, "mean_f": mean_f, "failures": failures, "errors": errors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path, metavar="CLONE")
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    args = parser.parse_args()
    made = made_by() if args.output else None
    report = {name: score_outputs(args.clone, name) for name in PARSERS}
    write_result(report, args.output, made)
    for name, scores in report.items():
        sys.stdout.write(f"{name:14}{scores['mean_f']:7.2f}  {scores['domains']}\n")


if __name__ == "__main__":
    main()

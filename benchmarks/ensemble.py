"""Scores several pipelines on gold trees: F of each, and of the mean of their probabilities.

python benchmarks/ensemble.py "$PARSETAG_RUNS"/dev.spacy "$PARSETAG_RUNS"/in "$PARSETAG_RUNS"/pre --output FILE.json
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import spacy
from record import made_by, write_result
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_parsetag.cli.evaluate import paired_trees
from spacy_parsetag.evalb import evalb
from spacy_parsetag.tokens import SPANS_KEY
from spacy_parsetag.tokens.sentences import copy_words


def score(nlp: Language, golds: list[Doc], params: str) -> dict[str, Any]:
    """F and exact match of what a pipeline finds."""
    docs = nlp.pipe([copy_words(gold, nlp.vocab) for gold in golds])
    pairs = [
        pair for doc, gold in zip(docs, golds, strict=True) for pair in paired_trees(Example(doc, gold), SPANS_KEY)
    ]
    result = evalb([gold for gold, _ in pairs], [test for _, test in pairs], params)
    return {"f": result.all.f, "exact_match": result.exact_match, "sentences": len(pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("pipelines", type=Path, nargs="+")
    parser.add_argument("--params", default="collins")
    parser.add_argument("--cost", type=float, default=0.5, help="see MBRDecoder")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    made = made_by() if args.output else None
    together = spacy.blank("xx")
    config = {"pipelines": [str(path) for path in args.pipelines], "cost": args.cost}
    ensemble: Any = together.add_pipe("parsetag_ensemble", config=config)
    golds = list(DocBin().from_disk(args.dev).get_docs(together.vocab))
    figures: dict[str, Any] = {"together": score(together, golds, args.params), "cost": args.cost}
    figures["alone"] = [score(member, golds, args.params) for member in ensemble.members]
    write_result(figures, args.output, made, pipelines=args.pipelines)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Scores several pipelines on gold trees: F of each, and of the mean of their probabilities.

python benchmarks/ensemble.py "$PARSETAG_RUNS"/dev.spacy "$PARSETAG_RUNS"/in "$PARSETAG_RUNS"/pre --output FILE.json
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from record import made_by, write_result
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_parsetag.cli._systems import paired_trees
from spacy_parsetag.evalb import EvalbResult, evalb
from spacy_parsetag.tokens import SPANS_KEY
from spacy_parsetag.tokens.sentences import copy_words

COST = 0.5  # see MBRDecoder


def parse_and_score(nlp: Language, golds: Sequence[Doc]) -> EvalbResult:
    """Compare what a pipeline finds in the words of docs with their trees, by COLLINS parameters."""
    docs = nlp.pipe([copy_words(gold, nlp.vocab) for gold in golds])
    pairs = [
        pair for doc, gold in zip(docs, golds, strict=True) for pair in paired_trees(Example(doc, gold), SPANS_KEY)
    ]
    return evalb([gold for gold, _ in pairs], [test for _, test in pairs], "collins")


def summarize(result: EvalbResult) -> dict[str, Any]:
    return {"f": result.all.f, "exact_match": result.exact_match, "sentences": len(result.rows)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("pipelines", type=Path, nargs="+")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    made = made_by() if args.output else None
    together = spacy.blank("xx")
    config = {"pipelines": [str(path) for path in args.pipelines], "cost": COST}
    ensemble: Any = together.add_pipe("parsetag_ensemble", config=config)
    golds = list(DocBin().from_disk(args.dev).get_docs(together.vocab))
    figures: dict[str, Any] = {"together": summarize(parse_and_score(together, golds)), "cost": COST}
    figures["alone"] = [summarize(parse_and_score(member, golds)) for member in ensemble.members]
    write_result(figures, args.output, made, pipelines=args.pipelines)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

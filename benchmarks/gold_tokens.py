"""F and tags of a pipeline on a treebank's own tokens, with its decoder and with the likeliest trees.

    python benchmarks/gold_tokens.py models/id_parsetag_sm/id_parsetag_sm/id_parsetag_sm-0.1.0 \
        "$PARSETAG_SHARED"/treebanks/icon_id/dev.mrg --output benchmarks/results/id_parsetag_sm.json

TREES is a bracket file of a development part. F is EVALB's with Collins' parameters.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import spacy
from record import made_by, write_result
from spacy.training import Example

from spacy_parsetag.decode import ExactDecoder
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.treebanks.formats.table import get_format


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path, metavar="PIPELINE")
    parser.add_argument("trees", type=Path, metavar="TREES")
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    args = parser.parse_args()
    made = made_by() if args.output else None
    nlp = spacy.load(args.pipeline)
    golds = list(docs_from_trees(nlp.vocab, get_format("penn").read_parses(args.trees)))
    pipe: Any = nlp.get_pipe("parsetag")
    figures: dict[str, Any] = {"sentences": len(golds)}
    for name, decoder in (("own", pipe.decoder), ("likeliest", ExactDecoder())):
        pipe.decoder = decoder
        docs = nlp.pipe([copy_words(gold, nlp.vocab) for gold in golds])
        scores = nlp.evaluate([Example(doc, gold) for doc, gold in zip(docs, golds, strict=True)])
        kinds = {"f": "parsetag_f", "precision": "parsetag_p", "recall": "parsetag_r", "pos": "tag_acc"}
        figures[name] = {kind: round(100 * scores[score], 2) for kind, score in kinds.items()}
    write_result(figures, args.output, made, pipelines=[nlp.path])
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()

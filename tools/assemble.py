"""A parser that was trained on single sentences gets what it needs for raw text: a component that finds sentences.

    python -m tools.assemble PARSER SENTER OUTPUT

PARSER is the pipeline of `configs/transformer.cfg`, SENTER one with the component `senter` (`models/en_senter.cfg`). In
OUTPUT the second takes the place of the rule-based `sentencizer`, and the transformer reads one sentence at a time, as
it did in training, whatever stands around it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from thinc.api import Config

SENTENCES = {"@span_getters": "spacy-transformers.sent_spans.v1"}


def assemble(parser: Path, senter: Path) -> Language:
    """Make the pipeline.

    parser (Path): A pipeline with a rule-based sentencizer and a transformer.
    senter (Path): A pipeline with the component `senter`.
    RETURNS (Language): `senter`, and what the first has behind its sentencizer.
    """
    config = Config().from_disk(parser / "config.cfg")
    config["components"]["transformer"]["model"]["get_spans"] = SENTENCES
    # Without the vocabulary, whose strings are the words that were trained on.
    nlp = spacy.load(parser, exclude=["sentencizer", "vocab"], config=config)
    tagger: Any = nlp.get_pipe("tagger")
    for tag in tagger.labels:
        nlp.vocab.strings.add(tag)
    nlp.add_pipe("senter", source=spacy.load(senter, exclude=["vocab"]), first=True)
    return nlp


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parser", type=Path, metavar="PARSER")
    arguments.add_argument("senter", type=Path, metavar="SENTER")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    args = arguments.parse_args()
    assemble(args.parser, args.senter).to_disk(args.output)


if __name__ == "__main__":
    main()

"""A parser gets what it needs for raw text: a component that was trained to find sentences.

    python -m tools.assemble PARSER SENTER OUTPUT [--max-pieces N]

PARSER is the pipeline of `configs/transformer.cfg` or `models/en_parsetag_sm.cfg`, SENTER one with the component
`senter` (`models/en_senter.cfg`). In OUTPUT the latter takes the place of the rule-based `sentencizer`, or of the
`senter` that was trained along; a transformer reads one sentence at a time, as it did in training, whatever stands
around it. An encoder that was trained on short blocks knows no places beyond: with `--max-pieces` the exported pipeline
reads longer sentences in parts that overlap. In English a full stop after "I" is a token, as in the treebanks: spaCy
takes it for that of an initial.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.util import compile_suffix_regex
from thinc.api import Config

SENTENCES = {"@span_getters": "spacy-transformers.sent_spans.v1"}


def assemble(parser: Path, senter: Path, max_pieces: int | None = None) -> Language:
    """Make the pipeline.

    parser (Path): A pipeline with the component `parsetag`.
    senter (Path): A pipeline with the component `senter`.
    max_pieces (int | None): How many word pieces a transformer reads at once; None for as many as it has places.
    RETURNS (Language): `paragraphs`, as blank lines end sentences; `senter`; all of the first that does not find them.
    """
    with_transformer = "transformer" in Config().from_disk(parser / "config.cfg")["components"]
    config = {"components": {"transformer": {"model": {"get_spans": SENTENCES}}}} if with_transformer else {}
    nlp = spacy.load(parser, exclude=["sentencizer", "senter", "paragraphs"], config=config)
    if nlp.lang == "en":
        tokenizer: Any = nlp.tokenizer
        tokenizer.suffix_search = compile_suffix_regex([*(nlp.Defaults.suffixes or ()), r"(?<=^I)\."]).search
    if max_pieces is not None:
        transformer: Any = nlp.get_pipe("transformer")
        transformer.model.tokenizer.model_max_length = max_pieces
    nlp.add_pipe("senter", source=spacy.load(senter, exclude=["vocab"]), first=True)
    nlp.add_pipe("paragraphs", first=True)
    return nlp


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parser", type=Path, metavar="PARSER")
    arguments.add_argument("senter", type=Path, metavar="SENTER")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    arguments.add_argument("--max-pieces", type=int, metavar="N")
    args = arguments.parse_args()
    assemble(args.parser, args.senter, args.max_pieces).to_disk(args.output)


if __name__ == "__main__":
    main()

"""A parser gets what it needs for raw text: a component that was trained to find sentences.

    python -m tools.assemble PARSER SENTER OUTPUT

PARSER is the pipeline of `configs/transformer.cfg` or `models/en_parsetag_sm.cfg`, SENTER one with the component
`senter` (`models/en_senter.cfg`). In OUTPUT the latter takes the place of the rule-based `sentencizer`, or of the
`senter` that was trained along; a transformer reads one sentence at a time, as it did in training, whatever stands
around it. In English a full stop after "I" is a token, as in the treebanks: spaCy takes it for that of an initial.
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


def assemble(parser: Path, senter: Path) -> Language:
    """Make the pipeline.

    parser (Path): A pipeline with the component `parsetag`.
    senter (Path): A pipeline with the component `senter`.
    RETURNS (Language): `paragraphs`, as blank lines end sentences; `senter`; all of the first that does not find them.
    """
    with_transformer = "transformer" in Config().from_disk(parser / "config.cfg")["components"]
    config = {"components": {"transformer": {"model": {"get_spans": SENTENCES}}}} if with_transformer else {}
    nlp = spacy.load(parser, exclude=["sentencizer", "senter", "paragraphs"], config=config)
    if nlp.lang == "en":
        tokenizer: Any = nlp.tokenizer
        tokenizer.suffix_search = compile_suffix_regex([*(nlp.Defaults.suffixes or ()), r"(?<=^I)\."]).search
    nlp.add_pipe("senter", source=spacy.load(senter, exclude=["vocab"]), first=True)
    nlp.add_pipe("paragraphs", first=True)
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

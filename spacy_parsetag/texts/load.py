"""Load a pipeline, find its parser, and settle who splits text into sentences."""

import os
import sys
import warnings
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.util import import_file, is_package
from thinc.api import require_gpu

from ..compat import require
from ..errors import Errors, Warnings

PARSERS = {"parsetag", "parsetag_ensemble"}  # factories
SENTENCES = {"token.is_sent_start", "doc.sents"}  # what a component that splits sentences says that it assigns


def load_pipeline(name: str, gpu_id: int, code: Path | None) -> Language:
    """Load a pipeline, a package or a folder, on a GPU or the CPU (-1), after a file with code of the user's.

    RAISES (ValueError): If there is no such code, or the pipeline is a file.
    RAISES (ImportError): If a GPU is asked for and CuPy is not installed.
    """
    if code is not None:
        if not code.is_file():
            raise ValueError(Errors.E030.format(path=code))
        if code.suffix != ".py":
            raise ValueError(Errors.E576.format(path=code))
        import_file("python_code", code)
    if os.path.isfile(name):
        raise ValueError(Errors.E575.format(name=name))
    if gpu_id >= 0:
        if sys.platform != "darwin":  # where Thinc uses PyTorch
            require("cupy", "A GPU")
        require_gpu(gpu_id)
    try:
        return spacy.load(name)
    except (AttributeError, TypeError) as err:
        module = find_spec(name) if is_package(name) else None
        if module is None or module.origin is None or Path(module.origin).with_name("meta.json").is_file():
            raise
        raise ValueError(Errors.E577.format(name=name)) from err


def find_parser(nlp: Language, name: str) -> Any:
    """Find a pipeline's last parser, a `ParseTagger` or an ensemble, and warn if it has others.

    RAISES (ValueError): If it has none.
    """
    parsers = [pipe for pipe in nlp.pipe_names if _factory(nlp, pipe) in PARSERS]
    if not parsers:
        raise ValueError(Errors.E560.format(name=name, key="constituents", pipes=", ".join(nlp.pipe_names) or "none"))
    if len(parsers) > 1:
        warnings.warn(Warnings.W550.format(name=name, parsers=", ".join(parsers), last=parsers[-1]), stacklevel=2)
    return nlp.get_pipe(parsers[-1])


def settle_sentences(nlp: Language, *, one_sentence: bool) -> bool:
    """Keep only the sentence splitters that the user asked for.

    nlp (Language): The pipeline, which is changed. Only components before its first parser matter.
    one_sentence (bool): Each text is one sentence: components that do nothing but split are disabled. (spaCy's
        dependency parser stays. It keeps the boundaries that a doc has.) Otherwise the pipeline splits: `one_sentence`
        is disabled where the pipeline has a splitter, and where it has none, a sentencizer is added. (Without either,
        a component that does not declare what it assigns is taken for a splitter.) Where spaCy's own components split,
        blank lines end sentences, too: the component `paragraphs` is added first, unless there is one.
    RETURNS (bool): True if a sentencizer was added.
    """
    before_parser = list(takewhile(lambda name: _factory(nlp, name) not in PARSERS, nlp.pipe_names))
    one_sentence_pipes = [name for name in before_parser if _factory(nlp, name) == "one_sentence"]
    assigned = {name: set(nlp.get_pipe_meta(name).assigns) for name in before_parser if name not in one_sentence_pipes}
    splitters = [name for name, attributes in assigned.items() if attributes & SENTENCES]
    if one_sentence:
        disabled = [name for name in splitters if assigned[name] <= SENTENCES]
    else:
        splitters = [name for name in splitters if _factory(nlp, name) != "paragraphs"]
        disabled = one_sentence_pipes if splitters else []
    for name in disabled:
        nlp.disable_pipe(name)
    lacks_splitter = not (one_sentence or splitters) and (bool(one_sentence_pipes) or all(assigned.values()))
    if lacks_splitter:
        name = "sentencizer" if "sentencizer" not in nlp.component_names else "parsetag_sentencizer"
        nlp.add_pipe("sentencizer", name, before=(one_sentence_pipes or [nlp.pipe_names[len(before_parser)]])[0])
        splitters = [name]
    are_spacys = {_factory(nlp, name) for name in splitters} <= {"sentencizer", "senter", "parser"}
    if splitters and are_spacys and not one_sentence and "paragraphs" not in nlp.component_names:
        nlp.add_pipe("paragraphs", first=True)
    return lacks_splitter


def _factory(nlp: Language, pipe: str) -> str:
    return nlp.get_pipe_meta(pipe).factory

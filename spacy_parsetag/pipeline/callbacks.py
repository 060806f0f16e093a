"""A callback for configs that gives a trained parser the labels of new data."""

from collections.abc import Callable, Iterable

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger

from ..errors import shorten
from .component import ParseTagger


def make_add_labels(corpus: Callable[[Language], Iterable[Example]]) -> Callable[[Language], Language]:
    """spacy-parsetag.AddLabels.v1: give trained parsers the labels of new data, for [initialize.after_init].

    A component that a config takes from another pipeline (`source`) is not initialized by `spacy train`: it keeps its
    labels, and trees with others would teach it nothing. This adds them; what the parser has learned it keeps. See
    `configs/transformer_second.cfg`. Components that are frozen in training stay as they are.

    corpus (Callable[[Language], Iterable[Example]]): The training data: ${corpora.train}.
    """

    def add_labels(nlp: Language) -> Language:
        frozen = nlp.config.interpolate()["training"].get("frozen_components", ())
        for name in nlp.component_names:
            pipe = nlp.get_pipe(name)
            if isinstance(pipe, ParseTagger) and name not in frozen:
                added = pipe.add_labels_of(corpus(nlp))
                logger.info("Tags added to the component '%s': %d %s", name, len(added), shorten(" ".join(added), 200))
        return nlp

    return add_labels

"""Cuts a stream of docs into batches, and runs a component over it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.tokens import Doc
from spacy.util import minibatch

from ..errors import Errors


def split_batches(stream: Iterable[Doc], size: int) -> Iterator[list[Doc]]:
    """Split a stream of docs into batches. Raises a ValueError for a size below 1: spaCy would skip all docs."""
    if size < 1:
        raise ValueError(Errors.E200.format(what="batch_size", least=1, value=size))
    return map(list, minibatch(stream, size=size))


def annotate_batches(
    pipe: Any, stream: Iterable[Doc], batch_size: int, annotate: Callable[[list[Doc]], object]
) -> Iterator[Doc]:
    """Annotate docs batch by batch, as spaCy's `TrainablePipe.pipe` does, but send only the doc that raised an error to
    the error handler, not its batch.

    pipe (Pipe): The component, for the handler.
    annotate (Callable[[list[Doc]], object]): Annotates a batch. It may be called again for each doc of a batch.
    YIELDS (Doc): The docs that could be annotated, in order.
    """
    for docs in split_batches(stream, batch_size):
        try:
            annotate(docs)
        except Exception as error:
            if len(docs) == 1:
                pipe.get_error_handler()(pipe.name, pipe, docs, error)
            else:
                yield from annotate_batches(pipe, docs, 1, annotate)
        else:
            yield from docs

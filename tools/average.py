"""The mean of the weights of trained pipelines, which began as one, is often better than each (Wortsman et al. 2022).

    python -m tools.average PIPELINE... OUTPUT

All PIPELINEs have components with weights of PyTorch or Thinc, and one config. What has no weights is as in the first
of them. `parsetag` of the others is given the labels that it lacks, which it scores as it does others on average.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from thinc.api import Model

from spacy_parsetag.pipeline.component import ParseTagger


def average(pipelines: Sequence[Language]) -> Language:
    """Make each weight of the first pipeline the mean of all pipelines' weights.

    pipelines (Sequence[Language]): The pipelines; the labels of the first one's parsers are added to the others'.
    RETURNS (Language): The first one.
    RAISES (ValueError): If they have not the same components, layers, labels or shapes.
    """
    first, *others = pipelines
    for name, pipe in first.components:
        other_pipes: list[Any] = [other.get_pipe(name) for other in others]
        if isinstance(pipe, ParseTagger):
            for other in other_pipes:
                for tag in pipe.labels:
                    other.add_label(tag)
        labels = getattr(pipe, "labels", None)
        if any(getattr(other, "labels", None) != labels for other in other_pipes):
            raise ValueError(f"{name}: the pipelines have other labels; name one that has all of them first")
        if hasattr(pipe, "model"):
            average_models([pipe.model, *(other.model for other in other_pipes)])
    return first


def mean(arrays: Sequence[Any], name: str) -> Any:
    """Take the mean of arrays, or of tensors, of one shape."""
    if len({tuple(array.shape) for array in arrays}) > 1:
        raise ValueError(f"{name}: shapes are {', '.join(str(tuple(array.shape)) for array in arrays)}")
    return sum(arrays) / len(arrays)


def average_models(models: Sequence[Model[Any, Any]], mean: Callable[[Sequence[Any], str], Any] = mean) -> None:
    """Make each weight of the first model the mean of all models' weights.

    mean (Callable[[Sequence[Any], str], Any]): Takes it of a weight's arrays or tensors; the name is for messages.
    """
    for nodes in zip(*(model.walk() for model in models), strict=True):
        first = nodes[0]
        for name in first.param_names:
            if first.has_param(name):
                first.set_param(name, mean([node.get_param(name) for node in nodes], f"{first.name}, {name}"))
        for shims in zip(*(node.shims for node in nodes), strict=True):
            states = [shim._model.state_dict() for shim in shims]
            shims[0]._model.load_state_dict({
                name: mean([state[name] for state in states], name) if tensor.is_floating_point() else tensor
                for name, tensor in states[0].items()
            })  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pipelines", type=Path, nargs="+", metavar="PIPELINE")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    args = arguments.parse_args()
    average([spacy.load(path) for path in args.pipelines]).to_disk(args.output)


if __name__ == "__main__":
    main()

"""Checks of what a pipe is made of and of what it is given or loaded from, and the bound on the stack of its parts."""

import inspect
from typing import Any

from ..errors import Errors
from ..linearize import Linearizer, max_stack
from ..linearize.tags import TagSet
from ..trees import BinaryTree

_TWO_WORDS = BinaryTree((False, True, True), ("", "", ""))


def check_parts(name: str, linearizer: object, decoder: object, loss: object) -> None:
    """Check the parts that a config names.

    name (str): The component, for the message.
    linearizer, decoder, loss (object): The parts.
    RAISES (ValueError): If one of them is something else.
    """
    parts = (
        ("linearizer", linearizer, isinstance(linearizer, Linearizer)),
        ("decoder", decoder, _takes(decoder, 1)),
        ("loss", loss, _takes(loss, 2)),
    )
    for kind, part, fits in parts:
        if not fits:
            raise ValueError(Errors.E254.format(name=name, kind=kind, part=part))


def _takes(part: object, n_arguments: int) -> bool:
    """Whether a part can be called with so many arguments: all that the protocols of decoders and losses differ in."""
    try:
        inspect.signature(part).bind(*range(n_arguments))  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def set_bounds(parts: tuple[Any, ...], before: list[Any], largest: int, linearizer: Linearizer) -> list[Any]:
    """Turn the bound "train" into a number.

    parts (tuple[Any, ...]): The decoder and the loss; those without the bound "train" stay as they are.
    before (list[Any]): Parts that had it, and got the number of the trees of then.
    largest (int): The largest stack in the training trees (paper, appendix); 0 if it is not known: then no bound.
    linearizer (Linearizer): The order. The bound is no less than what lets any sentence have a tree.
    RETURNS (list[Any]): Those that had it.
    """
    least = max_stack(linearizer.linearize(_TWO_WORDS), linearizer.lattice)
    bounded = [
        part for part in parts if getattr(part, "max_stack", None) == "train" or any(part is one for one in before)
    ]
    for part in bounded:
        part.max_stack = max(largest, least) if largest else None
    return bounded


def read_label_data(labels: Any, order: str, name: str) -> tuple[set[str], int]:
    """Read what `spacy init labels` wrote.

    labels (Any): The label data: the "tags", and where known their "order" and the largest stack, "max_stack".
    order (str): The order of the pipe that is to have them.
    name (str): The component, for messages.
    RETURNS (tuple[set[str], int]): The tags, and the largest stack in the training trees; 0 if it is not known.
    RAISES (ValueError): If it is something else, or of another order.
    """
    if not isinstance(labels, dict) or "tags" not in labels:
        raise ValueError(Errors.E252.format(name=name))
    if labels.get("order", order) != order:
        raise ValueError(Errors.E253.format(name=name, trained=labels["order"], order=order))
    return set(labels["tags"]), int(labels.get("max_stack", 0))


def find_problem(cfg: dict[str, Any], order: str, n_scores: int | None) -> str:
    """Find what is wrong with the settings of a saved pipe.

    cfg (dict[str, Any]): The settings.
    order (str): The order of the pipe that is to have them.
    n_scores (int | None): The width of the model's output, twice the number of tags; None before it is known.
    RETURNS (str): What is wrong, for a message; empty if nothing is.
    """
    tags, bound = cfg.get("tags"), cfg.get("max_stack")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "'tags' must be a list of strings"
    if tags and list(TagSet(tags).tags) != tags:
        return "'tags' must be sorted, without duplicates, and have the four bare tags"
    if cfg.get("order") != order:
        return f"'order' is {cfg.get('order')!r}, but the config has the linearizer {order!r}"
    if not isinstance(bound, int) or bound < 0:
        return "'max_stack' must be a whole number of at least 0"
    if not isinstance(cfg.get("spans_key"), str):
        return "'spans_key' must be a string"
    temperatures = (cfg.get("temperature"), cfg.get("tree_temperature"))
    if not all(isinstance(t, (int, float)) and 0 < t < float("inf") for t in temperatures):
        return "'temperature' and 'tree_temperature' must be numbers above 0"
    if n_scores is not None and n_scores != 2 * len(tags):
        return f"the model scores {n_scores // 2} tags, and 'tags' has {len(tags)}"
    return ""

"""Checks of the parts and settings of a component, of its label data, and of what it saved."""

import inspect
import math
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeGuard

from spacy.language import Language

from ..decode.constraints import LARGEST_COUNT, is_whole
from ..errors import Errors, Warnings
from ..linearize import Linearizer, TagSet, largest_stack
from ..tokens import SPANS_KEY, register_extensions
from ..trees import BinaryTree
from .constraints import CONSTRAINTS_KEY
from .scorer import score_prefix

_TWO_WORDS = BinaryTree((False, True, True), ("", "", ""))


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


# What settings must be, for a message, and a test of it.
_NEEDED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "spans_key": (f"a name, and not {CONSTRAINTS_KEY!r}", lambda value: value not in (None, "", CONSTRAINTS_KEY)),
    "learn_rate_scale": ("a number from 0 on", lambda value: isinstance(value, Real) and 0 <= float(value) < math.inf),
    "max_stack": (
        "'train', a whole number from 0 on, or None",
        lambda value: value in ("train", None) or is_whole(value, 0),
    ),
    "probs": ("True or False", lambda value: value in (True, False)),
    "k_best": (f"a whole number from 0 to {LARGEST_COUNT}", lambda value: is_whole(value, 0, LARGEST_COUNT)),
    "constraints": ("a function of a doc, or None", lambda value: value is None or callable(value)),
    "conflicts": ("'raise' or 'drop'", lambda value: value in ("raise", "drop")),
    **dict.fromkeys(("temperature", "tree_temperature"), ("a number above 0", _is_positive)),
    "cost": ("a number", lambda value: isinstance(value, Real) and math.isfinite(value)),
}
# Parts that a config names: for each kind a registered example, for a message, and a test of a part.
_PARTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "linearizer": ("InOrder", lambda part: isinstance(part, Linearizer)),
    "decoder": ("ExactDecoder", lambda part: _takes(part, 1)),
    "loss": ("TreeLoss", lambda part: _takes(part, 2)),
}


def check_setting(name: str, setting: str, value: Any) -> None:
    """Raise a ValueError if a setting or a part of a component has a value that means nothing."""
    if setting in _PARTS:
        example, fits = _PARTS[setting]
        if not fits(value):
            raise ValueError(Errors.E254.format(name=name, kind=setting, part=value, example=example))
    elif setting in _NEEDED:
        needed, fits = _NEEDED[setting]
        if not fits(value):
            raise ValueError(Errors.E263.format(name=name, setting=setting, needed=needed, value=value))


def saved_setting(setting: str) -> property:
    """Make an attribute of a setting that is saved with the pipe, in its `cfg`."""
    return property(lambda pipe: pipe.cfg[setting], lambda pipe, value: pipe.cfg.update({setting: value}))


class Checked:
    """Checks the settings of a component whenever they are set, by its config or on a loaded pipeline."""

    name: str
    spans_key = saved_setting("spans_key")

    def __setattr__(self, setting: str, value: Any) -> None:
        check_setting(self.name, setting, value)
        super().__setattr__(setting, value)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)  # type: ignore[misc]  # that of spaCy's compiled class
        register_extensions()  # in another process nothing else has


def _takes(part: object, n_arguments: int) -> bool:
    """Check whether a part takes a number of arguments: all that the protocols of decoders and losses differ in."""
    if isinstance(part, type):  # made of it would be one
        return False
    try:
        inspect.signature(part).bind(*range(n_arguments))  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def warn_of_key(nlp: Language, pipe: Any) -> None:
    """Warn if the training of a pipeline ignores the scores of a pipe's key, or several components write to this key.

    pipe (ParseTagger): The pipe, which is being initialized.
    """
    key = pipe.spans_key
    if pipe.scorer is not None and key != SPANS_KEY:
        weights, score = nlp.config.interpolate()["training"]["score_weights"], f"{score_prefix(key)}_f"
        if weights and score not in weights:
            warnings.warn(Warnings.W258.format(name=pipe.name, key=key, score=score), stacklevel=3)
    names = [name for name, other in nlp.components if isinstance(other, Checked) and other.spans_key == key]
    if len(names) > 1:
        warnings.warn(Warnings.W260.format(names=", ".join(map(repr, names)), key=key), stacklevel=3)


def least_bound(linearizer: Linearizer) -> int:
    """Find the least bound on the stack with which any sentence has a tree."""
    return largest_stack(linearizer.linearize(_TWO_WORDS), linearizer.lattice)


def read_label_data(labels: Any, order: str, name: str) -> tuple[set[str], int]:
    """Read label data as `spacy init labels` writes it.

    RETURNS (tuple[set[str], int]): The tags, and the largest stack in the training trees; 0 if it is not known.
    RAISES (ValueError): If it is something else, or of another order.
    """
    found = labels if isinstance(labels, dict) else {}
    tags, largest, given = found.get("tags"), found.get("max_stack", 0), found.get("order", order)
    if not (_are_strings(tags) and tags and is_whole(largest, 0) and isinstance(given, str)):
        raise ValueError(Errors.E252.format(name=name))
    if given != order:
        raise ValueError(Errors.E258.format(name=name, given=given, order=order))
    return set(tags), int(largest)


def _are_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def find_problem(cfg: dict[str, Any], order: str, n_scores: int | None) -> str:
    """Find what is wrong with the settings of a saved pipe.

    n_scores (int | None): The width of the model's output, twice the number of tags; None before it is known.
    RETURNS (str): What is wrong, for a message; empty if nothing is.
    """
    tags, largest = cfg.get("tags"), cfg.get("max_stack")
    if not _are_strings(tags):
        return "'tags' must be a list of strings"
    try:
        if tags and list(TagSet(tags).tags) != tags:
            return "'tags' must be sorted, without duplicates, and have the four bare tags"
    except ValueError as error:
        return str(error).rstrip(".")
    if cfg.get("order") != order:
        return f"'order' is {cfg.get('order')!r}, but the config has the linearizer {order!r}"
    if not is_whole(largest, 0):
        return "'max_stack' must be a whole number of at least 0"
    if not isinstance(cfg.get("spans_key"), str):
        return "'spans_key' must be a string"
    temperatures = (cfg.get("temperature"), cfg.get("tree_temperature"))
    if not all(map(_is_positive, temperatures)):
        return "'temperature' and 'tree_temperature' must be numbers above 0"
    if n_scores is not None and n_scores != 2 * len(tags):
        return f"the model scores {n_scores // 2} tags, and 'tags' has {len(tags)}"
    return ""

"""Copies of an encoder in place of listeners."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.language import Language
from thinc.api import Model


def reach_nested_listeners(nlp: Language) -> None:
    """Let `nlp.replace_listeners` write the right config for a listener below a component's `model.tok2vec`.

    A transformer makes the config of its copy from that of the listener, and for the listener's spaCy always gives it
    the section `model.tok2vec`. With another section there, it fails or writes a config that does not load.
    """
    for _, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        if isinstance(model, Model) and (make_config := model.attrs.get("replace_listener_cfg")):
            model.attrs["replace_listener_cfg"] = partial(_make_config, make_config)


def _make_config(
    make_config: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
    encoder: dict[str, Any],
    section: dict[str, Any],
) -> dict[str, Any]:
    return make_config(encoder, _find_listener(section) or section)


def _find_listener(section: dict[str, Any]) -> dict[str, Any] | None:
    if "Listener" in section.get("@architectures", ""):
        return section
    found = (_find_listener(value) for value in section.values() if isinstance(value, dict))
    return next(filter(None, found), None)

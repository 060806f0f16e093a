"""More tags for a trained learner: its output layers get rows for them, and keep what they have learned."""

from collections.abc import Sequence
from typing import Any

from thinc.api import Model, noop

from ..linearize.tagset import TagSet

# The name, as in spaCy's resizable models, of a learner's attribute: a function that takes the learner, the old tags
# and the new ones, and resizes the learner.
RESIZE = "resize_output"


def resize_output(model: Model[Any, Any], old: TagSet, new: TagSet) -> bool:
    """Give a learner scores for more tags. The tags that it had score as before.

    model (Model): The learner. One that does not know its width yet gets it when it is initialized.
    RETURNS (bool): True if the learner scores the new tags, or will once it is initialized. False, and unchanged, if
        its width fits neither tag set, or it does not say how to be resized.
    """
    width = model.maybe_get_dim("nO")  # twice the number of tags
    if width is None or width == 2 * len(new):
        return True
    if width != 2 * len(old) or RESIZE not in model.attrs:
        return False
    model.attrs[RESIZE](model, old, new)
    return True


def resize_rows(layer: Model[Any, Any], old: Sequence[Any], new: Sequence[Any], axes: dict[str, int]) -> None:
    """Rearrange the outputs of a layer. A new output gets the mean of the parameters of the old outputs.

    old (Sequence): What the rows stand for.
    axes (dict[str, int]): For each parameter by its name, the number of its first axes that stand for outputs.
    """
    xp = layer.ops.xp
    old_rows = {name: i for i, name in enumerate(old)}
    rows = xp.asarray([old_rows.get(name, len(old)) for name in new])
    params: dict[str, Any] = {name: layer.get_param(name) for name in layer.param_names}
    for name, n_axes in axes.items():
        for axis in range(n_axes):
            mean = params[name].mean(axis=axis, keepdims=True)
            params[name] = xp.take(xp.concatenate([params[name], mean], axis=axis), rows, axis=axis)
    for name in params:  # Thinc refuses another size while there are parameters
        layer.set_param(name, None)
    layer.set_dim("nO", layer.get_dim("nO") // len(old) * len(new), force=True)
    # An id of its own: gradients, and what an optimizer keeps by id, have the old sizes.
    layer.id = noop().id
    for name, value in params.items():
        layer.set_param(name, value)

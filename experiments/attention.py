"""Self-attention on top of an encoder, as benepar has it, to compare a BiLSTM with: a --code file for trials.

    python experiments/run.py attention --code experiments/attention.py --set \\
        components.parsetag.model.encoder='{"@layers": "spacy-parsetag.SelfAttention.v0", "width": 512}' ...
"""

from collections.abc import Callable
from typing import Any, cast

import torch
from spacy.util import registry
from thinc.api import ArgsKwargs, Linear, Model, PyTorchWrapper_v3, chain, torch2xp, with_array, xp2torch
from thinc.types import Floats2d, Floats3d

Words = list[Floats2d]


class SelfAttention(torch.nn.Module):
    """Layers of a transformer over padded sentences, with sinusoidal positions (Vaswani et al., 2017)."""

    def __init__(self, width: int, depth: int, heads: int, inner_width: int, dropout: float) -> None:
        super().__init__()
        # Norms before the layers: such layers bear the rate of the parser's own, ten times that of the encoder.
        layer = torch.nn.TransformerEncoderLayer(
            width, heads, inner_width, dropout, batch_first=True, norm_first=True
        )  # fmt: skip
        norm = torch.nn.LayerNorm(width)
        self.layers = torch.nn.TransformerEncoder(layer, depth, norm, enable_nested_tensor=False)
        self.rates = torch.nn.Buffer(10000.0 ** -torch.linspace(0, 1, width // 2), persistent=False)

    def forward(self, X: Any, lengths: Any) -> Any:
        """X: (sentences, words, width); lengths: words of each sentence."""
        steps = torch.arange(X.shape[1], device=X.device)
        angles = steps[:, None] * self.rates
        padding = steps >= lengths.clamp(min=1)[:, None]
        return self.layers(X + torch.cat([angles.sin(), angles.cos()], dim=1), src_key_padding_mask=padding)


@registry.layers("spacy-parsetag.SelfAttention.v0")
def self_attention(
    width: int = 512, depth: int = 2, heads: int = 8, inner_width: int = 1024, dropout: float = 0.2
) -> Model[Words, Words]:
    """An `encoder` of Spans.v1. Input: (words, nI) arrays. Output: (words, width) arrays."""
    module = SelfAttention(width, depth, heads, inner_width, dropout)
    layers: Model[Words, Words] = PyTorchWrapper_v3(module, convert_inputs=_pad, convert_outputs=_unpad)
    layers.set_dim("nO", width)
    project: Model[Words, Words] = with_array(cast(Any, Linear(nO=width)))
    return chain(project, layers)


def _pad(model: Model[Words, Words], X: Words, is_train: bool) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Words]]:
    lengths = [len(x) for x in X]
    device = cast(Any, model.shims[0]).device
    padded = xp2torch(cast(Floats3d, model.ops.pad(X)), requires_grad=is_train, device=device)

    def get_dX(gradients: ArgsKwargs) -> Words:
        return _split(cast(Floats3d, torch2xp(gradients.args[0])), lengths)

    return ArgsKwargs(args=(padded, torch.tensor(lengths, device=device)), kwargs={}), get_dX


def _unpad(
    model: Model[Words, Words], X_and_Y: tuple[Words, Any], is_train: bool
) -> tuple[Words, Callable[[Words], ArgsKwargs]]:
    X, Y = X_and_Y

    def get_dY(dY: Words) -> ArgsKwargs:
        gradient = xp2torch(cast(Floats3d, model.ops.pad(dY)), device=Y.device)
        return ArgsKwargs(args=((Y,),), kwargs={"grad_tensors": gradient})

    return _split(cast(Floats3d, torch2xp(Y)), [len(x) for x in X]), get_dY


def _split(array: Floats3d, lengths: list[int]) -> Words:
    return [cast(Floats2d, array[i, :n]) for i, n in enumerate(lengths)]

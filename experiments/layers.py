"""A word from several layers of the encoder instead of the last alone: a --code file for trials.

    python experiments/run.py last-four-layers --code experiments/layers.py ...

The mean of BERT's last four layers has the last one's width, and nothing to learn of its own. supar takes as many
(`n_bert_layers`), with a weight for each.
"""

from functools import wraps
from typing import Any

import torch
from transformers import BertModel
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

LAYERS = 4
forward = BertModel.forward


@wraps(forward)
def mean_of_layers(self: BertModel, *args: Any, **kwargs: Any) -> BaseModelOutputWithPoolingAndCrossAttentions:
    output = forward(self, *args, **kwargs, output_hidden_states=True)
    mean: Any = torch.stack(output.hidden_states[-LAYERS:]).mean(dim=0)
    return BaseModelOutputWithPoolingAndCrossAttentions(last_hidden_state=mean, pooler_output=output.pooler_output)


BertModel.forward = mean_of_layers  # type: ignore[method-assign]

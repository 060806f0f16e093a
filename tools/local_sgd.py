"""Trains a pipeline in several processes, whose weights become their mean every few steps: local SGD (Stich 2019).

    python -m tools.local_sgd CONFIG OUTPUT --processes 4 --every 25 --gpu-id 0 --paths.train FOLDER

CONFIG is one that `spacy train` takes, with the same overrides. Each process reads its share of the docs, and takes
`training.max_steps` steps over it; one by itself leaves a GPU idle most of the time. Nothing is evaluated meanwhile:
OUTPUT is the pipeline at the end.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from spacy.cli._util import parse_config_overrides
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry, resolve_dot_names
from thinc.api import fix_random_seed, require_gpu, set_gpu_allocator


def train(rank: int, args: argparse.Namespace, overrides: dict[str, Any]) -> None:
    """Train one of the processes; the first one saves the pipeline."""
    dist.init_process_group("gloo", init_method=f"file://{args.meeting}", rank=rank, world_size=args.processes)
    if args.gpu_id >= 0:
        set_gpu_allocator("pytorch")
        require_gpu(args.gpu_id)
    nlp = init_nlp(load_config(args.config, overrides=overrides), use_gpu=args.gpu_id)
    config = nlp.config.interpolate()
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
    optimizer, steps = training["optimizer"], training["max_steps"]
    fix_random_seed(training["seed"] + rank)
    losses: dict[str, float] = {}
    examples = own_examples(lambda: corpus(nlp), rank, args.processes)
    for step, batch in enumerate(islice(training["batcher"](examples), steps), 1):
        nlp.update(batch, drop=training["dropout"], sgd=optimizer, losses=losses)
        optimizer.step_schedules()
        if step % args.every == 0 or step == steps:
            share_weights(nlp)
            if rank == 0:
                shown = ", ".join(f"{name} {loss / args.every:,.2f}" for name, loss in losses.items())
                sys.stdout.write(f"Step {step:,} of {steps:,}: {shown}\n")
                sys.stdout.flush()
            losses.clear()
    if rank == 0:
        nlp.to_disk(args.output)


def own_examples(read: Callable[[], Iterable[Example]], rank: int, processes: int) -> Iterator[Example]:
    """A process's share of the examples, again and again, each time in another order."""
    for _ in count():
        own = list(islice(read(), rank, None, processes))
        random.shuffle(own)
        yield from own


def share_weights(nlp: Language) -> None:
    """Make each weight, of PyTorch or Thinc, the mean of all processes' weights."""
    for _, pipe in nlp.components:
        for node in pipe.model.walk() if hasattr(pipe, "model") else ():
            for name in node.param_names:
                if node.has_param(name):
                    array = torch.from_numpy(node.ops.to_numpy(node.get_param(name)).copy())
                    node.set_param(name, node.ops.asarray(mean(array).numpy()))
            for shim in node.shims:
                shim._model.load_state_dict({
                    name: mean(tensor.cpu().clone()) if tensor.is_floating_point() else tensor
                    for name, tensor in shim._model.state_dict().items()
                })  # fmt: skip


def mean(tensor: torch.Tensor) -> torch.Tensor:
    """Take the mean of a tensor over all processes."""
    dist.all_reduce(tensor)
    return tensor / dist.get_world_size()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path, metavar="CONFIG")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--every", type=int, default=25, help="steps between means")
    parser.add_argument("--gpu-id", type=int, default=-1, help="-1 for the CPU")
    args, more = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        args.meeting = Path(folder) / "meeting"
        own = partial(train, args=args, overrides=parse_config_overrides(more))
        with ProcessPoolExecutor(args.processes, get_context("spawn")) as processes:
            list(processes.map(own, range(args.processes)))


if __name__ == "__main__":
    main()

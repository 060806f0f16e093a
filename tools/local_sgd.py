"""Trains a pipeline in several processes, whose weights become their mean every few steps: local SGD (Stich 2019).

    python -m tools.local_sgd CONFIG OUTPUT --processes 4 --every 25 --gpu-id 0 --paths.train FOLDER

CONFIG is one that `spacy train` takes, with the same overrides, but without averages (`use_averages`), frozen or
annotating components, `before_update`, or `accumulate_gradient`. Each process reads its share of the docs, and takes
`training.max_steps` steps over it. Nothing is evaluated meanwhile: OUTPUT is the pipeline at the end.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from spacy.cli._util import parse_config_overrides
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry, resolve_dot_names
from thinc.api import fix_random_seed, get_array_module, require_gpu, set_gpu_allocator, to_numpy
from torch.multiprocessing.spawn import spawn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.average import average_models


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
            for _, pipe in nlp.components:
                if hasattr(pipe, "model"):
                    average_models([pipe.model], mean_of_processes)
            if rank == 0:
                n_steps = step % args.every or args.every
                shown = ", ".join(f"{name} {loss / n_steps:,.2f}" for name, loss in losses.items())
                sys.stdout.write(f"Step {step:,} of {steps:,}: {shown}\n")
                sys.stdout.flush()
            losses.clear()
    if rank == 0:
        nlp.to_disk(args.output)


def left_undone(training: dict[str, Any]) -> list[str]:
    """List the settings that `spacy train` would heed, and that are not heeded here."""
    names = [name for name in ("frozen_components", "annotating_components", "before_update") if training.get(name)]
    if training.get("accumulate_gradient", 1) != 1:
        names.append("accumulate_gradient")
    if training.get("max_steps", 1) < 1:
        names.append("max_steps")
    return names + ["optimizer.use_averages"] * training["optimizer"].get("use_averages", True)


def own_examples(read: Callable[[], Iterable[Example]], rank: int, processes: int) -> Iterator[Example]:
    """A process's share of the examples, again and again, each time in another order."""
    for _ in count():
        examples = list(islice(read(), rank, None, processes))
        if not examples:
            raise SystemExit(f"There are fewer docs to train on than {processes} processes.")
        random.shuffle(examples)
        yield from examples


def mean_of_processes(arrays: Sequence[Any], name: str) -> Any:
    """Take the mean of an array, or of a tensor, over all processes."""
    (array,) = arrays
    tensor = array.cpu().clone() if torch.is_tensor(array) else torch.tensor(to_numpy(array))
    dist.all_reduce(tensor)
    tensor /= dist.get_world_size()
    return tensor if torch.is_tensor(array) else get_array_module(array).asarray(tensor.numpy())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path, metavar="CONFIG")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--every", type=int, default=25, help="steps between means")
    parser.add_argument("--gpu-id", type=int, default=-1, help="-1 for the CPU")
    args, words = parser.parse_known_args(arguments)
    overrides = parse_config_overrides(words)
    if names := left_undone(load_config(args.config, overrides=overrides)["training"]):
        raise SystemExit(f"{args.config}: several processes do without {', '.join(names)} of [training]. Leave it out.")
    with tempfile.TemporaryDirectory() as folder:
        args.meeting = Path(folder) / "meeting"
        # Where one process fails, the others end too.
        spawn(train, (args, overrides), args.processes)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()

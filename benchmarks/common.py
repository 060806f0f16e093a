"""What the benchmarks on one core share: sentences, scores, timing, and their options."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

# One core: set before NumPy is imported anywhere.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
from nltk import Tree  # noqa: E402
from record import ROOT, parse_arguments  # noqa: E402

from spacy_parsetag.linearize.tags import TagSet  # noqa: E402

# 150 tags: labels of each class, beside the bare ones.
LABELS = {"l": 30, "r": 40, "L": 26, "R": 50}


def draw_trees(n: int) -> list[Tree]:
    """Trees of the synthetic treebank, which is a tool of the repository and not in the package."""
    sys.path.append(str(ROOT))
    from tools.synthetic import generate

    return [tree for _, tree in generate({"train": n})]


class Sample(NamedTuple):
    """Sentences of 5 to 44 words with normal scores, as a decoder takes them."""

    scores: np.ndarray  # (rows, tags) float32
    rows: np.ndarray
    words: np.ndarray
    tags: TagSet


def make_sample(sentences: int, *, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    tags = TagSet(f"{name}/X{i}" for name, n in LABELS.items() for i in range(n))
    words = rng.integers(5, 45, sentences).astype(np.int32)
    lengths = 2 * words - 1
    rows = (np.cumsum(lengths) - lengths).astype(np.int64)
    return Sample(rng.normal(size=(int(lengths.sum()), len(tags))).astype(np.float32), rows, words, tags)


def best_time(run: Callable[[], Any], repeats: int) -> float:
    """CPU seconds of the fastest of some runs, after one to warm up: other work on the machine then counts for less."""
    run()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def arguments(description: str, *, sentences: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--sentences", type=int, default=sentences, help="sentences to decode")
    parser.add_argument("--repeats", type=int, default=9, help="runs of which the fastest counts")
    return parse_arguments(parser)

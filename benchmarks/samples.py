"""Sentences and scores for benchmarks, drawn at random."""

import sys

import numpy as np
from nltk import Tree
from record import ROOT

from spacy_parsetag.decode import TagScores
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet

# 150 tags: labels of each class, beside the bare ones.
LABELS = {"l": 30, "r": 40, "L": 26, "R": 50}


def draw_trees(n: int) -> list[Tree]:
    """Trees of the synthetic treebank, which is a tool of the repository and not in the package."""
    sys.path.append(str(ROOT))
    from tools.synthetic import generate

    return [tree for _, tree in generate({"train": n})]


def make_sample(sentences: int, order: str = "in", *, seed: int = 0) -> TagScores:
    """Sentences of 5 to 44 words with normal scores in float32."""
    rng = np.random.default_rng(seed)
    tags = TagSet(f"{name}/X{i}" for name, n in LABELS.items() for i in range(n))
    n_words = rng.integers(5, 45, sentences).astype(np.int32)
    lengths = 2 * n_words - 1
    scores = rng.normal(size=(int(lengths.sum()), len(tags))).astype(np.float32)
    return TagScores(scores, np.cumsum(lengths) - lengths, n_words, tags, ORDERS[order])

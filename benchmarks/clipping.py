"""Counts the arrays of parameters that Thinc clips by `grad_clip = 1.0`, and would clip with other losses.

    python benchmarks/clipping.py --train $PARSETAG_SHARED/treebanks/wsj_sample/train.mrg

Thinc clips each array by the norm of its own gradient, and the losses of spaCy's components are sums over a batch. The
paper's program has a mean over words, and clips by one norm over all parameters. Steps of `configs/cnn.cfg`; gradients
are linear in the loss, so the mean's are the sum's over the number of words.
"""

import argparse
import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
from record import RESULTS, ROOT, made_by, write_result
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry
from spacy.vocab import Vocab
from thinc.api import Optimizer, fix_random_seed

from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.treebanks.penn import read_trees
from spacy_parsetag.trees.clean import clean_tree

CONFIG = ROOT / "configs" / "cnn.cfg"


class Measured(Optimizer):
    """An optimizer that notes the norm of each gradient before it clips it."""

    norms: list[float]

    def __call__(self, key: tuple[int, str], weights: Any, gradient: Any, **options: Any) -> Any:
        self.norms.append(float(np.linalg.norm(gradient)))
        return super().__call__(key, weights, gradient, **options)


def measure(docs: list[Doc], steps: int) -> list[dict[str, Any]]:
    """The norms of each step, and its number of words."""
    fix_random_seed(0)
    nlp = load_model_from_config(load_config(CONFIG), auto_fill=True)
    nlp.initialize(lambda: [Example(blank(doc), doc) for doc in docs])
    training = nlp.config.interpolate()["training"]
    settings = registry.resolve({"rate": training["optimizer"]["learn_rate"], "batcher": training["batcher"]})
    optimizer: Any = Measured(
        settings["rate"], grad_clip=training["optimizer"]["grad_clip"], L2=training["optimizer"]["L2"]
    )
    measured = []
    for batch in islice(settings["batcher"](Example(blank(doc), doc) for doc in docs), steps):
        optimizer.norms = []
        # As spaCy's loop does it: first all components, then
        nlp.update(batch, sgd=cast(Any, False), drop=training["dropout"])
        for _, pipe in nlp.pipeline:
            if isinstance(pipe, TrainablePipe):
                pipe.finish_update(optimizer)
        optimizer.step_schedules()
        measured.append({"words": sum(len(eg.reference) for eg in batch), "norms": optimizer.norms})
    return measured


def blank(doc: Doc) -> Doc:
    return Doc(doc.vocab, words=[token.text for token in doc])


def summarize(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of arrays, and of steps, whose norms are 1 or more."""
    summed = [np.asarray(step["norms"]) for step in steps]
    mean = [norms / step["words"] for norms, step in zip(summed, steps, strict=True)]
    figures: dict[str, Any] = {"arrays": len(summed[0])}
    for name, norms in (("summed_loss", summed), ("mean_over_words", mean)):
        norms_of_all = [float(np.linalg.norm(step)) for step in norms]
        figures[name] = {
            "share_of_arrays_clipped": float(np.mean(np.concatenate(norms) >= 1)),
            "median_norm_of_an_array": float(np.median(np.concatenate(norms))),
            "share_of_steps_clipped_by_one_norm": float(np.mean(np.asarray(norms_of_all) >= 1)),
            "median_norm_of_all": float(np.median(norms_of_all)),
        }
    figures["median_share_of_the_largest_array_in_the_norm_of_all"] = float(
        np.median([norms.max() / np.linalg.norm(norms) for norms in summed])
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="a bracket file")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    made = made_by()
    trees = (clean_tree(tree) for tree in read_trees(args.train))
    docs = list(islice(docs_from_trees(Vocab(), (tree for tree in trees if tree is not None)), args.sentences))
    docs *= 1 + args.steps * 1200 // sum(map(len, docs))
    steps = measure(docs, args.steps)
    thirds = {"first": steps[: len(steps) // 3], "last": steps[-(len(steps) // 3) :]}
    figures = {"steps": len(steps), **{f"{name}_third": summarize(third) for name, third in thirds.items()}}
    for name in thirds:
        sys.stdout.write(f"{name} third of the steps: {json.dumps(figures[f'{name}_third'], indent=2)}\n")
    write_result(figures, RESULTS / "clipping.json", made)


if __name__ == "__main__":
    main()

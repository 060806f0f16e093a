"""Matrix products on the CPU, by Thinc's BLIS and by NumPy's BLAS: why the configs name NumPyBLAS.v1.

    python benchmarks/matmul.py --output benchmarks/results/matmul.json

One core, CPU time. First products alone, of the shape that a window of 5 words of width 128 into 3 pieces has; then the
pipeline of `configs/cnn.cfg`, initialized and not trained, over sentences drawn from the bundled grammar.
"""

from common import arguments, draw_trees  # isort: skip  # it leaves NumPy one core

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from record import write_result
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from spacy.vocab import Vocab
from thinc.api import NumpyOps, Optimizer, set_current_ops
from timing import in_turn

from spacy_parsetag.tokens import docs_from_trees

SIDES = {"blis": True, "numpy": False}
CONFIG = Path(__file__).parent.parent / "configs" / "cnn.cfg"


def products(use_blis: bool) -> Callable[[], Any]:
    """Twenty products of the window's shape."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5 * 128)).astype(np.float32)
    W = rng.normal(size=(3 * 128, 5 * 128)).astype(np.float32)
    ops = NumpyOps(use_blis=use_blis)
    return lambda: [ops.gemm(X, W, trans2=True) for _ in range(20)]


def make_pipeline(use_blis: bool, docs: list[Doc]) -> Language:
    config = load_config(CONFIG, interpolate=True)
    config["nlp"]["after_pipeline_creation"] = None
    set_current_ops(NumpyOps(use_blis=use_blis))
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: [Example(blank(doc), doc) for doc in docs])
    return nlp


def blank(doc: Doc) -> Doc:
    return Doc(doc.vocab, words=[token.text for token in doc])


def measure(sentences: int, repeats: int) -> dict[str, dict[str, float]]:
    """Speeds of both, by program, each in turn with the other."""
    docs = list(docs_from_trees(Vocab(), draw_trees(sentences)))
    few = docs[:100]  # about 1,000 words, a batch of the config
    runs: dict[str, dict[str, Callable[[], Any]]] = {}
    for name, use_blis in SIDES.items():
        nlp = make_pipeline(use_blis, docs)
        runs[name] = {
            "gflops": products(use_blis),
            "sentences_parsed_a_second": partial(parse, nlp, docs),
            "sentences_trained_on_a_second": partial(train, nlp, few, nlp.create_optimizer()),
        }
    work = {
        "gflops": 2e-9 * 20 * 1000 * 3 * 128 * 5 * 128,
        "sentences_parsed_a_second": sentences,
        "sentences_trained_on_a_second": len(few),
    }
    speeds: dict[str, dict[str, float]] = {name: {} for name in SIDES}
    for what, amount in work.items():
        for name, times in in_turn({name: programs[what] for name, programs in runs.items()}, repeats).items():
            speeds[name][what] = amount / times.best
    return speeds


def parse(nlp: Language, docs: list[Doc]) -> None:
    for _ in nlp.pipe(map(blank, docs), batch_size=256):
        pass


def train(nlp: Language, docs: list[Doc], optimizer: Optimizer) -> None:
    nlp.update([Example(blank(doc), doc) for doc in docs], sgd=optimizer)


def main() -> None:
    args = arguments(__doc__.splitlines()[0], sentences=1000)
    results = measure(args.sentences, min(args.repeats, 5))
    ratios = {what: results["numpy"][what] / value for what, value in results["blis"].items()}
    for what, ratio in ratios.items():
        speeds = ", ".join(f"{name} {figures[what]:,.0f}" for name, figures in results.items())
        print(f"{what.replace('_', ' ')}: {speeds}, {ratio:.2f} times")
    write_result({"sentences": args.sentences, **results, "ratio": ratios}, args.output, args.made_by)


if __name__ == "__main__":
    main()

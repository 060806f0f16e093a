"""Measures the cost of tagger and parser: CPU time of a whole pipeline over the encoder's alone.

    python benchmarks/pipeline.py --treebank $PARSETAG_SHARED/treebanks/wsj_sample/dev.mrg \\
        --encoder $PARSETAG_ENCODER/. --output benchmarks/results/pipeline.json

The pipeline is that of a config, by default `configs/transformer.cfg`, trained for a moment on the treebank: one that
has learned nothing sets several times as many constituents as trees have (`constituents_a_word`). Docs are the
sentences of the treebank, and then sentences of --lengths words, made by joining them. One core, both by turns: seconds
are those of the fastest run, and the ratio is the median over the rounds, between its quartiles.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles
from typing import Any

from record import ROOT, parse_arguments, write_result
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, minibatch
from spacy.vocab import Vocab
from thinc.api import fix_random_seed
from timing import in_turn

from spacy_parsetag.tokens import SPANS_KEY, docs_from_trees
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.treebanks.formats.table import get_format


def load(
    config: Path, treebank: Path, encoder: str | None, changes: Sequence[str] = (), rounds: int = 0
) -> tuple[Language, list[list[str]]]:
    """Train the pipeline for --rounds rounds on the treebank; return it and the sentences."""
    overrides = dict(change.split("=", 1) for change in changes)
    if encoder is not None:
        overrides["vars.encoder"] = encoder
    fix_random_seed(0)
    golds = list(docs_from_trees(Vocab(), get_format("penn").read_parses(treebank)))
    nlp = load_model_from_config(load_config(config, overrides=overrides), auto_fill=True)
    examples = [Example(copy_words(doc, nlp.vocab), doc) for doc in golds]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.001 if encoder is None else 0.0001
    for _ in range(rounds):
        for batch in minibatch(examples, 16):
            nlp.update(batch, sgd=optimizer)
    return nlp, [[token.text for token in doc] for doc in golds]


def encode_bare(model: Any, texts: Iterable[str], batch: int) -> None:
    """Run a transformer and its tokenizer alone over texts sorted by length, padded in batches."""
    import torch

    model.transformer.eval()
    ordered = sorted(texts, key=lambda text: text.count(" "))
    with torch.inference_mode():
        for start in range(0, len(ordered), batch):
            model.transformer(**model.tokenizer(ordered[start : start + batch], padding="longest", return_tensors="pt"))


def measure(nlp: Language, sentences: list[list[str]], repeats: int) -> dict[str, Any]:
    """Seconds of the encoder and of the whole, over docs of one sentence each."""

    def make_docs() -> list[Doc]:
        return [Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]) for words in sentences]

    (encoder,) = {"transformer", "tok2vec"} & set(nlp.pipe_names)

    def run(names: list[str]) -> None:
        with nlp.select_pipes(enable=names):
            list(nlp.pipe(make_docs()))

    times = in_turn({"encoder": partial(run, [encoder]), "whole": partial(run, nlp.pipe_names)}, repeats)
    low, ratio, high = quantiles(a / b for a, b in zip(times["whole"].cpu, times["encoder"].cpu, strict=True))
    if ratio < 1:
        raise SystemExit("The whole took less time than the encoder: other work disturbs this; see --repeats.")
    n_words = sum(map(len, sentences))
    n_constituents = sum(len(doc.spans[SPANS_KEY]) for doc in nlp.pipe(make_docs()))
    return {
        "sentences": len(sentences),
        "words": n_words,
        "constituents_a_word": round(n_constituents / n_words, 2),
        "seconds": {name: round(seconds.best, 3) for name, seconds in times.items()},
        "wall_seconds": {name: round(seconds.best_wall, 3) for name, seconds in times.items()},
        "whole_over_encoder": round(ratio, 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "words_a_second": round(n_words / times["whole"].best),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "transformer.cfg")
    parser.add_argument("--encoder", default=None, help="transformer: a name, or a folder")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="changes to the config: names")
    parser.add_argument("--treebank", type=Path, required=True, help="bracket file")
    parser.add_argument("--lengths", type=int, nargs="*", default=[100, 200, 300], help="words of long sentences")
    parser.add_argument("--words", type=int, default=4000, help="words of all sentences of a length together")
    parser.add_argument("--rounds", type=int, default=5, help="how often it is trained on the treebank")
    parser.add_argument("--repeats", type=int, default=9, help="rounds, at least two")
    args = parse_arguments(parser)
    nlp, sentences = load(args.config, args.treebank, args.encoder, args.set, args.rounds)
    figures: dict[str, Any] = {"pipeline": nlp.pipe_names, "treebank": measure(nlp, sentences, args.repeats)}
    words = [word for sentence in sentences for word in sentence]
    for length in args.lengths:
        stream = cycle(words)
        joined = [list(islice(stream, length)) for _ in range(max(1, args.words // length))]
        figures[f"{length} words"] = measure(nlp, joined, args.repeats)
    if len(args.lengths) > 1:
        speeds = [figures[f"{length} words"]["words_a_second"] for length in args.lengths]
        figures["slowest_over_fastest_word"] = round(max(speeds) / min(speeds), 2)
    for name, value in figures.items():
        sys.stdout.write(f"{name}: {value}\n")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

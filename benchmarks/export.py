"""Measures what `parsetag export` gains and changes: PyTorch beside ONNX Runtime in float32 and int8, in one run.

    python benchmarks/export.py "$PARSETAG_DATA"/trf --docs "$PARSETAG_DATA"/corpus/dev.spacy \\
        --texts "$PARSETAG_DATA"/corpus/masc-dev.spacy --output benchmarks/results/export.json

PIPELINE is a trained one with a transformer, before its export; it is exported here, to a folder that goes away.
`--docs` are sentences with trees: F of each on their words, how many trees are PyTorch's, and the speed of the encoder
by itself, on the same sentences in batches of like length. `--texts` are docs that whole pipelines parse as raw text.
One core; CPU time of the fastest of some runs, all by turns.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from pipeline import encode_bare
from record import parse_arguments, write_result
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from timing import in_turn

from spacy_parsetag.pipeline.export import export_pipeline
from spacy_parsetag.pipeline.scorer import make_evalb_scorer
from spacy_parsetag.tokens.groups import parses_from_doc
from spacy_parsetag.tokens.sentences import copy_words

BATCH = 16  # sentences that the bare encoder reads at once


def read_docs(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def bare(nlp: Language, golds: Sequence[Doc]) -> Callable[[], None]:
    """A run of the encoder over sentences sorted by length, as pieces, padded."""
    model: Any = nlp.get_pipe("transformer").model  # type: ignore[attr-defined]
    texts = sorted((" ".join(token.text for token in doc) for doc in golds), key=lambda text: text.count(" "))
    if "tokenizer" not in model.attrs:
        return partial(encode_bare, model, texts, BATCH)
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_str(model.attrs["tokenizer"])
    tokenizer.enable_padding(pad_id=model.attrs["pad_id"])
    (shim,) = model.shims

    def run_graph() -> None:
        for start in range(0, len(texts), BATCH):
            encodings = tokenizer.encode_batch(texts[start : start + BATCH])
            ids, mask = (np.asarray([getattr(e, name) for e in encodings]) for name in ("ids", "attention_mask"))
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            shim.run(inputs, on_gpu=False)

    return run_graph


def parse_words(nlp: Language, golds: Sequence[Doc]) -> list[Doc]:
    """Parse the words of sentences."""
    with nlp.select_pipes(disable=[name for name in nlp.pipe_names if name in ("senter", "sentencizer")]):
        return list(nlp.pipe(copy_words(gold, nlp.vocab) for gold in golds))


def whole(nlp: Language, texts: Sequence[str]) -> None:
    for _ in nlp.pipe(texts):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path, metavar="PIPELINE")
    parser.add_argument("--docs", type=Path, required=True, help=".spacy file of sentences with trees")
    parser.add_argument("--texts", type=Path, required=True, help=".spacy file of documents")
    parser.add_argument("--repeats", type=int, default=3)
    args = parse_arguments(parser)
    pipelines = {"pytorch float32": spacy.load(args.pipeline)}
    with tempfile.TemporaryDirectory() as folder:
        for precision in ("float32", "int8"):
            target = Path(folder) / precision
            export_pipeline(spacy.load(args.pipeline), target, precision=precision)
            pipelines[f"onnx {precision}"] = spacy.load(target)
    golds, documents = read_docs(args.docs), read_docs(args.texts)
    texts = [doc.text for doc in documents]
    n_words = sum(not token.is_space for doc in documents for token in doc)
    figures: dict[str, Any] = {"sentences": len(golds), "documents": len(texts), "words_of_documents": n_words}
    times = in_turn({name: bare(nlp, golds) for name, nlp in pipelines.items()}, args.repeats)
    whole_times = in_turn({name: partial(whole, nlp, texts) for name, nlp in pipelines.items()}, args.repeats)
    first_trees: list[Any] = []
    for name, nlp in pipelines.items():
        docs = parse_words(nlp, golds)
        trees = [parses_from_doc(doc) for doc in docs]
        first_trees = first_trees or trees
        scores = make_evalb_scorer()([Example(doc, gold) for doc, gold in zip(docs, golds, strict=True)])
        figures[name] = {
            "f": round(100 * scores["parsetag_f"], 2),
            "same_trees": round(sum(a == b for a, b in zip(trees, first_trees, strict=True)) / len(first_trees), 4),
            "bare": {**times[name].figures(3), "sentences_a_second": round(len(golds) / times[name].best)},
            "whole": {**whole_times[name].figures(3), "words_a_second": round(n_words / whole_times[name].best)},
            "bare_times_as_fast": round(times["pytorch float32"].over(times[name]), 2),
            "whole_times_as_fast": round(whole_times["pytorch float32"].over(whole_times[name]), 2),
        }
    for name, value in figures.items():
        sys.stdout.write(f"{name}: {value}\n")
    write_result(figures, args.output, args.made_by, pipelines=[args.pipeline])


if __name__ == "__main__":
    main()

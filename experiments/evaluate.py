"""One process of a run: a trained pipeline is scored on the development part, once for each decoder.

    python experiments/evaluate.py PIPELINE DEV.spacy OUTPUT.json --decoders DECODERS.json

Two speeds are given, in sentences a second: that of the whole pipeline on tokenized sentences, encoder and heads and
decoder and building of the trees, and that of the decoder by itself. The fastest of some runs counts.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry

from spacy_parsetag.cli.evaluate import paired_trees
from spacy_parsetag.evalb import evalb

KEY = "constituents"


class TimedDecoder:
    """A decoder that says how long it took, and for how many sentences a beam had to be widened."""

    def __init__(self, decoder: Any) -> None:
        self.decoder = decoder
        self.max_stack = decoder.max_stack
        self.reset()

    def reset(self) -> None:
        self.seconds = 0.0
        self.widened: list[bool] = []  # sentence by sentence

    def decode_batch(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        start = time.perf_counter()
        if hasattr(self.decoder, "search_batch"):
            ids, totals, widths = self.decoder.search_batch(*args, **kwargs)
            self.widened += (widths != self.decoder.beam).tolist()
        else:
            ids, totals = self.decoder.decode_batch(*args, **kwargs)
        self.seconds += time.perf_counter() - start
        return ids, totals


def make_decoder(settings: dict[str, Any], largest: int) -> Any:
    """The decoder that settings name; a bound "train" is the largest stack of the training trees."""
    settings = dict(settings)
    if settings.get("max_stack") == "train":
        settings["max_stack"] = max(2, largest)
    return registry.resolve({"decoder": settings})["decoder"]


def blank_copy(nlp: Any, gold: Doc) -> Doc:
    """The words of a doc, and that they are one sentence."""
    spaces = [bool(token.whitespace_) for token in gold]
    starts = [bool(token.is_sent_start) for token in gold]
    return Doc(nlp.vocab, words=[token.text for token in gold], spaces=spaces, sent_starts=starts)


def score(nlp: Any, golds: list[Doc], decoder: TimedDecoder, params: str, repeats: int) -> tuple[dict[str, Any], list]:
    """Parse and score; also the spans found, for comparisons."""
    pipe = nlp.get_pipe("parsetag")
    pipe.decoder = decoder
    list(nlp.pipe([blank_copy(nlp, gold) for gold in golds[:64]]))  # warm up
    whole, alone = [], []
    for _ in range(repeats):
        docs = [blank_copy(nlp, gold) for gold in golds]
        decoder.reset()
        start = time.perf_counter()
        docs = list(nlp.pipe(docs))
        whole.append(time.perf_counter() - start)
        alone.append(decoder.seconds)
    pairs = [
        pair
        for doc, gold in zip(docs, golds, strict=True)
        for pair in paired_trees(Example(doc, gold), pipe.cfg["spans_key"])
    ]
    result = evalb([gold for gold, _ in pairs], [test for _, test in pairs], params)
    figures: dict[str, Any] = {
        "f": result.all.f,
        "precision": result.all.precision,
        "recall": result.all.recall,
        "exact_match": result.exact_match,
        "failures": result.failures,
        "strict_f": result.strict.f,
        "sentences": len(pairs),
        "sentences_per_second": len(pairs) / min(whole),
        "decoding_sentences_per_second": len(pairs) / min(alone),
        "max_stack": decoder.max_stack,
    }
    if hasattr(decoder.decoder, "search_batch"):
        figures["widened"] = sum(decoder.widened)
        # What the paper's beam, which is not widened, would get: nothing for these sentences.
        tests = [None if widened else test for (_, test), widened in zip(pairs, decoder.widened, strict=True)]
        figures["f_without_widening"] = evalb([gold for gold, _ in pairs], tests, params).strict.f
    return figures, [[(span.start, span.end, span.label_) for span in doc.spans[pipe.cfg["spans_key"]]] for doc in docs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--decoders", type=Path, required=True, help="JSON: settings of each")
    parser.add_argument("--params", default="collins")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--gpu-id", type=int, default=-1)
    arguments = parser.parse_args()
    if arguments.gpu_id >= 0:
        spacy.require_gpu(arguments.gpu_id)
    nlp = spacy.load(arguments.pipeline)
    pipe = nlp.get_pipe("parsetag")
    golds = list(DocBin().from_disk(arguments.dev).get_docs(nlp.vocab))
    results: dict[str, Any] = {}
    first: list = []
    for name, settings in json.loads(arguments.decoders.read_text(encoding="utf-8")).items():
        decoder = TimedDecoder(make_decoder(settings, pipe.cfg["max_stack"]))
        results[name], found = score(nlp, golds, decoder, arguments.params, arguments.repeats)
        if first:
            results[name]["same_tree"] = sum(a == b for a, b in zip(first, found, strict=True)) / len(found)
        first = first or found
    arguments.output.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

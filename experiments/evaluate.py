"""One process of a run: a trained pipeline is scored on the development part, once for each decoder.

    python experiments/evaluate.py PIPELINE DEV.spacy OUTPUT.json --decoders DECODERS.json

Two speeds are given, in sentences a second: that of the whole pipeline on tokenized sentences, encoder and heads and
decoder and building of the trees, and that of the decoder by itself. The fastest of some runs counts.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import import_file, registry
from spec import without_bound
from thinc.api import require_gpu

from spacy_parsetag.cli._systems import paired_trees
from spacy_parsetag.decode import BeamDecoder, Decoded, Decoder, Distribution
from spacy_parsetag.evalb import evalb
from spacy_parsetag.tokens.sentences import copy_words


class TimedDecoder:
    """A decoder that says how long it took."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.seconds = 0.0

    def __call__(self, distribution: Distribution) -> Decoded:
        start = time.perf_counter()
        decoded = self.decoder(distribution)
        self.seconds += time.perf_counter() - start
        return decoded


def score(
    nlp: Any, golds: list[Doc], decoder: Decoder, params: str, repeats: int, max_stack: int | str | None = None
) -> tuple[dict[str, Any], list[Any]]:
    """Parse and score; also the spans found, for comparisons."""
    pipe = nlp.get_pipe("parsetag")
    pipe.max_stack = max_stack
    timed = pipe.decoder = TimedDecoder(decoder)
    key = pipe.cfg["spans_key"]
    list(nlp.pipe([copy_words(gold, nlp.vocab) for gold in golds[:64]]))  # warm up
    pipeline_seconds, decoder_seconds = [], []
    for _ in range(repeats):
        docs = [copy_words(gold, nlp.vocab) for gold in golds]
        timed.seconds = 0.0
        start = time.perf_counter()
        docs = list(nlp.pipe(docs))
        pipeline_seconds.append(time.perf_counter() - start)
        decoder_seconds.append(timed.seconds)
    pairs = [pair for doc, gold in zip(docs, golds, strict=True) for pair in paired_trees(Example(doc, gold), key)]
    result = evalb([gold for gold, _ in pairs], [test for _, test in pairs], params)
    figures: dict[str, Any] = {
        "f": result.all.f,
        "precision": result.all.precision,
        "recall": result.all.recall,
        "exact_match": result.exact_match,
        "failures": result.failures,
        "strict_f": result.strict.f,
        "sentences": len(pairs),
        "sentences_per_second": len(pairs) / min(pipeline_seconds),
        "decoding_sentences_per_second": len(pairs) / min(decoder_seconds),
        "max_stack": pipe.bound,
    }
    if isinstance(decoder, BeamDecoder):
        widened = [width != decoder.beam for doc in docs for width in doc.spans[key].attrs["beam_widths"]]
        figures["widened"] = sum(widened)
        # What the paper's beam, which is not widened, would get: nothing for these sentences.
        tests = [None if wide else test for (_, test), wide in zip(pairs, widened, strict=True)]
        figures["f_without_widening"] = evalb([gold for gold, _ in pairs], tests, params).strict.f
    return figures, [[(span.start, span.end, span.label_) for span in doc.spans[key]] for doc in docs]


def make_decoder(settings: dict[str, Any]) -> tuple[Decoder, Any]:
    """A decoder, and the component's bound that goes with it."""
    unbounded, max_stack = without_bound(settings)
    return registry.resolve({"decoder": unbounded})["decoder"], max_stack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--decoders", type=Path, required=True, help="JSON: settings of each; null: the pipeline's")
    parser.add_argument("--params", default="collins")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--code", type=Path, help="Python file that registers parts of the pipeline's config")
    parser.add_argument("--gpu-id", type=int, default=-1)
    arguments = parser.parse_args()
    if arguments.code:
        import_file("own_parts", arguments.code)
    if arguments.gpu_id >= 0:
        require_gpu(arguments.gpu_id)
    nlp = spacy.load(arguments.pipeline)
    golds = list(DocBin().from_disk(arguments.dev).get_docs(nlp.vocab))
    results: dict[str, Any] = {}
    first_spans: list[Any] = []
    pipe: Any = nlp.get_pipe("parsetag")
    trained = pipe.decoder, pipe.max_stack
    for name, settings in srsly.read_json(arguments.decoders).items():
        decoder, max_stack = trained if settings is None else make_decoder(settings)
        results[name], spans = score(nlp, golds, decoder, arguments.params, arguments.repeats, max_stack)
        if first_spans:
            results[name]["same_tree"] = sum(a == b for a, b in zip(first_spans, spans, strict=True)) / len(spans)
        first_spans = first_spans or spans
    srsly.write_json(arguments.output, results)


if __name__ == "__main__":
    main()

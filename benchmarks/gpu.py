"""Speed of the whole pipeline on a GPU: tokens in, trees on docs out.

    python benchmarks/gpu.py --output benchmarks/results/gpu.json

The encoder is a BERT of base size with random weights, made here: speed does not depend on what it has learned, and
nothing is downloaded. The sentences are drawn from the bundled grammar. Where there is no GPU it says so and ends;
`--device cpu` runs the same on the CPU, for instance with `--layers 2 --width 64`.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import spacy
from record import parse_arguments, write_result
from samples import draw_trees
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed, require_gpu
from thinc.compat import has_cupy_gpu, has_torch
from timing import in_turn

from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.trees import Parse, from_nltk


def make_encoder(folder: Path, words: list[str], layers: int, width: int) -> Path:
    """Save a BERT with random weights and a vocabulary of whole words."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(words))]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False).save_pretrained(folder)
    heads = max(1, width // 64)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def make_pipeline(encoder: Path, docs: list[Doc], batch_words: int = 8192) -> Language:
    """A pipeline with a transformer and parsetag, initialized and not trained."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    spans = {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 128, "stride": 96}
    transformer = {"@architectures": "spacy-transformers.TransformerModel.v3", "name": str(encoder), "get_spans": spans}
    nlp.add_pipe("transformer", config={"model": transformer, "max_batch_items": batch_words})
    listener = {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "grad_factor": 1.0,
        "pooling": {"@layers": "spacy-parsetag.LastSubword.v1"},
    }
    model = {"@architectures": "spacy-parsetag.Tags.v1", "tok2vec": listener}
    nlp.add_pipe("parsetag", config={"model": model})
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs[:500]]
    nlp.initialize(lambda: examples)
    return nlp


def measure(nlp: Language, sentences: list[list[str]], repeats: int) -> dict[str, float]:
    """Best of some runs, in sentences per second by the clock: the pipeline, and the pipeline without parsetag."""
    import torch

    def run(*disabled: str) -> None:
        with nlp.select_pipes(disable=disabled):
            for _ in nlp.pipe((Doc(nlp.vocab, words=words) for words in sentences), batch_size=256):
                pass
        if torch.cuda.is_available():  # the encoder may still be at work, where nothing has asked for its output
            torch.cuda.synchronize()

    times = in_turn({"whole": run, "encoder": lambda: run("parsetag")}, repeats)
    whole, encoder = times["whole"].best_wall, times["encoder"].best_wall
    return {
        "sentences_per_second": len(sentences) / whole,
        "encoder_sentences_per_second": len(sentences) / encoder,
        "parsetag_share": (whole - encoder) / whole,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--repeats", type=int, default=3)
    args = parse_arguments(parser)
    if args.device == "gpu" and not (has_torch and has_cupy_gpu):
        sys.stdout.write("No GPU here, or no cupy and torch to reach it: nothing measured. See --device cpu.\n")
        return
    name = "CPU"
    if args.device == "gpu":
        import torch

        require_gpu()
        name = torch.cuda.get_device_name()
    trees = draw_trees(args.sentences)
    sentences = [list(Parse.from_tree(from_nltk(tree)).words) for tree in trees]
    fix_random_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        encoder = make_encoder(Path(folder), [word for words in sentences for word in words], args.layers, args.width)
        nlp = make_pipeline(encoder, list(docs_from_trees(spacy.blank("en").vocab, trees)))
        figures: dict[str, Any] = {"device": name, "layers": args.layers, "width": args.width}
        figures.update(measure(nlp, sentences, args.repeats))
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

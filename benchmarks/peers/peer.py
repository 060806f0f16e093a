"""Time one parser on some sentences, in an environment of its own; `run.py` calls it.

    python benchmarks/peers/peer.py benepar FOLDER ENCODER REPEATS

FOLDER has `words.json`, the words of each sentence, and `trees.mrg`, their trees, which say what labels there are.
ENCODER is a folder for transformers' AutoModel. Nothing is trained: parsers have random weights above the encoder, in
the sizes that their authors use with BERT. Prints the CPU seconds of each run, one core, as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Sentences = list[list[str]]


def ours(folder: Path, encoder: str, sentences: Sentences, precision: Any = None) -> Callable[[], object]:
    """This package: configs/transformer.cfg, a doc for each sentence; exported, where there is a precision."""
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    import spacy
    from pipeline import load
    from record import ROOT
    from spacy.tokens import Doc

    from spacy_parsetag.pipeline.export import export_pipeline

    nlp, _ = load(ROOT / "configs" / "transformer.cfg", folder / "trees.mrg", encoder)
    if precision:
        with TemporaryDirectory() as exported:
            nlp = spacy.load(export_pipeline(nlp, Path(exported) / precision, precision))

    def run() -> None:
        docs = (Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]) for words in sentences)
        list(nlp.pipe(docs))

    return run


def benepar(folder: Path, encoder: str, sentences: Sentences) -> Callable[[], object]:
    """Its spaCy plugin, in the sizes of EXPERIMENTS.md there. It batches within a doc, so all sentences are in one."""
    import spacy
    import torch
    from benepar import nkutil, parse_chart
    from nltk import Tree
    from spacy.tokens import Doc

    trees = [Tree.fromstring(line) for line in (folder / "trees.mrg").read_text(encoding="utf-8").splitlines()]
    labels = {"::".join(chain) for tree in trees for chain in unary_chains(tree)}
    tags = {tag for tree in trees for _, tag in tree.pos()}
    hparams = nkutil.HParams(
        use_chars_lstm=False,
        use_pretrained=True,
        pretrained_model=encoder,
        use_encoder=True,
        d_model=1024,
        num_layers=2,
        num_heads=8,
        d_kv=64,
        d_ff=2048,
        encoder_max_len=512,
        morpho_emb_dropout=0.2,
        attention_dropout=0.2,
        relu_dropout=0.1,
        residual_dropout=0.2,
        force_root_constituent=True,
        predict_tags=True,
        d_label_hidden=256,
        d_tag_hidden=256,
        tag_loss_scale=5.0,
    )
    tag_vocab = {tag: i for i, tag in enumerate(["UNK", *sorted(tags)])}
    label_vocab = {label: i for i, label in enumerate(["", *sorted(labels)])}
    parser = parse_chart.ChartParser(tag_vocab, label_vocab, None, hparams)
    saved = folder / "benepar.pt"
    torch.save({"config": parser.config, "state_dict": parser.state_dict()}, saved)
    nlp = spacy.blank("en")
    nlp.add_pipe("benepar", config={"model": str(saved)})
    words = [word for sentence in sentences for word in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return lambda: nlp(Doc(nlp.vocab, words=words, sent_starts=list(starts)))


def unary_chains(tree: Any) -> set[tuple[str, ...]]:
    """The labels of a tree as benepar takes them: chains joined, without the root."""
    chains = set()
    stack = list(tree)
    while stack:
        node = stack.pop()
        chain = []
        while not isinstance(node, str) and not isinstance(node[0], str):
            chain.append(node.label())
            if len(node) > 1:
                stack.extend(node)
                break
            node = node[0]
        if chain:
            chains.add(tuple(chain))
    return chains


def supar(folder: Path, encoder: str, sentences: Sentences) -> Callable[[], object]:
    """Its CRF parser over a fine-tuned BERT, at its defaults."""
    from supar import CRFConstituencyParser

    trees = str(folder / "trees.mrg")
    options = {"encoder": "bert", "bert": encoder, "build": True, "feat": None, "mbr": True, "proj": True}
    parser = CRFConstituencyParser.build(
        str(folder / "supar.pt"),
        train=trees,
        dev=trees,
        test=trees,
        checkpoint=False,
        delete=set(),
        equal={},
        **options,
    )
    data = [[(word, "X") for word in sentence] for sentence in sentences]
    return lambda: parser.predict(data, verbose=False)


def stanza(folder: Path, encoder: str, sentences: Sentences) -> Callable[[], object]:
    """Its in-order shift-reduce parser over BERT, without character models; its word vectors are all the same.

    Random weights would make trees that may not end, so it takes the transitions of the true trees, after it has scored
    all at each step: as many steps as if it had learned them.
    """
    from stanza.models.common.foundation_cache import FoundationCache
    from stanza.models.common.pretrain import Pretrain
    from stanza.models.constituency import parser_training, tree_reader
    from stanza.models.constituency_parser import parse_args

    vocabulary = sorted({word for words in sentences for word in words if " " not in word})
    vectors = folder / "vectors.txt"
    lines = [f"{len(vocabulary)} 100", *(f"{word} {' '.join(['0.1'] * 100)}" for word in vocabulary)]
    vectors.write_text("\n".join(lines), encoding="utf-8")
    saved = folder / "vectors.pt"
    saved.unlink(missing_ok=True)
    Pretrain(str(saved), str(vectors), save_to_file=True).load()
    options = {"--bert_model": encoder, "--wordvec_pretrain_file": str(saved), "--device": "cpu"}
    args = parse_args([text for pair in options.items() for text in pair])
    args["multistage"] = False  # which would train a little already here
    trees = tree_reader.read_treebank(str(folder / "trees.mrg"))
    trainer, *_ = parser_training.build_trainer(args, trees, trees, [], FoundationCache(), None)
    trainer.model.eval()
    model, size = trainer.model, args["eval_batch_size"]
    build = model.build_batch_from_trees_with_gold_sequence
    return lambda: model.parse_sentences_no_grad(iter(trees), build, size, model.predict_gold)


def main() -> None:
    name, folder, encoder, repeats = sys.argv[1:]
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    sentences = json.loads((Path(folder) / "words.json").read_text(encoding="utf-8"))
    parsers = {"benepar": benepar, "supar": supar, "stanza": stanza, "ours": ours}
    parsers |= {f"ours_{precision}": partial(ours, precision=precision) for precision in ("float32", "int8")}
    run = parsers[name](Path(folder), encoder, sentences)
    seconds = []
    for _ in range(int(repeats) + 1):  # the first one to warm up
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    print(json.dumps(seconds[1:]))


if __name__ == "__main__":
    main()

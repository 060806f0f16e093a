"""Self-training: pipelines parse raw text together, and the trees that they expect to be right train the next one.

    python -m tools.self_training ensemble OUTPUT PIPELINE...
    python -m spacy parsetag parse OUTPUT SENTENCES silver.spacy --format tokens --probs
    python -m tools.self_training mix GOLD silver.spacy MIXED

`ensemble` writes one pipeline: the components of the first PIPELINE, with a `parsetag_ensemble` of all for its parser.
`mix` writes docs to train on: the trees of GOLD several times, and of the silver ones the share with the greatest
expected F, in random order. After a training over these comes one over GOLD alone, from where the first one ends
(`configs/transformer_second.cfg`). The workflow `self-train` of models/project.yml is all of it. McClosky, Charniak and
Johnson (2006) is the source of the idea.
"""

import argparse
import random
import sys
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin

from spacy_parsetag.tokens.groups import SPANS_KEY
from spacy_parsetag.treebanks.docfiles import DOCBIN_ATTRS

GOLD_TIMES = 2  # each gold tree is written


def make_ensemble(output: Path, pipelines: list[str]) -> None:
    """Save the first pipeline with an ensemble of all in place of its parser."""
    nlp = spacy.load(pipelines[0])
    parser = next((pipe for pipe in nlp.pipe_names if nlp.get_pipe_meta(pipe).factory == "parsetag"), None)
    if parser is None:
        raise SystemExit(f"{pipelines[0]} has no parser. Give pipelines with the component 'parsetag'.")
    spans_key = nlp.get_pipe_config(parser)["spans_key"]
    config = {"pipelines": pipelines, "spans_key": spans_key}
    follower = next(iter(nlp.component_names[nlp.component_names.index(parser) + 1 :]), None)
    nlp.remove_pipe(parser)
    nlp.add_pipe("parsetag_ensemble", config=config, before=follower)
    nlp.to_disk(output)


def most_certain(docs: list[Doc], *, share: float, least: int, most: int) -> tuple[list[Doc], int]:
    """Docs of one sentence whose trees have the greatest expected F.

    docs (list[Doc]): Docs as `parse --probs` writes them, one sentence each.
    share (float): How many of them to keep, 0 to 1.
    least, most (int): Sentences of fewer or more words do not count.
    RETURNS (tuple[list[Doc], int]): The docs, in their order, and how many had the right length.
    """
    docs = [doc for doc in docs if least <= len(doc) <= most]
    expected = [doc.spans[SPANS_KEY].attrs["expected_f"][0] for doc in docs]
    best = sorted(range(len(docs)), key=lambda i: -expected[i])[: round(share * len(docs))]
    return [docs[i] for i in sorted(best)], len(docs)


def mix(args: argparse.Namespace) -> None:
    vocab = spacy.blank("xx").vocab
    gold = list(DocBin().from_disk(args.gold).get_docs(vocab))
    silver = [doc for doc in DocBin().from_disk(args.silver).get_docs(vocab) if len(doc)]  # others failed, or are empty
    for path, docs in ((args.gold, gold), (args.silver, silver)):
        if any(SPANS_KEY not in doc.spans for doc in docs):
            raise SystemExit(f"{path} has docs without trees in doc.spans[{SPANS_KEY!r}], where training looks.")
    if any(len(doc.spans[SPANS_KEY].attrs.get("expected_f", ())) != 1 for doc in silver):
        raise SystemExit(
            f"{args.silver} does not say how certain the one tree of each doc is. Write it with `parse --probs`, which "
            "takes a line for a sentence."
        )
    certain, n = most_certain(silver, share=args.share, least=args.words[0], most=args.words[1])
    if not certain:
        raise SystemExit(f"{args.silver} has no sentence of {args.words[0]} to {args.words[1]} words to keep.")
    least = min(doc.spans[SPANS_KEY].attrs["expected_f"][0] for doc in certain)
    for doc in certain:
        del doc.spans[SPANS_KEY].attrs["probs"]  # which training does not read
    docs = GOLD_TIMES * gold + certain
    random.Random(0).shuffle(docs)
    attrs = (*DOCBIN_ATTRS, "LEMMA", "MORPH")
    DocBin(attrs=attrs, docs=docs, store_user_data=True).to_disk(args.mixed)
    sys.stdout.write(
        f"{args.mixed}: {len(gold):,} gold sentences {GOLD_TIMES} times, {len(certain):,} of {n:,} silver ones "
        f"(expected F at least {least:.3f})\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    ensemble = commands.add_parser("ensemble", help="make one pipeline of several")
    ensemble.add_argument("output", type=Path, metavar="OUTPUT")
    ensemble.add_argument("pipelines", nargs="+", metavar="PIPELINE", help="a folder, or a package that is installed")
    mixed = commands.add_parser("mix", help="choose silver trees, and put them among gold ones")
    mixed.add_argument("gold", type=Path, metavar="GOLD")
    mixed.add_argument("silver", type=Path, metavar="SILVER")
    mixed.add_argument("mixed", type=Path, metavar="MIXED")
    mixed.add_argument("--words", type=int, nargs=2, default=(8, 45), metavar=("LEAST", "MOST"), help="of a sentence")
    mixed.add_argument("--share", type=float, default=0.8, help="of the silver trees to keep, 0 to 1")
    args = parser.parse_args()
    if args.command == "ensemble":
        make_ensemble(args.output, args.pipelines)
    else:
        mix(args)


if __name__ == "__main__":
    main()

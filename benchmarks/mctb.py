"""F of a pipeline on MCTB, five domains whose trees were drawn by hand, and a check of what it was trained on.

    python benchmarks/mctb.py en_parsetag_trf "$PARSETAG_DATA"/multi-domain-parsing-analysis \\
        --texts "$PARSETAG_DATA"/texts --output benchmarks/results/mctb_en_parsetag_trf.json

CLONE is a clone of github.com/RingoS/multi-domain-parsing-analysis (MIT; Yang, Cui, Ning, Wu and Zhang 2022). It is a
test set: score a pipeline once, when all about it is fixed, and choose nothing by it. Words come from the trees,
tags are the pipeline's own, F is EVALB's with Collins' parameters. `--texts` is the folder of raw texts that silver
trees were made from: sentences of MCTB that share eight words in a row with it are counted, and a pipeline that learned
such text is scored without them, too.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import sys
from pathlib import Path
from typing import Any

import spacy
from record import ROOT, made_by, write_result
from spacy.language import Language
from spacy.training import Example

from spacy_parsetag.pipeline.scorer import make_evalb_scorer
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.tokens.detokenize import spaces_after
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.treebanks import penn
from spacy_parsetag.trees import Parse

sys.path.append(str(ROOT))
from tools.english import surface
from tools.silver import grams

DOMAINS = ("dialogue", "forum", "law", "literature", "review")
SUFFIXES = (".txt", ".mrg", ".ptb", ".tree", ".clean")


def find_trees(clone: Path, domain: str) -> Path:
    """Find the file of bracketed trees of a domain.

    clone (Path): The clone.
    domain (str): The domain.
    RETURNS (Path): The only file, outputs of parsers aside, whose name begins with the domain and that begins with a
        bracket.
    RAISES (SystemExit): If there is not exactly one.
    """
    paths = [
        path
        for path in sorted(clone.rglob(f"{domain}*"))
        if path.is_file() and path.suffix in SUFFIXES and path.read_bytes()[:1] == b"("
        and not any("output" in part or "predict" in part for part in path.relative_to(clone).parts)
    ]  # fmt: skip
    if len(paths) != 1:
        names = ", ".join(str(path.relative_to(clone)) for path in paths) or "none"
        raise SystemExit(f"{clone} should have one file of trees for {domain}, and has {names}. Give --{domain} FILE.")
    return paths[0]


def is_known(parse: Parse, known_grams: set[int]) -> bool:
    """Tell whether a sentence shares eight words in a row with known texts."""
    return any(hash(gram) in known_grams for gram in grams(surface(parse.words, spaces_after(parse.words, parse.pos))))


def percent(examples: list[Example]) -> dict[str, Any]:
    """Score sentences as EVALB does."""
    scores = make_evalb_scorer()(examples)
    names = (("f", "parsetag_f"), ("precision", "parsetag_p"), ("recall", "parsetag_r"), ("exact", "parsetag_em"))
    return {"sentences": len(examples), **{name: round(100 * scores[key], 2) for name, key in names}}


def score_domain(nlp: Language, parses: list[Parse], known_grams: set[int]) -> dict[str, Any]:
    """Score a pipeline on the trees of a domain, and without the sentences that it may know."""
    docs = list(docs_from_trees(nlp.vocab, parses))
    examples = [
        Example(predicted, gold)
        for predicted, gold in zip(nlp.pipe(copy_words(doc, nlp.vocab) for doc in docs), docs, strict=True)
    ]
    report = percent(examples)
    if known_grams:
        unknown = [example for example, parse in zip(examples, parses, strict=True) if not is_known(parse, known_grams)]
        report["in_texts"] = len(examples) - len(unknown)
        if report["in_texts"]:
            report["without_them"] = percent(unknown)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", metavar="PIPELINE", help="package or folder")
    parser.add_argument("clone", type=Path, metavar="CLONE")
    for domain in DOMAINS:
        parser.add_argument(f"--{domain}", type=Path, help="file of trees, where it is not found by its name")
    parser.add_argument("--texts", type=Path, help="raw texts of the silver trees")
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    args = parser.parse_args()
    made = made_by() if args.output else None
    files = {domain: getattr(args, domain) or find_trees(args.clone, domain) for domain in DOMAINS}
    nlp = spacy.load(args.pipeline)
    texts = sorted(args.texts.glob("*.txt")) if args.texts else []
    if args.texts and not texts:
        raise SystemExit(f"{args.texts} has no .txt files. Give the folder that `python -m tools.texts` wrote.")
    known_grams = {hash(gram) for path in texts for gram in grams(path.read_text(encoding="utf8"))}
    report: dict[str, Any] = {"pipeline": nlp.meta["name"], "version": nlp.meta["version"], "texts": len(texts)}
    report["domains"] = {
        domain: score_domain(nlp, [Parse.from_tree(tree) for tree in penn.read_trees(path)], known_grams)
        for domain, path in files.items()
    }
    report["mean_f"] = round(sum(scores["f"] for scores in report["domains"].values()) / len(DOMAINS), 2)
    write_result(report, args.output, made, pipelines=[nlp.path])
    for domain, scores in report["domains"].items():
        sys.stdout.write(f"{domain:12}{scores['f']:7.2f}  {scores['sentences']} sentences\n")
    sys.stdout.write(f"{'mean':12}{report['mean_f']:7.2f}\n")


if __name__ == "__main__":
    main()

"""What `en_parsetag_sm` reaches, and what it takes: accuracy on gold tokens and on raw text, speed, size, memory.

    python benchmarks/english.py corpus/en_parsetag_sm --wsj "$PARSETAG_SHARED"/treebanks/wsj_sample/dev.mrg

CORPUS is the folder that `python -m tools.english` wrote. Raw text is parsed as it is: tokens, sentences and tags are
the pipeline's own, and constituents are compared by their characters. F is EVALB's with Collins' parameters. Speed
counts words, without white space, in CPU seconds of one core; seconds of loading are CPU seconds too. spaCy
imports PyTorch and all its plugins where they are installed: for times and memory of the pipeline alone, run this in an
environment without them.
"""

from common import best_time  # isort: skip  # it sets the number of threads before NumPy is imported

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import spacy
from record import RESULTS, made_by, write_result
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_parsetag.pipeline.scorer import make_evalb_scorer
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.treebanks import penn

NAME = "en_parsetag_sm"
PARSE = """
import json, sys, time
def peak():  # not by the resource module, which counts what the process was forked from
    with open("/proc/self/status") as file:
        return round(next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024)
start = time.process_time()
import spacy
imported = time.process_time()
nlp = spacy.load(sys.argv[1])
loaded = time.process_time()
loaded_mb = peak()
for doc in nlp.pipe(sys.stdin.read().split("\\0")):
    pass
print(json.dumps({
    "import_spacy_seconds": round(imported - start, 2),
    "load_seconds": round(loaded - imported, 2),
    "loaded_mb": loaded_mb,
    "peak_mb": peak(),
    "torch": "torch" in sys.modules,
}))
"""


def on_gold_tokens(nlp: Language, gold: Doc) -> Example:
    return Example(nlp(copy_words(gold, nlp.vocab)), gold)


def score(examples: list[Example]) -> dict[str, float]:
    """Percentages: F of constituents, accuracy of part-of-speech tags, F of sentences."""
    found = make_evalb_scorer()(examples)
    found |= Scorer.score_token_attr(examples, "tag")
    found |= Scorer.score_spans(examples, "sents")
    return {
        name: round(100 * found[key], 2)
        for name, key in (("f", "parsetag_f"), ("pos", "tag_acc"), ("sentences", "sents_f"))
        if found.get(key) is not None
    }


def parse_both(nlp: Language, docs: list[Doc]) -> list[tuple[Example, Example]]:
    """Each doc on its own tokens and sentences, and as raw text."""
    return [(on_gold_tokens(nlp, doc), Example(nlp(doc.text), doc)) for doc in docs]


def score_both(parsed: list[tuple[Example, Example]]) -> dict[str, Any]:
    gold_tokens, raw_text = (score(list(examples)) for examples in zip(*parsed, strict=True))
    del gold_tokens["sentences"]  # they are given
    n_words = sum(not token.is_space for eg, _ in parsed for token in eg.reference)
    return {"gold_tokens": gold_tokens, "raw_text": raw_text, "words": n_words}


def words_per_second(nlp: Language, texts: list[str], repeats: int) -> int:
    n_words = sum(not token.is_space for doc in map(nlp.make_doc, texts) for token in doc)
    return round(n_words / best_time(lambda: [None for _ in nlp.pipe(texts)], repeats))


def with_spacys_parser(nlp: Language, docs: list[Doc]) -> Language:
    """Our tok2vec, and on it spaCy's dependency parser, which knows forty labels and nothing of English."""
    other = spacy.blank("en")
    other.vocab.vectors = nlp.vocab.vectors
    config = nlp.config.interpolate()["components"]["tok2vec"]
    other.add_pipe("tok2vec", config={"model": config["model"]})
    width = config["model"]["encode"]["width"]
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width, "upstream": "*"}
    parser: Any = other.add_pipe("parser", config={"model": {"tok2vec": listener}})
    for i in range(40):
        parser.add_label(f"dep{i}")
    examples = []
    for doc in docs:
        words = [token.text for token in doc]
        heads = [max(i - 1, 0) for i in range(len(words))]
        deps = ["ROOT" if i == 0 else f"dep{len(word) % 40}" for i, word in enumerate(words)]
        examples.append(Example(Doc(other.vocab, words=words), Doc(other.vocab, words=words, heads=heads, deps=deps)))
    other.initialize(lambda: examples)
    return other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--pipeline", default=NAME, help="package or folder")
    parser.add_argument("--wsj", type=Path, help="bracket file, as text of another domain")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / f"{NAME}.json")
    args = parser.parse_args()
    made = made_by()
    nlp = spacy.load(args.pipeline)

    def read(name: str) -> list[Doc]:
        return list(DocBin().from_disk(args.corpus / name).get_docs(nlp.vocab))

    gum, craft = read("gum-dev.spacy"), read("craft-dev.spacy")
    parsed = parse_both(nlp, gum)
    genres: dict[str, list[tuple[Example, Example]]] = defaultdict(list)
    for doc, pair in zip(gum, parsed, strict=True):
        genres[doc.user_data["document"].split("_")[1]].append(pair)
    report: dict[str, Any] = {"pipeline": nlp.meta["name"], "version": nlp.meta["version"]}
    report["gum_dev"] = score_both(parsed)
    report["gum_dev_by_genre"] = {genre: score_both(own) for genre, own in sorted(genres.items())}
    report["craft_dev"] = score_both(parse_both(nlp, craft))
    if args.wsj:
        trees = penn.read_trees(args.wsj)
        wsj = list(docs_from_trees(nlp.vocab, trees, n_sents=20, detokenize=True))
        report["wsj_sample_dev"] = score_both(parse_both(nlp, wsj))
    texts = [doc.text for doc in gum]
    report["words_per_second"] = words_per_second(nlp, texts, args.repeats)
    report["words_per_second_spacys_parser"] = words_per_second(with_spacys_parser(nlp, gum[:5]), texts, args.repeats)
    report["megabytes"] = round(sum(path.stat().st_size for path in nlp.path.rglob("*") if path.is_file()) / 2**20, 1)
    command = [sys.executable, "-c", PARSE, args.pipeline]
    done = subprocess.run(command, input="\0".join(texts), text=True, capture_output=True, check=True)
    report |= json.loads(done.stdout)
    write_result(report, args.output, made)
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()

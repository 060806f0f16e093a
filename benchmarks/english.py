"""Measures an English pipeline: accuracy on gold tokens and on raw text, speed, size, memory.

    python benchmarks/english.py corpus --wsj "$PARSETAG_SHARED"/treebanks/wsj_sample/dev.mrg
    python benchmarks/english.py corpus --pipeline en_parsetag_trf

The result is a file of the pipeline's name among the results, or in the folder --output, or the file --output.
CORPUS is the folder that `python -m tools.english` wrote. MASC and CRAFT were annotated by hand; GUM's trees are a
parser's output, so F on it is agreement with that parser. Natural Stories
(https://github.com/languageMIT/naturalstories, CC BY-NC-SA 4.0), whose trees a person corrected, is there to measure
alone: nothing is chosen on it. Raw text is parsed as it is: tokens, sentences and tags are the pipeline's own, and
constituents are compared by their characters. F is EVALB's with Collins' parameters. Speed counts words, without
white space, in CPU seconds of one core; seconds of loading are CPU seconds too. spaCy imports PyTorch and all its
plugins where they are installed: for times and memory of the pipeline alone, run this in an environment without them.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import spacy
from record import RESULTS, ROOT, parse_arguments, write_result
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import fix_random_seed
from timing import in_turn

from spacy_parsetag.pipeline.scorer import make_evalb_scorer
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.treebanks.formats.table import get_format

sys.path.append(str(ROOT))
from tools import masc

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


def score_examples(examples: list[Example]) -> dict[str, float]:
    """Percentages: F of constituents, accuracy of part-of-speech tags, F of sentences."""
    scores = make_evalb_scorer()(examples)
    scores |= Scorer.score_token_attr(examples, "tag")
    scores |= Scorer.score_spans(examples, "sents")
    return {
        name: round(100 * scores[key], 2)
        for name, key in (("f", "parsetag_f"), ("pos", "tag_acc"), ("sentences", "sents_f"))
        if scores.get(key) is not None
    }


def parse_both(nlp: Language, docs: list[Doc]) -> list[tuple[Example, Example]]:
    """Each doc on its own tokens and sentences, and as raw text."""
    return [(on_gold_tokens(nlp, doc), Example(nlp(doc.text), doc)) for doc in docs]


def score_both(parsed: list[tuple[Example, Example]]) -> dict[str, Any]:
    gold_tokens, raw_text = (score_examples(list(examples)) for examples in zip(*parsed, strict=True))
    del gold_tokens["sentences"]  # they are given
    n_words = sum(not token.is_space for eg, _ in parsed for token in eg.reference)
    return {"gold_tokens": gold_tokens, "raw_text": raw_text, "words": n_words}


def words_per_second(ours: Language, other: Language | None, texts: list[str], repeats: int) -> dict[str, int]:
    """Measure one or both pipelines in turn. spaCy's parser is untrained: it measures the cost of the component."""
    n_words = sum(not token.is_space for doc in map(ours.make_doc, texts) for token in doc)
    runs = {"": lambda: sum(1 for _ in ours.pipe(texts))}
    if other is not None:
        runs["_spacys_parser"] = lambda: sum(1 for _ in other.pipe(texts))
    times = in_turn(runs, repeats)
    return {f"words_per_second{name}": round(n_words / seconds.best) for name, seconds in times.items()}


def with_spacys_parser(nlp: Language, docs: list[Doc]) -> Language:
    """Our tok2vec, and on it spaCy's dependency parser, which knows forty labels and nothing of English."""
    other = spacy.blank("en")
    other.add_pipe("tok2vec", source=nlp)
    width = nlp.config.interpolate()["components"]["tok2vec"]["model"]["encode"]["width"]
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
    fix_random_seed(0)
    with other.select_pipes(enable="parser"):
        other.initialize(lambda: examples)
    return other


def by_kind(kinds: list[str], parsed: list[tuple[Example, Example]]) -> dict[str, Any]:
    """Score documents kind by kind."""
    of_kind: dict[str, list[tuple[Example, Example]]] = defaultdict(list)
    for kind, pair in zip(kinds, parsed, strict=True):
        of_kind[kind].append(pair)
    return {kind: score_both(pairs) for kind, pairs in sorted(of_kind.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--pipeline", default=NAME, help="package or folder")
    parser.add_argument("--wsj", type=Path, help="bracket file, as text of another domain")
    parser.add_argument("--stories", type=Path, help="likewise: parses/penn/all-parses.txt.penn of Natural Stories")
    parser.add_argument("--repeats", type=int, default=3)
    args = parse_arguments(parser, output=RESULTS)
    nlp = spacy.load(args.pipeline)

    def read(name: str) -> list[Doc]:
        return list(DocBin().from_disk(args.corpus / name).get_docs(nlp.vocab))

    report: dict[str, Any] = {"pipeline": f"{nlp.lang}_{nlp.meta['name']}", "version": nlp.meta["version"]}
    parser_pipe: Any = nlp.get_pipe("parsetag")
    tags = parser_pipe.labels
    report["labels"] = sorted({label for tag in tags for label in tag.partition("/")[2].split("+") if label})
    masc_dev, gum_dev = read("masc-dev.spacy"), read("gum-dev.spacy")
    for name, docs, kind_of in (("masc_dev", masc_dev, masc.genre), ("gum_dev", gum_dev, lambda t: t.split("_")[1])):
        parsed = parse_both(nlp, docs)
        report[name] = score_both(parsed)
        report[f"{name}_by_genre"] = by_kind([kind_of(doc.user_data["document"]) for doc in docs], parsed)
    report["craft_dev"] = score_both(parse_both(nlp, read("craft-dev.spacy")))
    for name, path in (("wsj_sample_dev", args.wsj), ("natural_stories", args.stories)):
        if path:
            parses = get_format("penn").read_parses(path)
            docs = list(docs_from_trees(nlp.vocab, parses, n_sents=20, detokenize=True))
            report[name] = score_both(parse_both(nlp, docs))
    texts = [doc.text for doc in gum_dev]
    other = None
    if "encode" in nlp.config["components"].get("tok2vec", {}).get("model", {}):
        other = with_spacys_parser(nlp, gum_dev[:5])
    report |= words_per_second(nlp, other, texts, args.repeats)
    report["megabytes"] = round(sum(path.stat().st_size for path in nlp.path.rglob("*") if path.is_file()) / 2**20, 1)
    command = [sys.executable, "-c", PARSE, args.pipeline]
    done = subprocess.run(command, input="\0".join(texts), text=True, capture_output=True, check=True)
    report |= json.loads(done.stdout)
    output = args.output / f"{report['pipeline']}.json" if args.output.is_dir() else args.output
    write_result(report, output, args.made_by, pipelines=[nlp.path])
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()

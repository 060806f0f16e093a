"""Makes the data of a run: two .spacy files, and figures about their trees.

Where there is a limit, the sentences are taken at even distances: treebanks begin with one text or one year.
"""

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from spec import Run, short_hash

from spacy_parsetag.analysis.inventories import count_deviations, count_stacks, count_tags, sample
from spacy_parsetag.tokens.groups import parses_from_doc
from spacy_parsetag.treebanks.docfiles import DocFile
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.trees import Parse, binarize


@cache
def read_all(path: Path, kind: str, encoding: str, longest: int) -> list[Parse]:
    """The sentences of a file that are not too long."""
    if path.suffix == ".spacy":
        docs = DocBin().from_disk(path).get_docs(Vocab())
        parses = [parse for doc in docs for _, parse in parses_from_doc(doc, "constituents")]
    else:
        parses = list(get_format(kind).read_parses(path, encoding=encoding or None))
    return [parse for parse in parses if not longest or len(parse) <= longest]


def choose(n: int, part: str, block: int, share: float) -> set[int]:
    """Choose the sentences of n that a fold or a split is scored on: blocks of successive ones."""
    blocks = [range(start, min(start + block, n)) for start in range(0, n, block)]
    if part.startswith("split"):
        chosen = random.Random(int(part[5:])).sample(blocks, max(1, round(share * len(blocks))))
    else:
        k, folds = map(int, part[4:].split("of"))
        if len(blocks) < folds:
            raise SystemExit(f"{len(blocks)} blocks of {block} sentences for {folds} folds.")
        chosen = blocks[k::folds]
    return {i for block in chosen for i in block}


def divide(run: Run, extra: Sequence[Path]) -> dict[str, Sequence[Parse]]:
    """The sentences that a run trains on, and those that it is scored on."""
    reading = [run.data[name] for name in ("format", "encoding", "max_length")]
    train, dev = (read_all(path, *reading) for path in (run.treebank.train, run.treebank.dev))
    if run.data.get("part", "dev") != "dev":
        pool = train + (dev if "dev" in run.data["folds_of"] else [])
        chosen = choose(len(pool), *(run.data[name] for name in ("part", "block", "share")))
        train = [parse for i, parse in enumerate(pool) if i not in chosen]
        dev = [pool[i] for i in sorted(chosen)]
    train = train + [parse for path in extra for parse in read_all(path, *reading)]
    return {"train": train, "dev": dev}


def prepare(run: Run, work: Path, extra: Sequence[Path], commit: str) -> Path:
    """Make the .spacy files of a run, once for all runs on them at a commit; the folder that they are in."""
    key = short_hash(json.dumps([run.data, commit], sort_keys=True).encode())
    folder = (work / "data" / f"{run.treebank.name}-{run.data.get('part', 'dev')}-{key}").resolve()
    if not (folder / "data.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        figures = {}
        for part, parses in divide(run, extra).items():
            chosen = sample(parses, run.data["limit" if part == "train" else "dev_limit"])
            target = DocFile(folder / f"{part}.spacy", Vocab())
            for parse in chosen:
                target.add(parse)
            target.write(target.path)
            figures[part] = describe(getattr(run.treebank, part), parses, chosen)
        srsly.write_json(folder / "data.json", figures)
    return folder


def describe(path: Path, parses: Sequence[Parse], chosen: Sequence[Parse]) -> dict[str, Any]:
    """Figures about the chosen sentences of a file: tags, and by order how far tags stray, and the stack they need."""
    trees = [binarize(parse) for parse in chosen]
    strayed, stacks = count_deviations(trees), count_stacks(trees)
    return {
        "file": path.name,
        "sentences_in_file": len(parses),
        "sentences": len(chosen),
        "words": strayed.words,
        "tags": len(count_tags(trees).counts),
        "deviation": {order: strayed.mean(order) for order in strayed.counts},
        "stack": {order: stacks.needed(order) for order in stacks.counts},
    }

"""MASC's Penn Treebank layer: which documents there are, in which part, and how its files become trees.

The documents come from `src/main/resources/Propbank` in github.com/lyonssp/cunning-linguist, less the Wall Street
Journal's and Switchboard's, which belong to the Penn Treebank. A document is in one part as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from spacy_parsetag.errors import TreebankError
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.clean import CleanOptions

FOLDER = Path("src") / "main" / "resources" / "Propbank"
_DEV = """110CYL071 112C-L014 114CUL059 116CUL033 118CWL049 20000419_apw_eng-NEW A1.E2-NEW Article247_3500
HistoryJerusalem ReidSandra ch5"""
_TEST = """110CYL070 112C-L015 114CUL060 115CVL036 117CWL009 20000415_apw_eng-NEW Article247_500 Article247_66
HistoryGreek NapierDianne PolkMaria lw1 pmed.0010029"""
_TRAIN = """110CYL067 110CYL068 110CYL069 110CYL072 110CYL200 112C-L012 112C-L013 112C-L016 113CWL017 113CWL018
114CUL057 114CUL058 115CVL035 115CVL037 116CUL032 116CUL034 117CWL008 118CWL048 118CWL050 119CWL041 20000410_nyt-NEW
20000424_nyt-NEW 20000815_AFP_ARB.0084.IBM-HA-NEW-en 602CZL285 A1.E1-NEW Article247_327 Article247_328 Article247_400
Day3PMSession ENRON-pearson-email-25jul02 RindnerBonnie VOL15_3 chZ chapter-10 enron-thread-159550"""
DOCUMENTS = {"train": tuple(_TRAIN.split()), "dev": tuple(_DEV.split()), "test": tuple(_TEST.split())}
# By the first pattern that a name begins with.
GENRES = {
    r"\d+C|602CZL": "letters",
    r"2000|A1": "news",
    r"Article|VOL15|pmed": "essays",
    r"Day3": "debate",
    r"ReidS|Rindner|Napier|Polk": "interviews",
    r"History": "travel",
    r"ch": "textbooks",
    r"ENRON|enron": "e-mail",
    r"lw1": "fiction",
}
BROKEN = {"VOL15_3": 1}  # trees with unbalanced brackets
# Marks of turns, and of the ends of spoken sentences.
CLEAN = CleanOptions(remove=frozenset({"CODE", "META", "SU"}))


def genre(document: str) -> str:
    """Name the kind of text that a document is."""
    return next(kind for pattern, kind in GENRES.items() if re.match(pattern, document))


def read_documents(folder: Path, part: str) -> Iterator[tuple[str, list[Parse]]]:
    """Read the documents of a part, one at a time.

    folder (Path): A checkout of the repository, or a folder with train.mrg and dev.mrg, one tree a line, and
        counts.json, which says how many trees each document has.
    part (str): "train" or "dev".
    YIELDS (tuple[str, list[Parse]]): Name and trees of each document, in the treebank's own conventions.
    RAISES (SystemExit): If a document is missing, has broken trees that are not known, or the trees are not as many as
        counts.json says.
    """
    penn = get_format("penn")
    if not (folder / f"{part}.mrg").is_file():
        for name in DOCUMENTS[part]:
            paths = sorted((folder / FOLDER).glob(f"{name}.mrg*"))
            if len(paths) != 1:
                raise SystemExit(f"{folder / FOLDER} has no file {name}.mrg. Check out what is named in tools/masc.py.")
            errors: list[TreebankError] = []
            parses = list(penn.read_parses(paths[0], CLEAN, on_error=errors.append))
            if len(errors) != BROKEN.get(name, 0):
                raise SystemExit(f"{paths[0]} has other trees than it had: {errors or 'none is broken'}")
            yield name, parses
        return
    parses = list(penn.read_parses(folder / f"{part}.mrg"))
    (note,) = json.loads((folder / "counts.json").read_text(encoding="utf8"))["notes"]
    counts = [(name, int(n)) for name, p, n in re.findall(r"([^\s,]+) (train|dev|test) (\d+)", note) if p == part]
    if sum(n for _, n in counts) != len(parses):
        raise SystemExit(f"{folder / f'{part}.mrg'} has {len(parses)} trees, and counts.json says otherwise.")
    remaining = iter(parses)
    for name, n in counts:
        yield name, list(islice(remaining, n))

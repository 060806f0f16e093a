"""Every fiftieth tree of every treebank becomes tags and comes back, in three orders."""

from pathlib import Path

import numpy as np
import pytest

from spacy_parsetag.decode import TagScores
from spacy_parsetag.decode.trees import labelled_nodes
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse, binarize, unbinarize

STEP = 50
NAMES = (
    "cess_esp", "craft", "farpahc", "floresta", "gum", "icepahc", "icon_id", "keyaki_ja", "masc", "mcvf_ppchf", "oncoj",
    "ppchy", "sinica", "wsj_sample",
)  # fmt: skip


def test_names(treebanks: Path) -> None:
    assert sorted(path.parent.name for path in treebanks.glob("*/train.mrg")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str, treebanks: Path) -> None:
    for part in ("train", "dev"):
        lines = (treebanks / name / f"{part}.mrg").read_text(encoding="utf8").splitlines()[::STEP]
        trees = list(read_string("\n".join(lines)))
        assert len(trees) == len(lines)
        parses = [Parse.from_tree(tree) for tree in trees]
        binary = [binarize(parse) for parse in parses]
        assert [parse.to_tree() for parse in parses] == trees
        for linearizer in ORDERS.values():
            for parse, tree in zip(parses, binary, strict=True):
                tags = linearizer.linearize(tree)
                assert len(tags) == 2 * len(parse) - 1
                back = linearizer.delinearize(tags)
                assert back == tree
                assert unbinarize(back, parse.words, parse.pos) == parse


def test_batch(treebanks: Path) -> None:
    """The batch call that the pipe makes finds the same constituents."""
    lines = (treebanks / "gum" / "dev.mrg").read_text(encoding="utf8").splitlines()[::10]
    parses = [Parse.from_tree(tree) for tree in read_string("\n".join(lines))]
    for linearizer in ORDERS.values():
        sequences = [linearizer.linearize(binarize(parse)) for parse in parses]
        tags = TagSet(tag for sequence in sequences for tag in sequence)
        ids = tags.encode([tag for sequence in sequences for tag in sequence])
        words = np.asarray([len(parse) for parse in parses], dtype=np.int32)
        rows = np.cumsum([0, *(2 * words - 1)])[:-1]
        batch = TagScores(np.zeros((len(ids), len(tags))), rows, words, tags, linearizer)
        nodes = labelled_nodes(ids, batch)
        found = [
            (start, end, label)
            for start, end, tag in zip(nodes.start.tolist(), nodes.end.tolist(), nodes.tag.tolist(), strict=True)
            for label in tags.unaries[tag]
        ]
        assert found == [tuple(span) for parse in parses for span in parse.spans]

"""Numbers that Python and compiled code have in common, each written down in both."""

import re
from pathlib import Path

from spacy_parsetag.decode import batch, distribution
from spacy_parsetag.treebanks import pieces

PACKAGE = Path(__file__).resolve().parents[1] / "spacy_parsetag"


def numbers_of(name: str, block: str) -> dict[str, int]:
    """The numbers that a block of a source file gives to names."""
    text = (PACKAGE / name).read_text(encoding="utf8")
    found = re.search(block, text, re.DOTALL)
    assert found
    return {key: int(number) for key, number in re.findall(r"(\w+) = (\d+)", found[1])}


def test_shared_numbers() -> None:
    statuses = numbers_of("decode/_lattice.hpp", r"enum Status[^{]*\{(.*?)\}")
    assert len(statuses) == 6 and statuses == {name: getattr(batch, name) for name in statuses}
    orders = numbers_of("decode/_lattice.hpp", r"enum Order[^{]*\{(.*?)\}")
    assert orders == {f"{order.upper()}_ORDER": code for order, code in batch.ORDER_CODES.items()}
    orders = numbers_of("decode/_nodes.pyx", r"cdef enum:(.*?)\n\n")
    assert orders == {order.upper(): code for order, code in batch.ORDER_CODES.items()}
    text = (PACKAGE / "decode/_lattice.hpp").read_text(encoding="utf8")
    assert f"LARGEST_ERROR = {distribution._LARGEST_ERROR};" in text
    assert numbers_of("search/_columns.hpp", "(.*)")["most_nodes"] == pieces.MAX_NODES

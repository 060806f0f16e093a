"""The Chinese Treebank's files: Penn brackets between lines of markup, in GB 18030 or UTF-8.

<S ID=1>
( (IP-HLN (NP-SBJ (NR 上海)) (VP (VV 开放))) )
</S>
"""

import re
from collections.abc import Iterator

from ..penn import Line
from .base import TreebankFormat

# The split of version 5.1 that papers use, by the numbers of the files, which have three digits there and four later.
SPLIT = ",".join(
    f"{part}=chtb_{first:0{digits}d}..chtb_{last:0{digits}d}"
    for digits in (3, 4)
    for part, first, last in (
        ("train", 1, 270),
        ("train", 440, 999 if digits == 3 else 1151),
        ("dev", 301, 325),
        ("test", 271, 300),
    )
)
_MARKUP = re.compile(r"\s*</?[A-Za-z][^<>]*>")
_HEADER = re.compile(r"\s*<(HEADER|DOCHEADER|DOCID|DOCNO|DATE|DATETIME|SRCID)\b[^<>]*>", re.IGNORECASE)


def skip_markup(lines: Iterator[Line]) -> Iterator[Line]:
    """Empty the lines that belong to no tree."""
    header = ""  # the element that is open, whose text is not a tree
    for line in lines:
        if not header and (found := _HEADER.match(line.text)):
            header = found.group(1).lower()
        yield line._replace(text="\n") if header or _MARKUP.match(line.text) else line
        if header and f"</{header}>" in line.text.lower():
            header = ""


# GB 18030 contains GB 2312 and GBK.
CTB = TreebankFormat(
    suffixes=(".fid", ".nw", ".mz", ".bn", ".bc", ".wb", ".df", ".sc", ".cs"),
    encoding="gb18030",
    split=SPLIT,
    lines=skip_markup,
)

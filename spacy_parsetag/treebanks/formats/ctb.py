"""The Chinese Treebank's files: Penn brackets between lines of markup, in GB 18030 or UTF-8.

<S ID=1>
( (IP-HLN (NP-SBJ (NR 上海)) (VP (VV 开放))) )
</S>
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise

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
_MARKUP = re.compile(r"(?:\s*</?[A-Za-z][^<>]*>)+\s*")
_CLOSING = re.compile(r"(?<=\))\s*(?:</[A-Za-z][^<>]*>\s*)+\Z")
_HEADER = re.compile(r"\s*<(HEADER|DOCHEADER|DOCID|DOCNO|DATE|DATETIME|SRCID)\b[^<>]*>", re.IGNORECASE)


def skip_markup(lines: Iterator[Line]) -> Iterator[Line]:
    """Empty the lines that belong to no tree, and take markup off the others.

    A header that is never closed takes the place of the last line, so that it is an error and all after it not lost.
    """
    header = ""  # the element that is open, whose text is not a tree
    header_line = Line(0, "")
    for line, following in pairwise(chain(lines, [Line(0, "")])):
        if not header and (match := _HEADER.match(line.text)):
            header, header_line = match.group(1).lower(), line._replace(text=match.group())
        text = "\n"
        if not header:
            markup = _MARKUP.match(line.text)
            text = _CLOSING.sub("\n", line.text[markup.end() :] if markup else line.text)
            if markup and not text.startswith("("):
                text = "\n"
        elif f"</{header}>" in line.text.lower():
            header = ""
        yield header_line if header and not following.number else line._replace(text=text)


# GB 18030 contains GB 2312 and GBK.
CTB = TreebankFormat(
    suffixes=(".fid", ".nw", ".mz", ".bn", ".bc", ".wb", ".df", ".sc", ".cs"),
    encoding="gb18030",
    split=SPLIT,
    lines=skip_markup,
)

"""The Chinese Treebank's files: Penn brackets between lines of markup, in GB 18030 or UTF-8.

<S ID=1>
( (IP-HLN (NP-SBJ (NR 上海)) (VP (VV 开放))) )
</S>
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from ..lines import Line
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
_NO_TREES = "HEADER|DOCHEADER|DOCID|DOCNO|DATE|DATETIME|SRCID"  # elements whose text is not a tree
_HEADER = re.compile(rf"\s*<({_NO_TREES})\b[^<>]*>|\s*<!--", re.IGNORECASE)
_MARKUP = re.compile(
    rf"(?:\s*(?:<({_NO_TREES})\b[^<>]*>.*?</\1>|(?:<!--.*?)?-->|<(?!(?:{_NO_TREES})\b)[/?]?[A-Za-z][^<>]*>))+\s*",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"(?<=\))\s*(?:</[A-Za-z][^<>]*>\s*)+\Z")
_TREE = re.compile(r"\([^\s()]*\s*(?:\(|$)")  # how a tree begins, in or after text


def skip_markup(lines: Iterator[Line]) -> Iterator[Line]:
    """Empty the lines that belong to no tree, and take markup off the others.

    A header that is never closed takes the place of the last line, so that it is an error and all after it not lost.
    """
    closing = ""  # of the element that is open, whose text is not a tree
    header_line = Line(0, "")
    for line, following in pairwise(chain(lines, [Line(0, "")])):
        text = line.text
        if closing:
            end = text.lower().find(closing)
            text, closing = (text[end:], "") if end >= 0 else ("\n", closing)
        markup = _MARKUP.match(text)
        text = _CLOSING.sub("\n", text[markup.end() :] if markup else text)
        if header := _HEADER.match(text):
            closing = f"</{header[1].lower()}>" if header[1] else "-->"
            text, header_line = "\n", line._replace(text=header.group())
        if markup and not text.startswith("(") and not _TREE.search(text):
            text = "\n"
        yield header_line if closing and not following.number else line._replace(text=text)


# GB 18030 contains GB 2312 and GBK.
CTB = TreebankFormat(
    suffixes=(".fid", ".nw", ".mz", ".bn", ".bc", ".wb", ".df", ".sc", ".cs"),
    encoding="gb18030",
    split=SPLIT,
    lines=skip_markup,
)

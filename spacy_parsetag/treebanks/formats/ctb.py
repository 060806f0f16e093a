"""The Chinese Treebank's files: Penn brackets between lines of markup, in GB 18030 or UTF-8.

<S ID=1>
( (IP-HLN (NP-SBJ (NR 上海)) (VP (VV 开放))) )
</S>
"""

import re
from collections.abc import Callable

from .encodings import guess_ctb
from .rewrite import RewrittenBrackets

# The split of version 5.1 that papers use, by the numbers of the files, which have three digits there and four later.
CTB_SPLIT = ",".join(
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


def skip_markup() -> Callable[[str], bool]:
    """A function that says of each line of a file, in order, whether it belongs to a tree."""
    header = ""  # the element that is open, whose text is no tree

    def keep(line: str) -> bool:
        nonlocal header
        if header:
            if f"</{header}>" in line.lower():
                header = ""
            return False
        found = _HEADER.match(line)
        if found is not None:
            name = found.group(1).lower()
            header = "" if f"</{name}>" in line.lower() else name
            return False
        return _MARKUP.match(line) is None

    return keep


read_ctb = RewrittenBrackets(keep=skip_markup, guess_encoding=guess_ctb)

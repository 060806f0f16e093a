r"""Words and labels as text, and as they stand in a bracket file.

A word's *file form* has no bracket, no white space and is never empty:

| text | file form | |
|---|---|---|
| `(` `)` `{` `}` | `-LRB-` `-RRB-` `-LCB-` `-RCB-` | inside longer words too |
| `[` `]` | as they are | `-LSB-` `-RSB-` are read as well |
| `\` | `\\` | at the end `\u005c`: some readers, as NLTK's, take `\)` for a bracket of the word |
| `-LRB-` itself | `\-LRB-` | |
| white space, unprintable characters | `\u00a0`, `\U000e0001` | private-use characters and joiners stay |
| empty | `\e` | |

The Penn Treebank's own `\/` and `\*` are read as `/` and `*`. Any other backslash in a file, as in `\-x`, stands for
itself, so text that was never escaped is read as it is. `unescape_token(escape_token(text)) == text` for every string.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from re import Match
from unicodedata import category

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-"}
_TEXT_OF_NAME = {**{name: text for text, name in BRACKETS.items()}, "-LSB-": "[", "-RSB-": "]"}

# A dash that would be read as the start of a bracket's name. What follows the name may itself be a dash, or a bracket,
# which is written with a dash in front.
_TOKEN_SPECIAL = re.compile(r"[(){}\\]|-(?=[LR][RCS]B[-(){}])|[^ -~]|[ ]")
_TOKEN_ESCAPE = re.compile(r"-[LR][RCS]B-|\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[/*\\]|-(?=[LR][RCS]B\\?-))")
_PENN_ESCAPE = re.compile(r"-[LR][RCS]B-|\\[/*]")
# Labels keep their backslashes (`S\NP`), unless one would be read as an escape.
_LABEL_SPECIAL = re.compile(r"[()]|\\(?=[\\uU()]|[^!-~])|[^ -~]|[ ]")
_LABEL_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\\)")
# What separates words, in bracket files and in lines of tokens. A no-break or an ideographic space is part of a word.
SPACE = " \t\r\n\f\v"
_TOKEN = re.compile(f"[^{SPACE}]+")


def split_tokens(line: str) -> list[str]:
    r"""Split a line into words, by the one rule for what separates them.

    >>> split_tokens("She  paid\t1\u00a0000\n") == ["She", "paid", "1\u00a0000"]
    True
    """
    return _TOKEN.findall(line)


def escape_token(text: str) -> str:
    r"""Write a word's text in file form.

    >>> escape_token("f(x)"), escape_token("1/2"), escape_token("New York")
    ('f-LRB-x-RRB-', '1/2', 'New\\u0020York')
    """
    return _TOKEN_SPECIAL.sub(lambda match: _escape_char(match, BRACKETS), text) if text else "\\e"


def unescape_token(text: str) -> str:
    r"""Read a word's text from its file form.

    >>> unescape_token("-LRB-"), unescape_token("1\\/2"), unescape_token("C:\\dir")
    ('(', '1/2', 'C:\\dir')
    """
    return _TOKEN_ESCAPE.sub(_unescape, text) if text != "\\e" else ""


def unescape_penn(text: str) -> str:
    r"""Read a word as the Penn Treebank's plain text writes it. No other backslash means anything there.

    >>> unescape_penn("-LRB-"), unescape_penn("1\\/2"), unescape_penn("C:\\u0041")
    ('(', '1/2', 'C:\\u0041')
    """
    return _PENN_ESCAPE.sub(_unescape, text)


@lru_cache(maxsize=65536)  # a treebank has few labels, each many times
def escape_label(label: str) -> str:
    r"""Make any label writable in a bracket file.

    Labels are names, not text: `-LRB-` and `-NONE-` stay as they are, and so does a backslash that nothing would
    mistake for an escape. Brackets, white space and unprintable characters become `\uXXXX`, an empty label `\e`.
    """
    if label in ("", "\\e"):
        return "\\e" if not label else "\\\\e"
    return _LABEL_SPECIAL.sub(lambda match: _escape_char(match, {}), label)


@lru_cache(maxsize=65536)  # a treebank has few labels, each many times
def unescape_label(label: str) -> str:
    """Read a label back from what `escape_label` wrote."""
    return _LABEL_ESCAPE.sub(_unescape, label) if label != "\\e" else ""


def _escape_char(match: Match[str], names: Mapping[str, str]) -> str:
    char = match.group()
    if char in names:
        return names[char]
    if char in "\\-" and match.end() < len(match.string):
        return "\\" + char
    # Private-use characters are letters in some treebanks (medieval ones, rare Chinese ones). Words of Persian and of
    # languages of India, and emoji, have joiners (U+200C and U+200D).
    if (char.isprintable() or category(char) == "Co" or char in "\u200c\u200d") and char not in " ()\\":
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescape(match: Match[str]) -> str:
    escape = match.group()
    if escape[0] == "-":
        return _TEXT_OF_NAME[escape]  # `[LR][RCS]B` are just the six names
    if escape[1] not in "uU":
        return escape[1]
    code = int(escape[2:], 16)
    # `\U` with a number beyond Unicode is not an escape of ours, so it stands for itself.
    return chr(code) if code < 0x110000 else escape

"""Guess the spaces of English text from its tokens, for models that read raw text.

    They  wo  n't  (  I  hope  )  pay  $  5  .     becomes     They won't (I hope) pay $5.

Words stay as they are: quotes written `` and '' are spaced like quotes, not turned into them.
"""

import re
from collections.abc import Sequence

_NO_SPACE_BEFORE = re.compile(r"[.,;:?!)\]}%…”’»]+|''|\.\.+|n['’]t|['’](?:s|S|re|RE|ve|VE|ll|LL|d|D|m|M)|N['’]T")
_NO_SPACE_AFTER = re.compile(r"[(\[{“‘«`#]|``|[A-Z]{0,3}\$|[£€¥]")
# Words that the Penn Treebank cuts in two.
_CLITICS = {
    ("gon", "na"), ("wan", "na"), ("got", "ta"), ("lem", "me"), ("gim", "me"), ("can", "not"), ("wha", "dda"),
    ("d'", "ye"), ("more", "'n"), ("'t", "is"), ("'t", "was"),
}  # fmt: skip


def spaces_after(words: Sequence[str], tags: Sequence[str] | None = None) -> list[bool]:
    """Guess whether a space follows each word of an English sentence; one follows the last.

    A straight quote opens if none is open, and closes otherwise; a quote that ends the sentence closes too, and so does
    an apostrophe after a word in s.

    tags (Sequence[str] | None): Their part-of-speech tags; the tag HYPH tells the hyphen of "old-fashioned", which
        some treebanks make a word, from a dash.
    """
    spaces = [True] * len(words)
    open_quotes = {'"': False, "'": False}
    glue_next = False  # whether the previous word takes no space after it
    for i, word in enumerate(words):
        no_space = glue_next or (i > 0 and (words[i - 1].lower(), word.lower()) in _CLITICS)
        glue_next = bool(_NO_SPACE_AFTER.fullmatch(word))
        if word == "/" or (tags is not None and tags[i] == "HYPH"):
            no_space = glue_next = True
        elif word in open_quotes:
            possessive = word == "'" and i > 0 and words[i - 1][-1:] in ("s", "S")
            if open_quotes[word] or possessive or 0 < i == len(words) - 1:
                no_space = True
                # A possessive inside single quotes is taken for the closing one: text alone cannot tell them apart.
                open_quotes[word] = False
            else:
                open_quotes[word] = glue_next = True
        elif word in ("`", "‘"):
            open_quotes["'"] = True
        elif _NO_SPACE_BEFORE.fullmatch(word):
            no_space = True
        if no_space and i > 0:
            spaces[i - 1] = False
    return spaces

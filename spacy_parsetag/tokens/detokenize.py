"""Guess the spaces of text from its tokens, for models that read raw text: as in English, or none in scripts without.

    They  wo  n't  (  I  hope  )  pay  $  5  .     becomes     They won't (I hope) pay $5.
    在  Deep  Blue  之前  。                       becomes     在Deep Blue之前。

Words stay as they are: quotes written `` and '' are spaced like quotes, not turned into them.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_NO_SPACE_BEFORE = re.compile(r"[.,;:?!)\]}%…”’»]+|''|\.\.+|n['’]t|['’](?:s|S|re|RE|ve|VE|ll|LL|d|D|m|M)|N['’]T")
_NO_SPACE_AFTER = re.compile(r"[(\[{“‘«`#]|``|[A-Z]{0,3}\$|[£€¥]")
# Words that the Penn Treebank cuts in two.
_CLITICS = {
    ("gon", "na"), ("wan", "na"), ("got", "ta"), ("lem", "me"), ("gim", "me"), ("can", "not"), ("wha", "dda"),
    ("d'", "ye"), ("more", "'n"), ("'t", "is"), ("'t", "was"),
}  # fmt: skip
# Scripts that put no spaces between words: Chinese and Japanese with their punctuation and full-width forms; these and
# Thai, Lao, Tibetan, Burmese and Khmer, which may put them between sentences.
_CJK = r"\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{_CJK}]")
_HAS_UNSPACED = re.compile(rf"[{_CJK}\u0e00-\u109f\u1780-\u17ff\uaa60-\uaa7f]")


def is_unspaced(words: Sequence[str]) -> bool:
    """Tell whether most words of a sentence are in a script without spaces between words, such as Chinese or Thai."""
    are_unspaced = [bool(_HAS_UNSPACED.search(word)) for word in words if word[:1].isalpha()]
    return 2 * sum(are_unspaced) > len(are_unspaced)


def spaces_after(words: Sequence[str], tags: Sequence[str] | None = None) -> list[bool]:
    """Guess whether a space follows each word of a sentence, as in English text; one follows the last.

    A straight quote opens if none is open, and closes otherwise; a quote that ends the sentence closes too, and so does
    an apostrophe after a word in s. Where most words are in a script without spaces, one follows a word only between
    letters or digits of another script, and the last of a sentence in Thai, but not in Chinese or Japanese.

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
    if is_unspaced(words):
        for i, (word, following) in enumerate(pairwise(words)):
            ends = word[-1:] + following[:1]
            spaces[i] &= ends.isalnum() and not _HAS_UNSPACED.search(ends)
        spaces[-1] = not _HAS_CJK.search("".join(words))
    return spaces

"""What can be wrong with a bracket file: one exception class per malformation.

    TreebankError (ValueError)
    ├── EmptyTree           brackets without a word: `(())`, `()`, `(TOP)`
    ├── EmptyNode           a bracket without content inside a tree that has words: `(S (NP) (VP (VB go)))`
    ├── EmptyLabel          a node without a label below the root: `(S ((NN dog)))`
    ├── MissingTag          a word without a part-of-speech bracket of its own: `(NP the (NN dog))`
    ├── UnclosedTree        a closing bracket is missing: another tree starts before this one ends
    │   ├── UnterminatedTree    the file ends inside a tree
    │   └── OversizedTree       a tree with more words than any sentence has
    ├── ExtraBracket        a closing bracket that closes nothing
    ├── StrayText           text between trees
    ├── NulByte             a NUL character: binary data, or UTF-16 read as something else
    └── UndecodableBytes    bytes that the encoding does not have

Each carries `path`, `line` (of the problem), `tree_line` (where the tree starts) and `reason`.
"""

from typing import Any, ClassVar, TypeVar

from ..errors import TreebankError

_LONGEST = 60


def excerpt(text: str) -> str:
    """A word for a message, cut if it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


_ErrorT = TypeVar("_ErrorT", bound="PennError")


class PennError(TreebankError):
    """A malformation of bracket files; `template` is its reason, filled in by `at`."""

    template: ClassVar[str] = ""

    @classmethod
    def at(cls: type[_ErrorT], path: str, line: int, tree_line: int, **values: Any) -> _ErrorT:
        """Make the error for a place.

        path (str): File, or name of the stream.
        line (int): Line of the problem, from 1.
        tree_line (int): Line where the tree starts.
        values (Any): What the class's template asks for.
        RETURNS (PennError): The error, to be raised or reported.
        """
        reason = cls.template.format(**values)
        if tree_line != line:
            reason = f"{reason} (The tree starts on line {tree_line}.)"
        return cls(path, line, reason, tree_line=tree_line)


class EmptyTree(PennError):
    template = (
        "Empty tree: brackets without a word, which some treebanks write for a sentence left unparsed. "
        "Leave it out, or skip bad trees."
    )


class EmptyNode(PennError):
    template = "Nothing under the node {label!r}: it needs a word or other nodes. Is a word or a tag missing?"


class EmptyLabel(PennError):
    template = (
        "A node inside the tree has no label; only the root may go without. Is a label or a bracket missing before it?"
    )


class MissingTag(PennError):
    template = (
        "The word {word!r} under {label!r} has no part-of-speech bracket of its own. "
        "Write it as (TAG word), or give a default tag for such words."
    )


class UnclosedTree(PennError):
    template = "The tree is not closed where another one starts. Closing brackets missing: {missing}."


class UnterminatedTree(UnclosedTree):
    template = "The file ends inside a tree. Closing brackets missing: {missing}. Is the file cut off?"


class OversizedTree(UnclosedTree):
    template = (
        "More than {limit} words in one tree, which no sentence has. Closing brackets missing: {missing}. "
        "Are trees of several sentences wrapped in one bracket, or is one of them not closed?"
    )


class ExtraBracket(PennError):
    template = "Closing bracket without an opening one: remove it, or add the missing opening bracket before it."


class StrayText(PennError):
    template = "Text outside of brackets: {text!r}. Only trees may stand in a bracket file."


class NulByte(PennError):
    template = "NUL byte. Is the file binary, or in UTF-16 (then say so: --encoding utf-16)?"


class UndecodableBytes(PennError):
    template = (
        "Bytes {data} are not valid {encoding}. If the file is in another encoding, say which, "
        "for instance --encoding {hint}."
    )

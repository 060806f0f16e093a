"""The grammar: definitions with weighted options, each a template of trees.

    start sentence

    define sentence
        6   {num ~ sg:6,pl:4} (S <np num=$num> <vp num=$num> (. .))
        1   (NP <np> (. .))

    define vp num form=past
        3 [form=past]     {v ~ verb frame=np} (VP (VBD $v.past) <np class=$v.obj> 20%<pp>)
        1* [form!=past]   ...

A line `define NAME parameters` opens a definition; a parameter may have a default, `name=value`, or one that is drawn,
`name~a:3,b:1`. Each option is a weight, guards in square brackets, and items; lines that do not begin with a
number continue the option above. A weight with an asterisk shrinks with each such option above it in the tree, which
keeps sentences short. Items:

    (NP ...)              a constituent; (NN dog) a part of speech and its word
    <np num=$n>           the trees of a definition, spliced in
    30%<pp>               an item that comes with a chance of 30 in 100; `30%*` shrinks like weights
    {v ~ verb frame=np}   draw a row of a lexicon table, under constraints
    {c ~ a:3,b:1}         draw from values with weights
    {c ~ $v.obj}          draw from a word's attribute: from its table of complements, or from its alternatives (a|b)
    {c = $v.obj}          give a name to a value
    ^                     capitalise the next word
    -                     nothing

`$v.obj` is an attribute of a drawn row, `$num` a value; both may stand within words and labels, `($v.tag $v.form)`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """A variable, `$name` or `$name.attr`."""

    name: str
    attr: str | None = None


@dataclass(frozen=True)
class Text:
    """Text with variables in it."""

    parts: tuple[str | Variable, ...]


@dataclass(frozen=True)
class Word:
    """The word under a part of speech."""

    text: Text


@dataclass(frozen=True)
class Node:
    """A constituent or part of speech over its items."""

    label: Text
    items: tuple["Item", ...]
    line: int


@dataclass(frozen=True)
class Call:
    """The trees of a definition."""

    name: str
    args: tuple[tuple[str, Text], ...]
    line: int


@dataclass(frozen=True)
class Bind:
    """Give a name to a text, to one of some values, to a row of a table, or to a draw from a variable's attribute.

    Exactly one of `value`, `choices`, `table` and `source` is set.
    """

    name: str
    line: int
    value: Text | None = None
    choices: tuple[tuple[str, float], ...] | None = None
    table: str | None = None
    constraints: tuple[tuple[str, Text], ...] = ()
    source: Variable | None = None


@dataclass(frozen=True)
class Maybe:
    """An item that comes with a chance."""

    chance: float
    costly: bool
    item: "Item"


@dataclass(frozen=True)
class Capital:
    """Capitalise the next word."""


Item = Node | Word | Call | Bind | Maybe | Capital


@dataclass(frozen=True)
class Guard:
    """A condition on a variable: that it is, or is not, one of some values."""

    variable: Variable
    values: tuple[str, ...]
    wanted: bool


@dataclass(frozen=True)
class Option:
    """One way to expand a definition."""

    weight: float
    costly: bool
    guards: tuple[Guard, ...]
    items: tuple[Item, ...]
    line: int


@dataclass(frozen=True)
class Parameter:
    """A parameter of a definition; without a default and without choices it is required."""

    name: str
    default: str | None = None
    choices: tuple[tuple[str, float], ...] | None = None

    @property
    def required(self) -> bool:
        return self.default is None and self.choices is None


@dataclass
class Definition:
    """A name, parameters and options."""

    name: str
    params: tuple[Parameter, ...]
    options: list[Option]
    line: int


@dataclass
class Grammar:
    """Definitions by name and where to start.

    path (str): The file, for errors.
    start (str): Name of the definition that a sentence begins with.
    definitions (Dict[str, Definition]): The definitions.
    """

    path: str
    start: str
    definitions: dict[str, Definition]

"""Read the grammar: definitions with weighted options, each a template of trees.

    define sentence
        6   {num ~ sg:6,pl:4} (S <np num=$num> <vp num=$num> (. .))
        1   (NP <np> (. .))

    define vp num form=past
        3 [form=past]     {v ~ verb frame=np} (VP (VBD $v.past) <np class=$v.obj> 20%<pp>)
        1* [form!=past]   ...

A line `define NAME parameters` opens a definition; a parameter may have a default, `name=value`, or one that is drawn,
`name~a:3,b:1`. The first definition is where a sentence begins. Each option is a weight, conditions in square brackets,
and items; lines that do not begin with a number continue the option above. A weight with an asterisk shrinks with each
such option above it in the tree, which keeps sentences short. Text after `#` is a comment. Items:

    (NP ...)              a constituent
    (NN dog)              a part of speech and its word
    <np num=$n>           the trees of a definition, in this place
    30%<pp>               an item that comes with a chance of 30 in 100
    {v ~ verb frame=np}   draw a row of a lexicon table, under constraints
    {c ~ a:3,b:1}         draw from values with weights
    {c ~ $v.obj}          draw from a word's attribute: from its table of complements, or from its alternatives (a|b)
    ^                     capitalise the next word
    -                     nothing

`$v.obj` is an attribute of a drawn row, `$num` a value; both may stand within words and labels, `($v.tag $v.form)`.
"""

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from .lexicon import Distribution, read_lines

_DEFINE = re.compile(r"define (?P<name>\w+)(?P<params>.*)")
_OPTION = re.compile(r"\s+(?P<weight>\d+(\.\d+)?)(?P<costly>\*?)\s+(\[(?P<guards>[^\]]*)\])?(?P<items>.*)")
_GUARD = re.compile(r"([\w.]+)(!?=)(\S+)")
_CHOICES = re.compile(r"[^\s:,~$]+:[\d.]+(,[^\s:,~$]+:[\d.]+)*")
_ITEM = re.compile(
    r"""\s*(
        <(?P<call>\w+)(?P<args>[^<>]*)>
      | \{(?P<bind>\w+)\s*~\s*(?P<source>\S+?)(?P<constraints>(\s+\w+=[^\s{}]+)*)\s*\}
      | (?P<chance>\d+)%(?=[(<])
      | \((?P<tag>[^\s()<>{}]+)\s+(?P<word>[^\s()<>{}^]+)\)
      | \((?P<label>[^\s()<>{}]+)
      | (?P<close>\))
      | (?P<capital>\^)
      | -(?=\s|$)
    )\s*""",
    re.VERBOSE,
)


class Leaf(NamedTuple):
    """A part of speech and its word."""

    tag: str
    word: str


class Node(NamedTuple):
    """A constituent over its items."""

    label: str
    items: list["Item"]


class Call(NamedTuple):
    """The trees of a definition."""

    name: str
    args: dict[str, str]


class Bind(NamedTuple):
    """Give a name to what is drawn from values, from a table under constraints, or from a variable's attribute."""

    name: str
    source: Distribution[str] | str
    constraints: dict[str, str]


class Maybe(NamedTuple):
    """An item that comes with a chance."""

    chance: float
    item: "Item"


class Capital(NamedTuple):
    """Capitalise the next word."""


Item: TypeAlias = Leaf | Node | Call | Bind | Maybe | Capital


class Option(NamedTuple):
    """One way to expand a definition. A guard is a variable, the values it may have, and whether it may or must not."""

    weight: float
    costly: bool
    guards: list[tuple[str, list[str], bool]]
    items: list[Item]


class Definition(NamedTuple):
    """Parameters with their defaults, if any, and options."""

    params: dict[str, Distribution[str] | str | None]
    options: list[Option]


def read_grammar(path: Path) -> dict[str, Definition]:
    """Read a grammar file.

    path (Path): The file.
    RETURNS (Dict[str, Definition]): The definitions by name, the first of them the start.
    RAISES (ValueError): A line cannot be read, or names what is not defined; the message has file and line.
    """
    grammar: dict[str, Definition] = {}
    calls: list[tuple[str, Call]] = []
    for place, text in _join_lines(path):
        define, option = _DEFINE.fullmatch(text), _OPTION.fullmatch(text)
        if define is not None:
            options: list[Option] = []
            grammar[define["name"]] = Definition(dict(map(_read_param, define["params"].split())), options)
        elif option is not None and grammar:
            guards = [
                (name, values.split("|"), equals == "=")
                for name, equals, values in _GUARD.findall(option["guards"] or "")
            ]
            items = _read_items(place, option["items"], calls)
            options.append(Option(float(option["weight"]), bool(option["costly"]), guards, items))
        else:
            raise ValueError(f"{place}: Neither 'define NAME parameters' nor an option of a definition: {text.strip()}")
    for place, call in calls:
        params = grammar[call.name].params if call.name in grammar else {}
        required = {name for name, default in params.items() if default is None}
        if call.name not in grammar or not required <= set(call.args) <= set(params):
            raise ValueError(f"{place}: <{call.name}> is not defined, or not with these parameters.")
    return grammar


def _join_lines(path: Path) -> list[tuple[str, str]]:
    """Join each option with the lines that continue it."""
    joined: list[tuple[str, str]] = []
    for place, text in read_lines(path):
        continues = text.startswith(" ") and not re.match(r"\s+[\d.]+\*?(\s|$)", text)
        if continues and joined and joined[-1][1].startswith(" "):
            joined[-1] = (joined[-1][0], f"{joined[-1][1]} {text.strip()}")
        else:
            joined.append((place, text))
    return joined


def _read_choices(text: str) -> Distribution[str]:
    pairs = [choice.split(":") for choice in text.split(",")]
    return Distribution([value for value, _ in pairs], [float(weight) for _, weight in pairs])


def _read_param(text: str) -> tuple[str, Distribution[str] | str | None]:
    name, kind, default = re.split("([=~]|$)", text, maxsplit=1)
    return name, _read_choices(default) if kind == "~" else default or None


def _read_pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())


def _read_items(place: str, text: str, calls: list[tuple[str, Call]]) -> list[Item]:
    stack = [Node("", [])]
    chances: list[float | None] = [None]  # of the next item of each open node
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None or (match["close"] and len(stack) == 1):
            raise ValueError(f"{place}: Cannot read the option at {text[position:]!r}.")
        position = match.end()
        item: Item | None = None
        if match["call"]:
            item = Call(match["call"], _read_pairs(match["args"]))
            calls.append((place, item))
        elif match["bind"]:
            source = match["source"]
            choices = _read_choices(source) if _CHOICES.fullmatch(source) else source
            item = Bind(match["bind"], choices, _read_pairs(match["constraints"]))
        elif match["chance"]:
            chances[-1] = int(match["chance"]) / 100.0
        elif match["tag"]:
            item = Leaf(match["tag"], match["word"])
        elif match["label"]:
            stack.append(Node(match["label"], []))
            chances.append(None)
        elif match["close"]:
            item = stack.pop()
            chances.pop()
        elif match["capital"]:
            item = Capital()
        if item is not None:
            chance, chances[-1] = chances[-1], None
            stack[-1].items.append(item if chance is None else Maybe(chance, item))
    if len(stack) > 1:
        raise ValueError(f"{place}: ({stack[-1].label} is not closed.")
    return stack[0].items

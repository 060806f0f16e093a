"""Read a grammar file. `grammar` describes the notation; `check` finds what is wrong beyond a single line."""

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors
from .errors import GrammarError, read_lines
from .grammar import (
    Bind,
    Call,
    Capital,
    Definition,
    Grammar,
    Guard,
    Item,
    Maybe,
    Node,
    Option,
    Parameter,
    Text,
    Variable,
    Word,
)

_NAME = r"[a-z][a-z0-9_]*"
_VARIABLE = re.compile(rf"\$({_NAME})(?:\.({_NAME}))?")
_WEIGHT = re.compile(r"(\d+(?:\.\d+)?)(\*?)(?=\s|$)")
_GUARDS = re.compile(r"\s*\[([^\]]*)\]")
_GUARD = re.compile(rf"\$?({_NAME})(?:\.({_NAME}))?(!?=)(\S+)")
_CHOICES = re.compile(r"[^\s:,~$]+:\d+(\.\d+)?(,[^\s:,~$]+:\d+(\.\d+)?)*")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<call><[^<>]*>)
      | (?P<bind>\{[^{}]*\})
      | (?P<maybe>\d+(?:\.\d+)?%\*?)(?=[(<])
      | (?P<open>\([^\s()<>{}]+)
      | (?P<close>\))
      | (?P<capital>\^)
      | (?P<nothing>-)(?=\s|$)
      | (?P<word>[^\s()<>{}]+)
    )""",
    re.VERBOSE,
)


def read_grammar(path: Path) -> Grammar:
    """Read a grammar file.

    path (Path): The file.
    RETURNS (Grammar): The grammar; `check_grammar` says whether its definitions fit together.
    RAISES (GrammarError): A line cannot be read; the error names file and line.
    """
    start: str | None = None
    definitions: dict[str, Definition] = {}
    current: Definition | None = None
    number = 0
    for number, texts in _logical_lines(path):
        text = texts[0][1]
        if not text[0].isspace():
            words = text.split()
            if words[0] == "start" and len(words) == 2:
                start = words[1]
            elif words[0] == "define" and len(words) > 1 and re.fullmatch(_NAME, words[1]):
                if words[1] in definitions:
                    first = definitions[words[1]].line
                    raise GrammarError(str(path), number, Errors.E264.format(name=words[1], line=first))
                params = tuple(_read_parameter(str(path), number, word) for word in words[2:])
                current = definitions[words[1]] = Definition(words[1], params, [], number)
            else:
                raise GrammarError(str(path), number, Errors.E261.format(text=text))
        elif current is None:
            raise GrammarError(str(path), number, Errors.E259)
        else:
            current.options.append(_read_option(str(path), number, texts))
    if start is None:
        raise GrammarError(str(path), max(number, 1), Errors.E271)
    return Grammar(str(path), start, definitions)


def _logical_lines(path: Path) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Join each option with the lines that continue it."""
    held: list[tuple[int, str]] = []
    for number, text in read_lines(path):
        continues = bool(held) and held[0][1][0].isspace() and text[0].isspace() and not _WEIGHT.match(text.strip())
        if continues:
            held.append((number, text))
            continue
        if held:
            yield held[0][0], held
        held = [(number, text)]
    if held:
        yield held[0][0], held


def _read_choices(text: str) -> tuple[tuple[str, float], ...]:
    pairs = (choice.rsplit(":", 1) for choice in text.split(","))
    return tuple((value, float(weight)) for value, weight in pairs)


def _read_parameter(path: str, line: int, text: str) -> Parameter:
    match = re.fullmatch(rf"({_NAME})(?:(=|~)(\S+))?", text)
    if match is not None and match[2] is None:
        return Parameter(match[1])
    if match is not None and match[2] == "=":
        return Parameter(match[1], default=match[3])
    if match is not None and _CHOICES.fullmatch(match[3]):
        return Parameter(match[1], choices=_read_choices(match[3]))
    raise GrammarError(path, line, Errors.E262.format(text=text))


def _read_text(text: str) -> Text:
    parts: list = []
    position = 0
    for match in _VARIABLE.finditer(text):
        if match.start() > position:
            parts.append(text[position : match.start()])
        parts.append(Variable(match[1], match[2]))
        position = match.end()
    if position < len(text):
        parts.append(text[position:])
    return Text(tuple(parts))


def _read_pairs(path: str, line: int, text: str) -> tuple[tuple[str, Text], ...]:
    pairs = []
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or not value or re.fullmatch(_NAME, name) is None:
            raise GrammarError(path, line, Errors.E262.format(text=word))
        pairs.append((name, _read_text(value)))
    return tuple(pairs)


def _read_bind(path: str, line: int, text: str) -> Bind:
    match = re.fullmatch(rf"({_NAME})\s*([~=])\s*(\S+)\s*(.*)", text)
    if match is None:
        raise GrammarError(path, line, Errors.E262.format(text=text))
    name, kind, source, rest = match.groups()
    if kind == "=" and not rest:
        return Bind(name, line, value=_read_text(source))
    variable = _VARIABLE.fullmatch(source)
    if kind == "~" and variable and not rest:
        return Bind(name, line, source=Variable(variable[1], variable[2]))
    if kind == "~" and _CHOICES.fullmatch(source) and not rest:
        return Bind(name, line, choices=_read_choices(source))
    if kind == "~" and re.fullmatch(_NAME, source):
        return Bind(name, line, table=source, constraints=_read_pairs(path, line, rest))
    raise GrammarError(path, line, Errors.E262.format(text=text))


def _read_option(path: str, line: int, texts: list[tuple[int, str]]) -> Option:
    head = texts[0][1].strip()
    match = _WEIGHT.match(head)
    if match is None:
        raise GrammarError(path, line, Errors.E262.format(text=head))
    weight, costly = float(match[1]), bool(match[2])
    head = head[match.end() :]
    guards: list[Guard] = []
    bracket = _GUARDS.match(head)
    if bracket is not None:
        for word in bracket[1].split():
            guard = _GUARD.fullmatch(word)
            if guard is None:
                raise GrammarError(path, line, Errors.E262.format(text=word))
            guards.append(Guard(Variable(guard[1], guard[2]), tuple(guard[4].split("|")), guard[3] == "="))
        head = head[bracket.end() :]
    items = _read_items(path, [(line, head), *texts[1:]])
    return Option(weight, costly, tuple(guards), items, line)


class _Open:
    """A constituent whose closing bracket is still to come; the bottom one, without a label, is the option itself."""

    def __init__(self, label: str, line: int) -> None:
        self.label = label
        self.line = line
        self.items: list[Item] = []
        self.chance: tuple[float, bool] | None = None

    def append(self, item: Item) -> None:
        if self.chance is not None:
            item = Maybe(self.chance[0], self.chance[1], item)
            self.chance = None
        self.items.append(item)


def _read_items(path: str, texts: list[tuple[int, str]]) -> tuple[Item, ...]:
    stack = [_Open("", texts[0][0])]
    for line, text in texts:
        position = 0
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise GrammarError(path, line, Errors.E262.format(text=text[position:].strip()))
            position = match.end()
            kind, token = match.lastgroup, match[match.lastgroup or 0]
            if kind == "open":
                stack.append(_Open(token[1:], line))
            elif kind == "close":
                if len(stack) == 1:
                    raise GrammarError(path, line, Errors.E263)
                done = stack.pop()
                _check_word(path, done)
                stack[-1].append(Node(_read_text(done.label), tuple(done.items), done.line))
            elif kind == "call":
                name, _, rest = token[1:-1].strip().partition(" ")
                if re.fullmatch(_NAME, name) is None:
                    raise GrammarError(path, line, Errors.E262.format(text=token))
                stack[-1].append(Call(name, _read_pairs(path, line, rest), line))
            elif kind == "bind":
                stack[-1].append(_read_bind(path, line, token[1:-1].strip()))
            elif kind == "maybe":
                stack[-1].chance = (float(token.rstrip("%*")) / 100.0, token.endswith("*"))
            elif kind == "capital":
                stack[-1].append(Capital())
            elif kind == "word":
                if len(stack) == 1:
                    raise GrammarError(path, line, Errors.E262.format(text=token))
                stack[-1].append(Word(_read_text(token)))
    if len(stack) > 1:
        raise GrammarError(path, stack[-1].line, Errors.E263)
    return tuple(stack[0].items)


def _check_word(path: str, node: _Open) -> None:
    """A word stands alone under its part of speech, and a constituent has something in it."""
    words = [item for item in node.items if isinstance(item, Word)]
    if (words and len(node.items) > 1) or not node.items:
        raise GrammarError(path, node.line, Errors.E270.format(label=node.label))

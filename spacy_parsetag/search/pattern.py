"""Tregex patterns (Levy and Andrew 2006) as trees of tests: Stanford's grammar, read by recursive descent.

NP=x < (PP < IN) !$+ VP      a node NP, called x, over a PP over an IN, whose next sister is no VP

pattern := node ("|" node)*                      node := operand tests?
tests := all ("|" all)*                          all := test ("&"? test)*
test := "!" test | "?" group | group             group := "[" tests "]" | "(" tests ")" | step
step := relation operand | ("<+" | ">+") ("(" label ")" | "[" label "]" | label) operand | "<..." "{" operands "}"
operands := (operand (";" operand)*)?
operand := "(" node ")" | description
description := (label | "_ROOT_") ("=" name)? | "=" name | "~" name ("=" name)?
label := "!"? "@"? (names | /regex/) | "__"
"""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ..errors import Errors
from ..trees.tree import ROOT_LABELS

# The basic category, as in Stanford's PennTreebankLanguagePack: a label up to the mark that begins a function tag or an
# index. A label that begins with such a mark continues past the next mark if the two are the same: -NONE-.
_BASIC = re.compile(r"(?:([-=|#^~_\[])(?:[^-=|#^~_\[]+\1)?)?[^-=|#^~_\[]*")

# Each relation with its number, in the order that the kernel has.
_IN_ORDER = "< > << >> <N >N <: >: <<: >>: <<, >>, <<- >>- $++ $-- $+ $- . , .. ,, <# ># <<# >># <+ >+ == :"
RELATIONS = {symbol: number for number, symbol in enumerate(_IN_ORDER.split())}
# Each synonym with the relation that it stands for, and the child that this relation counts to (0: it counts none).
_SYNONYMS = {
    "<,": ("<N", 1), ">,": (">N", 1), "<-": ("<N", -1), ">-": (">N", -1), "<`": ("<N", -1), ">`": (">N", -1),
    "<<`": ("<<-", 0), ">>`": (">>-", 0), "$..": ("$++", 0), "$,,": ("$--", 0), "$.": ("$+", 0), "$,": ("$-", 0),
}  # fmt: skip
_UNIONS = {"$": ("$++", "$--"), "<=": ("==", "<")}
_UNSUPPORTED = {".+": "chains of words", ",+": "chains of words", "%": "%", "<<<N": "counting words"}
_SYMBOLS = sorted({*RELATIONS, *_SYNONYMS, *_UNIONS, *_UNSUPPORTED, "<<<", "<..."}, key=len, reverse=True)
_COUNTED = r"(?:[<>]|<<<)\s*-?\s*[0-9]+"
_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<regex>/(?:\\/|[^\n/])*/)
    | (?P<relation>{_COUNTED}|{"|".join(re.escape(symbol) for symbol in _SYMBOLS if "N" not in symbol)})
    | (?P<root>_ROOT_)
    | (?P<any>__)
    | (?P<names>[^\s0-9(/|@!\#%&)=?\[\]><~_.,$:{{}};][^\s(/@!\#%&)=?\[\]><~.,$:]*)
    | (?P<mark>[()\[\]{{}};|&!?@=~])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Label:
    """A test of what a node is called.

    kind (str): "any", "names" or "regex".
    text (str): Names, separated by "|", or the regular expression.
    negated (bool): Whether a node passes if the test fails.
    basic (bool): Whether only the basic category is tested: NP of NP-SBJ-1.
    """

    kind: str
    text: str = ""
    negated: bool = False
    basic: bool = False

    def __str__(self) -> str:
        text = f"/{self.text}/" if self.kind == "regex" else self.text or "__"
        return f"{'!' * self.negated}{'@' * self.basic}{text}"

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that pass."""
        return frozenset(self.text.split("|"))

    @property
    def means_root(self) -> bool:
        """Check whether one of the names is that of a root wrapper, such as ROOT: it stands for a root of any name."""
        return self.kind == "names" and not self.names.isdisjoint(ROOT_LABELS)

    @cached_property
    def test(self) -> Callable[[str], object]:
        """The function that tests a label, a word or a basic category; any true result means that it passes."""
        return re.compile(self.text).search if self.kind == "regex" else self.names.__contains__


def basic_category(label: str) -> str:
    """A label without function tags and indices: NP of NP-SBJ-1, but -NONE- of -NONE-."""
    found = _BASIC.match(label)
    return found.group() if found else label


@dataclass(frozen=True)
class Node:
    """A node of a pattern.

    label (Label): The test of its label.
    name (str): The name that the pattern gives it, or "".
    same (str): In a back-reference (=name), the name of the node that it must be.
    like (str): In a link (~name), the name of the node whose label it must have.
    test (Test | None): The test of its relations to other nodes.
    """

    label: Label
    name: str = ""
    same: str = ""
    like: str = ""
    test: "Test | None" = None


@dataclass(frozen=True)
class Step:
    """A relation to some node.

    relation (int): Its number, as in `RELATIONS`.
    nth (int): Which child it counts to: 1 is the first, -1 the last; 0 if it counts none.
    through (Label | None): The test of the labels of the nodes between, for `<+` and `>+`.
    """

    relation: int
    nth: int
    through: Label | None
    node: Node


@dataclass(frozen=True)
class Group:
    """Tests that are combined: `kind` is "and", "or", "not" or "maybe", the last two with one test."""

    kind: str
    tests: "tuple[Test, ...]"


Test = Step | Group
_NO_CHILD, _NO_PARENT = (Group("not", (Step(RELATIONS[symbol], 0, None, Node(Label("any"))),)) for symbol in "<>")


def _with_test(node: Node, test: Test) -> Node:
    """Add a test to the one that a node has already to pass, if any."""
    return replace(node, test=test if node.test is None else Group("and", (node.test, test)))


def parts(test: Test | Node) -> Iterator[Test | Node | Label]:
    """Yield a test or a node, and then all its parts, from left to right."""
    todo: list[Test | Node | Label | None] = [test]
    while todo:
        part = todo.pop()
        if part is None:
            continue
        yield part
        if isinstance(part, Node):
            todo += [part.test, part.label]
        elif not isinstance(part, Label):
            todo += part.tests[::-1] if isinstance(part, Group) else [part.node, part.through]


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse_pattern(pattern: str) -> tuple[Node, ...]:
    """Read a pattern.

    RETURNS (tuple[Node, ...]): Its alternatives, usually one.
    RAISES (ValueError): If the text is not a pattern: the message gives the place, and what could stand there.
    """
    parser = _Parser(pattern)
    try:
        nodes = parser.parse()
        hash(nodes)  # as a search does, which recurses into all parts
        return nodes
    except RecursionError as err:
        raise parser.error("nested too deeply", parser.next.at) from err


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        tokens = (_Token(str(match.lastgroup), match.group(), match.start()) for match in _TOKEN.finditer(pattern))
        self.tokens = [*(token for token in tokens if token.kind != "space"), _Token("end", "", len(pattern))]
        self.place = 0
        self.names_seen: set[str] = set()
        self.n_negations = 0

    def error(self, what: str, at: int) -> ValueError:
        line = re.sub(r"\s", " ", self.pattern)
        return ValueError(Errors.E605.format(pattern=line, what=what, at=at + 1, mark=" " * at + "^"))

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def pop(self) -> _Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def take(self, text: str) -> bool:
        """Consume the next token if it is some mark, and tell whether it was."""
        is_taken = self.next.text == text
        self.place += is_taken
        return is_taken

    def expect(self, text: str) -> None:
        if not self.take(text):
            hint = "; alternatives are written NN|NNS, or < NN | < NNS" if self.next.text == "|" else ""
            before = self.tokens[self.place - 1]
            if before.kind == "names" and re.search("[;}]", before.text):
                hint = "; before ; and }, which a name may have, stands a space"
            raise self.error(f"expected {text!r}{hint}", self.next.at)

    def parse(self) -> tuple[Node, ...]:
        nodes = [self.node()]
        while self.take("|"):
            nodes.append(self.node())
        if self.next.kind != "end":
            hint = f"expected a relation or the end, not {self.next.text!r}"
            if self.place and self.tokens[self.place - 1].kind == "regex":
                hint += "; /(?i)the/ finds capitals too"
            raise self.error("a node has one name" if self.next.text == "=" else hint, self.next.at)
        return tuple(nodes)

    def node(self) -> Node:
        """A node with its tests."""
        node = self.operand()
        return _with_test(node, self.tests()) if self.starts_test() else node

    def operand(self) -> Node:
        if not self.take("("):
            return self.description()
        node = self.node()
        self.expect(")")
        return node

    def starts_test(self) -> bool:
        return self.next.kind == "relation" or self.next.text in ("[", "(", "!", "?", "&")

    def tests(self) -> Test:
        """Read alternatives. A name that is given in one of them is not known in the others."""
        names_before = set(self.names_seen)
        alternatives = [self.all()]
        names_after = self.names_seen
        while self.next.text == "|":
            following = self.tokens[self.place + 1]
            if following.kind != "relation" and following.text not in ("[", "(", "!", "?"):
                break  # of whole patterns
            self.place += 1
            self.names_seen = set(names_before)
            alternatives.append(self.all())
            names_after = names_after | self.names_seen
        self.names_seen = names_after
        return alternatives[0] if len(alternatives) == 1 else Group("or", tuple(alternatives))

    def all(self) -> Test:
        self.take("&")
        tests = [self.test()]
        while self.starts_test():
            self.take("&")
            tests.append(self.test())
        return tests[0] if len(tests) == 1 else Group("and", tuple(tests))

    def test(self) -> Test:
        if self.take("!"):
            if self.next.text == "?":
                raise self.error("what is optional takes no negation", self.next.at)
            self.n_negations += 1
            test = self.test()
            self.n_negations -= 1
            return Group("not", (test,))
        if self.take("?"):
            return Group("maybe", (self.group(),))
        return self.group()

    def group(self) -> Test:
        for opening, closing in ("[]", "()"):
            if self.take(opening):
                test = self.tests()
                self.expect(closing)
                return test
        return self.step()

    def step(self) -> Test:
        if self.next.kind != "relation":
            raise self.error("expected a relation, such as < or $+", self.next.at)
        _, symbol, at = self.pop()
        nth, through = 0, None
        if symbol[-1].isdigit():
            sign = symbol.rstrip("0123456789")
            digits = symbol[len(sign) :].lstrip("0")[:11]  # Python reads no number of thousands of digits
            nth = min(int(digits or 0), 2**31 - 1) * (-1 if "-" in sign else 1)  # as the kernel counts
            symbol = sign.split("-")[0].strip() + "N"
            if not nth:
                raise self.error("children are counted from 1, or from -1 backwards", at)
        if symbol in _UNSUPPORTED:
            raise self.error(f"{symbol} ({_UNSUPPORTED[symbol]}) is not a part of the language here", at)
        if symbol == "<...":
            return self.children()
        if symbol in ("<+", ">+"):
            closing = ")" if self.take("(") else "]" if self.take("[") else ""
            through = self.label()
            if closing:
                self.expect(closing)
        symbol, nth = _SYNONYMS.get(symbol, (symbol, nth))
        operand = self.operand()
        if symbol == "<<<":
            return Step(RELATIONS["<<"], 0, None, _with_test(operand, _NO_CHILD))
        steps = tuple(Step(RELATIONS[relation], nth, through, operand) for relation in _UNIONS.get(symbol, (symbol,)))
        return steps[0] if len(steps) == 1 else Group("or", steps)

    def children(self) -> Test:
        """All children of a node, in order: { A ; B } is <1 A <2 B !<3 __."""
        self.expect("{")
        nodes: list[Node] = []
        while not self.take("}"):
            if nodes:
                self.expect(";")
            nodes.append(self.operand())
        nth_child = RELATIONS["<N"]
        extra_child = Step(nth_child, len(nodes) + 1, None, Node(Label("any")))
        steps = (Step(nth_child, nth, None, node) for nth, node in enumerate(nodes, start=1))
        return Group("and", (*steps, Group("not", (extra_child,))))

    def description(self) -> Node:
        if self.next.text in ("=", "~"):
            _, mark, at = self.pop()
            name = self.name()
            if name not in self.names_seen:
                raise self.error(f"no node before this has the name {name!r}", at)
            if mark == "=":
                return Node(Label("any"), same=name)
            return Node(Label("any"), like=name, name=self.optional_name())
        if self.next.kind == "root":
            self.pop()
            return Node(Label("any"), name=self.optional_name(), test=_NO_PARENT)
        return Node(self.label(), name=self.optional_name())

    def label(self) -> Label:
        negated, basic = self.take("!"), self.take("@")
        kind, text, at = self.next
        if kind not in ("names", "regex", "any"):
            hint = "expected a node: a label, /regex/ or __"
            if text == "/":
                hint = "expected another / at the end of the regular expression"
            elif re.search("[$#,.:0-9]", self.pattern[max(at - 1, 0) : at + 1]):
                hint += r"; punctuation, numbers and labels with $ are written /^,$/, /^2$/, /^PRP\$$/"
            raise self.error(hint, at)
        self.place += 1
        if kind == "any" and (negated or basic):
            raise self.error("__ is any node: it takes neither ! nor @", at)
        if kind == "names" and not all(text.split("|")):
            hint = "; a regular expression has its own alternatives: /^(MD|VB.*)$/" if self.next.kind == "regex" else ""
            raise self.error(f"a name is missing beside |{hint}", at)
        if kind == "regex":
            text = text[1:-1].replace("\\/", "/")
            try:
                with warnings.catch_warnings():  # of sets in sets, which Java has and Python may have one day
                    warnings.simplefilter("error", FutureWarning)
                    re.compile(text)
            except (re.error, FutureWarning) as err:
                raise self.error(f"not a regular expression: {err}", at) from err
        if self.next.text == "#":
            hint = "groups of a regular expression (#1%name) are not a part of the language here"
            raise self.error(hint, self.next.at)
        if kind == "names":
            text = "|".join(sorted(set(text.split("|"))))  # equal labels are looked for once
        return Label(kind, "" if kind == "any" else text, negated, basic)

    def optional_name(self) -> str:
        """The name of a node, if it gets one."""
        if not self.take("="):
            return ""
        at = self.next.at
        name = self.name()
        if self.n_negations:
            raise self.error("a node within a negation has no name: there is none where it matches", at)
        if name in self.names_seen:
            raise self.error(f"another node has the name {name!r}", at)
        self.names_seen.add(name)
        return name

    def name(self) -> str:
        kind, text, at = self.next
        if kind != "names" or "|" in text:
            hint = "; before | stands a space" if kind == "names" else ""
            raise self.error(f"expected a name{hint}", at)
        self.place += 1
        return text

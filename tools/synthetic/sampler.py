"""Draw sentences from the grammar.

An agenda, not recursion, expands the options. A sentence that grows past a limit is given up and drawn anew.
"""

import re
from itertools import accumulate, repeat
from operator import mul
from pathlib import Path
from random import Random

from nltk import Tree

from .grammar import Bind, Call, Definition, Item, Leaf, Maybe, Node, Option, read_grammar
from .inflect import takes_an
from .lexicon import Distribution, Row, Table, read_lexicon

Environment = dict[str, str | Row | Table]

_VARIABLE = re.compile(r"\$(\w+)(?:\.(\w+))?")
_MIN_WORDS, _MAX_WORDS = 1, 40
_MAX_DEPTH = 90
_MAX_NODES = 600
_MAX_ATTEMPTS = 1000
# What the weight of an option with an asterisk is multiplied with, by the number of such options above it.
_SHRUNK = list(accumulate(repeat(0.3, _MAX_DEPTH), mul, initial=1.0))
_STOPS = frozenset({".", ",", ":"})
_NOT_WORDS = frozenset({"``", "''", "-LRB-", "-RRB-", ",", ":", "."})


class Sampler:
    """Draws trees of 1 to 40 words.

    data (Path): Folder with `grammar.txt` and the lexicon, all other `.txt` files.
    RAISES (ValueError): A file has a mistake; the message has file and line.
    """

    def __init__(self, data: Path) -> None:
        self.grammar = read_grammar(data / "grammar.txt")
        self.tables = read_lexicon(sorted(path for path in data.glob("*.txt") if path.name != "grammar.txt"))

    def draw(self, rng: Random) -> Tree:
        """Draw a sentence.

        rng (Random): Source of chance. Only its `random()` is used.
        RETURNS (nltk.Tree): The tree under a node TOP, brackets written -LRB-.
        RAISES (ValueError): No option or word fits, or no draw gave a sentence within the limits.
        """
        for _ in range(_MAX_ATTEMPTS):
            tree = self._attempt(rng)
            if tree is not None:
                return tree
        raise ValueError(f"{_MAX_ATTEMPTS} draws gave no sentence of {_MIN_WORDS} to {_MAX_WORDS} words.")

    def _attempt(self, rng: Random) -> Tree | None:
        """Draw a sentence; None if it grew past a limit."""
        top = Tree("TOP", [])
        n_nodes = 0
        # Parts of speech in sentence order, each with the constituent it is in.
        leaves: list[tuple[Tree, Tree]] = []
        capitals = {0}
        # An item to expand, the variables it sees, where its trees go, its depth in definitions, and the number of
        # options with an asterisk above it.
        agenda: list[tuple[Item, Environment, Tree, int, int]] = [(Call(next(iter(self.grammar)), {}), {}, top, 0, 0)]
        while agenda:
            item, env, out, depth, costly = agenda.pop()
            if isinstance(item, Maybe):
                if rng.random() < item.chance:
                    agenda.append((item.item, env, out, depth, costly))
            elif isinstance(item, Call):
                inner, option = self._expand(rng, item, env, costly)
                if depth == _MAX_DEPTH:
                    return None
                costly += option.costly
                agenda.extend((child, inner, out, depth + 1, costly) for child in reversed(option.items))
            elif isinstance(item, Bind):
                env[item.name] = self._draw_value(rng, item, env)
            elif isinstance(item, Leaf):
                leaf = Tree(_fill(item.tag, env), [_fill(item.word, env)])
                out.append(leaf)
                leaves.append((leaf, out))
                n_nodes += 1
            elif isinstance(item, Node):
                tree = Tree(_fill(item.label, env), [])
                out.append(tree)
                agenda.extend((child, env, tree, depth, costly) for child in reversed(item.items))
                n_nodes += 1
            else:
                capitals.add(len(leaves))
            if n_nodes > _MAX_NODES:
                return None
        return top if _MIN_WORDS <= _polish(leaves, capitals) <= _MAX_WORDS else None

    def _expand(self, rng: Random, call: Call, env: Environment, costly: int) -> tuple[Environment, Option]:
        """The variables that a definition sees, and one of its options."""
        definition: Definition = self.grammar[call.name]
        args = {name: _value(text, env) for name, text in call.args.items()}
        inner: Environment = {}
        for name, default in definition.params.items():
            if name in args:
                inner[name] = args[name]
            else:
                inner[name] = default.draw(rng) if isinstance(default, Distribution) else default or ""
        options = [option for option in definition.options if all(_holds(guard, inner) for guard in option.guards)]
        if not options:
            raise ValueError(f"No option of {call.name!r} applies with {inner}.")
        if len(options) == 1:
            return inner, options[0]
        weights = [option.weight * _SHRUNK[costly] if option.costly else option.weight for option in options]
        return inner, Distribution(options, weights).draw(rng)

    def _draw_value(self, rng: Random, bind: Bind, env: Environment) -> str | Row | Table:
        if isinstance(bind.source, Distribution):
            return bind.source.draw(rng)
        source = _value(bind.source, env) if bind.source.startswith("$") else self.tables[bind.source]
        if isinstance(source, Table):
            return source.draw(rng, {name: _fill(text, env) for name, text in bind.constraints.items()})
        if isinstance(source, str):
            alternatives = source.split("|")
            return alternatives[int(rng.random() * len(alternatives))]
        return source


def _value(text: str, env: Environment) -> str | Row | Table:
    """The value of a text: that of a variable standing alone, else the text with its variables filled in."""
    variable = _VARIABLE.fullmatch(text)
    return _fill(text, env) if variable is None else _look_up(variable, env)


def _look_up(variable: re.Match[str], env: Environment) -> str | Row | Table:
    value = env[variable[1]]
    if variable[2] is None:
        return value
    # What a word lacks is empty: a guard may ask for it.
    return value.get(variable[2], "") if isinstance(value, dict) else ""


def _fill(text: str, env: Environment) -> str:
    def text_of(variable: re.Match[str]) -> str:
        value = _look_up(variable, env)
        return value if isinstance(value, str) else ""

    return _VARIABLE.sub(text_of, text) if "$" in text else text


def _holds(guard: tuple[str, list[str], bool], env: Environment) -> bool:
    name, values, allowed = guard
    value = _value(f"${name}", env)
    return isinstance(value, str) and any(part in values for part in value.split("|")) == allowed


def _polish(leaves: list[tuple[Tree, Tree]], capitals: set[int]) -> int:
    """Drop commas that meet other punctuation, write *an* before vowels, and capitalise.

    leaves (List[Tuple[Tree, Tree]]): Parts of speech in sentence order, each with the constituent it is in; changed.
    capitals (Set[int]): Positions before which a capital is asked for.
    RETURNS (int): Number of words that are left.
    """
    words: list[Tree] = []
    raising = False
    for position, (leaf, parent) in enumerate(leaves):
        raising = raising or position in capitals
        following = leaves[position + 1][0] if position + 1 < len(leaves) else None
        if leaf.label() == "," and (not words or following is None or following.label() in _STOPS):
            # By identity: two commas of one constituent are equal but not the same.
            parent[:] = [child for child in parent if child is not leaf]
            continue
        if raising and leaf.label() not in _NOT_WORDS:
            leaf[0] = leaf[0][:1].upper() + leaf[0][1:]
            raising = False
        if words and words[-1][0] in ("a", "A") and words[-1].label() == "DT" and takes_an(leaf[0]):
            words[-1][0] += "n"
        words.append(leaf)
    return len(words)

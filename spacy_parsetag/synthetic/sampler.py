"""Draw sentences from a grammar.

An agenda, not recursion, expands the options, so depth is bounded by the sampler's own limits alone. A sentence that
grows past a limit is given up and drawn anew: the draws always end.
"""

from random import Random

from nltk import Tree

from ..errors import Errors
from .check import check_grammar
from .errors import GrammarError
from .grammar import Bind, Call, Capital, Definition, Grammar, Guard, Item, Maybe, Node, Option, Parameter, Text, Word
from .polish import polish
from .tables import Distribution, Row, Table

Value = str | Row | Table
Environment = dict[str, Value]
# An item to expand, the variables it sees, the list its trees go to, its depth in definitions, and the number of
# options marked with an asterisk above it.
_Task = tuple[Item, Environment, Tree, int, int]

_MAX_DEPTH = 90
_MAX_TREES = 600
_MAX_ATTEMPTS = 1000
_SHRINK = 0.3


class Sampler:
    """Draw trees from a grammar and a lexicon.

    grammar (Grammar): The grammar.
    tables (Dict[str, Table]): The lexicon.
    min_words (int): Words of the shortest sentence.
    max_words (int): Words of the longest sentence.
    RAISES (GrammarError): Grammar and lexicon do not fit together.
    """

    def __init__(self, grammar: Grammar, tables: dict[str, Table], *, min_words: int = 1, max_words: int = 40) -> None:
        check_grammar(grammar, tables)
        self.grammar = grammar
        self.tables = tables
        self.min_words = min_words
        self.max_words = max_words
        self._shrunk = [1.0]
        for _ in range(_MAX_DEPTH):
            self._shrunk.append(self._shrunk[-1] * _SHRINK)

    def sample(self, rng: Random) -> Tree:
        """Draw a sentence.

        rng (Random): Source of chance; only its `random()` is used.
        RETURNS (nltk.Tree): The tree under a node TOP, words in file form.
        RAISES (GrammarError): No option or word fits, or no sentence within the limits came out of many draws.
        """
        for _ in range(_MAX_ATTEMPTS):
            tree = self._attempt(rng)
            if tree is not None:
                return tree
        line = self.grammar.definitions[self.grammar.start].line
        reason = Errors.E275.format(attempts=_MAX_ATTEMPTS, least=self.min_words, most=self.max_words)
        raise GrammarError(self.grammar.path, line, reason)

    def _attempt(self, rng: Random) -> Tree | None:
        """Draw a sentence; None if it grew past a limit."""
        top = Tree("TOP", [])
        nodes: list[tuple[Tree, Node]] = []
        # Parts of speech in sentence order, each with the constituent it is in.
        leaves: list[tuple[Tree, Tree]] = []
        capitals: list[int] = []
        agenda: list[_Task] = [(Call(self.grammar.start, (), 1), {}, top, 0, 0)]
        while agenda:
            item, env, out, depth, level = agenda.pop()
            if isinstance(item, Maybe):
                if rng.random() >= item.chance * (self._shrunk[level] if item.costly else 1.0):
                    continue
                agenda.append((item.item, env, out, depth, level + item.costly))
            elif isinstance(item, Call):
                definition = self.grammar.definitions[item.name]
                inner = self._arguments(rng, definition, item, env)
                option = self._choose(rng, definition, inner, level)
                if depth == _MAX_DEPTH:
                    return None
                level += option.costly
                agenda.extend((child, inner, out, depth + 1, level) for child in reversed(option.items))
            elif isinstance(item, Bind):
                env[item.name] = self._bind(rng, item, env)
            elif isinstance(item, Capital):
                capitals.append(len(leaves))
            elif isinstance(item, Node):
                tree = Tree(_fill(item.label, env), [])
                out.append(tree)
                nodes.append((tree, item))
                if len(nodes) > _MAX_TREES:
                    return None
                if isinstance(item.items[0], Word):
                    word = _fill(item.items[0].text, env)
                    if not word or not tree.label():
                        reason = Errors.E279.format(label=tree.label())
                        raise GrammarError(self.grammar.path, item.line, reason)
                    tree.append(word)
                    leaves.append((tree, out))
                else:
                    agenda.extend((child, env, tree, depth, level) for child in reversed(item.items))
        for tree, node in nodes:
            if not len(tree):
                raise GrammarError(self.grammar.path, node.line, Errors.E274.format(label=tree.label()))
        n_words = polish(leaves, capitals)
        return top if self.min_words <= n_words <= self.max_words else None

    def _arguments(self, rng: Random, definition: Definition, call: Call, env: Environment) -> Environment:
        given = {name: _evaluate(text, env) for name, text in call.args}
        return {
            param.name: given[param.name] if param.name in given else _default(rng, param)
            for param in definition.params
        }

    def _choose(self, rng: Random, definition: Definition, env: Environment, level: int) -> Option:
        options, weights = [], []
        for option in definition.options:
            if all(_holds(guard, env) for guard in option.guards):
                options.append(option)
                weights.append(option.weight * self._shrunk[level] if option.costly else option.weight)
        if not options or sum(weights) <= 0.0:
            bound = ", ".join(f"{name}={value}" for name, value in env.items() if isinstance(value, str))
            reason = Errors.E272.format(name=definition.name, bound=bound or "no variables")
            raise GrammarError(self.grammar.path, definition.line, reason)
        if len(options) == 1:
            return options[0]
        drawn: Option = Distribution(options, weights).draw(rng)
        return drawn

    def _bind(self, rng: Random, bind: Bind, env: Environment) -> Value:
        if bind.value is not None:
            return _evaluate(bind.value, env)
        if bind.choices is not None:
            return _draw_choice(rng, bind.choices)
        constraints = tuple((name, _fill(value, env)) for name, value in bind.constraints)
        if bind.table is not None:
            source: Value = self.tables[bind.table]
        else:
            assert bind.source is not None  # the reader sets exactly one of the four
            source = _evaluate(Text((bind.source,)), env)
        if isinstance(source, str):
            alternatives = source.split("|")
            return alternatives[min(int(rng.random() * len(alternatives)), len(alternatives) - 1)]
        row = source.draw(rng, constraints) if isinstance(source, Table) else source
        if row is None:
            wanted = " ".join(f"{name}={value}" for name, value in constraints)
            name = source.name if isinstance(source, Table) else bind.name
            raise GrammarError(self.grammar.path, bind.line, Errors.E273.format(table=name, constraints=wanted))
        return row


def _evaluate(text: Text, env: Environment) -> Value:
    """The value of a text: that of a variable standing alone, else the text with its variables filled in."""
    if len(text.parts) == 1 and not isinstance(text.parts[0], str):
        variable = text.parts[0]
        value = env[variable.name]
        if variable.attr is None:
            return value
        # What a word lacks is empty: a guard may ask for it.
        return value.attrs.get(variable.attr, "") if isinstance(value, Row) else ""
    return _fill(text, env)


def _fill(text: Text, env: Environment) -> str:
    filled = []
    for part in text.parts:
        value = part if isinstance(part, str) else _evaluate(Text((part,)), env)
        filled.append(value if isinstance(value, str) else "")
    return "".join(filled)


def _holds(guard: Guard, env: Environment) -> bool:
    value = _evaluate(Text((guard.variable,)), env)
    if isinstance(value, str) and "|" in value:
        return any(alternative in guard.values for alternative in value.split("|")) == guard.wanted
    return (value in guard.values) == guard.wanted


def _default(rng: Random, param: Parameter) -> str:
    if param.choices is not None:
        return _draw_choice(rng, param.choices)
    return param.default or ""


def _draw_choice(rng: Random, choices: tuple[tuple[str, float], ...]) -> str:
    drawn: str = Distribution([value for value, _ in choices], [weight for _, weight in choices]).draw(rng)
    return drawn

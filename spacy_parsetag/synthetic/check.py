"""Check that the definitions of a grammar fit together and with the lexicon, before anything is drawn."""

from collections.abc import Iterator

from ..errors import Errors
from .errors import GrammarError
from .grammar import Bind, Call, Definition, Grammar, Item, Maybe, Node, Text, Variable, Word
from .tables import Table


def check_grammar(grammar: Grammar, tables: dict[str, Table]) -> None:
    """Check names, arguments, variables and tables.

    grammar (Grammar): The grammar.
    tables (Dict[str, Table]): The lexicon.
    RAISES (GrammarError): Something is undefined, missing or unbound; the error names file and line.
    """
    if grammar.start not in grammar.definitions:
        raise GrammarError(grammar.path, 1, Errors.E265.format(name=grammar.start))
    _check_call(grammar, Call(grammar.start, (), grammar.definitions[grammar.start].line))
    for definition in grammar.definitions.values():
        if not definition.options:
            raise GrammarError(grammar.path, definition.line, Errors.E260.format(name=definition.name))
        if not any(option.weight > 0.0 for option in definition.options):
            raise GrammarError(grammar.path, definition.line, Errors.E277.format(name=definition.name))
        _check_definition(grammar, definition, tables)


def reachable(grammar: Grammar) -> set[str]:
    """Names of the definitions that a sentence may use.

    grammar (Grammar): The grammar.
    RETURNS (Set[str]): The start and all that is called from it.
    """
    seen = {grammar.start}
    agenda = [grammar.start]
    while agenda:
        for option in grammar.definitions[agenda.pop()].options:
            for item in walk(option.items):
                if isinstance(item, Call) and item.name not in seen:
                    seen.add(item.name)
                    agenda.append(item.name)
    return seen


def walk(items: tuple[Item, ...]) -> Iterator[Item]:
    """All items of an option, in order, those inside constituents after what holds them.

    items (Tuple[Item, ...]): The option's items.
    YIELDS (Item): Each item.
    """
    agenda: list[Item] = list(reversed(items))
    while agenda:
        item = agenda.pop()
        yield item
        if isinstance(item, Node):
            agenda.extend(reversed(item.items))
        elif isinstance(item, Maybe):
            agenda.append(item.item)


def _check_definition(grammar: Grammar, definition: Definition, tables: dict[str, Table]) -> None:
    params = {param.name for param in definition.params}
    for option in definition.options:
        for guard in option.guards:
            if guard.variable.name not in params:
                raise GrammarError(grammar.path, option.line, Errors.E268.format(name=guard.variable.name))
        bound = set(params)
        line = option.line
        for item in walk(option.items):
            line = getattr(item, "line", line)
            for name in _used(item):
                if name not in bound:
                    raise GrammarError(grammar.path, line, Errors.E268.format(name=name))
            if isinstance(item, Call):
                _check_call(grammar, item)
            elif isinstance(item, Bind):
                if item.table is not None and item.table not in tables:
                    raise GrammarError(grammar.path, line, Errors.E269.format(name=item.table))
                bound.add(item.name)


def _check_call(grammar: Grammar, call: Call) -> None:
    called = grammar.definitions.get(call.name)
    if called is None:
        raise GrammarError(grammar.path, call.line, Errors.E265.format(name=call.name))
    given = {name for name, _ in call.args}
    for name, _ in call.args:
        if all(param.name != name for param in called.params):
            raise GrammarError(grammar.path, call.line, Errors.E266.format(name=call.name, param=name))
    for param in called.params:
        if param.required and param.name not in given:
            raise GrammarError(grammar.path, call.line, Errors.E267.format(name=call.name, param=param.name))


def _used(item: Item) -> Iterator[str]:
    """Variables that an item reads itself."""
    texts: list[Text | Variable] = []
    if isinstance(item, Node):
        texts = [item.label]
    elif isinstance(item, Word):
        texts = [item.text]
    elif isinstance(item, Call):
        texts = [value for _, value in item.args]
    elif isinstance(item, Bind):
        texts = [value for _, value in item.constraints]
        texts.extend(value for value in (item.value, item.source) if value is not None)
    for text in texts:
        parts = (text,) if isinstance(text, Variable) else text.parts
        for part in parts:
            if isinstance(part, Variable):
                yield part.name

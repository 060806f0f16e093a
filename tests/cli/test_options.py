"""An option means the same in every command: each short flag one long option, and --format what the input holds."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from spacy_parsetag.cli import parsetag_app


def walk(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands with their names, those of groups within as `analyze tags`."""
    for part, subcommand in getattr(command, "commands", {}).items():
        yield from walk(subcommand, f"{name} {part}".strip())
    if not hasattr(command, "commands"):
        yield name, command


def options() -> Iterator[tuple[str, Any]]:
    for name, command in walk(get_command(parsetag_app)):
        for param in command.params:
            if param.param_type_name == "option":
                yield name, param


def test_all_commands_are_walked() -> None:
    names = {name for name, _ in options()}
    assert {"convert", "parse", "show", "search", "evaluate", "export", "analyze tags"} <= names and len(names) > 15


def test_a_short_flag_is_one_long_option_everywhere() -> None:
    meanings: dict[str, set[str]] = defaultdict(set)
    for _, param in options():
        for flag in (*param.opts, *param.secondary_opts):
            if not flag.startswith("--"):
                meanings[flag].add(next(long for long in param.opts if long.startswith("--")))
    assert len(meanings) > 10
    assert {flag: longs for flag, longs in meanings.items() if len(longs) > 1} == {}


def test_a_long_option_has_its_short_flag_everywhere() -> None:
    flags: dict[str, set[frozenset[str]]] = defaultdict(set)
    for _, param in options():
        short = frozenset(flag for flag in param.opts if not flag.startswith("--"))
        for long in param.opts:
            if long.startswith("--"):
                flags[long].add(short)
    assert {long: shorts for long, shorts in flags.items() if len(shorts) > 1} == {}


def test_format_is_what_the_input_holds() -> None:
    found = {name: param.help for name, param in options() if "--format" in param.opts}
    assert set(found) == {"convert", "parse", "show"}
    assert all(text.startswith("What INPUT holds") for text in found.values())
    written = {name for name, param in options() if "--output-format" in param.opts}
    assert written == {"parse", "linearize"}


def test_all_options_are_explained() -> None:
    named = ("--help", "--install-completion", "--show-completion")
    silent = [(name, param.opts) for name, param in options() if not param.help and param.opts[0] not in named]
    assert silent == []


def test_tolerance_is_one_option() -> None:
    tolerant = [param for _, param in options() if "--skip-bad" in param.opts]
    assert len({param.help for param in tolerant}) == 1 and len(tolerant) > 5
    assert not [flag for _, param in options() for flag in param.opts if flag in ("--max-bad", "--max-errors")]

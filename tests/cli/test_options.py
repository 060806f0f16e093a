"""Options mean the same in every command."""

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest
import typer.main

from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.cli._util import Skipped


def options() -> Iterator[tuple[str, click.Option]]:
    """All options with the commands that have them."""
    todo = [("", typer.main.get_command(parsetag_app))]
    while todo:
        name, command = todo.pop()
        todo += [(f"{name} {key}".strip(), each) for key, each in getattr(command, "commands", {}).items()]
        yield from ((name, each) for each in command.params if each.param_type_name == "option")  # type: ignore[misc]


def test_a_short_flag_has_one_meaning() -> None:
    meanings: dict[str, set[str]] = defaultdict(set)
    for _, option in options():
        for short in (name for name in option.opts if not name.startswith("--")):
            meanings[short].add(next(name for name in option.opts if name.startswith("--")))
    assert len(meanings) > 8 and all(len(names) == 1 for names in meanings.values()), meanings


def test_formats_and_limits() -> None:
    found = {name: option for name, option in options() if "--format" in option.opts}
    assert set(found) == {"convert", "parse", "show"}
    assert all((option.help or "").startswith("What INPUT holds") for option in found.values())
    names = {name for _, option in options() for name in option.opts}
    assert not names & {"--max-bad", "--max-errors", "--input-format"}
    assert {name for name, option in options() if "--skip-bad" in option.opts} >= {"convert", "parse", "linearize"}


@pytest.mark.parametrize("limit, n_bad, is_too_much", [
    ("0", 1, True), ("2", 2, False), ("2", 3, True), ("10%", 1, False), ("10%", 2, True), ("2.5%", 1, True),
    ("all", 10, False),
])  # fmt: skip
def test_limits(limit: str, n_bad: int, is_too_much: bool) -> None:
    skipped = Skipped("text", limit)

    def meet() -> None:
        for number in range(n_bad):
            skipped(f"bad {number}")
        assert len(list(skipped.count_good(range(10 - n_bad)))) == 10 - n_bad
        skipped.check()

    if is_too_much:
        with pytest.raises(ValueError, match=r"bad 0|\[E456\]|\[E469\]"):
            meet()
    else:
        meet()
        assert skipped.n == n_bad


@pytest.mark.parametrize("limit", ["", "x", "-1", "0.01", "1 %"])
def test_no_limits(limit: str) -> None:
    with pytest.raises(ValueError, match=r"\[E460\]"):
        Skipped("text", limit)

"""`python -m spacy parsetag linearize`: trees as tags, and back."""

import json
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from ..errors import Errors, TreebankError
from ..treebanks.atomic import refuse_overwrite
from ._inputs import name_of, numbered_lines
from ._util import STANDARD, MaxBad, Skipped, counting, fail, note, stated_errors, text_output

if TYPE_CHECKING:
    from ..trees import Parse, Tree


class Order(str, Enum):
    inside = "in"
    pre = "pre"
    post = "post"


class LineFormat(str, Enum):
    jsonl = "jsonl"
    tags = "tags"


def linearize_cli(
    source: Annotated[
        str,
        Arg(
            metavar="INPUT",
            help="Bracket file, folder or quoted pattern, or - for standard input; with --inverse a file that this "
            "command wrote",
        ),
    ],
    output: Annotated[
        Path, Arg(help="File to write, or - for standard output", allow_dash=True, dir_okay=False)
    ] = STANDARD,
    order: Annotated[
        Order, Opt("--order", "-o", help="in (tetratags), pre (top-down) or post (bottom-up)")
    ] = Order.inside,
    format: Annotated[
        LineFormat,
        Opt(
            "--format",
            "-f",
            help="jsonl: a line each with words, pos and tags, from which --inverse restores the tree; tags: just "
            "the tags, with spaces between",
        ),
    ] = LineFormat.jsonl,
    inverse: Annotated[bool, Opt("--inverse", "-i", help="Read what --format jsonl wrote, and write brackets")] = False,
    check: Annotated[
        bool, Opt("--check", help="Write nothing; check that each tree comes back from its tags, in all three orders")
    ] = False,
    glob: Annotated[str | None, Opt("--glob", help="Which files of a folder to read, such as 'train*.mrg'")] = None,
    encoding: Annotated[str, Opt("--encoding", "-e", help="Encoding of bracket files")] = "utf-8",
    skip_bad: Annotated[
        bool, Opt("--skip-bad", help="List and leave out malformed trees, instead of stopping at the first")
    ] = False,
    max_bad: MaxBad = 0.01,
) -> None:
    """Write trees as tags, 2N-1 for N words, a line for each tree; or with --inverse write tags as trees.

    Trees are taken as they are: nothing is cleaned. Words and labels are text: -LRB- is (.
    The order of the tags is part of each line, so --inverse needs no --order.

    python -m spacy parsetag linearize trees.mrg --order pre --format tags
    """
    with stated_errors():
        from ..treebanks.files import find_files
        from ..treebanks.formats.table import FORMATS

        skipped = Skipped(max_share=max_bad)
        files = [Path(source)]
        if source != str(STANDARD) and not inverse:
            files = [file.path for file in find_files([source], suffixes=FORMATS["penn"].suffixes, pattern=glob)]
        if not check:
            refuse_overwrite([output], files)
        with counting("trees") as count:
            trees = skipped.count_good(count(_read_trees(files, encoding, skipped if skip_bad else None)))
            if check:
                check_trees(trees)
                skipped.check()
            else:
                with text_output(output) as file:
                    if inverse:
                        file.writelines(line + "\n" for line in count(_read_inverse(files[0])))
                    else:
                        file.writelines(_format_line(path, tree, order.value, format) + "\n" for path, tree in trees)
                        skipped.check()
        skipped.summarize()


def _read_trees(files: list[Path], encoding: str, skipped: Skipped | None) -> "Iterator[tuple[str, Tree]]":
    """Each tree with the name of its file."""
    from ..treebanks.penn import read_trees

    for path in files:
        stream = typer.get_text_stream("stdin", encoding=encoding) if path == STANDARD else path
        for tree in read_trees(stream, encoding=encoding, on_error=skipped):
            yield name_of(path), tree


def root_of(tree: "Tree") -> str | None:
    """The label of the root wrapper that `Parse.from_tree` drops; None if there is none."""
    return tree.label if tree.is_wrapper else None


def _parse_of(path: str, tree: "Tree") -> "Parse":
    from ..trees.parse import Parse

    try:
        return Parse.from_tree(tree)
    except ValueError as err:
        raise TreebankError(path, tree.line, str(err)) from err


def _format_line(path: str, tree: "Tree", order: str, format: LineFormat) -> str:
    from ..linearize import get_linearizer
    from ..trees.binarize import binarize
    from ..trees.escape import escape_label

    parse = _parse_of(path, tree)
    tags = get_linearizer(order).linearize(binarize(parse))
    if format is LineFormat.tags:
        return " ".join(map(escape_label, tags))  # white space in a label would look like the end of a tag
    record: dict[str, Any] = {"order": order, "words": parse.words, "pos": parse.pos, "tags": tags}
    root = root_of(tree)
    if root != "TOP":
        record["root"] = root
    return json.dumps(record, ensure_ascii=False)


def _read_inverse(path: Path) -> Iterator[str]:
    """The brackets of each line of tags."""
    for number, line in numbered_lines(path):
        if line.strip():
            try:
                yield line_to_brackets(line)
            except (ValueError, KeyError, TypeError, RecursionError) as err:
                reason = f"no {err} in it" if isinstance(err, KeyError) else err
                what = "JSON with order, words, pos and tags"
                raise ValueError(Errors.E356.format(path=name_of(path), line=number, what=what, reason=reason)) from err


def line_to_brackets(line: str) -> str:
    """Restore the tree of a line.

    line (str): JSON with "words", "pos", "tags" and "order", and "root" where that is not TOP.
    RETURNS (str): The tree in brackets.
    RAISES (ValueError): If it is not JSON, or its tags are not those of a tree over its words.
    RAISES (KeyError): If something is missing.
    RAISES (TypeError): If something is of another type.
    RAISES (RecursionError): If lists in it are nested too deeply.
    """
    from ..linearize import get_linearizer
    from ..treebanks.write import format_tree
    from ..trees.binarize import unbinarize

    record = json.loads(line)
    words, pos, tags = (_strings(record[key]) for key in ("words", "pos", "tags"))
    if len(pos) != len(words):
        raise ValueError(f"{len(words)} words have {len(pos)} part-of-speech tags")
    if len(tags) != 2 * len(words) - 1:
        raise ValueError(Errors.E005.format(n_tags=len(tags), n_words=len(words)))
    tree = get_linearizer(record["order"]).delinearize(tags)
    root = record.get("root", "TOP")
    if root is not None and not isinstance(root, str):
        raise TypeError("root must be a string or null")
    return format_tree(unbinarize(tree, words, pos).to_tree(root))


def _strings(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError("words, pos and tags must be lists of strings")
    return value


def check_trees(trees: "Iterable[tuple[str, Tree]]") -> None:
    """Take each tree to tags and back in all three orders, and say how many came back as they were."""
    from ..linearize import ORDERS
    from ..treebanks.write import format_tree
    from ..trees.binarize import binarize, unbinarize

    n_trees = n_words = bad = 0
    same = dict.fromkeys(ORDERS, 0)
    for path, tree in trees:
        parse = _parse_of(path, tree)
        n_trees += 1
        n_words += len(parse)
        root, text = root_of(tree), format_tree(tree)
        binary = binarize(parse)
        for order, linearizer in ORDERS.items():
            tags = linearizer.linearize(binary)
            back = unbinarize(linearizer.delinearize(tags), parse.words, parse.pos)
            if len(tags) == 2 * len(parse) - 1 and back == parse and format_tree(back.to_tree(root)) == text:
                same[order] += 1
            else:
                bad += 1
                note(f"{path}:{tree.line}: {order}-order: another tree came back", "warn")
    if not n_trees:
        fail(Errors.E355.format(inputs="the input"))
    for order, n in same.items():
        typer.echo(f"{order:<5} {n:,} of {n_trees:,} trees came back ({n_words:,} words)")
    if bad:
        raise typer.Exit(1)

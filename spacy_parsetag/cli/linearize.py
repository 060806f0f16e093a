"""`python -m spacy parsetag linearize`: writes trees as tags, and tags as trees."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from tqdm import tqdm
from typer import Argument as Arg, Option as Opt

from ..errors import Errors
from ..files.find import find_files
from ..files.write import STANDARD, refuse_other, refuse_overwrite, text_output
from ..linearize import ORDERS, get_linearizer
from ..texts.input import load_json, read_lines
from ..treebanks.formats.table import FORMATS
from ..trees import Parse, Tree, binarize, unbinarize
from ..trees.brackets import format_tree
from ..trees.escape import escape_label
from ..trees.tree import ROOT
from ._inputs import trees_and_parses
from ._util import Encoding, Glob, OrderOption, Output, SkipBad, Skipped, note, refuse, refuse_glob, write_text

LineFormat = Literal["jsonl", "tags"]


def linearize_cli(
    source: Annotated[
        str, Arg(metavar="INPUT", help="Bracket file, folder, pattern; with --inverse JSON lines; - for standard input")
    ],
    output: Output = STANDARD,
    order: OrderOption = "in",
    output_format: Annotated[
        LineFormat, Opt(help="jsonl: words, pos and tags. tags: the tags alone, separated by spaces")
    ] = "jsonl",
    inverse: Annotated[bool, Opt("--inverse", help="Read what --output-format jsonl wrote, and write trees")] = False,
    check: Annotated[
        bool, Opt("--check", help="Write nothing; check that trees come back in all three orders")
    ] = False,
    glob: Glob = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = "0",
) -> None:
    """Write trees as tags, 2N-1 for N words, one tree per line; with --inverse, write tags as trees.

    Trees are taken as they are: nothing is cleaned. Words and labels are text, so -LRB- becomes (. Each line of JSON
    says its order, so --inverse needs no --order.

    \b
    Examples:
      python -m spacy parsetag linearize trees.mrg --order pre --output-format tags
      python -m spacy parsetag linearize trees.mrg tags.jsonl
      python -m spacy parsetag linearize tags.jsonl trees.mrg --inverse
    """
    skipped = Skipped(limit=skip_bad)
    is_tags = output_format == "tags"
    of_trees = (("--check", check), ("--output-format", is_tags), ("--glob", glob), ("--encoding", encoding != "utf-8"))
    for option, is_given in of_trees:
        refuse(inverse and is_given, option, "trees, and --inverse reads tags")
    refuse(order != "in" and (inverse or check), "--order", "trees to write as tags")
    refuse_glob(glob, [source])
    needs = "something to write, and --check writes nothing"
    refuse(check and (is_tags or output != STANDARD), "--output-format" if is_tags else "OUTPUT", needs)
    files = [Path(source)]
    if source != str(STANDARD) and not inverse:
        files = [file.path for file in find_files([source], suffixes=FORMATS["penn"].suffixes, pattern=glob)]
    if not check:
        refuse_overwrite([output], files)
        refuse_other(output, rb"^\([^()]*\(|^\(\S+ \S+\)$" if inverse else rb"^[^(]" if is_tags else rb"^\{")
    with tqdm(unit=" trees", disable=None) as bar:
        items = (item for path in files for item in trees_and_parses(path, encoding, skipped))
        trees = skipped.count_good(items, bar)
        if check:
            check_trees(trees)
            skipped.check()
        else:
            tags = (_format_line(tree, parse, order, output_format) for _, tree, parse in trees)
            lines = skipped.count_good(_read_inverse(files[0], skipped), bar) if inverse else tags
            with text_output(output) as file:
                file.writelines(line + "\n" for line in lines)
                skipped.check()
                if not skipped.n_good and not skipped.n:
                    raise ValueError(Errors.E106.format(inputs=source))
    skipped.summarize()


def _format_line(tree: Tree, parse: Parse, order: str, format: LineFormat) -> str:
    tags = get_linearizer(order).linearize(binarize(parse))
    if format == "tags":
        return " ".join(map(escape_label, tags))  # white space in a label would look like the end of a tag
    record: dict[str, Any] = {"order": order, "words": parse.words, "pos": parse.pos, "tags": tags}
    if not tree.is_wrapper or tree.label != ROOT:
        record["root"] = tree.label if tree.is_wrapper else None
    return json.dumps(record, ensure_ascii=False)


def _read_inverse(path: Path, skipped: Skipped) -> Iterator[str]:
    """Read lines of JSON and yield the brackets of each. Lines that give no tree go to `skipped`."""
    for where, line in read_lines(path):
        if line.strip():
            try:
                yield _line_to_brackets(line)
            except (ValueError, KeyError, TypeError) as err:
                reason = f"no {err} in it" if isinstance(err, KeyError) else str(err).rstrip(".")
                skipped(ValueError(f"{where}: {Errors.E452.format(reason=reason)}"))


def _line_to_brackets(line: str) -> str:
    record = load_json(line)
    words, pos, tags = (record[key] for key in ("words", "pos", "tags"))
    root = record.get("root", ROOT)
    for strings in (words, pos, tags, [] if root is None else [root]):
        if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
            raise TypeError("words, pos and tags must be lists of strings, and root a string or null")
    if len(pos) != len(words):
        raise ValueError(f"{len(words)} words have {len(pos)} part-of-speech tags")
    if len(tags) != 2 * len(words) - 1:
        raise ValueError(Errors.E004.format(n_tags=len(tags), n_words=len(words)))
    tree = get_linearizer(record["order"]).delinearize(tags)
    return format_tree(unbinarize(tree, words, pos).to_tree(root))


def check_trees(trees: Iterable[tuple[str, Tree, Parse]]) -> None:
    """Take each tree to tags and back in all three orders, and say how many came back as they were."""
    n_trees = n_words = 0
    same = dict.fromkeys(ORDERS, 0)
    for where, tree, parse in trees:
        n_trees += 1
        n_words += len(parse)
        binary, root = binarize(parse), tree.label if tree.is_wrapper else None
        for order, linearizer in ORDERS.items():
            tags = linearizer.linearize(binary)
            back = unbinarize(linearizer.delinearize(tags), parse.words, parse.pos)
            if len(tags) == 2 * len(parse) - 1 and back == parse and back.to_tree(root) == tree:
                same[order] += 1
            else:
                note(f"{where}: {order}-order: another tree came back", "warn")
    if not n_trees:
        raise ValueError(Errors.E106.format(inputs="the input"))
    for order, n in same.items():
        write_text(f"{order:<5} {n:,} of {n_trees:,} trees came back ({n_words:,} words)\n")
    if min(same.values()) < n_trees:
        raise typer.Exit(1)

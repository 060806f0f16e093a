"""`python -m spacy parsetag convert`: makes .spacy files of treebank files."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from spacy.vocab import Vocab
from tqdm import tqdm
from typer import Argument as Arg, Option as Opt

from ..errors import Errors, NoParse, TreebankError
from ..files.find import SourceFile, find_files
from ..files.write import STANDARD
from ..tokens.detokenize import is_unspaced
from ..treebanks.docfiles import SUFFIX, DocFile, write_treebank
from ..treebanks.formats.table import get_format
from ..treebanks.split import DEFAULT_BLOCK, ShareSplit, read_split
from ..trees import ROOT_LABELS, Parse
from ..trees.clean import CleanCounts, CleanOptions
from ._util import Glob, SkipBad, Skipped, SpansKey, counted, note, refuse, refuse_glob, warn_of_empty

MOST_LISTED = 20  # files that were written


def convert_cli(
    inputs: Annotated[
        list[str], Arg(metavar="INPUT", help="Treebank files, folders (with all folders in them), or quoted patterns")
    ],
    output: Annotated[
        Path,
        Arg(metavar="OUTPUT", help="NAME.spacy, or a folder: a file for each one read, or for each part of --split"),
    ],
    format: Annotated[
        str,
        Opt(
            "--format",
            "-f",
            help="What INPUT holds: penn; ptb and ctb (the Penn and the Chinese Treebank, with their standard splits); "
            "historical (Penn corpora of historical languages); spmrl, icepahc, farpahc, keyaki, oncoj, cess, craft, "
            "floresta, sinica, turkish",
        ),
    ] = "penn",
    glob: Glob = None,
    encoding: Annotated[str | None, Opt("--encoding", "-e", help="Encoding of the files. Default: by format")] = None,
    default_tag: Annotated[str | None, Opt(help="Part-of-speech tag for words that have none, else an error")] = None,
    skip_bad: SkipBad = "0",
    split: Annotated[
        str | None,
        Opt(
            help="Split into OUTPUT/PART.spacy, by shares of the trees (train=0.8,dev=0.1,test=0.1) or by names of "
            "files or folders (train=02..21,dev=22,test=23). No chance is involved; what fits no part is left out. "
            "Default: the format's standard split, if it has one and OUTPUT is a folder; none for no split"
        ),
    ] = None,
    split_block: Annotated[
        int, Opt(min=0, help="Trees of a file that stay together in a split by shares; 0: all")
    ] = DEFAULT_BLOCK,
    n_sents: Annotated[
        int, Opt(min=1, help="Sentences in a doc. Keep 1 to train with what spaCy splits or merges")
    ] = 1,
    limit: Annotated[int, Opt(min=0, help="Most trees in each file written; 0: all")] = 0,
    max_length: Annotated[int, Opt(min=0, help="Leave out sentences of more words; 0: none")] = 0,
    detokenize: Annotated[
        bool,
        Opt(
            "--detokenize",
            help="Guess the spaces between words, as in English text or, in scripts such as the Chinese or the Thai, "
            "none, to train and score there on spaCy's tokens. Default: unknown spaces",
        ),
    ] = False,
    spans_key: SpansKey = "constituents",
    clean: Annotated[
        list[str] | None,
        Opt(
            metavar="KEY=VALUE",
            help="Change the usual cleaning of the format; may be repeated. functions=no makes NP-SBJ of "
            "NP-SBJ-1, with indices=no nothing; tag-functions, tag-indices: the same of part-of-speech tags; "
            "traces=no keeps words that are not there, trace-tags='-NONE- XX' and trace-words=REGEX say which; "
            "repeats=no keeps NP over a lone NP; remove='CODE ID' names more labels that go with all under them, and "
            "remove= none; root=X puts a constituent X over each tree, and root= keeps root wrappers that stand inside "
            "another one",
        ),
    ] = None,
) -> None:
    """Convert treebank files into .spacy files for training and evaluation.

    Each tree becomes a doc with its words, tags (token.tag_), sentence boundaries and constituents
    (doc.spans["constituents"]); its id in doc.user_data, lemmas and morphology on its tokens, where the format has
    them. At a malformed tree the command states file, line and reason, writes nothing and exits with code 1. With
    --skip-bad it lists and leaves out such trees, up to a limit. Files appear whole or not at all, and are the same
    each time.

    python -m spacy parsetag convert train.mrg corpus/train.spacy

    python -m spacy parsetag convert treebank/ corpus/ --split train=0.8,dev=0.1,test=0.1
    """
    counts = CleanCounts()
    n_long = n_unspaced = n_no_parse = 0
    n_trees: dict[Path, int] = {}
    with tqdm(unit=" trees", disable=None) as bar:
        skipped = Skipped(limit=skip_bad)
        refuse(output == STANDARD, "convert", "a file or folder to write, OUTPUT, not -")
        refuse(not spans_key, "--spans-key", "a name, which may not be empty")
        refuse_glob(glob, inputs)
        kind = get_format(format)
        cleaning = change_cleaning(kind.clean, clean or [])

        def on_error(error: TreebankError) -> None:
            nonlocal n_no_parse
            if format == "penn" and isinstance(error, NoParse):  # (TOP): what `parse` writes where it finds no tree
                n_no_parse += 1
            else:
                skipped(error)

        read_options: dict[str, Any] = {"encoding": encoding, "default_tag": default_tag, "on_error": on_error}

        def read(file: SourceFile) -> Iterator[Parse]:
            nonlocal n_long, n_unspaced
            n_trees[file.path] = 0
            for parse in skipped.count_good(kind.read_parses(file.path, cleaning, counts, **read_options), bar):
                n_trees[file.path] += 1
                n_unspaced += is_unspaced(parse.words)
                if max_length and len(parse) > max_length:
                    n_long += 1
                else:
                    yield parse

        def check() -> None:
            skipped.check()
            if counts.emptied_trees and counts.emptied_trees == counts.trees:
                raise ValueError(Errors.E465.format(n=counts.trees))
            if n_long and n_long == skipped.n_good:
                raise ValueError(Errors.E451.format(n=n_long, longest=max_length))

        if split is None and output.suffix != SUFFIX:
            split = kind.split
        parts = read_split(split, split_block) if split is not None and split != "none" else None
        is_by_shares = isinstance(parts, ShareSplit)
        refuse(split_block != DEFAULT_BLOCK and not is_by_shares, "--split-block", "a --split by shares")
        written = write_treebank(
            find_files(inputs, suffixes=kind.suffixes, pattern=glob),
            read,
            output,
            make_file=partial(
                DocFile,
                vocab=Vocab(),
                n_sents=n_sents,
                spans_key=spans_key,
                detokenize=detokenize,
                attrs=kind.attrs,
                limit=limit,
            ),
            split=parts,
            check=check,
        )
    skipped.summarize()
    in_docs = n_sents > 1
    for target in written if len(written) <= MOST_LISTED else []:
        note(_size([target], target.path, in_docs), "good" if target.sentences else "warn")
    if len(written) > MOST_LISTED:
        note(f"{len(written):,} files, {_size(written, output, in_docs)}", "good")
    warn_of_empty(n_trees)
    if not limit and isinstance(parts, ShareSplit) and (missed := parts.missed()):
        together = f"by {parts.block}" if parts.block else "of a file"
        note(f"The split has {missed}: trees stay together {together} (--split-block)", "warn")
    n_in_no_part = 0 if limit else sum(n_trees.values()) - n_long - sum(target.sentences for target in written)
    note(describe(counts, n_long, n_in_no_part, n_no_parse))
    if not detokenize and 2 * n_unspaced > sum(n_trees.values()):
        note(
            "Pipelines learn these words from docs with unknown spaces, and may cut raw text otherwise, which has no "
            "spaces in this script. --detokenize makes docs to train and score on what they cut."
        )


def _size(files: list[DocFile], path: Path, in_docs: bool) -> str:
    """Say in a line how much is in files, and where they are."""
    sentences, docs, words = (sum(getattr(f, name) for f in files) for name in ("sentences", "docs_added", "words"))
    in_them = f" in {counted(docs, 'doc')}" if in_docs else ""
    return f"{counted(sentences, 'sentence')}{in_them}, {counted(words, 'word')}: {path}"


def change_cleaning(options: CleanOptions, changes: Iterable[str]) -> CleanOptions:
    """Change the cleaning of a format as the user says, KEY=VALUE each.

    RAISES (ValueError): If a key is not known, or its value does not fit.
    """
    values = {field.name.replace("_", "-"): getattr(options, field.name) for field in fields(options)}
    changed: dict[str, Any] = {}
    for text in changes:
        key, equals, value = text.partition("=")
        is_switch = isinstance(values.get(key), bool)
        reason = ""
        if not equals:
            reason = "it has no '='"
        elif key not in values:
            reason = f"no key {key!r}"
        elif is_switch and value not in ("yes", "no"):
            reason = f"{key} is yes or no"
        elif key == "root" and value and value in ROOT_LABELS:
            reason = f"{value} is the label of a root wrapper, which docs do not keep"
        if reason:
            raise ValueError(Errors.E470.format(text=text, reason=reason, known=", ".join(values)))
        if is_switch:
            changed[key] = value == "yes"
        elif key == "remove":
            labels = frozenset(value.split())
            changed[key] = labels and labels | changed.get(key, options.remove)
        else:
            changed[key] = frozenset(value.split()) if isinstance(values[key], frozenset) else value or None
    try:
        re.compile(changed.get("trace-words") or "")
    except re.error as err:
        raise ValueError(Errors.E454.format(text=changed["trace-words"], reason=err)) from err
    cleaning = replace(options, **{key.replace("-", "_"): value for key, value in changed.items()})
    for part in ("", "tag-"):
        is_lost = changed.get(f"{part}indices") is False and getattr(cleaning, f"{part}functions".replace("-", "_"))
        refuse(is_lost, f"--clean {part}indices=no", f"{part}functions=no, as functions go with their indices")
    return cleaning


def describe(counts: CleanCounts, n_long: int, n_in_no_part: int, n_no_parse: int) -> str:
    """Say in a line what reading and cleaning did."""
    numbers = (
        (counts.lines, "line", "rewritten as brackets"),
        (counts.labels, "label", "stripped"),
        (counts.traces, "trace", "removed"),
        (counts.removed, "node", "removed by label"),
        (counts.emptied, "empty phrase", "removed"),
        (counts.repeats, "repeated phrase", "collapsed"),
        (counts.wrappers, "root wrapper", "removed"),
        (counts.emptied_trees, "tree", "without words left out"),
        (n_long, "long sentence", "left out"),
        (n_in_no_part, "sentence", "in no part of --split left out"),
        (n_no_parse, "text", "without a parse left out"),
    )
    done = ", ".join(f"{counted(n, noun)} {what}" for n, noun, what in numbers if n)
    return f"{counted(counts.trees, 'tree')} read; {done or 'nothing to clean'}"

"""`python -m spacy parsetag convert`: treebank files become .spacy files."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from spacy.vocab import Vocab
from typer import Argument as Arg
from typer import Option as Opt

from ..errors import Errors
from ..treebanks.convert import SUFFIX, DocFile, write_treebank
from ..treebanks.files import SourceFile, find_files
from ..treebanks.formats.table import get_format
from ..treebanks.split import Split
from ..trees import Parse
from ..trees.clean import CleanCounts, CleanOptions
from ._util import Glob, MaxBad, SkipBad, Skipped, SpansKey, counting, note, stated_errors


def convert_cli(
    inputs: Annotated[
        list[str], Arg(metavar="INPUT", help="Treebank files, folders (with all folders in them), or quoted patterns")
    ],
    output: Annotated[
        Path, Arg(help="OUTPUT.spacy, or a folder: a file for each one read, or for each part of --split")
    ],
    format: Annotated[
        str,
        Opt(
            "--format",
            "-f",
            help="Kind of files: penn; ptb and ctb (the Penn and the Chinese Treebank, with their standard splits); "
            "historical (Penn corpora of historical languages); spmrl, icepahc, farpahc, keyaki, oncoj, cess, craft, "
            "floresta, sinica, turkish",
        ),
    ] = "penn",
    glob: Glob = None,
    encoding: Annotated[str | None, Opt("--encoding", "-e", help="Encoding of the files. Default: by format")] = None,
    default_tag: Annotated[
        str | None,
        Opt("--default-tag", help="Part-of-speech tag for words that have none, which are an error otherwise"),
    ] = None,
    skip_bad: SkipBad = False,
    max_bad: MaxBad = 0.01,
    split: Annotated[
        str | None,
        Opt(
            "--split",
            "-s",
            help="Split into OUTPUT/PART.spacy, by shares of the trees (train=0.8,dev=0.1,test=0.1) or by names of "
            "files or folders (train=02..21,dev=22,test=23). No chance is involved; what fits no part is left out. "
            "Default: the format's standard split, if it has one and OUTPUT is a folder; none for no split",
        ),
    ] = None,
    split_block: Annotated[
        int, Opt("--split-block", min=0, help="Trees of a file that stay together in a split by shares; 0: all of them")
    ] = 10,
    n_sents: Annotated[
        int, Opt("--n-sents", "-n", min=1, help="Sentences in a doc. Keep 1 to train with what spaCy splits or merges")
    ] = 1,
    limit: Annotated[int, Opt("--limit", "-l", min=0, help="Most trees in each file written; 0: all")] = 0,
    max_length: Annotated[int, Opt("--max-length", min=0, help="Leave out sentences of more words; 0: none")] = 0,
    detokenize: Annotated[
        bool,
        Opt(
            "--detokenize",
            help="Guess the spaces between words, as in English text, to train on raw text. Default: spaces are "
            "unknown, and spaCy trains and evaluates on the words as they are",
        ),
    ] = False,
    spans_key: SpansKey = "constituents",
    root: Annotated[
        str | None, Opt("--root", help="Cleaning: label of the root wrapper; '' leaves wrappers. Default: TOP")
    ] = None,
    functions: Annotated[
        bool | None,
        Opt("--functions/--keep-functions", help="Cleaning: strip functions and indices: NP-SBJ-1 to NP. Default: yes"),
    ] = None,
    indices: Annotated[
        bool | None,
        Opt("--indices/--keep-indices", help="Cleaning: with --keep-functions, NP-SBJ-1 to NP-SBJ. Default: yes"),
    ] = None,
    tag_functions: Annotated[
        bool | None,
        Opt("--tag-functions/--keep-tag-functions", help="Cleaning: the same for part-of-speech tags. Default: no"),
    ] = None,
    tag_indices: Annotated[
        bool | None,
        Opt("--tag-indices/--keep-tag-indices", help="Cleaning: strip indices of part-of-speech tags. Default: no"),
    ] = None,
    traces: Annotated[
        bool | None,
        Opt(
            "--traces/--keep-traces", help="Cleaning: remove words that are not there, and empty phrases. Default: yes"
        ),
    ] = None,
    trace_tags: Annotated[
        str | None,
        Opt("--trace-tags", help="Cleaning: part-of-speech tags of such words, with spaces between. Default: -NONE-"),
    ] = None,
    trace_words: Annotated[
        str | None,
        Opt("--trace-words", help="Cleaning: regular expression for such words that have no tag of their own"),
    ] = None,
    repeats: Annotated[
        bool | None,
        Opt("--repeats/--keep-repeats", help="Cleaning: NP over a lone NP becomes one NP. Default: yes"),
    ] = None,
    remove: Annotated[
        str | None, Opt("--remove", help="Cleaning: labels that go with everything under them, with spaces between")
    ] = None,
) -> None:
    """Convert treebank files into .spacy files for training and evaluation.

    Each tree becomes a doc with its words, tags (token.tag_), sentence boundaries and constituents
    (doc.spans["constituents"]). At a malformed tree the command states file, line and reason, writes nothing and exits
    with code 1. With --skip-bad it lists and leaves out such trees, up to the share --max-bad. Files appear whole or
    not at all, and are the same each time.

    python -m spacy parsetag convert train.mrg corpus/train.spacy

    python -m spacy parsetag convert treebank/ corpus/ --split train=0.8,dev=0.1,test=0.1
    """
    skipped = Skipped(max_share=max_bad)
    counts = CleanCounts()
    n_long = 0
    with stated_errors(), counting("trees") as count:
        chosen = get_format(format)
        clean = change_cleaning(
            chosen.clean,
            root=root,
            functions=functions,
            indices=indices,
            tag_functions=tag_functions,
            tag_indices=tag_indices,
            traces=traces,
            trace_tags=trace_tags,
            trace_words=trace_words,
            repeats=repeats,
            remove=remove,
        )
        reading: dict[str, Any] = {
            "encoding": encoding,
            "default_tag": default_tag,
            "on_error": skipped if skip_bad else None,
        }

        def read(file: SourceFile) -> Iterator[Parse]:
            nonlocal n_long
            for parse in skipped.count_good(count(chosen.read_parses(file.path, clean, counts, **reading))):
                if max_length and len(parse) > max_length:
                    n_long += 1
                else:
                    yield parse

        if split is None and output.suffix != SUFFIX:
            split = chosen.split
        written = write_treebank(
            find_files(inputs, suffixes=chosen.suffixes, pattern=glob),
            read,
            output,
            make_file=partial(DocFile, vocab=Vocab(), n_sents=n_sents, spans_key=spans_key, detokenize=detokenize),
            split=Split(split, split_block) if split is not None and split != "none" else None,
            limit=limit,
            check=skipped.check,
        )
    skipped.summarize()
    for target in written:
        n_docs = "" if n_sents == 1 else f" in {target.docs_added:,} docs"
        text = f"{target.sentences:,} sentences{n_docs}, {target.words:,} words: {target.path}"
        note(text, "good" if target.sentences else "warn")
    note(describe(counts, n_long))


def change_cleaning(options: CleanOptions, **changes: Any) -> CleanOptions:
    """The cleaning of a format with what the user changed; None changes nothing."""
    changes = {name: value for name, value in changes.items() if value is not None}
    for name in ("trace_tags", "remove"):
        if name in changes:
            changes[name] = frozenset(changes[name].split())
    if "root" in changes:
        changes["root"] = changes["root"] or None
    if "trace_words" in changes:
        try:
            re.compile(changes["trace_words"])
        except re.error as err:
            raise ValueError(Errors.E454.format(text=changes["trace_words"], reason=err)) from err
    return replace(options, **changes)


def describe(counts: CleanCounts, n_long: int) -> str:
    """What reading and cleaning did, in a line."""
    numbers = {
        "labels stripped": counts.labels,
        "traces removed": counts.traces,
        "nodes removed by label": counts.removed,
        "empty phrases removed": counts.emptied,
        "repeated phrases collapsed": counts.repeats,
        "root wrappers removed": counts.wrappers,
        "trees without words left out": counts.emptied_trees,
        "long sentences left out": n_long,
    }
    done = ", ".join(f"{n:,} {what}" for what, n in numbers.items() if n)
    return f"{counts.trees:,} trees read; {done or 'nothing to clean'}"

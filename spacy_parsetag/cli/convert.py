"""`python -m spacy parsetag convert`: treebank files become .spacy files."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from spacy.cli._util import Arg, Opt

from ..errors import Errors
from ._util import MaxBad, Skipped, counting, note, stated_errors

if TYPE_CHECKING:
    from ..treebanks.read import ReadCounts
    from ..trees.clean import CleanOptions


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
    glob: Annotated[
        str | None, Opt("--glob", help="Files of a folder to read, such as 'train*.mrg'. Default: by suffix")
    ] = None,
    encoding: Annotated[str | None, Opt("--encoding", "-e", help="Encoding of the files. Default: by format")] = None,
    default_tag: Annotated[
        str | None,
        Opt("--default-tag", help="Part-of-speech tag for words that have none, which are an error otherwise"),
    ] = None,
    skip_bad: Annotated[
        bool, Opt("--skip-bad", help="List and leave out malformed trees, instead of stopping at the first")
    ] = False,
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
    spans_key: Annotated[str, Opt("--spans-key", "-k", help="Key of the constituents in doc.spans")] = "constituents",
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
    with stated_errors():
        # Not above: spaCy reads this module whenever its command line starts.
        from functools import partial

        from spacy.vocab import Vocab

        from ..treebanks.convert import SUFFIX, DocFile, write_treebank
        from ..treebanks.files import find_files
        from ..treebanks.formats.table import get_format
        from ..treebanks.read import ReadCounts, ReadOptions, read_parses
        from ..treebanks.split import Split

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
        skipped = Skipped(max_share=max_bad)
        on_error = skipped if skip_bad else None
        options = ReadOptions(chosen, clean, encoding, default_tag, max_length, on_error)
        if split is None and output.suffix != SUFFIX:
            split = chosen.split
        parts = Split(split, split_block) if split is not None and split != "none" else None
        files = find_files(inputs, suffixes=chosen.suffixes, pattern=glob)
        make_file = partial(DocFile, vocab=Vocab(), n_sents=n_sents, spans_key=spans_key, detokenize=detokenize)
        counts = ReadCounts()

        def check() -> None:
            skipped.n_good = counts.cleaned.trees
            skipped.check()

        with counting("trees") as count:
            written = write_treebank(
                files,
                lambda file: count(read_parses(file, options, counts)),
                output,
                make_file=make_file,
                split=parts,
                limit=limit,
                check=check,
            )
    skipped.summarize()
    for target in written:
        n_docs = "" if n_sents == 1 else f" in {target.docs_added:,} docs"
        text = f"{target.sentences:,} sentences{n_docs}, {target.words:,} words: {target.path}"
        note(text, "good" if target.sentences else "warn")
    note(describe(counts))


def change_cleaning(options: "CleanOptions", **changes: Any) -> "CleanOptions":
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


def describe(counts: "ReadCounts") -> str:
    """What reading and cleaning did, in a line."""
    cleaned = counts.cleaned
    numbers = {
        "labels stripped": cleaned.labels,
        "traces removed": cleaned.traces,
        "nodes removed by label": cleaned.removed,
        "empty phrases removed": cleaned.emptied,
        "repeated phrases collapsed": cleaned.repeats,
        "root wrappers removed": cleaned.wrappers,
        "trees without words left out": cleaned.emptied_trees,
        "long sentences left out": counts.too_long,
    }
    done = ", ".join(f"{n:,} {what}" for what, n in numbers.items() if n)
    return f"{cleaned.trees:,} trees read; {done or 'nothing to clean'}"

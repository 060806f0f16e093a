"""`python -m spacy parsetag diff`: where trees differ, sentence by sentence and label by label."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from spacy.cli._util import Arg, Opt
from wasabi import tables

from ..errors import Errors
from ..treebanks.atomic import refuse_overwrite
from ._util import STANDARD, fail, stated_errors, text_output
from .evaluate import read_sentences

if TYPE_CHECKING:
    from ..evalb.diff import EvalbDiff, SentenceDiff


def diff_cli(
    gold: Annotated[Path, Arg(help="Bracket file with the right trees")],
    test: Annotated[Path, Arg(help="Bracket file with the trees to compare, an empty line where there is no parse")],
    params: Annotated[
        str, Opt("--params", "-p", help="EVALB's parameters: collins, new, spmrl, or a parameter file")
    ] = "collins",
    top: Annotated[
        int, Opt("--top", "-n", min=0, help="Show this many sentences and label confusions; 0 shows all")
    ] = 10,
    multiline: Annotated[
        bool, Opt("--multiline", "-m", help="Trees run over several lines; empty lines mean nothing")
    ] = False,
    as_json: Annotated[bool, Opt("--json", "-j", help="Print JSON instead, with all confusions")] = False,
    output: Annotated[
        Path | None, Opt("--output", "-o", dir_okay=False, help="Write to this file instead of standard output")
    ] = None,
    encoding: Annotated[str, Opt("--encoding", "-e", help="Encoding of the files")] = "utf-8",
) -> None:
    """Show where trees differ: sentences from worst to best, and which labels are taken for which.

    What counts as a bracket and as a word is decided by EVALB's parameters, as in `evaluate`. Sentences without a
    usable parse come first; the others are in the order of their F, and then of the number of brackets that differ.

    python -m spacy parsetag diff gold.mrg test.mrg --top 20
    """
    with stated_errors():
        from ..evalb.diff import diff

        refuse_overwrite([output], [gold, test, Path(params)])
        lines = [read_sentences(path, encoding, multiline) for path in (gold, test)]
        if not any(line.strip() for line in lines[0]):
            fail(Errors.E355.format(inputs=gold))
        found = diff(lines[0], lines[1], params)
        if as_json:
            text = json.dumps(found.to_dict(top or None), indent=2, ensure_ascii=False) + "\n"
        else:
            text = format_diff(found, top or None)
        with text_output(output or STANDARD) as file:
            file.write(text)


def format_diff(found: "EvalbDiff", top: int | None) -> str:
    """The difference as text.

    found (EvalbDiff): The difference.
    top (int | None): How many sentences and confusions to show; None shows all.
    RETURNS (str): A line on the whole, the sentences, the table of confusions.
    """
    result = found.result
    text = (
        f"{len(found.sentences)} of {len(result.rows)} sentences differ, {result.failures} of them without a usable "
        f"parse. F ({result.params.name}) {result.f:.2f}; with failures as zero {result.strict.f:.2f}\n"
    )
    if found.sentences:
        text += "Brackets: - missing, + extra, > under another label\n"
    text += "".join(map(format_sentence, found.sentences[:top]))
    if found.confusions:
        rows = [(gold or "(none)", test or "(none)", n) for gold, test, n in found.confusions[:top]]
        text += "\n" + tables.table(rows, header=("gold", "test", "times"), aligns=("l", "l", "r"), divider=True)
    return text


def format_sentence(sentence: "SentenceDiff") -> str:
    """One sentence as text: its figures, its words, and a line for each bracket that differs."""
    row = sentence.counts
    if row.failed:
        head = f"no usable parse: {row.error or 'no words'}"
    else:
        head = (
            f"F {sentence.f:.2f}: {row.matched} of {row.gold} gold brackets, {row.test} test brackets, "
            f"{row.crossing} crossing"
        )
    lines = [f"\nline {sentence.number}  {head}", f"    {' '.join(sentence.words)}"]
    lines += [f"    > {bracket[2]} as {label}: {sentence.text(bracket)}" for bracket, label in sentence.relabeled]
    lines += [f"    - {bracket[2]}: {sentence.text(bracket)}" for bracket in sentence.missing]
    lines += [f"    + {bracket[2]}: {sentence.text(bracket)}" for bracket in sentence.extra]
    return "\n".join(lines) + "\n"

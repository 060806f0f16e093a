"""`python -m spacy parsetag diff`: shows where trees differ, sentence by sentence and label by label."""

from pathlib import Path
from typing import Annotated

from typer import Argument as Arg, Option as Opt
from wasabi import tables

from ..analysis.tables import WIDEST
from ..errors import showable
from ..evalb.differences import EvalbDiff, SentenceDiff, diff
from ..files.write import STANDARD, refuse_overwrite
from ._systems import read_systems
from ._util import AsJson, EncodingOrUtf8, Multiline, Params, format_json, write_text
from .evaluate import warn_of_failures, warn_of_trees


def diff_cli(
    gold: Annotated[Path, Arg(metavar="GOLD", help="Bracket file with the right trees")],
    test: Annotated[Path, Arg(metavar="TEST", help="Bracket file to compare, an empty line where there is no parse")],
    params: Params = "collins",
    top: Annotated[int, Opt(min=0, help="Show this many sentences and label confusions; 0 shows all")] = 10,
    multiline: Multiline = False,
    as_json: AsJson = False,
    output: Annotated[
        Path, Opt("--output", "-o", dir_okay=False, help="File to write, or - for standard output")
    ] = STANDARD,
    encoding: EncodingOrUtf8 = "utf-8",
) -> None:
    """Show where trees differ: sentences from worst to best, and which labels are taken for which.

    EVALB's parameters decide what counts as a bracket and, by its part-of-speech tag, as a word, as in `evaluate`.
    Sentences without a usable parse come first, last among them those that have the same words and differ in what is
    tagged as punctuation. The others are in the order of their F, and then of the number of brackets that differ. JSON
    has all confusions.

    \b
    Example:
      python -m spacy parsetag diff gold.mrg test.mrg --top 20
    """
    refuse_overwrite([output], [gold, test, Path(params)])
    systems = read_systems(gold, [test], None, encoding, multiline)
    differences = diff(*systems[str(test)][:2], params)
    top_n = top or None
    text = format_json(differences.to_dict(top_n)) if as_json else showable(format_diff(differences, top_n))
    write_text(text, output)
    warn_of_failures(differences.result)
    warn_of_trees(systems, {str(test): differences.result})


def format_diff(differences: EvalbDiff, top: int | None) -> str:
    """Write a line on the whole, the worst sentences and the most frequent confusions; None for top shows all."""
    result = differences.result
    text = (
        f"{len(differences.sentences)} of {len(result.rows)} sentences differ, {result.failures} of them without a "
        f"usable parse. F ({result.params.name}) {result.f:.2f}; with failures as zero {result.strict.f:.2f}\n"
    )
    if differences.sentences:
        text += "Brackets: - missing, + extra, > under another label\n"
    text += "".join(map(format_sentence, differences.sentences[:top]))
    if differences.confusions:
        rows = [(_called(gold), _called(test), n) for gold, test, n in differences.confusions[:top]]
        header = ("gold", "test", "times")
        text += "\n" + tables.table(rows, header=header, aligns=("l", "l", "r"), divider=True, max_col=WIDEST)
    return text


def _called(label: str | None) -> str:
    """Write a label, which may be empty, or what stands for no bracket."""
    return "(none)" if label is None else label or '""'


def format_sentence(sentence: SentenceDiff) -> str:
    """Write one sentence: its figures, its words, and a line for each bracket that differs."""
    row = sentence.counts
    if row.failed:
        head = f"no usable parse: {row.error or 'no words'}"
        if row.retagged:
            head += f". The words are the same, but {row.retagged}"
    else:
        head = (
            f"F {sentence.f:.2f}: {row.matched} of {row.gold} gold brackets, {row.test} test brackets, "
            f"{row.crossing} crossing"
        )
    lines = [f"\nsentence {sentence.number}  {head}", f"    {' '.join(sentence.words)}"]
    lines += [
        f"    > {_called(bracket[2])} as {_called(label)}: {sentence.text(bracket)}"
        for bracket, label in sentence.relabeled
    ]
    lines += [f"    - {_called(bracket[2])}: {sentence.text(bracket)}" for bracket in sentence.missing]
    lines += [f"    + {_called(bracket[2])}: {sentence.text(bracket)}" for bracket in sentence.extra]
    return "\n".join(lines) + "\n"

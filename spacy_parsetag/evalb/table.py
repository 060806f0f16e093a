"""EVALB's output, character for character, and a short summary of our own."""

from .result import EvalbResult, percent

_RULE = "=" * 76
_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n" + _RULE
)


def format_table(result: EvalbResult) -> str:
    """Print a result as the C program does.

    result (EvalbResult): What `evalb` returned.
    RETURNS (str): The whole output, with its last newline.
    """
    total = result.all
    brackets = ""
    if total.gold > 0 and total.test > 0:
        brackets = (
            f"                {total.recall:6.2f} {total.precision:6.2f} {total.matched:6d} {total.gold:5d} "
            f"{total.test:5d}  {total.crossing:5d}"
        )
    lines = [_HEAD]
    lines += [
        f"{number:4d}  {row.length:3d}    {row.status:d}  {percent(row.matched, row.gold):6.2f} "
        f"{percent(row.matched, row.test):6.2f}   {row.matched:3d}    {row.gold:3d}  "
        f"{row.test:3d}    {row.crossing:3d}   {row.words:4d}  {row.correct_tags:4d}   "
        f"{percent(row.correct_tags, row.words):6.2f}"
        for number, row in enumerate(result.rows, start=1)
    ]
    lines += [_RULE, f"{brackets}  {total.words:5d} {total.correct_tags:5d}   {total.tag_accuracy:6.2f}"]
    lines.append("=== Summary ===")
    for name, summary in (("All", total), (f"len<={result.params.cutoff_len}", result.short)):
        # Without a match C divides zero by zero; on x86-64 that prints with a minus sign.
        f = f"{summary.f:6.2f}" if summary.matched else "  -nan"
        lines += [
            "",
            f"-- {name} --",
            f"Number of sentence        = {summary.sentences:6d}",
            f"Number of Error sentence  = {summary.errors:6d}",
            f"Number of Skip  sentence  = {summary.skipped:6d}",
            f"Number of Valid sentence  = {summary.valid:6d}",
            f"Bracketing Recall         = {summary.recall:6.2f}",
            f"Bracketing Precision      = {summary.precision:6.2f}",
            f"Bracketing FMeasure       = {f}",
            f"Complete match            = {summary.complete_match:6.2f}",
            f"Average crossing          = {summary.average_crossing:6.2f}",
            f"No crossing               = {percent(summary.no_crossing, summary.valid):6.2f}",
            f"2 or less crossing        = {percent(summary.two_or_less, summary.valid):6.2f}",
            f"Tagging accuracy          = {summary.tag_accuracy:6.2f}",
        ]
    return "\n".join(lines) + "\n"


def format_summary(result: EvalbResult) -> str:
    """State both figures in three lines: EVALB's, and the one in which failures count as zero.

    result (EvalbResult): What `evalb` returned.
    RETURNS (str): The lines.
    """
    n = len(result.rows)
    text = f"EVALB ({result.params.name}), {n} sentences: {result.all.errors} errors, {result.all.skipped} skipped\n"
    for name, summary in (("all valid sentences", result.all), ("failures count as zero", result.strict)):
        text += (
            f"{name:<24} recall {summary.recall:6.2f}  precision {summary.precision:6.2f}  F {summary.f:6.2f}  "
            f"complete match {summary.complete_match:6.2f}\n"
        )
    return text

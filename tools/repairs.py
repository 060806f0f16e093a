"""Rules that write the trees of several treebanks in one convention, that of the Penn Treebank, with their counts.

    python -m tools.repairs TREES

TREES is a bracket file; what each rule would change in it is printed.

- wh-phrases: GUM's trees, made by a parser, often have `(SBAR (NP (WDT which)) ...)` where annotators wrote WHNP; what
  begins SBAR or SBARQ, or ends WHPP, with a wh-word of its own is a wh-phrase.
- NML, noun phrases inside of flat noun phrases, which CRAFT and MASC have and the Penn Treebank does not, is taken out.
- CAPTION, HEADING and TITLE, which CRAFT has around what a caption, a heading or a title consists of, are taken out, or
  are FRAG where they hold several phrases or none; CIT, a reference in brackets, is PRN.
- Amounts ("$ 1.5 billion", "two million") are QP, and an amount of money before a noun is ADJP too ("a $ 2 million
  house"). GUM, MASC and CRAFT have fourteen with a unit and a currency; what was trained on them leaves them flat.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spacy_parsetag.trees import Constituent, Parse

FLATTENED = {"NML"}
WRAPPERS = {"CAPTION", "HEADING", "TITLE"}
WH_PHRASES = {"NP": "WHNP", "PP": "WHPP", "ADVP": "WHADVP", "ADJP": "WHADJP"}
UNITS = {"hundred", "thousand", "million", "billion", "trillion"}
WH_WORDS = {"NP": {"WDT", "WP", "WP$"}, "ADVP": {"WRB"}, "ADJP": {"WRB"}}


def parents(spans: Sequence[Constituent]) -> list[int]:
    """Find the parent of each constituent, -1 at the top."""
    found: list[int] = []
    open_spans: list[int] = []
    for i, span in enumerate(spans):
        while open_spans and spans[open_spans[-1]].end <= span.start:
            open_spans.pop()
        found.append(open_spans[-1] if open_spans else -1)
        open_spans.append(i)
    return found


def wh_label(parse: Parse, span: Constituent) -> str:
    """Find the label of a phrase that introduces a clause, which is a wh-phrase if its first word is a wh-word."""
    words = WH_WORDS.get(span.label)
    return WH_PHRASES[span.label] if words and parse.pos[span.start] in words else span.label


def repair(parse: Parse, counts: Counter[str] | None = None) -> Parse:
    """Write a parse in the conventions of the Penn Treebank.

    parse (Parse): The parse, of any of the treebanks.
    counts (Counter[str] | None): Where the changes are counted by rule.
    RETURNS (Parse): The parse with the same words and tags.
    """
    counts = Counter() if counts is None else counts
    above = parents(parse.spans)
    n_children = Counter(above)
    spans: list[Constituent] = []
    for i, span in enumerate(parse.spans):
        parent = parse.spans[above[i]] if above[i] >= 0 else None
        label: str | None = span.label
        if span.label in FLATTENED:
            label = None
        elif span.label in WRAPPERS:
            only = n_children[i] == 1 and parse.spans[i + 1][:2] == span[:2]
            label = None if only else "FRAG"
        elif span.label == "CIT":
            label = "PRN"
        elif parent is not None and (
            (parent.label in ("SBAR", "SBARQ") and parent.start == span.start and parent.end > span.end)
            or (parent.label == "WHPP" and parent.end == span.end)
        ):
            label = wh_label(parse, span)
        if label != span.label:
            counts[f"{span.label} -> {label or 'nothing'}"] += 1
        if label:
            spans.append(Constituent(span.start, span.end, label))
    return bracket_amounts(replace(parse, spans=tuple(spans)), counts)


def bracket_amounts(parse: Parse, counts: Counter[str]) -> Parse:
    """Write QP around numbers that end in a unit, and ADJP around an amount of money before a noun."""
    owner = [-1] * len(parse)  # the constituent that each word is right under
    for i, (start, end, _) in enumerate(parse.spans):
        owner[start:end] = [i] * (end - start)

    def is_own(i: int, tag: str) -> bool:
        return i < len(parse) and owner[i] == above and parse.pos[i].startswith(tag)

    found: list[tuple[int, Constituent]] = []  # with the constituent that each is right under
    start = 0
    while start < len(parse):
        above, end = owner[start], start + (parse.pos[start] in ("$", "#"))
        first = end
        while is_own(end, "CD"):
            end += 1
        label = parse.spans[above].label if above >= 0 else ""
        if end - first > 1 and parse.words[end - 1].lower() in UNITS and label in ("NP", "ADJP"):
            modifies = first > start and label == "NP" and (is_own(end, "NN") or is_own(end, "JJ"))
            labels = ["ADJP", "QP"] if modifies else ["QP"]
            found += [(above, Constituent(start, end, one)) for one in labels]
            counts.update(f"amount -> {one}" for one in labels)
        start = max(end, start + 1)
    spans = [(span, i, -1) for i, span in enumerate(parse.spans)]
    spans += [(span, above, i) for i, (above, span) in enumerate(found)]
    spans.sort(key=lambda one: (one[0].start, -one[0].end, *one[1:]))  # of equal ones that which was there is outside
    return replace(parse, spans=tuple(span for span, _, _ in spans))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, metavar="TREES")
    args = parser.parse_args()
    from spacy_parsetag.treebanks.formats.table import get_format

    counts: Counter[str] = Counter()
    n = sum(1 for parse in get_format("penn").read_parses(args.trees) if repair(parse, counts))
    sys.stdout.write(f"{args.trees}: {n:,} trees\n")
    for change, count in counts.most_common():
        sys.stdout.write(f"{count:8,}  {change}\n")


if __name__ == "__main__":
    main()

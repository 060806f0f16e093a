"""Several parsers on the same gold trees, for `evaluate`: scores, differences and tables, as text, CSV and LaTeX."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from wasabi import tables

from ..analysis.tables import WIDEST, format_csv
from ..draw.latex import escape_latex
from ..errors import Errors, showable
from ..evalb import EvalbResult, break_down, compare_parsers
from ..evalb.params import EvalbParams
from ._systems import System

Table = tuple[str, list[list[Any]]]  # its title, and its rows, the header first
_SIGNED = ("difference in F", "95 % from", "to")  # columns
_PROBABILITIES = ("p bootstrap", "p randomization")


def compare_systems(
    systems: Mapping[str, System], params: EvalbParams, *, samples: int, by: Sequence[str]
) -> tuple[dict[str, Any], dict[str, EvalbResult]]:
    """Score parsers and compare each with the first.

    systems (Mapping[str, System]): The trees of each parser, by its name.
    by (Sequence[str]): Which tables to make: "label", "length", "span".
    RETURNS (tuple[dict[str, Any], dict[str, EvalbResult]]): A report, and EVALB's result by parser. In the report:
        "params", the parameters' name; "parsers", scores by name; for several parsers "mean" and "deviation" of F, and
        "differences", each of two "parsers"; with `by` "tables", by kind and name the scores of each label or length.
    RAISES (ValueError): As `break_down` and `compare_parsers`; and if parsers are scored on different gold trees.
    """
    (first, base), *others = systems.items()
    for second, other in others:
        if base.gold != other.gold:
            raise ValueError(Errors.E488.format(first=first, second=second))
    breakdowns = {name: break_down(system.gold, system.test, params) for name, system in systems.items()}
    # The trees of a pipeline have gold tags, whose accuracy says nothing.
    shares = ("complete_match", "tag_accuracy") if base.scores is None else ("complete_match",)
    scores = {
        name: {
            **{key: getattr(breakdown.result.strict, key) for key in ("recall", "precision", "f")},
            "evalb_f": breakdown.result.f,
            "unlabeled_f": breakdown.unlabeled.strict.f,
            **{key: getattr(breakdown.result.strict, key) for key in shares},
            "failures": breakdown.result.failures,
            "errors": breakdown.result.errors,
            "sentences": len(breakdown.result.rows),
        }
        for name, breakdown in breakdowns.items()
    }
    report: dict[str, Any] = {"params": params.name, "parsers": scores}
    if len(breakdowns) > 1:
        f_scores = [score["f"] for score in scores.values()]
        report["mean"], report["deviation"] = mean(f_scores), stdev(f_scores)
        of_base, *of_others = (breakdown.result.rows for breakdown in breakdowns.values())
        differences = (compare_parsers(of_base, rows, documents=base.documents, samples=samples) for rows in of_others)
        report["differences"] = [
            {"parsers": [first, second], **difference.to_dict()}
            for (second, _), difference in zip(others, differences, strict=True)
        ]
    if by:
        report["tables"] = {
            kind: {
                name: {
                    key: {"gold": score.gold, "test": score.test, "p": score.precision, "r": score.recall, "f": score.f}
                    for key, score in breakdown.tables[kind].items()
                }
                for name, breakdown in breakdowns.items()
            }
            for kind in by
        }
    return report, {name: breakdown.result for name, breakdown in breakdowns.items()}


def format_report(report: dict[str, Any], style: str) -> str:
    """Print what `compare_systems` found, as "text", "csv" or "latex"."""
    return "\n".join(_FORMATS[style](title, rows) for title, rows in _tables(report))


def _tables(report: dict[str, Any]) -> list[Table]:
    head = ["parser", "R", "P", "F", "F unlabelled", "complete", "failures"]
    keys = ("recall", "precision", "f", "unlabeled_f", "complete_match")
    rows = [[name, *(row[key] for key in keys), row["failures"]] for name, row in report["parsers"].items()]
    if "mean" in report:
        rows += [[name, "", "", report[name], "", "", ""] for name in ("mean", "deviation")]
    titled_tables: list[Table] = [(f"Scores ({report['params']}), failures counted as zero", [head, *rows])]
    if "differences" in report:
        head = ["parsers", *_SIGNED, *_PROBABILITIES, "units"]
        figures = ("difference", "low", "high", "p_bootstrap", "p_randomization", "units")
        rows = [[" - ".join(row["parsers"][::-1]), *(row[key] for key in figures)] for row in report["differences"]]
        titled_tables.append(("Differences", [head, *rows]))
    titles = {"label": "By label", "length": "By words of the sentence", "span": "By words of the constituent"}
    for kind, by_name in report.get("tables", {}).items():
        keys_seen = list(dict.fromkeys(key for table in by_name.values() for key in table))
        # Lengths that only some parsers' tables have may not be in order yet: "5-6", ">40".
        keys_seen.sort(key=None if kind == "label" else lambda key: int(key.strip(">").partition("-")[0]))
        no_score = {"gold": 0, "test": 0, "p": 0.0, "r": 0.0, "f": 0.0}
        rows = []
        for key in keys_seen:
            cells = [table.get(key, no_score) for table in by_name.values()]
            gold = max(cell["gold"] for cell in cells)
            rows.append([key, gold, *(cell[name] for cell in cells for name in "prf")])
        head = [kind, "gold", *(f"{name} {what}" if len(by_name) > 1 else what for name in by_name for what in "PRF")]
        titled_tables.append((titles[kind], [head, *rows]))
    return titled_tables


def _rounded(rows: list[list[Any]]) -> list[list[str]]:
    head, *body = rows
    return [head, *([_cell(column, value) for column, value in zip(head, row, strict=True)] for row in body)]


def _cell(column: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if column in _PROBABILITIES:
        return f"{value:.4f}" if value >= 0.00005 else "<0.0001"  # it is never 0
    return f"{round(value, 2) + 0.0:{'+' if column in _SIGNED else ''}.2f}"  # no -0.00


def _text(title: str, rows: list[list[Any]]) -> str:
    aligns = ("l", *"r" * (len(rows[0]) - 1))
    head, *body = _rounded(rows)
    text = tables.table(body, header=head, aligns=aligns, divider=True, max_col=WIDEST)
    return showable(f"{title}\n{text}\n")


def _latex(title: str, rows: list[list[Any]]) -> str:
    lines = [" & ".join(map(escape_latex, row)) + r" \\" for row in _rounded(rows)]
    # After \\ of the row before, TeX would read these as an option of it.
    lines = ["{}" + line if line.startswith(("[", "*")) else line for line in lines]
    columns = "l" + "r" * (len(rows[0]) - 1)
    head = [f"% {title}", rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline"]
    return "\n".join([*head, *lines[1:], r"\hline", r"\end{tabular}", ""])


_FORMATS = {"text": _text, "csv": lambda _, rows: format_csv(rows), "latex": _latex}

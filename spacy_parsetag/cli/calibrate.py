"""`python -m spacy parsetag calibrate`: finds temperatures with which probabilities mean what they say."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument as Arg, Option as Opt

from ..analysis.plots import check_paths, plot_reliability
from ..analysis.reliability import Reliability, measure_reliability
from ..errors import Errors
from ..files.write import atomic_folder, refuse_overwrite
from ..texts.load import find_parser, load_pipeline
from ._inputs import read_gold_docs
from ._util import AsJson, Code, GpuId, format_json, note, write_text

if TYPE_CHECKING:
    from ..pipeline.calibration import GoldBatch
    from ..pipeline.component import ParseTagger

TITLES = {"constituents": "constituents", "whole_trees": "whole trees"}  # by the keys of the report


def calibrate_cli(
    model: Annotated[str, Arg(metavar="MODEL", help="Pipeline: a package or a folder")],
    dev: Annotated[Path, Arg(metavar="DEV", help="A .spacy file with gold trees that the pipeline was not trained on")],
    output: Annotated[
        Path | None, Arg(metavar="[OUTPUT]", file_okay=False, help="Folder to save the calibrated pipeline in")
    ] = None,
    figure: Annotated[list[Path] | None, Opt(help="Draw reliability before and after: a .png, .svg or .pdf")] = None,
    fit_share: Annotated[float, Opt(min=0, max=1, help="Share of DEV, from its start, to fit temperatures on")] = 0.5,
    force: Annotated[bool, Opt("--force", "-F", help="Replace a pipeline, if OUTPUT is one")] = False,
    as_json: AsJson = False,
    gpu_id: GpuId = -1,
    code: Code = None,
) -> None:
    """Find temperatures of a parser's scores, and show how well its probabilities then hold.

    Probabilities are of scores divided by a temperature; trees stay as they are. There is a temperature for
    constituents and one for whole trees: the mistakes in a sentence come together, so whole trees are right more often
    than the probabilities of their constituents say. The command fits each temperature on the first part of DEV: the
    one under which what is right, and what is wrong, is likeliest. On the rest it compares probabilities with what is
    right, and does not keep a temperature that does not help there.

    Figures need the package matplotlib: pip install 'spacy-parsetag[plots]'

    \b
    Examples:
      python -m spacy parsetag calibrate training/model-best corpus/dev.spacy calibrated
      python -m spacy parsetag calibrate training/model-best corpus/dev.spacy --figure reliability.png --json
    """
    from ..pipeline.calibration import cut_golds, score_gold_docs
    from ..pipeline.component import ParseTagger

    figures = figure or []
    check_paths(figures)
    refuse_overwrite([*figures], [dev, Path(model)])
    if output is not None and output.exists():
        is_pipeline = all((output / name).is_file() for name in ("config.cfg", "meta.json"))
        holds_more = any(output.resolve() in path.resolve().parents for path in (dev, *figures))
        if holds_more or not (force and is_pipeline):
            raise ValueError(Errors.E450.format(path=output))
    nlp = load_pipeline(model, gpu_id, code)
    pipe = find_parser(nlp, model)
    if not isinstance(pipe, ParseTagger):  # an ensemble has no scores
        raise ValueError(Errors.E476.format(name=model, pipes=", ".join(nlp.pipe_names)))
    key = str(pipe.cfg["spans_key"])
    golds = list(score_gold_docs(nlp, pipe, read_gold_docs(dev, nlp, key)))
    n_sents = sum(len(gold.parses) for gold in golds)
    n_fit = round(fit_share * n_sents)
    if not 0 < n_fit < n_sents:
        raise ValueError(Errors.E475.format(n=n_sents, share=fit_share))
    report, panels = _calibrate(pipe, *cut_golds(golds, n_fit))
    try:
        if figures:
            plot_reliability({TITLES[kind]: panel for kind, panel in panels.items()}, figures)
        if output is not None:
            with atomic_folder(output) as folder:
                nlp.to_disk(folder)
    finally:  # what may have taken hours
        write_text(format_json(report) if as_json else _format(report))
    if output is None:
        note("The temperatures were not saved: name an OUTPUT folder to save the calibrated pipeline.", "warn")


def _calibrate(
    pipe: "ParseTagger", fit: "list[GoldBatch]", held_out: "list[GoldBatch]"
) -> "tuple[dict[str, Any], dict[str, dict[str, Reliability]]]":
    """Set the pipe's temperatures; return the figures, and the ones to draw."""
    from ..pipeline.calibration import fit_temperature, is_bound, judge_constituents, judge_trees

    n_sents = {"fit": sum(len(gold.parses) for gold in fit), "measured": sum(len(gold.parses) for gold in held_out)}
    report: dict[str, Any] = {"sentences": n_sents}
    panels: dict[str, dict[str, Reliability]] = {}
    for kind, setting, judge in (
        ("constituents", "temperature", judge_constituents),
        ("whole_trees", "tree_temperature", judge_trees),
    ):
        temperatures = {"before": pipe.cfg[setting], "after": fit_temperature(partial(judge, fit))}
        judged = {name: judge(held_out, temperature) for name, temperature in temperatures.items()}
        panels[kind] = {name: measure_reliability(outcome.probs, outcome.right) for name, outcome in judged.items()}
        before, after = panels[kind]["before"], panels[kind]["after"]
        helps = judged["after"].loss() < judged["before"].loss() and after.ece <= before.ece
        of_fit = judge(fit, temperatures["after"]).right
        at_end = is_bound(temperatures["after"]) or len({*of_fit}) < 2  # all or none: none is best
        report[kind] = {
            **{name: {"temperature": temperatures[name], **panel.to_dict()} for name, panel in panels[kind].items()},
            "kept": helps and not at_end,
            "at_end": at_end,
        }
        if helps and not at_end:
            pipe.cfg[setting] = temperatures["after"]
    return report, panels


def _format(report: dict[str, Any]) -> str:
    n_fit, n_measured = report["sentences"]["fit"], report["sentences"]["measured"]
    text = f"Temperatures from {n_fit:,} sentences; expected calibration error on {n_measured:,} others"
    text += " (what chance alone makes of it; by ECE_sweep, which chance moves less):\n"
    for kind, title in TITLES.items():
        before, after = report[kind]["before"], report[kind]["after"]
        text += f"  {title:<13}temperature {after['temperature']:.3f}: {before['ece']:.2%} before, "
        text += f"{after['ece']:.2%} after ({after['chance']:.2%}; {before['ece_sweep']:.2%}, "
        text += f"{after['ece_sweep']:.2%}); {before['accuracy']:.1%} are right\n"
        if not report[kind]["kept"]:
            at_end = report[kind]["at_end"]
            why = "It is the end of what is tried: take more trees." if at_end else "It does not help on these:"
            why = "It is the pipeline's already:" if before["temperature"] == after["temperature"] else why
            text += f"    {why} {before['temperature']:.3f} stays.\n"
    return text

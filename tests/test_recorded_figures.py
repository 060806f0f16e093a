"""Figures in cards and docs are those of the files that they name. For those of tables: tests/test_benchmarks.py."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
EXPORTED = ("onnx float32", "onnx int8")
EXPERIMENTS = (ROOT / "docs" / "laboratory" / "experiments.md").read_text(encoding="utf8")
SPEED = (ROOT / "docs" / "explanation" / "speed.md").read_text(encoding="utf8")


def result(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf8"))


def same(printed: str, figure: float) -> bool:
    """Whether a figure was rounded to what is printed."""
    digits = len(printed.partition(".")[2])
    return abs(float(printed.replace(",", "")) - figure) <= 0.5 * 10**-digits + 1e-9


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


@pytest.mark.parametrize("name", ["id_parsetag_sm", "id_parsetag_trf"])
@pytest.mark.parametrize("in_package", [False, True])
def test_cards_of_the_indonesian_pipelines(name: str, in_package: bool) -> None:
    path = f"{name}/README.md" if in_package else f"id/{'CARD' if name.endswith('sm') else 'CARD_TRF'}.md"
    card = (ROOT / "models" / path).read_text(encoding="utf8")
    report = result(name)
    assert f"{report['sentences']:,} sentences" in card
    rows = {"| this pipeline |": report["own"], "| the likeliest tree": report["likeliest"]}
    if name.endswith("sm"):
        rows["| of the treebank alone"] = result("id_treebank_alone")["own"]
    for start, scores in rows.items():
        (line,) = (line for line in card.splitlines() if line.startswith(start))
        kinds = ("f", "precision", "recall", "pos")
        assert all(same(cell, scores[kind]) for cell, kind in zip(cells(line)[1:], kinds, strict=True)), line


def trainings(files: str) -> list[Any]:
    """Read the files of whole trainings, or the runs of one that experiments/run.py made."""
    if not files.startswith("trials/"):
        return [json.loads(path.read_text(encoding="utf8")) for path in sorted(RESULTS.glob(f"{files}.json"))]
    path = ROOT / "experiments" / "results" / files / "runs.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]
    shared = {line["hash"]: line["value"] for line in lines if "hash" in line}
    return [
        {
            "last": line["results"]["last"],
            "made_by": shared[line["made"]],
            "evaluations": len(line["training"]["curve"]),
        }
        for line in lines
        if "run" in line
    ]


def test_whole_trainings() -> None:
    """F of each row is that of its files, and its commits are theirs."""
    table = EXPERIMENTS[EXPERIMENTS.index("| trained | seeds | F |") :].split("\n\n")[0].splitlines()[2:]
    assert len(table) == 8
    for line in table:
        _, _, printed, how, files = cells(line)
        reports = trainings(files.strip("`"))
        found = sorted((report["last"] if "last" in report else report["together"])["f"] for report in reports)
        assert len(found) == len(printed.split(", ")) and all(map(same, printed.split(", "), found)), line
        for commit in re.findall(r"`([0-9a-f]{7})`", how):
            assert any(report["made_by"]["commit"].startswith(commit) for report in reports), line
        named = {report["made_by"]["commit"][:7] for report in reports}
        assert "as these" in how or all(commit in how for commit in named), line
    kinds = ("wsj-*", "trials/wsj-plain", "trials/wsj-self", "trials/wsj-stages")
    runs = [run for kind in kinds for run in trainings(kind)]
    checks = sum(run["evaluations"] for run in runs)
    assert f"Twenty-one runs were checked on it {checks} times" in " ".join(EXPERIMENTS.split()) and len(runs) == 21


def test_differences_of_whole_trainings() -> None:
    page, report = " ".join(EXPERIMENTS.split()), result("differences_wsj")
    assert f"the mean of plain trainings is {report['trainings']['wsj-plain']['mean']:.2f}." in page
    self_training, after_stages = report["differences"]
    sentence = "Self-training has {difference:.2f} more, and a paired bootstrap over sentences, "
    sentence += "each with the trees of all seeds, gives an interval of {low:.2f} to {high:.2f} (p = {p_bootstrap:.2f})"
    assert sentence.format(**self_training) in page
    sentence = "After `en_parsetag_trf` it is {difference:.2f} more, {low:.2f} to {high:.2f} (p = {p_bootstrap:.4f};"
    assert sentence.format(**after_stages) in page


def test_trials() -> None:
    """F of a trial that the page names is in the table that was made of its runs."""
    table = (ROOT / "experiments" / "results" / "trials" / "table.md").read_text(encoding="utf8")
    rows = {
        cells(line)[0]: float(cells(line)[4]) for line in table.splitlines() if line.count("|") == 9 and "." in line
    }
    trials = EXPERIMENTS[EXPERIMENTS.index("## Trials") : EXPERIMENTS.index("### Whole trainings")]
    named = re.findall(r"\(`([\w.-]+)`\)[:,] (\d\d\.\d\d)\b(?! and)", trials)
    assert len(named) >= 12
    assert all(rows[name] == float(figure) for name, figure in named)


def test_exported_pipelines() -> None:
    report = result("export")
    for name in EXPORTED:
        row = report[name]
        figures = f"{row['f']:.2f} | {100 * row['same_trees']:.1f} % | {row['whole']['words_a_second']:,}, "
        on_other_cpu = result("export_other_cpu")[name]
        elsewhere = f"{on_other_cpu['whole']['words_a_second']:,}, {on_other_cpu['whole_times_as_fast']:.2f} times |"
        assert f"{figures}{row['whole_times_as_fast']:.2f} times | {elsewhere}" in SPEED
    page, alone = " ".join(SPEED.split()), result("export_sentences")
    other = [result("export_other_cpu")[name] for name in EXPORTED]
    figures = [*(row["bare_times_as_fast"] for row in other), *(row["f"] for row in other)]
    sentence = "alone is {:.2f} times as fast in float32 and {:.2f} times in int8, and F is {:.2f} and {:.2f}."
    assert sentence.format(*figures) in page
    slow, exact, rounded = (alone[name]["whole"]["words_a_second"] for name in ("pytorch float32", *EXPORTED))
    assert f"{exact:,} words a second in float32 and {rounded:,} in int8" in page
    times = alone["onnx int8"]["whole_times_as_fast"]
    assert f"so PyTorch manages only {slow} words a second, and int8 is {times:.2f} times as fast" in page


TREEBANKS = {"gum-dev": "GUM", "craft-dev": "CRAFT", "wsj-dev": "NLTK's Penn Treebank", "stories": "Natural Stories"}


def test_calibration() -> None:
    page = (ROOT / "docs" / "explanation" / "calibration.md").read_text(encoding="utf8")
    reports = {name: result(f"calibration_en_parsetag_{name}")["files"] for name in ("sm", "trf")}
    for path, words in (
        ("craft-dev", "whole trees on CRAFT are"),
        ("stories", "On Natural Stories they would be less,"),
    ):
        kind = "whole_trees_at_temperature_of_constituents"
        errors = [f"{report[path][kind]['after']['ece']:.1%}".replace("%", " %") for report in reports.values()]
        assert f"{words} {' and '.join(errors)}" in page
    for name, report in reports.items():
        for path, figures in report.items():
            shares = []
            for kind in ("constituents", "whole_trees"):
                before, after = figures[kind]["before"], figures[kind]["after"]
                shares += [f"{error:.1%}" for error in (before["ece"], after["ece"], after["chance"])]
            line = f"| `en_parsetag_{name}`, {TREEBANKS[path]} | {figures['sentences']:,} | "
            line += "{}, {} | {} | {}, {} | {} |".format(*shares)
            assert line.replace("%", " %") in page


def figures_of_small_parsers(report: dict[str, Any]) -> dict[str, str]:
    """What the tables of small parsers say of one, by the first words of a row."""
    mbr, oracle, constrained = report["mbr"], report["k_best"]["oracle"], report["constraints"]
    return {
        "best tree, F": "{f:.2f}, {exact_match:.1f} %".format(**report["best_tree"]),
        "MBR tree": "{f:.2f}, {exact_match:.1f} %".format(**mbr["0.5"]),
        "MBR tree with a": "{f:.2f}, {exact_match:.1f} %".format(**mbr["0.4"]),
        "the best by its F": ", ".join(f"{found['f']:.2f}" for n, found in oracle.items() if n != "1"),
        "F of all other": "{:.2f}, {:.2f}".format(
            *(constrained[f"others_{which}"]["f"] for which in ("without", "with"))
        ),
    }


def test_calibration_of_small_parsers() -> None:
    """Each cell of the two tables of three seeds."""
    page = (ROOT / "docs" / "explanation" / "calibration.md").read_text(encoding="utf8")
    wsj = result("probabilities_wsj_sm")["pipelines"]
    gum = [result(f"probabilities_gum_sm_{seed}")["pipelines"][0] for seed in range(3)]
    for table, reports in zip(page.split("| | seed 0 | seed 1 | seed 2 |")[1:], (wsj, gum), strict=True):
        columns = [figures_of_small_parsers(report) for report in reports]
        n_rows = 0
        for line in table.split("\n\n")[0].strip().splitlines()[1:]:
            name, *found = cells(line)
            row = max((start for start in columns[0] if name.startswith(start)), key=len, default=None)
            if row is None:
                together = result("ensemble_wsj_sm")["together"]
                assert found[0] == "{f:.2f}, {exact_match:.1f} %".format(**together), line
            else:
                assert found == [column[row] for column in columns], line
            n_rows += 1
        assert n_rows == 5


def test_time_of_long_sentences() -> None:
    page = " ".join((ROOT / "docs" / "how-to" / "probabilities.md").read_text(encoding="utf8").split())
    orders = result("distribution")["milliseconds_a_sentence"]
    first, second, spans = (
        [orders[order][n]["probabilities of constituents"] for n in ("50", "100", "200")]
        for order in ("in-order, tags alone", "pre-order, stack of at most 29", "in-order, tags and spans")
    )
    sentence = "take {:.1f}, {:.1f} and {:.0f} ms, and in pre-order {:.1f}, {:.0f} and {:.0f}".format(*first, *second)
    assert sentence in page and "about seven times as long" in page
    assert "as `en_parsetag_sm` has, it is {:.1f}, {:.1f} and {:.0f}".format(*spans) in page
    assert all(round(times[2] / times[1]) == 7 for times in (first, second))


@pytest.mark.parametrize("name", ["en_parsetag_sm", "en_parsetag_trf"])
def test_memory_of_pipelines(name: str) -> None:
    page = " ".join((ROOT / "docs" / "reference" / "pipelines.md").read_text(encoding="utf8").split())
    sentence = "`{pipeline}` in {load_seconds} s, and takes {loaded_mb} MB then and at most {peak_mb}"
    assert sentence.format(**result(name)) in page


def test_speeds() -> None:
    page = " ".join(SPEED.split())
    encoder = result("encoder")
    assert f"component takes {encoder['component_over_bare']:.2f} of the time" in page
    assert f"the whole pipeline {encoder['whole_over_bare']:.2f} of it" in page and "the parser is untrained" in page
    assert f"take {encoder['component_64_docs_over_bare'] / encoder['component_over_bare']:.1f} times as long" in page
    recorded = result("peers")
    peers = {name: f"{speed:.0f}" for name, speed in recorded["sentences_a_second"].items()}
    assert f"at a load average of {recorded['made_by']['machine']['load_average']:.1f}" in page
    assert f"this parser {peers['ours']} sentences a second" in page and f"{peers['ours_int8']} in int8" in page
    assert f"exported to ONNX Runtime {peers['ours_float32']}, and" in page
    for words, name in (("supar's CRF parser", "supar"), ("benepar's spaCy plugin", "benepar")):
        assert f"{words} {peers[name]}" in page
    assert f"shift-reduce parser {peers['stanza']}" in page
    # What makes these figures look better or worse than they are stands beside them.
    assert all(caveat in page for caveat in ("random weights", "led along the trees", "decodes by MBR"))


def test_what_tagger_and_parser_add() -> None:
    page = " ".join(SPEED.split())
    window, padded, learned, paper = map(result, ("lengths", "lengths_padded", "pipeline", "pipeline_paper"))
    speeds = [report[part]["words_a_second"] for part in ("treebank", "10 words") for report in (window, padded)]
    sentence = (
        "parses {:,} words a second of NLTK's sample, where spaCy's MaxoutWindowEncoder makes it {:,}; of sentences"
    )
    assert f"{sentence} of ten words {{:,}} and {{:,}} ".format(*speeds) in page
    runs = [window["treebank"], *(learned[part] for part in ("treebank", "100 words", "300 words")), paper["treebank"]]
    added = [100 * (run["whole_over_encoder"] - 1) for run in runs]
    for text, share in zip(
        ("To the time of that convolution they add", "six layers they add", "that is", "of 300 words it is", "adds"),
        added,
        strict=True,
    ):
        assert f"{text} {share:.0f} %" in page
    spread = max(abs(quartile - run["whole_over_encoder"]) for run in runs for quartile in run["quartiles"])
    assert f"half of the rounds lie within {100 * spread:.0f} hundredths of them" in page


def test_speed_of_search() -> None:
    page = " ".join((ROOT / "docs" / "how-to" / "searching.md").read_text(encoding="utf8").split())
    found = result("search")
    patterns, brackets, saved = (
        found[name] for name in ("nine_structures", "command_on_brackets", "command_on_saved_columns")
    )
    assert f"over {found['trees']:,} trees in columns" in page
    assert f"take {patterns['seconds_per_million']:.1f} seconds for a million trees, heads included" in page
    assert f"and {patterns['again_seconds_per_million']:.1f} once heads are known" in page
    stanford = patterns["stanford"]
    assert f"takes {stanford['seconds_per_million']:.0f}, over {stanford['trees']:,} of them" in page
    assert f"in {brackets['wall_seconds']:.1f} seconds with {brackets['most_memory_mb']} MB" in page
    assert f"it has saved in {saved['wall_seconds']:.1f} with {saved['most_memory_mb']:,} MB" in page
    assert f"adds {100 * found['tree_matcher']['added_by_the_median_of_pairs']:.0f} % to `en_parsetag_sm`" in page


def test_speed_on_a_gpu() -> None:
    report = result("gpu")
    found = re.search(
        r"([\d,]+) sentences a second by the clock on\s+one (.+?); the encoder alone takes ([\d,]+)\s", SPEED, re.DOTALL
    )
    assert found and found[2] in report["device"]
    assert same(found[1], report["sentences_per_second"]) and same(found[3], report["encoder_sentences_per_second"])


def test_heads() -> None:
    """The tables of heads are those of the file, some labels together."""
    page = (ROOT / "docs" / "how-to" / "searching.md").read_text(encoding="utf8")
    found = result("heads")
    for line in page[page.index("| label | number | `Coll") :].split("\n\n")[0].splitlines()[2:]:
        labels, number, *shares, _ = cells(line)
        rows = [found["stanford"][label] for label in labels.split(", ")]
        n = sum(row["constituents"] for row in rows)
        assert number == f"{n:,}", line
        for share, finder in zip(shares, ("collins", "mod_collins"), strict=True):
            same_head = sum(row[finder] for row in rows)
            assert same(share.rstrip(" %"), 100 * same_head / n) if same_head else share == "no rule", line
    of = found["dependencies"]
    parts = [100 * of[name] / of["constituents"] for name in ("same", "function word")]
    for text in (
        f"({of['documents']} training documents, {of['constituents']:,} constituents",
        f"{parts[0]:.1f} %, and for {parts[1]:.1f} % a function word",
        f"Of noun phrases {100 * of['NP, same'] / of['NP']:.1f} % agree. Among the other {100 - sum(parts):.1f} %",
    ):
        assert text in " ".join(page.split()), text

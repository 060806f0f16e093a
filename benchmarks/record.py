"""Writes into every file under benchmarks/results how it was made. Scripts write them, and nobody edits them.

A script runs from the root of the repository, and measures the package that is there. A folder outside it is named by
an environment variable that begins with PARSETAG_, such as PARSETAG_SHARED, so that the recorded command runs on other
machines as it stands.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy.util import dict_to_dot

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = (
    *("spacy-parsetag", "spacy", "thinc", "spacy-transformers", "transformers", "torch", "numpy"),
    *("onnxruntime", "tokenizers", "cupy-cuda12x", "cupy-cuda13x"),
)
# What products of a CPU's registers are, the widest first: hypervisors cut its name.
VECTORS = ("amx_int8", "avx512_vnni", "avx512f", "avx_vnni", "avx2")
SHARED = ("data", "config", "made")  # what trainings have in common
BY_SEED = ("seed", "part", "config", "without_decoder")  # settings of one run; the last two are hashes
# What depends in a config on the seed, and where a training has a number of epochs on the sentences of its part.
SEEDS = ("system.seed", "training.seed")
STEPS = (
    "training.max_steps",
    "training.eval_frequency",
    "training.patience",
    "training.optimizer.learn_rate.total_steps",
    "training.optimizer.learn_rate.warmup_steps",
)
# Load average from which on others take the machine. This process has done next to nothing when it is read.
BUSY = 0.5


def parse_arguments(parser: argparse.ArgumentParser, *, output: Path | None = None) -> argparse.Namespace:
    """Parse the command line of a benchmark that measures speed.

    Adds --output and --force, and `made_by` (Optional[Dict[str, Any]]), what `write_result` records.

    parser (ArgumentParser): With the script's own options.
    output (Optional[Path]): Where the result goes unless --output says otherwise; None for nowhere.
    RETURNS (Namespace): The arguments.
    RAISES (SystemExit): If figures are to be written while other processes take the machine, without --force.
    """
    parser.add_argument("--output", type=Path, default=output, help="where to write the figures, as JSON")
    parser.add_argument("--force", action="store_true", help="measure although other processes take the machine")
    args = parser.parse_args()
    args.made_by = made_by() if args.output else None
    if args.output and is_busy(args.made_by) and not args.force:
        parser.exit(
            1,
            f"The load average is {args.made_by['machine']['load_average']}: other processes take the machine, and "
            f"speeds would be wrong. Wait until it is below {BUSY}, or add --force.\n",
        )
    return args


def made_by(words: str | None = None) -> dict[str, Any]:
    """Command, commit, date, machine and versions. Call it first: it reads the load average.

    words (str | None): The command; None for that of this script.
    RETURNS (dict[str, Any]): The entries of `made_by` in a result file.
    RAISES (SystemExit): If what is measured is not what the commit has, since nobody could make the figures again.
    """
    check_package()
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "command": command() if words is None else words,
        "commit": commit(),
        "date": datetime.now(timezone.utc).date().isoformat(),
        "machine": {"cpu": cpu_name(), "cores": cores, "system": platform.system(), "load_average": load},
        "versions": versions(),
    }


def is_busy(made: dict[str, Any]) -> bool:
    """Check whether other processes took the machine when the script started."""
    return (made["machine"]["load_average"] or 0.0) >= BUSY


def write_result(
    figures: dict[str, Any],
    path: Path | None,
    made: dict[str, Any] | None,
    *,
    config: Path | None = None,
    pipelines: Sequence[Path] = (),
) -> None:
    """Write a result file.

    figures (Dict[str, Any]): What was measured.
    path (Optional[Path]): The file; None to write none.
    made (Dict[str, Any]): As `made_by` returned it when the script started.
    config (Optional[Path]): The config that the run resolved to, for its hash.
    pipelines (Sequence[Path]): The folders of the pipelines that were measured, for their hashes.
    RAISES (SystemExit): If the commit is no longer the one that was checked out when the script started.
    """
    if path is None or made is None:
        return
    check_commit(made)
    resolved: dict[str, Any] = {} if config is None else {"config_sha256": config_hash(config)}
    if pipelines:
        resolved["pipelines_sha256"] = [pipeline_hash(folder) for folder in pipelines]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"made_by": {**made, **resolved}, **figures}, indent=2, ensure_ascii=False)
    # Lists of numbers on one line each, so that the file can be read.
    text = re.sub(r"\[\s*([-\d.e+,\s]+?)\s*\]", lambda match: f"[{' '.join(match[1].split())}]", text)
    path.write_text(text + "\n", encoding="utf-8")


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """The trainings in a folder's runs.jsonl, a line for each, in any order.

    What many share (a treebank's figures, a config, the command) has a line of its own, which they name by its hash.
    """
    path = folder / "runs.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    shared = {line["hash"]: line["value"] for line in lines if "hash" in line}
    return [{**line, **{key: shared[line[key]] for key in SHARED}} for line in lines if "run" in line]


def settings_in_common(run: dict[str, Any]) -> str:
    """All that figures depend on, but for the seed and the part of a trial, as text. Runs with the same have a mean."""
    settings = {key: value for key, value in run["settings"].items() if key not in BY_SEED}
    left_out = {*SEEDS, *(STEPS if settings.get("epochs") else ())}
    config = {key: value for key, value in dict_to_dot(run["config"]).items() if key not in left_out}
    return json.dumps([settings, config], sort_keys=True)


def write_runs(folder: Path, runs: list[dict[str, Any]]) -> None:
    """Write runs.jsonl, whole or not at all."""
    shared, lines_of_runs = {}, []
    for run in runs:
        encoded = {key: json.dumps(run[key], sort_keys=True).encode() for key in SHARED}
        hashes = {key: hashlib.sha256(text).hexdigest()[:16] for key, text in encoded.items()}
        shared.update({hashes[key]: run[key] for key in SHARED})
        lines_of_runs.append({**run, **hashes})
    folder.mkdir(parents=True, exist_ok=True)
    lines = [*({"hash": key, "value": value} for key, value in shared.items()), *lines_of_runs]
    temporary = folder / "runs.part"
    texts = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines]
    temporary.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    temporary.replace(folder / "runs.jsonl")


def command() -> str:
    """The command line of this script, to be run in the root of the repository."""
    if Path.cwd() != ROOT:
        raise SystemExit(f"Run this in the root of the repository: cd {ROOT}")
    return " ".join(["python", *(portable(argument) for argument in sys.argv)])


def portable(argument: str) -> str:
    """An argument, quoted for the shell, with folders outside the repository as environment variables."""
    key, equals, value = argument.rpartition("=")
    path = Path(value)
    if not (path.is_absolute() or ".." in path.parts):
        return shlex.quote(argument)
    prefix = shlex.quote(key + equals) if equals else ""
    absolute = Path(os.path.abspath(path))  # links keep their names
    if absolute.is_relative_to(ROOT):
        return prefix + shlex.quote(str(absolute.relative_to(ROOT)))
    path = path.resolve()
    for name, folder in sorted(os.environ.items()):
        if name.startswith("PARSETAG_") and folder and path.is_relative_to(Path(folder).resolve()):
            return f'{prefix}"${name}"/{shlex.quote(str(path.relative_to(Path(folder).resolve())))}'
    raise SystemExit(
        f"{value} is outside the repository. Set an environment variable to its folder, named PARSETAG_SHARED for "
        "instance, so that the recorded command runs elsewhere too."
    )


def check_package() -> None:
    """Refuse a package from elsewhere than the repository, and compiled modules that are older than their sources."""
    found = find_spec("spacy_parsetag")
    package = Path(found.origin).resolve().parent if found and found.origin else None
    if package != ROOT / "spacy_parsetag":
        raise SystemExit(f"spacy_parsetag comes from {package} and not from this repository: set PYTHONPATH={ROOT}")
    headers = [*package.glob("*/*.hpp")]  # each module is built from all of them, as setup.py says
    for source in package.glob("*/*.pyx"):
        built = [path.stat().st_mtime for suffix in EXTENSION_SUFFIXES if (path := source.with_suffix(suffix)).exists()]
        if max(built, default=0.0) < max(path.stat().st_mtime for path in (source, *headers)):
            raise SystemExit(f"{source} is not built as it is now: python setup.py build_ext --inplace")


def check_commit(made: dict[str, Any]) -> None:
    """Refuse to record what began at another commit than the one that is checked out now."""
    if (now := commit()) != made["commit"]:
        raise SystemExit(f"The commit was {made['commit']} at first and is {now} now: which made the figures?")


def commit() -> str:
    """The commit that is checked out. Results of other runs are no difference from it."""
    git = ["git", "-C", str(ROOT)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True)
        status = [*git, "status", "--porcelain", "--", ".", ":!benchmarks/results", ":!experiments/results"]
        changed = subprocess.run(status, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as err:
        raise SystemExit(f"A result file names a commit, and git finds none in {ROOT}: {err}") from err
    if changed:
        raise SystemExit(f"Commit first: a result file names a commit, and these files differ from it.\n{changed}")
    return head.stdout.strip()


def config_hash(path: Path) -> str:
    """SHA-256 of a config without the folders in it, so that it is the same on all machines."""
    return hashlib.sha256(without_folders(path.read_text(encoding="utf-8")).encode()).hexdigest()


def pipeline_hash(folder: Path) -> str:
    """SHA-256 of a pipeline's files, but for card and meta.json, which packaging writes anew."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("README.md", "meta.json"))
    hashes = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def without_folders(text: str) -> str:
    """Keep the last part of each absolute path, and no colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"(?<![\w.])(?:/[\w.+-]+)+/([\w.+-]+)", r"\1", text)


def cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = facts.get("model name", platform.processor() or platform.machine())
    family = f"family {facts['cpu family']}" if "cpu family" in facts else None  # of machines that hide their model
    vectors = next((flag for flag in VECTORS if flag in facts.get("flags", "").split()), None)
    return ", ".join(filter(None, (name, family, vectors)))


def versions() -> dict[str, str]:
    by_package = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            by_package[name] = version(name)
        except PackageNotFoundError:
            continue
    return by_package

"""Defines a run: its settings, by which it is known again, and its config."""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import srsly
from spacy.util import load_config, load_model_from_config
from thinc.api import Config

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parent / "configs"
_FIXED_SIZE = ("spacy.batch_by_sequence.v1", "spacy-parsetag.BatchByLength.v1")
NUMBERS = ("limit", "dev_limit", "max_length", "epochs", "steps", "checks")
DECODER = ("table", "trial", "config", "decoders", "params")  # settings in which --of may differ from its trial
# What the file of a table may leave out, and a training or a trial has.
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys((*NUMBERS, "seed"), 0),
    **{"checks": 1, "params": "collins", "repeats": 1, "without": (), "changes": {}},
}


@dataclass(frozen=True)
class Treebank:
    """A treebank's two files, bracket files or .spacy files.

    name (str): What tables call it.
    train, dev (Path): The files.
    """

    name: str
    train: Path
    dev: Path

    @classmethod
    def find(cls, text: str, train: str, dev: str) -> "Treebank":
        """From FOLDER or NAME=FOLDER, and the names of the two files in it, which may be patterns."""
        name, equals, folder = text.rpartition("=")
        path = Path(folder)
        return cls(name if equals else path.resolve().name, _one_file(path, train), _one_file(path, dev))


def _one_file(folder: Path, pattern: str) -> Path:
    paths = sorted(folder.glob(pattern))
    if len(paths) != 1:
        raise SystemExit(f"{len(paths)} files {pattern} in {folder}: name one with --train or --dev.")
    return paths[0]


@dataclass(frozen=True)
class Run:
    """One training run and its evaluations.

    name (str): What its line and its files are called.
    treebank (Treebank): The files.
    data (dict[str, Any]): What its sentences depend on.
    settings (dict[str, Any]): All that its figures depend on, without folders. A run with the same is not made again.
    config (Config): The config, without what depends on the data.
    """

    name: str
    treebank: Treebank
    data: dict[str, Any]
    settings: dict[str, Any]
    config: Config

    @property
    def folder(self) -> str:
        """The name of the folder in which it trains: that of no run with other settings, but those of --of."""
        without = DECODER if self.settings["table"] == "trials" else ()
        settings = {key: value for key, value in self.settings.items() if key not in without}
        return f"{self.name}-{short_hash(json.dumps(settings, sort_keys=True).encode())}"


def read_spec(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read a table's file, or make the table of a training or a trial, with what the command line changes.

    A trial is a table with a row for each fold and seed; a training's one part is the development part.
    """
    path = next(filter(Path.is_file, (Path(arguments.table), HERE / f"{arguments.table}.yml")), None)
    spec: dict[str, Any] = dict(DEFAULTS)
    require_known("--parts", arguments.parts or (), part_names(arguments))
    if path is not None:
        spec.update(srsly.read_yaml(path))
        spec["seed"], *others = arguments.seeds or [spec["seed"]]
        if others or part_names(arguments) != ["dev"]:
            raise SystemExit("The rows of this table are its own: no folds, and one seed.")
        spec["folder"] = arguments.output / spec["table"]
    elif arguments.config is None:
        raise SystemExit(f"There is no table {arguments.table!r}; a training or a trial needs --config.")
    else:
        parts = arguments.parts or part_names(arguments)
        spec["table"], spec["folder"] = "trials", arguments.output / "trials" / arguments.table
        spec["rows"] = [{"part": part, "seed": seed} for seed in arguments.seeds or [0] for part in parts]
    require_known("--rows", arguments.rows or (), [str(value) for row in spec["rows"] for value in row.values()])
    for name in (*NUMBERS, "config", "params", "repeats"):
        value = getattr(arguments, name, None)
        if value is not None:
            spec[name] = value
    if arguments.steps:
        spec["epochs"] = 0
    elif arguments.epochs:
        spec["steps"] = 0
    spec["changes"] = spec["changes"].get(Path(spec["config"]).name, {})
    spec["set"] = dict(map(read_change, arguments.set or []))
    return spec


def require_known(option: str, names: Iterable[str], known: list[str]) -> None:
    """End with a list of what there is, if a name is none of it."""
    if unknown := set(names).difference(known):
        raise SystemExit(f"{option}: no {', '.join(sorted(unknown))}; there is {', '.join(dict.fromkeys(known))}.")


def part_names(arguments: argparse.Namespace) -> list[str]:
    """The parts that runs are scored on."""
    if arguments.splits:
        return [f"split{k}" for k in range(arguments.splits)]
    return [f"fold{k}of{arguments.folds}" for k in range(arguments.folds)] or ["dev"]


def read_change(text: str) -> tuple[str, Any]:
    """KEY=VALUE; the value is JSON if it can be read as such, else text."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def build_runs(spec: dict[str, Any], treebanks: list[Treebank], arguments: argparse.Namespace) -> list[Run]:
    """All runs of a table: each row on each treebank. Each has a name, by which it is known again."""
    trial = spec["table"] == "trials"
    runs = []
    for treebank in treebanks:
        data = {
            "treebank": treebank.name,
            "train": short_hash(treebank.train.read_bytes()),
            "dev": short_hash(treebank.dev.read_bytes()),
            "format": arguments.format,
            "encoding": arguments.encoding or "",
            **{name: spec[name] for name in ("limit", "dev_limit", "max_length")},
        }
        for row in spec["rows"]:
            if arguments.rows and not set(arguments.rows) & set(map(str, row.values())):
                continue
            config = build_config(spec, row, arguments.encoder)
            run_data = dict(data)
            extra = [short_hash(path.read_bytes()) for path in arguments.extra]
            if extra and not trial:
                run_data.update(extra=extra)
            if trial:
                folds_of = "train and dev" if arguments.with_dev else "train"
                run_data.update(part=row["part"], folds_of=folds_of, extra=extra)
                run_data.update(block=arguments.block, share=arguments.share)
            settings = {
                "table": spec["table"],
                **run_data,
                "encoder": encoder_name(config, arguments.encoder_name),
                **{name: spec[name] for name in (*NUMBERS, "seed")},
                **row,
                "params": spec["params"],
                "decoders": scored(spec, config),
                "config": fingerprint(config, arguments.encoder_name),
            }
            if trial:
                settings.update(trial=arguments.table, without_decoder=fingerprint(without_decoder(config), None))
            if arguments.code:
                settings["code"] = short_hash(arguments.code.read_bytes())
            name = "-".join(map(str, (*([] if trial else [treebank.name]), *row.values())))
            runs.append(Run(name.lower(), treebank, run_data, settings, config))
    names = Counter(run.name for run in runs)
    if twice := [name for name, n in names.items() if n > 1]:
        what = "A training takes one treebank, and each seed once" if trial else "Name treebanks, as NAME=FOLDER"
        raise SystemExit(f"Several runs would be called {', '.join(twice)}. {what}.")
    return runs


def build_config(spec: dict[str, Any], row: dict[str, Any], encoder: str | None) -> Config:
    """The config of a row, without paths and numbers of steps."""
    config = read_config(spec["config"], spec["set"])
    changes = {**spec["changes"], "system.seed": row.get("seed", spec["seed"])}
    if "learner" in row:
        changes.update({
            "components.parsetag.linearizer": {"@misc": f"spacy-parsetag.{spec['orders'][row['order']]}.v1"},
            "components.parsetag.loss": spec["loss"],
            **spec["learners"][row["learner"]],
            "components.parsetag.decoder": without_bound(spec["decoders"][spec["training_decoder"]])[0],
            "components.parsetag.max_stack": None,
        })  # fmt: skip
    if encoder is not None and "encoder" in config.get("vars", {}):
        changes["vars.encoder"] = encoder
    for name in spec["without"]:
        if config["components"].pop(name, None) is not None:
            config["nlp"]["pipeline"] = [other for other in config["nlp"]["pipeline"] if other != name]
    for key, value in {**changes, **spec["set"]}.items():
        set_value(config, key, value)
    return config


def scored(spec: dict[str, Any], config: Config) -> dict[str, dict[str, Any]]:
    """The decoders by name that each checkpoint is scored with.

    A table has decoders of its own. A trial scores its last checkpoint, which nothing chose, and beside it the one that
    did best, with the decoder of its config; None is that of the pipeline that the parser comes from.
    """
    if "decoders" in spec:
        return {"best": spec["decoders"]}
    parser = config.interpolate()["components"]["parsetag"]
    decoder = None if "source" in parser else {**parser["decoder"], "max_stack": parser.get("max_stack")}
    return {name: {name: decoder} for name in ("last", "best")}


def without_decoder(config: Config) -> Config:
    """A config without the decoder, which may be exchanged on a trained pipeline."""
    config = config.copy()
    config["components"]["parsetag"]["decoder"] = None
    return config


def read_config(name: str, changes: dict[str, Any]) -> Config:
    """A config of the repository or a file, filled with spaCy's defaults; variables stay, and so do sources.

    name (str): The config.
    changes (dict[str, Any]): What will be changed in it: a path may be that of a pipeline to go on with.
    RETURNS (Config): The config.
    """
    path = Path(name)
    paths = tuple((key, value) for key, value in changes.items() if key.startswith("paths."))
    return _fill((path if path.is_file() else CONFIGS / path.name).resolve(), paths).copy()


@cache
def _fill(path: Path, paths: tuple[tuple[str, Any], ...]) -> Config:
    config = load_config(path, overrides=dict(paths))
    filled = load_model_from_config(config, auto_fill=True).config
    for part, settings in config["components"].items():
        if "source" in settings:  # as it was written: filled it would be trained from nothing
            filled["components"][part] = settings
    return filled


def without_bound(decoder: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """A decoder of a table, and the bound on the stack that goes with it, which is a setting of the component."""
    return {key: value for key, value in decoder.items() if key != "max_stack"}, decoder.get("max_stack")


def set_value(config: dict[str, Any], key: str, value: Any) -> None:
    """Set what stands at a place of a config, such as training.max_steps."""
    *sections, name = key.split(".")
    for section in sections:
        if section not in config:
            raise SystemExit(f"No section {section!r} in the config, for {key}.")
        config = config[section]
    config[name] = deepcopy(value)  # of the table: what one row changes in it must not reach the others


def set_length(config: Config, spec: dict[str, Any], sentences: int) -> None:
    """Turn epochs into steps, and spread the checks. Patience stays the number of checks that it is in the config.

    A rate that is lowered at checks stays as it is; one that falls to zero does so at the last step. Without steps and
    epochs the config says it all, and what the command line sets stays.
    """
    training = config["training"]
    steps, checks = int(spec["steps"]), int(spec["checks"])
    if not steps and not spec["epochs"]:
        return
    if not steps:
        batcher = training["batcher"]
        size = batcher["size"]
        if batcher["@batchers"] not in _FIXED_SIZE or not isinstance(size, int):
            raise SystemExit("Epochs need batches of a fixed number of sentences: give --steps with this config.")
        steps = int(spec["epochs"]) * -(-sentences // size)
        checks *= int(spec["epochs"])
    every = max(1, steps // checks)
    patience = round(training["patience"] / training["eval_frequency"]) * every
    training.update(max_steps=steps, max_epochs=0, patience=patience, eval_frequency=every)
    rate = training["optimizer"]["learn_rate"]
    if isinstance(rate, dict):
        if "total_steps" in rate:
            rate["total_steps"] = steps
        if "warmup_steps" in rate:
            rate["warmup_steps"] = min(rate["warmup_steps"], max(1, steps // 8))
    for key, value in spec["set"].items():
        set_value(config, key, value)


def set_logger(config: Config, path: Path) -> None:
    """Log to a file. A logger that tells a schedule the scores stays, and logs to the file through another."""
    to_file = {"@loggers": "spacy.ConsoleLogger.v3", "output_file": str(path)}
    logger = config["training"].get("logger", {})
    config["training"]["logger"] = {**logger, "logger": to_file} if "logger" in logger else to_file


def resolved(config: Config, name: str | None) -> dict[str, Any]:
    """All of a config with its variables filled in, without the folders that the encoder and other files are in."""
    copy = config.copy()
    copy["paths"] = {key: value and Path(value).name for key, value in copy["paths"].items()}
    if "encoder" in copy.get("vars", {}):
        copy["vars"]["encoder"] = encoder_name(config, name)
    return dict(copy.interpolate())


def fingerprint(config: Config, name: str | None) -> str:
    """A short hash of a resolved config."""
    return short_hash(json.dumps(resolved(config, name), sort_keys=True).encode())


def encoder_name(config: Config, name: str | None) -> str:
    """Name the encoder for tables: never by a folder."""
    if "encoder" in config.get("vars", {}):
        encoder = str(config["vars"]["encoder"])
        return name or (Path(encoder).name if Path(encoder).exists() else encoder)
    encode = config["components"].get("tok2vec", {}).get("model", {}).get("encode")
    if encode is None:
        return name or ""
    return f"{encode['@architectures'].split('.')[1]} {encode['depth']} x {encode['width']}"


def short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]

"""Defines a run: its settings, by which it is known again, and its config."""

import argparse
import hashlib
import json
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
NUMBERS = ("limit", "dev_limit", "max_length", "epochs", "steps", "checks", "seed")


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
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{len(found)} files {pattern} in {folder}: name one with --train or --dev.")
    return found[0]


@dataclass(frozen=True)
class Run:
    """One training run and its evaluations.

    name (str): What its line and its files are called.
    treebank (Treebank): The data.
    settings (dict[str, Any]): All that its figures depend on, without folders. A run with the same is not made again.
    config (Config): The config, without what depends on the data.
    """

    name: str
    treebank: Treebank
    settings: dict[str, Any]
    config: Config


def read_spec(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Read a table's file, with what the command line changes."""
    spec: dict[str, Any] = dict(srsly.read_yaml(path))
    for name in (*NUMBERS, "config", "params"):
        value = getattr(arguments, name, None)
        if value is not None:
            spec[name] = value
    if getattr(arguments, "steps", None):
        spec["epochs"] = 0
    elif getattr(arguments, "epochs", None):
        spec["steps"] = 0
    for name, default in (("max_length", 0), ("without", [])):
        spec.setdefault(name, default)
    spec["changes"] = (spec.get("changes") or {}).get(Path(spec["config"]).name, {})
    spec["set"] = dict(map(read_change, getattr(arguments, "set", None) or []))
    return spec


def read_change(text: str) -> tuple[str, Any]:
    """KEY=VALUE; the value is JSON if it can be read as such, else text."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def build_runs(spec: dict[str, Any], treebanks: list[Treebank], arguments: argparse.Namespace) -> list[Run]:
    """All runs of a table: each row on each treebank."""
    runs = []
    for treebank in treebanks:
        data = {
            "treebank": treebank.name,
            "train": short_hash(treebank.train.read_bytes()),
            "dev": short_hash(treebank.dev.read_bytes()),
            "format": arguments.format,
            "encoding": arguments.encoding or "",
        }
        for row in spec["rows"]:
            if arguments.rows and row["order"] not in arguments.rows and row["learner"] not in arguments.rows:
                continue
            config = build_config(spec, row, arguments.encoder)
            settings = {
                "table": spec["table"],
                **data,
                **row,
                "encoder": encoder_name(config, arguments.encoder_name),
                **{name: spec[name] for name in NUMBERS},
                "params": spec["params"],
                "decoders": spec["decoders"],
                "config": short_hash(json.dumps(resolved(config, arguments.encoder_name), sort_keys=True).encode()),
            }
            name = f"{treebank.name}-{row['order']}-{row['learner'].lower()}"
            runs.append(Run(name, treebank, settings, config))
    return runs


def build_config(spec: dict[str, Any], row: dict[str, str], encoder: str | None) -> Config:
    """The config of a row, without paths and numbers of steps."""
    config = read_config(spec["config"])
    changes = {
        **spec["changes"],
        "components.parsetag.linearizer": {"@misc": f"spacy-parsetag.{spec['orders'][row['order']]}.v1"},
        "components.parsetag.loss": spec["loss"],
        **spec["learners"][row["learner"]],
        "components.parsetag.decoder": without_bound(spec["decoders"][spec["training_decoder"]])[0],
        "components.parsetag.max_stack": None,
        "system.seed": spec["seed"],
        **spec["set"],
    }
    if encoder is not None and "encoder" in config.get("vars", {}):
        changes["vars.encoder"] = encoder
    for name in spec["without"]:
        if config["components"].pop(name, None) is not None:
            config["nlp"]["pipeline"] = [other for other in config["nlp"]["pipeline"] if other != name]
    for key, value in changes.items():
        set_value(config, key, value)
    return config


def read_config(name: str) -> Config:
    """A config of the repository or a file, filled with spaCy's defaults; variables stay."""
    path = Path(name)
    return _fill((path if path.is_file() else CONFIGS / path.name).resolve()).copy()


@cache
def _fill(path: Path) -> Config:
    return load_model_from_config(load_config(path), auto_fill=True).config


def without_bound(decoder: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """A decoder of a table, and the bound on the stack that goes with it, which is a setting of the component."""
    return {key: value for key, value in decoder.items() if key != "max_stack"}, decoder.get("max_stack")


def set_value(config: dict[str, Any], key: str, value: Any) -> None:
    """Set what stands at a place of a config, such as training.max_steps."""
    *sections, last = key.split(".")
    for section in sections:
        if section not in config:
            raise SystemExit(f"No section {section!r} in the config, for {key}.")
        config = config[section]
    config[last] = deepcopy(value)  # of the table: what one row changes in it must not reach the others


def set_length(config: Config, spec: dict[str, Any], sentences: int) -> None:
    """Turn epochs into steps, and spread the checks. Patience stays the number of checks that it is in the config.

    A rate that is lowered at checks stays as it is; one that falls to zero does so at the last step.
    """
    training = config["training"]
    steps, checks = int(spec["steps"]), int(spec["checks"])
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


def set_logger(config: Config, path: Path) -> None:
    """Log to a file. A logger that tells a schedule the scores stays, and logs to the file through another."""
    to_file = {"@loggers": "spacy.ConsoleLogger.v3", "output_file": str(path)}
    logger = config["training"].get("logger", {})
    config["training"]["logger"] = {**logger, "logger": to_file} if "logger" in logger else to_file


def resolved(config: Config, name: str | None) -> dict[str, Any]:
    """All of a config with its variables filled in, and without the folder that the encoder is in."""
    copy = config.copy()
    if "encoder" in copy.get("vars", {}):
        copy["vars"]["encoder"] = encoder_name(config, name)
    return dict(copy.interpolate())


def encoder_name(config: Config, name: str | None) -> str:
    """Name the encoder for tables: never by a folder."""
    if "encoder" not in config.get("vars", {}):
        encode = config["components"]["tok2vec"]["model"]["encode"]
        return f"{encode['@architectures'].split('.')[1]} {encode['depth']} x {encode['width']}"
    given = str(config["vars"]["encoder"])
    return name or (Path(given).name if Path(given).exists() else given)


def short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]

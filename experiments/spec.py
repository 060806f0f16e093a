"""What a run is: its settings, by which it is known again, and its config."""

import argparse
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly
from spacy.util import load_config
from thinc.api import Config

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parent / "configs"
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

    name (str): Of its files.
    treebank (Treebank): The data.
    settings (Dict[str, Any]): All that its figures depend on, without folders. A run whose JSON has these is done.
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
    changes = (spec.get("changes") or {}).get(Path(spec["config"]).name, {})
    spec["changes"] = {**changes, **dict(map(_read_change, getattr(arguments, "set", None) or []))}
    return spec


def _read_change(text: str) -> tuple[str, Any]:
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
            "train": file_hash(treebank.train),
            "dev": file_hash(treebank.dev),
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
                "config": config_hash(config, arguments.encoder_name),
            }
            name = f"{treebank.name}-{row['order']}-{row['learner'].lower()}"
            runs.append(Run(name, treebank, settings, config))
    return runs


def build_config(spec: dict[str, Any], row: dict[str, str], encoder: str | None) -> Config:
    """The config of a row, without paths and numbers of steps."""
    path = Path(spec["config"])
    config = load_config(path if path.is_file() else CONFIGS / path.name, interpolate=False)
    changes = {
        "components.parsetag.linearizer": {"@misc": f"spacy-parsetag.{spec['orders'][row['order']]}.v1"},
        "components.parsetag.loss": spec["loss"],
        **spec["learners"][row["learner"]],
        "components.parsetag.decoder": {**spec["decoders"][spec["training_decoder"]], "max_stack": None},
        "system.seed": spec["seed"],
        **spec["changes"],
    }
    if encoder is not None and "encoder" in config.get("vars", {}):
        changes["vars.encoder"] = encoder
    for name in spec["without"]:
        if config["components"].pop(name, None) is not None:
            config["nlp"]["pipeline"] = [other for other in config["nlp"]["pipeline"] if other != name]
    for key, value in changes.items():
        set_value(config, key, value)
    return config


def set_value(config: dict[str, Any], key: str, value: Any) -> None:
    """Set what stands at a place of a config, such as training.max_steps."""
    *sections, last = key.split(".")
    for section in sections:
        if section not in config:
            raise SystemExit(f"No section {section!r} in the config, for {key}.")
        config = config[section]
    config[last] = value


def set_length(config: Config, spec: dict[str, Any], sentences: int) -> None:
    """Turn epochs into steps, and spread the checks; the rate falls to zero at the last step."""
    training = config["training"]
    steps, checks = int(spec["steps"]), int(spec["checks"])
    if not steps:
        batcher = training["batcher"]
        size = batcher["size"]
        if batcher["@batchers"] != "spacy.batch_by_sequence.v1" or not isinstance(size, int):
            raise SystemExit("Epochs need batches of a fixed number of sentences: give --steps with this config.")
        steps = int(spec["epochs"]) * -(-sentences // size)
        checks *= int(spec["epochs"])
    training.update(max_steps=steps, max_epochs=0, patience=0, eval_frequency=max(1, steps // checks))
    rate = training["optimizer"]["learn_rate"]
    if isinstance(rate, dict) and "total_steps" in rate:
        rate["total_steps"] = steps
        rate["warmup_steps"] = min(rate["warmup_steps"], max(1, steps // 10))


def encoder_name(config: Config, name: str | None) -> str:
    """What tables call the encoder: never a folder."""
    if "encoder" not in config.get("vars", {}):
        encode = config["components"]["tok2vec"]["model"]["encode"]
        return f"{encode['@architectures'].split('.')[1]} {encode['depth']} x {encode['width']}"
    given = str(config["vars"]["encoder"])
    return name or (Path(given).name if Path(given).exists() else given)


def config_hash(config: Config, name: str | None) -> str:
    """A hash of all of a config but the folder that the encoder is in."""
    copy = config.copy()
    if "encoder" in copy.get("vars", {}):
        copy["vars"]["encoder"] = encoder_name(config, name)
    return hashlib.sha256(copy.to_str(interpolate=False).encode("utf8")).hexdigest()[:16]


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]

"""The paper's schedule: alone, in an optimizer, and in a run of spaCy's own training loop."""

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_loop
from spacy.util import load_config, registry
from thinc.api import Adam, Config
from tiny import TREES, gold_doc, make_nlp

from spacy_parsetag.training import plateau
from spacy_parsetag.training.plateau import Plateau, make_plateau_logger

CONFIGS = Path(__file__).resolve().parent.parent.parent / "configs"


def test_warm_up() -> None:
    rates = Plateau(8.0, warmup_steps=4)
    assert [next(rates) for _ in range(6)] == [2.0, 4.0, 6.0, 8.0, 8.0, 8.0]
    assert next(Plateau(8.0, warmup_steps=0)) == 8.0


def test_decays() -> None:
    rates = Plateau(8.0, warmup_steps=0)
    next(rates), next(rates)
    lowered = [rates.observe(score) for score in (0.5, 0.5, 0.4, 0.6, 0.7, 0.7)]
    assert lowered == [False, True, True, False, False, True]
    assert rates.rate == next(rates) == 1.0
    patient = Plateau(8.0, warmup_steps=0, factor=0.1, patience=3)
    next(patient), next(patient)
    assert [patient.observe(1.0) for _ in range(7)] == [False, False, False, True, False, False, True]
    assert next(patient) == pytest.approx(0.08)


def test_checks_during_warm_up_lower_nothing() -> None:
    rates = Plateau(1.0, warmup_steps=2)
    lowered = []
    for score in (0.5, 0.4, 0.4, 0.4, 0.4):
        next(rates)
        lowered.append(rates.observe(score))
    assert lowered == [False, False, False, True, True]


@pytest.mark.parametrize("wrong", [("0.1",), (0.0,), (1.0, -1), (1.0, 1, 1.0), (1.0, 1, 0.0), (1.0, 1, 0.5, 0)])
def test_wrong_settings(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"\[E225\]"):
        Plateau(*wrong)


def test_numbers_of_numpy() -> None:
    assert next(Plateau(np.float32(0.5), np.int64(2), np.float64(0.5), np.int32(1))) == 0.25


def test_the_logger_of_spacy() -> None:
    _, finalize = make_plateau_logger()(spacy.blank("en"), io.StringIO(), io.StringIO())
    finalize()


def quiet(nlp: Language, stdout: Any, stderr: Any) -> tuple[Callable, Callable]:
    return lambda info: None, lambda: None


def start_logger() -> Callable[[dict[str, Any] | None], None]:
    log_step, _ = make_plateau_logger(quiet)(spacy.blank("en"), io.StringIO(), io.StringIO())
    return log_step


def test_in_an_optimizer() -> None:
    optimizer = Adam(learn_rate=Plateau(1.0, warmup_steps=2))  # type: ignore[arg-type]
    log = start_logger()
    seen = [optimizer.learn_rate]
    for step in range(6):
        optimizer.step_schedules()
        log({"score": 0.5 if step < 3 else 0.4})
        seen.append(optimizer.learn_rate)
    # Lowered after the steps 2 to 5, which shows one step later.
    assert seen == [0.5, 1.0, 1.0, 1.0, 0.5, 0.25, 0.125]


def test_schedules_of_other_runs_are_not_told() -> None:
    """Two runs step by step in one thread, and a third one in another thread."""
    schedules = [Plateau(1.0, warmup_steps=0) for _ in range(3)]
    optimizers = [Adam(learn_rate=schedule) for schedule in schedules]  # type: ignore[arg-type]
    log = start_logger()
    for score in (0.5, 0.4, 0.3):
        for i in (0, 1):
            optimizers[i].step_schedules()
            thread = threading.Thread(target=optimizers[2].step_schedules)
            thread.start()
            thread.join()
            log({"score": score if i else 1 - score})
    assert [schedule.rate for schedule in schedules] == [1.0, 0.25, 1.0]


def test_no_schedule() -> None:
    next(Plateau(1.0, warmup_steps=0))  # of an earlier run
    with pytest.raises(ValueError, match=r"\[E226\]"):
        start_logger()({"score": 0.5})
    raised = []

    def check() -> None:
        with pytest.raises(ValueError, match=r"\[E226\]"):
            start_logger()({"score": 0.5})
        raised.append(True)

    thread = threading.Thread(target=check)  # a thread in which no schedule was asked for a rate
    thread.start()
    thread.join()
    assert raised


def test_logger_passes_on() -> None:
    calls: list[Any] = []

    def setup(nlp: Language, stdout: Any, stderr: Any) -> tuple[Callable, Callable]:
        calls.append("setup")
        return calls.append, lambda: calls.append("finalize")

    rates = Plateau(1.0, warmup_steps=0)
    log_step, finalize = make_plateau_logger(setup)(spacy.blank("en"), io.StringIO(), io.StringIO())
    next(rates), next(rates)
    for info in ({"score": 0.5}, None, {"score": 0.5}):
        log_step(info)
    finalize()
    assert calls == ["setup", {"score": 0.5}, None, {"score": 0.5}, "finalize"]
    assert next(rates) == 0.5


def test_spacy_train(tmp_path: Path) -> None:
    """The score stays 0, so the rate is halved at every check, and training stops at the third."""
    seen: list[tuple[int, float]] = []

    @registry.loggers("test_plateau_recorder")
    def make_recorder() -> Callable:
        def setup(nlp: Language, stdout: Any, stderr: Any) -> tuple[Callable, Callable]:
            def log(info: dict[str, Any] | None) -> None:
                live = plateau._last_asked.get()
                if info is not None:
                    assert live is not None
                    seen.append((info["step"], live.rate))

            return log, lambda: None

        return setup

    nlp = make_nlp()
    DocBin(docs=[gold_doc(nlp, tree) for tree in TREES]).to_disk(tmp_path / "gold.spacy")
    config = Config(nlp.config.copy())
    config["paths"].update({"train": str(tmp_path / "gold.spacy"), "dev": str(tmp_path / "gold.spacy")})
    config["training"].update({"patience": 6, "eval_frequency": 2, "max_epochs": 20})
    config["training"]["score_weights"] = {"parsetag_f": 0.0}
    config["training"]["batcher"] = {"@batchers": "spacy.batch_by_sequence.v1", "size": 3}
    config["training"]["optimizer"]["learn_rate"] = {
        "@schedules": "spacy-parsetag.Plateau.v1",
        "initial_rate": 0.008,
        "warmup_steps": 0,
    }
    config["training"]["logger"] = {
        "@loggers": "spacy-parsetag.PlateauLogger.v1",
        "logger": {"@loggers": "test_plateau_recorder"},
    }
    config.to_disk(tmp_path / "config.cfg")
    trained = init_nlp(spacy.util.load_config(tmp_path / "config.cfg"), use_gpu=-1)
    (tmp_path / "model").mkdir()
    printed = io.StringIO()
    train_loop(trained, tmp_path / "model", stdout=printed, stderr=io.StringIO())
    assert printed.getvalue().count("Learning rate after warm-up lowered to 0.00") == 3
    assert seen == [(0, 0.008), (2, 0.004), (4, 0.002), (6, 0.001)]
    assert (tmp_path / "model" / "model-best").is_dir()
    loaded = spacy.load(tmp_path / "model" / "model-best")
    assert loaded.config["training"]["logger"]["@loggers"] == "spacy-parsetag.PlateauLogger.v1"


@pytest.mark.usefixtures("spacy_transformers")
def test_config_of_the_paper() -> None:
    config = spacy.util.load_model_from_config(load_config(CONFIGS / "transformer_paper.cfg"), auto_fill=True).config
    training = registry.resolve({"optimizer": config["training"]["optimizer"], "logger": config["training"]["logger"]})
    optimizer = training["optimizer"]
    assert optimizer.grad_clip == 1.0
    (rates,) = optimizer.schedules.values()
    assert isinstance(rates, Plateau) and (rates.rate, rates.warmup_steps, rates.factor) == (3e-5, 160, 0.5)
    settings = config["training"]
    assert settings["patience"] == 3 * settings["eval_frequency"] * rates.patience
    assert settings["max_epochs"] == 20 and settings["batcher"]["size"] == 32
    assert callable(training["logger"])

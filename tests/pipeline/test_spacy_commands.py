"""spaCy's own commands work with the shipped configs, and with what `init-config` writes."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from spacy.util import load_config
from thinc.api import Config
from tiny import TREES, gold_doc, make_examples, make_nlp, spans_of
from typer.testing import CliRunner

from spacy_parsetag.cli.init_config import make_config
from spacy_parsetag.tokens.groups import parses_from_doc

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGS, MODELS = ROOT / "configs", ROOT / "models"
SMALL_CNN: dict[str, Any] = {
    "vars.width": 8,
    "components.tok2vec.model.embed.rows": [50, 50, 50, 50],
    "components.tok2vec.model.encode.depth": 1,
}
SMALL_FEATURES: dict[str, Any] = {"components.parsetag.model.tok2vec.*.features.rows": [50, 50, 50, 50]}


class Project(NamedTuple):
    """A config, filled, with what makes it small, and the pipeline trained for two steps with the config as it is."""

    config: Path
    options: list[str]
    gold: Path
    model: Path
    printed: str


def spacy_command(*arguments: Any) -> tuple[int, str]:
    """Run a command of spaCy's; returns its exit code and what it prints."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def succeed(*arguments: Any) -> str:
    code, printed = spacy_command(*arguments)
    assert code == 0, printed
    return printed


@pytest.fixture(
    scope="module",
    params=[
        "cnn",
        "senter",
        pytest.param("cnn_bilstm", marks=pytest.mark.slow),
        pytest.param("transformer", marks=pytest.mark.slow),
        pytest.param("transformer_paper", marks=pytest.mark.slow),
        pytest.param("transformer_senter", marks=pytest.mark.slow),
    ],
)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp(request.param)
    changes: dict[str, Any] = {}
    if "transformer" in request.param:
        changes["vars.encoder"] = str(request.getfixturevalue("encoder"))
        changes |= {} if request.param == "transformer_paper" else SMALL_FEATURES
    else:
        changes |= SMALL_CNN
    if request.param == "cnn_bilstm":
        pytest.importorskip("torch", reason="torch is not installed")
        changes["components.parsetag.model.hidden_width"] = 8
    config = CONFIGS / f"{request.param}.cfg"
    if request.param.endswith("senter"):
        config = folder / "config.cfg"
        transformer = request.param == "transformer_senter"
        text = make_config("en", transformer=transformer, order="pre", sentences="senter", tagger=True)
        config.write_text(text, encoding="utf8")
    gold = folder / "gold.spacy"
    nlp = make_nlp()
    DocBin(docs=[gold_doc(nlp, tree) for tree in TREES * 3]).to_disk(gold)
    changes |= {"paths.train": gold, "paths.dev": gold, "training.max_steps": 2, "training.eval_frequency": 1}
    options = [
        word for key, value in changes.items() for word in (f"--{key}", value if isinstance(value, str) else str(value))
    ]
    printed = succeed("train", config, "--output", folder / "model", *options)
    filled = folder / "filled.cfg"
    succeed("init", "fill-config", config, filled)
    return Project(filled, options, gold, folder / "model" / "model-last", printed)


def test_config_fills(project: Project, tmp_path: Path) -> None:
    """spaCy finds no fault with the filled config. What `init-config` writes is filled."""
    assert "Config is valid" in succeed("debug", "config", project.config, *project.options)
    succeed("init", "fill-config", project.config, tmp_path / "again.cfg")
    filled = load_config(project.config)
    assert load_config(tmp_path / "again.cfg") == filled
    written = project.config.with_name("config.cfg")
    assert not written.exists() or load_config(written) == filled


@pytest.mark.parametrize("path", [*sorted(CONFIGS.glob("*.cfg")), *sorted(MODELS.glob("*.cfg"))], ids=lambda p: p.stem)
def test_configs_leave_out_defaults(path: Path) -> None:
    """A config says what differs from spaCy's defaults, but for seed and allocator, which `spacy train` asks for."""
    config, default = load_config(path), spacy.blank("en").config
    for section in ("nlp", "training", "initialize"):
        for key, value in config.get(section, {}).items():
            assert key in ("lang", "seed", "gpu_allocator") or default[section].get(key, ...) != value, key
    rate = config["training"]["optimizer"]["learn_rate"]
    assert rate.get("total_steps", config["training"]["max_steps"]) == config["training"]["max_steps"]


@pytest.mark.parametrize("name", ["cnn", "cnn_bilstm", "curated", "transformer", "transformer_paper", "en_parsetag_sm"])
def test_config_fills_to_one_that_needs_no_filling(name: str) -> None:
    """The two that go on with a pipeline are filled where there is one: see test_second_stage."""
    small = {}
    if name == "curated":
        pytest.importorskip("spacy_curated_transformers", reason="spacy-curated-transformers is not installed")
        sizes = {"vocab_size": 50, "width": 8, "intermediate_width": 8, "heads": 2, "layers": 1}
        small = {f"vars.{key}": value for key, value in sizes.items()}
    elif name.startswith("transformer"):
        pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
    elif name == "cnn_bilstm":
        pytest.importorskip("torch", reason="torch is not installed")
    path = (MODELS if name.startswith("en_") else CONFIGS) / f"{name}.cfg"
    filled = spacy.util.load_model_from_config(load_config(path, overrides=small), auto_fill=True).config
    assert spacy.util.load_model_from_config(filled).config.to_str() == filled.to_str()


def test_table_of_training(project: Project) -> None:
    """It shows the scores that matter, each with its whole name."""
    (header,) = (line.split("  ") for line in project.printed.splitlines() if line.startswith("E "))
    columns = [name.strip() for name in header if name.strip()]
    assert columns[-2:] == ["PARSETAG_F", "SCORE"]
    scores = [name for name in columns[2:-2] if not name.startswith("LOSS")]
    assert set(scores) <= {"TAG_ACC", "SENTS_F"}


def test_trained_pipeline(project: Project) -> None:
    nlp = spacy.load(project.model)
    doc = nlp("She enjoys reading papers. The old dog barked loudly.")
    assert [i for sentence in parses_from_doc(doc) for i in sentence.tokens] == list(range(len(doc)))
    if "sentencizer" in nlp.pipe_names:
        assert len(list(doc.sents)) == len(doc._.parse_strings) == 2
    assert nlp.meta["labels"]["parsetag"] == list(nlp.get_pipe("parsetag").labels)
    assert 0.0 <= nlp.meta["performance"]["parsetag_f"] <= 1.0


def test_training_goes_on(project: Project) -> None:
    nlp = spacy.load(project.model)
    optimizer, before = nlp.resume_training(), nlp.get_pipe("parsetag").model.to_bytes()  # type: ignore[attr-defined]
    losses = nlp.update(make_examples(nlp), sgd=optimizer)
    assert losses["parsetag"] > 0
    assert nlp.get_pipe("parsetag").model.to_bytes() != before  # type: ignore[attr-defined]


def test_evaluate(project: Project, tmp_path: Path) -> None:
    succeed("evaluate", project.model, project.gold, "--output", tmp_path / "scores.json")
    scores = json.loads((tmp_path / "scores.json").read_text(encoding="utf8"))
    assert {"parsetag_f", "parsetag_p", "parsetag_r", "parsetag_em", "parsetag_per_type"} <= set(scores)
    assert set(scores["parsetag_tag_acc"]) == {"l", "r", "L", "R", "all"}


def test_package(project: Project, tmp_path: Path) -> None:
    """The package says that it needs ours."""
    succeed("package", project.model, tmp_path, "--build", "none", "--name", "trees", "--version", "1.0.0")
    (meta,) = tmp_path.glob("*/meta.json")
    requirements = json.loads(meta.read_text(encoding="utf8"))["requirements"]
    scores = set(json.loads(meta.read_text(encoding="utf8"))["performance"])
    others = {name for name in scores if not ("parsetag" in name or "loss" in name)}
    assert {"parsetag_f", "parsetag_p"} <= scores and others <= {"sents_f", "tag_acc"}
    assert ("sents_f" in scores) == ("senter" in project.model.parent.parent.name)
    assert any(requirement.startswith(("spacy-parsetag>=", "spacy_parsetag>=")) for requirement in requirements)
    packaged = next(tmp_path.glob("*/*/*/config.cfg")).parent
    text = "She enjoys reading papers ."
    assert spans_of(spacy.load(packaged)(text)) == spans_of(spacy.load(project.model)(text))


def test_init_labels(project: Project, tmp_path: Path) -> None:
    succeed("init", "labels", project.config, tmp_path, *project.options)
    labels = json.loads((tmp_path / "parsetag.json").read_text(encoding="utf8"))
    assert labels == spacy.load(project.model).get_pipe("parsetag").label_data


def test_debug_data(project: Project) -> None:
    """So few docs are too few for it."""
    code, printed = spacy_command("debug", "data", project.config, *project.options)
    assert code == 1 and "Low number of examples" in printed
    assert "Pipeline can be initialized with data" in printed


def test_debug_model(project: Project) -> None:
    printed = succeed("debug", "model", project.config, "parsetag", "--print-step0", *project.options)
    assert "Successfully ended analysis" in printed


def test_assemble(project: Project, tmp_path: Path) -> None:
    """A pipeline is put together from the components of a trained one, the parser with the encoder it listens to."""
    trained = load_config(project.model / "config.cfg")
    names = trained["nlp"]["pipeline"]
    config = {
        "nlp": {"lang": "en", "pipeline": names},
        "components": {name: {"source": str(project.model)} for name in names},
    }
    Config(config).to_disk(tmp_path / "config.cfg")
    succeed("assemble", tmp_path / "config.cfg", tmp_path / "assembled")
    text = "She enjoys reading papers ."
    assert spans_of(spacy.load(tmp_path / "assembled")(text)) == spans_of(spacy.load(project.model)(text))


@pytest.mark.slow
@pytest.mark.parametrize("project", ["transformer"], indirect=True)
def test_second_stage(project: Project, tmp_path: Path) -> None:
    """It goes on with the weights and labels of the first one."""
    options = ["--paths.first", project.model, "--paths.train", project.gold, "--paths.dev", project.gold]
    options += ["--training.max_steps", 2, "--training.eval_frequency", 1]
    printed = succeed("train", CONFIGS / "transformer_second.cfg", "--output", tmp_path, *options)
    first, second = spacy.load(project.model), spacy.load(tmp_path / "model-last")
    assert second.pipe_names == first.pipe_names
    assert second.get_pipe("parsetag").labels == first.get_pipe("parsetag").labels
    rows = [line.split() for line in printed.splitlines() if len(line.split()) == 8 and line.split()[0].isdigit()]
    reached = spacy.load(project.model.parent / "model-last").meta["performance"]["parsetag_f"]
    assert float(rows[0][-2]) == pytest.approx(100 * reached, abs=0.01)  # before its first step
    doc = second("She enjoys reading papers .")
    assert [i for sentence in parses_from_doc(doc) for i in sentence.tokens] == list(range(len(doc)))


def test_speed_and_profile(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = succeed("benchmark", "speed", project.model, project.gold, "--batches", 30, "--warmup", 0)
    assert "words/s" in printed.lower()
    monkeypatch.chdir(tmp_path)  # where spaCy leaves a file with the profile
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"text": "She enjoys reading papers ."}\n' * 4, encoding="utf8")
    assert "function calls" in succeed("profile", project.model, texts)


def test_find_threshold_refuses(project: Project) -> None:
    """The parser has no threshold, and spaCy says so."""
    arguments = (project.model, project.gold, "parsetag", "threshold", "parsetag_f", "--n_trials", 2)
    code, printed = spacy_command("find-threshold", *arguments)
    assert code == 1 and "Failed to look up `components.parsetag.threshold`" in printed


@pytest.mark.parametrize("lang", ["zh", "de"])
def test_another_language(lang: str) -> None:
    """The tokenizer is that of the language: a Chinese sentence is not one word."""
    config = load_config(CONFIGS / "cnn.cfg", overrides={"nlp.lang": lang})
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    assert type(nlp.tokenizer) is type(spacy.blank(lang).tokenizer)
    text = {"zh": "她喜欢读论文。", "de": "Sie liest z.B. Aufsätze."}[lang]
    assert [token.text for token in nlp.make_doc(text)] == [token.text for token in spacy.blank(lang)(text)]

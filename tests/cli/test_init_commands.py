"""`parsetag init-config` and `parsetag init-project`: what they write is complete, and nothing is replaced unasked."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from command_data import Run
from spacy.language import BaseDefaults, Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config

ROOT = Path(__file__).resolve().parent.parent.parent


def pipeline_of(path: Path) -> list[str]:
    names: list[str] = load_config(path)["nlp"]["pipeline"]
    return names


@pytest.mark.parametrize(
    "options, pipeline",
    [
        ([], ["sentencizer", "tok2vec", "tagger", "parsetag"]),
        (["--senter"], ["tok2vec", "senter", "tagger", "parsetag"]),
        (["--one-sentence", "--no-tagger"], ["one_sentence", "tok2vec", "parsetag"]),
    ],
)
def test_components(run: Run, tmp_path: Path, options: list[str], pipeline: list[str]) -> None:
    path = tmp_path / "config.cfg"
    result = run("init-config", path, "--lang", "de", "--order", "pre", *options)
    assert result.exit_code == 0 and str(path) in result.stderr
    config = load_config(path)
    assert (config["nlp"]["lang"], pipeline_of(path)) == ("de", pipeline)
    assert set(config["components"]) == set(pipeline)
    assert config["components"]["parsetag"]["linearizer"] == {"@misc": "spacy-parsetag.PreOrder.v1"}
    nlp = load_model_from_config(config)  # not filled: it must be complete
    assert nlp.config.to_str() == config.to_str()


def test_settings_of_the_language(run: Run) -> None:
    printed = run("init-config", "-", "--lang", "zh").stdout
    assert '@tokenizers = "spacy.zh.ChineseTokenizer"' in printed and 'segmenter = "char"' in printed


@pytest.mark.parametrize("path", sorted((ROOT / "spacy_parsetag" / "project" / "configs").glob("*.cfg")))
def test_marks_that_are_their_own_tags(path: Path) -> None:
    """spaCy's tagger takes a tag that begins with "!" for a negation, and would look up what is behind it."""
    tagger = Config().from_disk(path, interpolate=False)["components"].get("tagger", {})
    if tagger.get("factory") != "tagger":  # of another pipeline
        return
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger", config={key: tagger[key] for key in tagger if key not in ("factory", "model", "scorer")})
    words = ["Stop", "!"]
    examples = [Example.from_dict(Doc(nlp.vocab, words=words), {"words": words, "tags": ["VB", "!"]})]
    nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples)
    assert [token.tag_ for token in nlp("Stop !")] == ["VB", "!"]


def test_a_tokenizer_that_tags(run: Run) -> None:
    """As that of Japanese does: spaCy's tagger leaves the tags of tokens alone, unless it is told otherwise."""

    @registry.tokenizers("tests.tagging_tokenizer")
    def make_tokenizer() -> Callable[[Language], Callable[[str], Doc]]:
        return lambda nlp: lambda text: Doc(nlp.vocab, words=[text], tags=["X"])

    class Tagged(Language):
        lang = "tagged"

        class Defaults(BaseDefaults):
            config: Any = Config({"nlp": {"tokenizer": {"@tokenizers": "tests.tagging_tokenizer"}}})

    registry.languages("tagged")(Tagged)
    for lang, overwrite in (("tagged", "true"), ("en", "false")):
        printed = run("init-config", "-", "--lang", lang, "--tagger").stdout
        tagger = printed.split("[components.tagger]", 1)[1].split("[", 1)[0]
        assert f"\noverwrite = {overwrite}\n" in tagger


@pytest.mark.parametrize("steps, every", [(900, 128), (3, 1)])
def test_steps(run: Run, tmp_path: Path, steps: int, every: int) -> None:
    """One number: checks are spread over the steps, and the rate falls to zero at the last."""
    path = tmp_path / "config.cfg"
    assert run("init-config", path, "--steps", steps).exit_code == 0
    training = load_config(path)["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (steps, every)
    rate = training["optimizer"]["learn_rate"]
    assert rate["total_steps"] == steps and rate["warmup_steps"] <= max(1, steps // 8)


def test_without_spacy_transformers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy_transformers", None)
    result = run("init-config", "-", "--transformer")
    assert result.exit_code == 1 and "[E500]" in result.stderr and "spacy-parsetag[transformers]" in result.stderr


def test_transformer(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
    path = tmp_path / "config.cfg"
    assert run("init-config", path, "--transformer", "--encoder", "my/encoder").exit_code == 0
    assert pipeline_of(path) == ["sentencizer", "transformer", "tagger", "parsetag"]
    assert load_config(path)["vars"]["encoder"] == "my/encoder"
    size = load_config(path)["training"]["batcher"]["size"]
    assert run("init-config", path, "--transformer", "--senter", "--force").exit_code == 0
    config = load_config(path)  # docs of several sentences: as many of them to a batch as have as many sentences
    assert config["training"]["batcher"]["size"] * config["corpora"]["train"]["n_sents"] == size


@pytest.mark.parametrize(
    "options, message",
    [
        (["--encoder", "x"], "--transformer"),
        (["--transformer", "--encoder", ""], "--encoder needs a name"),
        (["--senter", "--one-sentence"], "--one-sentence"),
        (["--lang", "qq"], "qq"),
    ],
)
def test_what_cannot_be(run: Run, tmp_path: Path, options: list[str], message: str) -> None:
    result = run("init-config", tmp_path / "config.cfg", *options)
    assert result.exit_code == 1 and message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_config_is_replaced_only_if_asked_for(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "config.cfg"
    path.write_text("mine", encoding="utf8")
    result = run("init-config", path)
    assert result.exit_code == 1 and "E466" in result.stderr and path.read_text(encoding="utf8") == "mine"
    assert "--force" in result.stderr
    assert run("init-config", path, "--force").exit_code == 0
    assert "parsetag" in pipeline_of(path)


def test_project(run: Run, tmp_path: Path) -> None:
    """What it writes is what the repository has."""
    folder = tmp_path / "project"
    assert run("init-project", folder).exit_code == 0

    def contents(root: Path) -> dict[str, Any]:
        return {name: (root / name).read_text(encoding="utf8") for name in names}

    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    configs = sorted(f"configs/{path.name}" for path in (ROOT / "configs").iterdir())
    assert names == [*configs, "project.yml", "scripts/check.py"]
    assert contents(folder) == contents(ROOT)


def test_a_project_is_not_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "cnn.cfg").write_text("mine", encoding="utf8")
    result = run("init-project", tmp_path)
    assert result.exit_code == 1 and "E450" in result.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["cnn.cfg"]

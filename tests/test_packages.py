"""The pipelines that come beside en_parsetag_sm."""

import json
import re
from pathlib import Path

import pytest
import spacy
import srsly
from products import count_products
from spacy.language import Language
from spacy.tokens import Doc
from tiny import spans_of
from weasel.util.config import load_project_config

from tools import gather
from tools.card import fill
from tools.release import spacy_versions, terms_of

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "models"
INDONESIAN = "Dia suka membaca koran. Presiden akan mengunjungi Jakarta pada hari Senin."
SENTENCES = {
    "en_parsetag_trf": ("She enjoys reading papers. The old dog, which was tired, didn't bark at him (or at us).", 2),
    "id_parsetag_sm": (INDONESIAN, 2),
    "id_parsetag_trf": (INDONESIAN, 2),
}
LISTENERS = {
    "en_parsetag_trf": ("transformer", "model.tok2vec.*.encoder"),
    "id_parsetag_sm": ("tok2vec", "model.tok2vec"),
    "id_parsetag_trf": ("transformer", "model.tok2vec.*.encoder"),
}
MEGABYTES = {"en_parsetag_trf": 35, "id_parsetag_sm": 15, "id_parsetag_trf": 35}


def folder(name: str) -> Path:
    meta = json.loads((MODELS / name / "meta.json").read_text(encoding="utf8"))
    return MODELS / name / name / f"{name}-{meta['version']}"


@pytest.fixture(scope="module", params=SENTENCES)
def nlp(request: pytest.FixtureRequest) -> Language:
    if request.param.endswith("_trf"):
        pytest.importorskip("onnxruntime")
        pytest.importorskip("tokenizers")
    return spacy.load(folder(request.param))


def name_of(nlp: Language) -> str:
    return f"{nlp.lang}_{nlp.meta['name']}"


def test_sentences_tags_and_trees(nlp: Language) -> None:
    text, n = SENTENCES[name_of(nlp)]
    doc = nlp(text)
    sentences = list(doc.sents)
    assert len(sentences) == n and all(token.tag_ for token in doc)
    assert sentences[0]._.parse_string.startswith("(S (NP (PR") and "(VP " in sentences[0]._.parse_string
    alone = [nlp(sentence.text) for sentence in sentences]
    assert [next(doc.sents)._.parse_string for doc in alone] == [sentence._.parse_string for sentence in sentences]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "a", "…", "\u00a0x\u00a0\u200b", "😀 " * 300, "and " * 900])
def test_odd_texts(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text and "constituents" in doc.spans


def test_blank_lines_end_sentences(nlp: Language) -> None:
    """Also after a number, and before a name."""
    parts = ["2", "Norton", "Jakarta 3", "Kim"]
    assert [sentence.text.strip() for sentence in nlp("\n\n".join(parts)).sents] == parts


def test_the_end_of_a_long_sentence_is_read_like_its_middle(nlp: Language) -> None:
    """Also where it is longer than a transformer reads at once."""
    clause = SENTENCES[name_of(nlp)][0].split(".")[1].split()
    words = [*clause, ","] * 60
    doc = Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])
    doc = nlp(doc)
    tags = [[token.tag_ for token in doc[i : i + len(clause)]] for i in range(0, len(doc), len(clause) + 1)]
    n_same = [sum(map(str.__eq__, row, tags[20])) for row in tags]
    assert min(n_same) > 0.7 * len(clause)


def test_a_doc_of_its_own_and_in_a_batch(nlp: Language) -> None:
    text, _ = SENTENCES[name_of(nlp)]
    texts = [text, "a", text + " " + text]
    for text, doc in zip(texts, nlp.pipe(texts, batch_size=3), strict=True):
        assert spans_of(nlp(text)) == spans_of(doc)


def test_sentences_that_are_given_stay(nlp: Language) -> None:
    doc = nlp.make_doc("She reads. He sings.")
    for token in doc:
        token.is_sent_start = token.i == 0
    assert len(list(nlp(doc).sents)) == 1


def test_its_parser_in_another_pipeline(nlp: Language, tmp_path: Path) -> None:
    """As the message says that names the paths, and after the other pipeline was saved and loaded."""
    sourced, other = spacy.load(folder(name_of(nlp))), spacy.blank(nlp.lang)
    other.add_pipe("one_sentence")
    other.add_pipe("parsetag", source=sourced)
    upstream, path = LISTENERS[name_of(nlp)]
    text = SENTENCES[name_of(nlp)][0].partition(".")[0]
    with pytest.raises(ValueError, match=rf"E216.*_listeners\('{upstream}', 'parsetag', \[.*'{re.escape(path)}'"):
        other(text)
    sourced.replace_listeners(upstream, "parsetag", [path])
    other.remove_pipe("parsetag")
    other.add_pipe("parsetag", source=sourced)
    other.to_disk(tmp_path)
    for pipeline in (other, spacy.load(tmp_path)):
        assert spans_of(pipeline(text)) == spans_of(nlp(text))


def test_it_is_small_and_states_its_terms(nlp: Language) -> None:
    name = name_of(nlp)
    files = [path for path in (MODELS / name / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MEGABYTES[name] * 2**20
    meta = json.loads((MODELS / name / "meta.json").read_text(encoding="utf8"))
    terms = (folder(name) / "LICENSES_SOURCES").read_text(encoding="utf8")
    assert meta["license"] == "CC BY-SA 4.0" and "Attribution-ShareAlike 4.0 International" in terms
    assert all(source["url"] in terms and source["author"] in terms for source in meta["sources"])
    assert all(value is None for value in nlp.config["paths"].values())
    assert '"/' not in nlp.config.to_str(interpolate=False), "a path of the machine that trained it"
    assert any(line.startswith("spacy-parsetag") for line in meta["requirements"])
    assert (MODELS / name / "README.md").read_text(encoding="utf8").startswith(f"# {name}")


@pytest.mark.parametrize("name", ["en_parsetag_sm", "en_parsetag_trf"])
def test_terms_are_complete(name: str) -> None:
    """Texts of all licences that are named, and who wrote what was trained on, in the package and its plan."""
    packaged = (folder(name) / "LICENSES_SOURCES").read_text(encoding="utf8")
    plan = json.loads((MODELS / f"{name}.json").read_text(encoding="utf8"))
    metas = (json.loads((MODELS / name / "meta.json").read_text(encoding="utf8")), plan)
    titles = {
        "Apache 2.0": "Apache License", "CDLA-Sharing 1.0": "CDLA-Sharing", "CC BY 2.5": "Attribution 2.5",
        "CC BY 3.0": "Attribution 3.0 Unported", "CC BY 4.0": "Attribution 4.0 International",
        "CC BY-SA 3.0": "Attribution-ShareAlike 3.0", "CC BY-SA 4.0": "Attribution-ShareAlike 4.0 International",
    }  # fmt: skip
    for meta, terms in zip(metas, (packaged, terms_of(plan)), strict=True):
        for source in meta["sources"]:
            named = [license for license in titles if license in source["license"]]
            assert all(titles[license] in terms for license in named), source["name"]
            if source["name"].startswith("MASC"):
                assert "linguistic education, research and development, including commercial" in source["license"]
        # Titles, authors and addresses of GUM's texts, some of which are CC BY-SA.
        assert "GUM_bio_galois: Évariste Galois. Wikipedia" in terms and terms.count("\nGUM_") == 126


@pytest.mark.parametrize("name", ["en_parsetag_sm", *SENTENCES])
def test_it_takes_the_spacy_that_the_package_takes(name: str) -> None:
    assert f"    spacy{spacy_versions()}\n" in (ROOT / "setup.cfg").read_text(encoding="utf8")
    for path in (MODELS / name / "meta.json", folder(name) / "meta.json"):
        assert json.loads(path.read_text(encoding="utf8"))["spacy_version"] == spacy_versions(), path


def test_named_in_the_licences() -> None:
    """Constants of Cephes have its licence, in the wheel too; Reuters-21578 is called as its readme asks."""
    assert "Stephen L. Moshier" in (ROOT / "LICENSES" / "Cephes.txt").read_text(encoding="utf8")
    assert "license_files = LICENSE, LICENSES/*" in (ROOT / "setup.cfg").read_text(encoding="utf8")
    for path in (ROOT / "spacy_parsetag").rglob("*.hpp"):
        assert ("Cephes" in (text := path.read_text(encoding="utf8"))) == ("LICENSES/Cephes.txt" in text), path
    for page in ("tools/newswire.py", "docs/laboratory/experiments.md"):
        text = " ".join((ROOT / page).read_text(encoding="utf8").split())
        assert "Reuters-21578, Distribution 1.0" in text and "daviddlewis.com/resources/testcollections" in text


def test_it_needs_no_pytorch(nlp: Language) -> None:
    assert not any(shim for _, pipe in nlp.pipeline if hasattr(pipe, "model") for layer in pipe.model.walk()
                   for shim in layer.shims if "PyTorch" in type(shim).__name__)  # fmt: skip


@pytest.mark.parametrize(("name", "card"), [("en_parsetag_sm", "CARD.md"), ("en_parsetag_trf", "CARD_TRF.md")])
def test_figures_of_the_card(name: str, card: str) -> None:
    results = ROOT / "benchmarks" / "results"
    report, mctb = (
        json.loads((results / f"{prefix}{name}.json").read_text(encoding="utf8")) for prefix in ("", "mctb_")
    )
    text = fill((MODELS / card).read_text(encoding="utf8"), report, mctb)
    assert {label for label in report["labels"] if label not in text} == set()
    assert text == (MODELS / name / "README.md").read_text(encoding="utf8")
    assert text == (folder(name) / "README.md").read_text(encoding="utf8")


@pytest.mark.parametrize(
    ("folder", "workflow", "given"),
    [
        ("models/id", "all", ["assets/icon/id/constituency/train.txt", "assets/icon/id/constituency/dev.txt"]),
        ("models", "build-trf", []),
        ("models", "build-sm", []),
        ("models", "build-target", ["assets/target/train.mrg", "assets/target/dev.mrg"]),
        ("models", "self-train", ["assets/target/train.mrg", "assets/target/dev.mrg", "assets/sentences.txt"]),
    ],
)
def test_workflows(folder: str, workflow: str, given: list[str]) -> None:
    """Files that a step runs and reads exist, or an earlier one makes them; no step writes into what one has made."""
    project = ROOT / folder
    config = load_project_config(project)
    commands = {command["name"]: command for command in config["commands"]}
    made = [Path(path) for path in given]
    for step in config["workflows"][workflow]:
        for words in map(str.split, commands[step]["script"]):
            assert words[1] == "-m" or (project / words[1]).is_file(), words
        for path in map(Path, commands[step].get("deps", [])):
            assert path in made or (project / path).exists(), (step, path)
        read = " ".join(commands[step]["script"]).split()
        own = {word for word in read if re.fullmatch(r"(\.\./)*(tools/\w+\.py|(configs/)?\w+\.cfg)", word)}
        assert own <= {*commands[step].get("deps", own)}, step
        outputs = [Path(path) for path in commands[step].get("outputs", [])]
        assert not [path for path in outputs if {path, *path.parents} & {*made}], step
        made += outputs


@pytest.mark.parametrize(
    ("options", "copies"),
    [
        (["*-00?.spacy"], ["a-000.spacy", "a-001.spacy"]),
        (["a-01[01].spacy", "--twice", "a-001.spacy"], ["a-001-again.spacy", "a-001.spacy", "a-010.spacy"]),
        (["a-001.spacy", "b*"], "b*: no such file"),
    ],
)
def test_files_are_gathered(
    options: list[str], copies: list[str] | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a-000", "a-001", "a-010"):
        (tmp_path / f"{name}.spacy").write_text(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["gather.py", "to/here", *options])
    if isinstance(copies, str):
        with pytest.raises(SystemExit, match=re.escape(copies)):
            gather.main()
    else:
        gather.main()
        assert sorted(path.name for path in (tmp_path / "to" / "here").iterdir()) == copies


@pytest.mark.parametrize("component, n_products", [("transformer", 36), ("parsetag", 6)])
def test_zero_points_of_the_shipped_graphs(component: str, n_products: int) -> None:
    shims = srsly.msgpack_loads((folder("en_parsetag_trf") / component / "model").read_bytes())["shims"]
    (graph,) = (shim for of_node in shims for shim in of_node if shim)
    assert count_products(graph) == n_products

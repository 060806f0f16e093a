"""A trained pipeline becomes a distribution that pip installs, such as `models/en_parsetag_sm`, with card and terms.

    python -m tools.release PIPELINE META CARD

PIPELINE is the folder that `spacy train` or `parsetag export` wrote, META a JSON file with what the package's meta.json
says (`models/en_parsetag_sm.json`), CARD the file that becomes the package's README.md. `license_texts` of META names
files of `models/licenses`, whose texts go into LICENSES_SOURCES after the sources. The package asks for the versions of
spaCy that setup.cfg asks for.
"""

import argparse
import json
import re
import shutil
import sys
import tempfile
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import spacy
from spacy.cli.package import package
from spacy.language import Language
from thinc.api import Config

from spacy_parsetag.ml.vectors import copy_table

ROOT = Path(__file__).resolve().parent.parent
LICENSES = ROOT / "models" / "licenses"


def spacy_versions() -> str:
    """Read from setup.cfg which versions of spaCy the package needs: its pipelines run with these and no others."""
    setup = ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    (versions,) = re.findall(r"^spacy([<>=].*)$", setup["options"]["install_requires"], re.MULTILINE)
    return str(versions)


def terms_of(meta: dict[str, Any]) -> str:
    """Write what the weights learned from, under which terms, and the texts of the licences."""
    sources = "\n\n".join("\n".join(source.values()) for source in meta["sources"])
    texts = [(LICENSES / f"{name}.txt").read_text(encoding="utf8") for name in meta.get("license_texts", ())]
    separator = "\n" + 80 * "-" + "\n\n"
    return separator.join([f"Weights: {meta['license']}. Trained on:\n\n{sources}\n", *texts])


def load(folder: Path) -> Language:
    """Load a pipeline so that its word vectors are a part of the components that read them (`OwnVectors.v1`).

    The vocabulary stays behind: its vectors, and its strings, which are the words that were trained on.
    """
    trained = spacy.load(folder)
    components = Config().from_disk(folder / "config.cfg")["components"]
    wrapped = {name: own_vectors(section) for name, section in components.items()}
    changed = {name: section for name, section in wrapped.items() if section != components[name]}
    nlp = spacy.load(folder, exclude=["vocab"], config={"components": changed})
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for name, pipe in pipes:
        for label in getattr(pipe, "labels", ()):
            nlp.vocab.strings.add(label)
        if name in changed:
            copy_table(pipe.model, trained.vocab)
    return nlp


def own_vectors(section: Any) -> Any:
    """Wrap each layer of a config that reads the vocabulary's vectors."""
    if not isinstance(section, dict) or section.get("@architectures") == "spacy-parsetag.OwnVectors.v1":
        return section
    if section.get("include_static_vectors"):
        return {"@architectures": "spacy-parsetag.OwnVectors.v1", "embed": section}
    return {key: own_vectors(value) for key, value in section.items()}


def forget_paths(config: Config) -> None:
    """Take out the folders of the machine that trained a pipeline, also where `[paths]` was filled in."""
    names = {path: f"${{paths.{name}}}" for name, path in config["paths"].items() if path}

    def name_paths(section: dict[str, Any]) -> None:
        for key, value in section.items():
            if isinstance(value, dict):
                name_paths(value)
            elif isinstance(value, str):
                section[key] = names.get(value, value)

    for section in ("corpora", "initialize", "training"):
        name_paths(config.get(section, {}))
    for name in config["paths"]:
        config["paths"][name] = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path, metavar="PIPELINE")
    parser.add_argument("meta", type=Path, metavar="META")
    parser.add_argument("card", type=Path, metavar="CARD")
    parser.add_argument("--output", type=Path, default=Path("models"))
    args = parser.parse_args()
    nlp = load(args.pipeline)
    meta = json.loads(args.meta.read_text(encoding="utf8"))
    terms = terms_of(meta)
    name, version = meta.pop("name"), meta.pop("version")
    meta.pop("license_texts", None)
    nlp.meta.update(meta, spacy_version=spacy_versions())
    # Training leaves the figures of one part on gold tokens; the card has all.
    nlp.meta["performance"] = {}
    forget_paths(nlp.config)
    nlp.config["initialize"].update(before_init=None, after_init=None)  # they want the data that it was trained on
    nlp.config["nlp"]["batch_size"] = 4  # documents: the scores of all their spans are in memory together
    full_name = f"{nlp.lang}_{name}"
    target = args.output / full_name
    with tempfile.TemporaryDirectory() as folder:
        trained, packages = Path(folder) / "pipeline", Path(folder) / "packages"
        nlp.to_disk(trained)
        shutil.copy(args.card, trained / "README.md")
        (trained / "LICENSES_SOURCES").write_text(terms, encoding="utf8")
        packages.mkdir()
        package(trained, packages, name=name, version=version, create_sdist=False)
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(packages / f"{full_name}-{version}", target)
    # As the distribution's setup.py does whenever it is built: otherwise an installation would change the repository.
    shutil.copy(target / "meta.json", target / full_name / f"{full_name}-{version}")
    made = json.loads((target / "meta.json").read_text(encoding="utf8"))
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) / 2**20
    sys.stdout.write(f"{target}: {size:.1f} MB, requires {', '.join(made['requirements'])}\n")


if __name__ == "__main__":
    main()

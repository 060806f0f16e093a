"""A trained pipeline becomes `models/en_parsetag_sm`, a distribution that pip installs, with its card.

    python -m tools.release PIPELINE CARD

PIPELINE is the folder that `spacy train` wrote, CARD the file that becomes the package's README.md.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import spacy
from spacy.cli.package import package

NAME, VERSION = "parsetag_sm", "0.1.0"
META: dict[str, Any] = {
    "spacy_version": ">=3.8.7,<3.9.0",  # as of spacy-parsetag
    "description": "English constituency parser for spacy-parsetag, on the CPU and without PyTorch: sentences, "
    "part-of-speech tags and trees.",
    "license": "CC BY-SA 4.0",
    "sources": [
        {
            "name": "GUM, documents under free terms",
            "url": "https://github.com/amir-zeldes/gum",
            "license": "annotations CC BY 4.0; texts CC BY, CC BY-SA or public domain",
            "author": "Amir Zeldes and others",
        },
        {
            "name": "CRAFT",
            "url": "https://github.com/UCDenver-ccp/CRAFT",
            "license": "annotations CC BY 3.0; texts from the open access subset of PubMed Central",
            "author": "Karin Verspoor and others",
        },
        {
            "name": "OpenStax: six textbooks (text only, parsed by a larger pipeline, as all that follows)",
            "url": "https://github.com/openstax",
            "license": "CC BY 4.0",
            "author": "OpenStax, Rice University",
        },
        {
            "name": "MASC",
            "url": "http://www.anc.org",
            "license": "free for research and development, including commercial",
            "author": "Nancy Ide and others",
        },
        {
            "name": "WikiSplit and QED",
            "url": "https://github.com/google-research-datasets",
            "license": "CC BY-SA 4.0 and 3.0",
            "author": "authors of Wikipedia; Google",
        },
        {
            "name": "Taskmaster-4",
            "url": "https://github.com/google-research-datasets/Taskmaster",
            "license": "CC BY 4.0",
            "author": "Bill Byrne and Saravanan Ganesh, Google",
        },
        {
            "name": "speeches of presidents, transcripts of the Supreme Court of the United States",
            "url": "https://github.com/nltk/nltk_data",
            "license": "public domain",
            "author": "United States government",
        },
        {
            "name": "word embeddings of all-MiniLM-L6-v2, which the larger pipeline stands on too",
            "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
            "license": "Apache 2.0",
            "author": "Nils Reimers and others",
        },
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipeline", type=Path, metavar="PIPELINE")
    parser.add_argument("card", type=Path, metavar="CARD")
    parser.add_argument("--output", type=Path, default=Path("models"))
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    nlp.meta.update(META)
    # Figures of training are those of one part on gold tokens; the card has all.
    nlp.meta["performance"] = {}
    for name in nlp.config["paths"]:
        nlp.config["paths"][name] = None  # folders of the machine that trained it
    nlp.config["nlp"]["batch_size"] = 4  # documents: the scores of all their spans are in memory together
    target = args.output / f"en_{NAME}"
    with tempfile.TemporaryDirectory() as folder:
        trained, packages = Path(folder) / "pipeline", Path(folder) / "packages"
        nlp.to_disk(trained)
        shutil.copy(args.card, trained / "README.md")
        sources = "\n\n".join("\n".join(source.values()) for source in META["sources"])
        terms = f"Weights: {META['license']}. Trained on:\n\n{sources}\n"
        (trained / "LICENSES_SOURCES").write_text(terms, encoding="utf8")
        packages.mkdir()
        package(trained, packages, name=NAME, version=VERSION, create_sdist=False)
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(packages / f"en_{NAME}-{VERSION}", target)
    # As the distribution's setup.py does whenever it is built: otherwise an installation would change the repository.
    shutil.copy(target / "meta.json", target / f"en_{NAME}" / f"en_{NAME}-{VERSION}")
    meta = json.loads((target / "meta.json").read_text(encoding="utf8"))
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) / 2**20
    sys.stdout.write(f"{target}: {size:.1f} MB, requires {', '.join(meta['requirements'])}\n")


if __name__ == "__main__":
    main()

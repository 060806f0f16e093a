"""What an installed wheel or sdist must do without torch, cupy or matplotlib: load, train a little, parse, save."""

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import spacy
from spacy.training import Example

import spacy_parsetag

for module in ("torch", "cupy", "matplotlib"):
    if module in sys.modules:
        raise SystemExit(f"{module} was imported")

TREES = """
(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG reading) (NP (NNS papers))))) (. .)))
(TOP (S (NP (PRP He)) (VP (VBZ does) (RB not)) (. .)))
(TOP (NP (NP (DT a) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))))
"""

package = files(spacy_parsetag)
for name in (
    "py.typed",
    "evalb/prm/collins.prm",
    "decode/_passes.pyx",
    "project/project.yml",
    "project/configs/cnn.cfg",
    "project/scripts/check.py",
):
    if not package.joinpath(name).is_file():
        raise SystemExit(f"{name} is not in the package")

with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "spacy", "parsetag"]
    trees = f"{folder}/train.mrg"
    Path(trees).write_text(TREES, encoding="utf-8")
    subprocess.run([*command, "convert", trees, f"{folder}/train.spacy"], check=True)
    subprocess.run([*command, "init-project", f"{folder}/project"], check=True)
    subprocess.run([*command, "init-config", f"{folder}/config.cfg"], check=True)
    paths = ["--paths.train", f"{folder}/train.spacy", "--paths.dev", f"{folder}/train.spacy"]
    subprocess.run([sys.executable, "-m", "spacy", "debug", "config", f"{folder}/config.cfg", *paths], check=True)
    subprocess.run([*command, "evaluate", trees, trees], check=True, stdout=subprocess.DEVNULL)

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("parsetag")
    docs = spacy.tokens.DocBin().from_disk(Path(folder) / "train.spacy").get_docs(nlp.vocab)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=optimizer)
    nlp.to_disk(f"{folder}/pipeline")
    doc = spacy.load(f"{folder}/pipeline")("She enjoys reading papers. He does not.")
    if "<svg" not in spacy_parsetag.render(doc, "html"):
        raise SystemExit("no tree was drawn")
    for sentence in doc.sents:
        sys.stdout.write(f"{sentence._.parse_string}\n")

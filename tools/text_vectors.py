"""Word vectors from raw text, for a pipeline without a pretrained encoder: fastText's skip-grams with subwords.

    python -m tools.text_vectors LANG TEXTS OUTPUT [--words N] [--width N]

LANG is spaCy's code of the language, TEXTS a folder of .txt files with an empty line between paragraphs, which
`tools/texts.py` makes. OUTPUT becomes a spaCy pipeline without components, for `[initialize] vectors`: vectors of the
most frequent words, for `OwnVectors.v1` with `attr = "LOWER"`. It takes `pip install floret`. The method is that of
Bojanowski and others (2017).
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import floret
import numpy as np
import spacy
from spacy.language import Language
from spacy.vectors import Vectors

# Few words to either side: such vectors tell more of syntax than of topics (Levy and Goldberg 2014).
WINDOW, EPOCHS, LEAST = 3, 2, 10


def tokenized(nlp: Language, texts: Path) -> Iterator[str]:
    """The words of each paragraph, in lower case, cut as the pipeline will cut them."""
    for path in sorted(texts.glob("*.txt")):
        paragraphs = (" ".join(block.split()) for block in path.read_text(encoding="utf8").split("\n\n"))
        for doc in map(nlp.make_doc, filter(None, paragraphs)):
            yield " ".join(token.lower_ for token in doc)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lang", metavar="LANG")
    parser.add_argument("texts", type=Path, metavar="TEXTS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--words", type=int, default=20_000, help="the number of words that get a vector")
    parser.add_argument("--width", type=int, default=96, help="numbers in a vector")
    args = parser.parse_args()
    nlp = spacy.blank(args.lang)
    with tempfile.NamedTemporaryFile("w", encoding="utf8", suffix=".txt") as lines:
        for line in tokenized(nlp, args.texts):
            lines.write(f"{line}\n")
        lines.flush()
        if not Path(lines.name).stat().st_size:
            raise SystemExit(f"{args.texts} has no text: it takes .txt files.")
        settings = {
            "model": "skipgram",
            "dim": args.width,
            "ws": WINDOW,
            "epoch": EPOCHS,
            "minCount": LEAST,
            "minn": 3,
            "maxn": 5,
        }
        # One thread: with several, two runs would differ.
        try:
            model = floret.train_unsupervised(lines.name, bucket=500_000, thread=1, verbose=0, **settings)
        except ValueError as err:  # an empty vocabulary
            raise SystemExit(f"{args.texts} has no word {LEAST} times: vectors take more text.") from err
    words = [word for word in model.words if word != "</s>"][: args.words]  # the most frequent first
    data = np.stack([model.get_word_vector(word) for word in words])
    data -= data.mean(axis=0)
    data /= np.linalg.norm(data, axis=1, keepdims=True)  # it tells little but how frequent a word is
    data *= args.width**0.5
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=data.astype(np.float32), keys=words, attr="LOWER", name=f"{args.lang}_texts"
    )
    nlp.to_disk(args.output)
    sys.stdout.write(f"{len(words):,} words in {args.width} dimensions: {args.output}\n")


if __name__ == "__main__":
    main()

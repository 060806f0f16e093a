"""Word vectors for `en_parsetag_sm`: the input embeddings of a small transformer's whole words, in fewer dimensions.

    python -m tools.word_vectors ENCODER OUTPUT

ENCODER is a folder with vocab.txt and model.safetensors of an uncased BERT. OUTPUT becomes a spaCy pipeline without
components, for `[initialize] vectors`, by lower-case forms (`OwnVectors.v1` with `attr = "LOWER"`). Words stand in
vocab.txt by frequency, the most frequent first.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import spacy
from safetensors.numpy import load_file
from spacy.vectors import Vectors

WORDS, WIDTH = 12_000, 96


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path, metavar="ENCODER")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    args = parser.parse_args()
    pieces = (args.encoder / "vocab.txt").read_text(encoding="utf8").split("\n")
    weights = load_file(args.encoder / "model.safetensors")
    table = next(array for name, array in weights.items() if name.endswith("word_embeddings.weight"))
    rows = [i for i, piece in enumerate(pieces) if piece and not piece.startswith(("##", "["))][:WORDS]
    data = table[rows].astype(np.float64)
    # Principal components. The mean and the length of a vector tell little but how frequent its word is.
    data -= data.mean(axis=0)
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    _, _, axes = np.linalg.svd(data, full_matrices=False)
    data = data @ axes[:WIDTH].T
    data = (data / data.std()).astype(np.float32)
    nlp = spacy.blank("en")
    # By lower-case form: the encoder is uncased.
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=data, keys=[pieces[i] for i in rows], attr="LOWER", name="en_parsetag_sm"
    )
    nlp.to_disk(args.output)
    sys.stdout.write(f"{len(rows):,} words in {WIDTH} dimensions: {args.output}\n")


if __name__ == "__main__":
    main()

"""The windows of docs that a transformer reads, cut into word pieces, and the pieces of each token.

All as in spacy-transformers 1.4, whose vectors an exported pipeline has to give.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..compat import require
from ..errors import Errors, shorten
from ..tokens.sentences import has_sentences


class Window(NamedTuple):
    """Some tokens of a doc, the last one excluded, that a transformer reads at once."""

    doc: int
    start: int
    stop: int


class Pieces(NamedTuple):
    """The word pieces of a window, with special ones such as [CLS].

    ids (np.ndarray): (pieces,) int64 numbers in the vocabulary.
    first (np.ndarray): (pieces,) first token of the window that a piece is part of.
    n_tokens (np.ndarray): (pieces,) number of tokens that it is part of; special ones of none.
    """

    ids: NDArray[Any]
    first: NDArray[Any]
    n_tokens: NDArray[Any]


def windows_of(docs: Sequence[Doc], window: int | None, stride: int | None, by_sentence: bool) -> list[Window]:
    """The windows of all docs, in order; see `build_onnx_transformer`. An empty doc has none.

    RAISES (ValueError): If sentences are windows, and a doc has no sentence boundaries.
    """
    windows: list[Window] = []
    for i, doc in enumerate(docs):
        if by_sentence:
            if not has_sentences(doc):
                raise ValueError(Errors.E206.format(text=shorten(doc.text, 50)))
            windows += (Window(i, sent.start, sent.end) for sent in doc.sents)
        elif window is None or stride is None:
            windows += [Window(i, 0, len(doc))] if len(doc) else []
        else:
            for start in range(0, len(doc), stride):
                is_last = start + window >= len(doc) or start + stride > len(doc)
                windows.append(Window(i, start, len(doc) if is_last else start + window))
                if is_last:
                    break
    return windows


@lru_cache(maxsize=16)
def _load_tokenizer(text: str) -> Any:
    tokenizer = require("tokenizers", "a pipeline exported to ONNX").Tokenizer.from_str(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def cut_windows(
    tokenizer: str, docs: Sequence[Doc], windows: Sequence[Window], max_pieces: int
) -> tuple[list[Window], list[Pieces]]:
    """Cut windows into word pieces.

    A piece is part of a token if one of its characters is, or the space after it.

    tokenizer (str): The content of tokenizer.json.
    max_pieces (int): Pieces that the transformer reads at once. A window of more is cut in two, and each part again if
        needed. The parts overlap, so that tokens in the middle have words on both sides, but each token gets its
        pieces from one part. If a single token has more pieces, the last ones are left out.
    RAISES (ImportError): Without the package tokenizers, with the install line.
    """
    encode = _load_tokenizer(tokenizer).encode
    char_offsets = [doc.to_array("IDX").astype(np.int64) for doc in docs]
    pairs: list[tuple[Window, Pieces]] = []
    for window in windows:
        todo = [(window, window.start, window.stop)]  # with its core: the tokens that get their pieces from it
        while todo:
            (i, start, stop), core_start, core_stop = todo.pop()
            # One by one: threads of the package tokenizers do not survive a fork.
            encoding = encode(docs[i][start:stop].text)
            if len(encoding) > max_pieces and stop - start > 1:
                middle, margin = (start + stop) // 2, (stop - start) // 8
                todo.append((Window(i, middle - margin, stop), max(core_start, middle), core_stop))
                todo.append((Window(i, start, middle + margin), core_start, min(core_stop, middle)))
                continue
            ids = np.asarray(encoding.ids[:max_pieces], dtype=np.int64)
            offsets = np.fromiter(chain.from_iterable(encoding.offsets), np.int64, 2 * len(encoding))
            begins, ends = offsets.reshape(-1, 2)[:max_pieces].T
            chars = char_offsets[i][start:stop] - char_offsets[i][start]
            first = np.maximum(np.searchsorted(chars, begins, side="right") - 1, core_start - start)
            end = np.minimum(np.searchsorted(chars, ends - 1, side="right"), core_stop - start)
            n_tokens = np.where(begins < ends, np.maximum(end - first, 0), 0)
            pairs.append((Window(i, start, stop), Pieces(ids, first, n_tokens)))
    return [window for window, _ in pairs], [pieces for _, pieces in pairs]


def align_pieces(
    windows: Sequence[Window], pieces: Sequence[Pieces], lengths: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Find the pieces of each token, in all windows that it is in.

    lengths (Sequence[int]): The tokens of each doc.
    RETURNS (tuple[np.ndarray, np.ndarray]): The pieces of all docs, token after token, as numbers counted over all
        windows; and the number of pieces of each token. If no token of a doc has a piece, each of them gets the piece
        numbered after all others, whose vector is zeros.
    """
    offsets = list(accumulate(lengths, initial=0))
    n_tokens = offsets[-1]
    if not windows:
        return np.zeros(0, dtype=np.int64), np.zeros(n_tokens, dtype=np.int64)
    pairs = zip(windows, pieces, strict=True)
    first = np.concatenate([of_window.first + offsets[i] + start for (i, start, _), of_window in pairs])
    token_counts = np.concatenate([of_window.n_tokens for of_window in pieces])
    numbers = np.repeat(np.arange(len(token_counts)), token_counts)
    steps = np.arange(len(numbers)) - np.repeat(np.cumsum(token_counts) - token_counts, token_counts)
    tokens = np.repeat(first, token_counts) + steps
    piece_counts = np.bincount(tokens, minlength=n_tokens)
    bare = [token for a, b in pairwise(offsets) if not piece_counts[a:b].any() for token in range(a, b)]
    piece_counts[bare] = 1
    tokens = np.concatenate([tokens, np.asarray(bare, dtype=np.int64)])
    numbers = np.concatenate([numbers, np.full(len(bare), len(token_counts))])
    # Tokens that two windows share come twice, and those without pieces last.
    return numbers[np.argsort(tokens, kind="stable")], piece_counts

"""The pipeline's scorer: EVALB's counts on Docs, and how many parsing tags are right."""

import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
from pathlib import Path
from typing import Any, NamedTuple

from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import Warnings
from ..evalb.counts import match_brackets
from ..evalb.params import Bracket, EvalbParams, get_params
from ..linearize import CLASS_NAMES, ORDERS, Linearizer, get_linearizer
from ..tokens.groups import SPANS_KEY, has_parses, is_marked, list_groups, spans_of_group
from ..tokens.sentences import WordMap, map_words, sentence_starts
from ..trees import Constituent, Parse, binarize

SCORES = ("f", "p", "r", "em", "per_type", "tag_acc")


class ScoredSentence(NamedTuple):
    """A gold sentence and what was predicted over it.

    Positions count units of the Doc. A unit is a word; where the two tokenizations differ, it is a character, and white
    space is left out.

    n_words (int): Number of words; 0 where units are characters.
    gold, test (list[Bracket]): Constituents. A predicted one belongs to the sentence in which it starts.
    before (list[int]): For each boundary between units: how many units that count precede it.
    is_parsed (bool): Whether anything was predicted over this text, be it a tree without constituents.
    """

    start: int
    n_words: int
    gold: list[Bracket]
    test: list[Bracket]
    before: list[int]
    is_parsed: bool

    def counted(self, spans: list[Bracket]) -> list[Bracket]:
        """Constituents over the units that count."""
        return [(self.before[start], self.before[end], label) for start, end, label in spans]

    def tags(self, spans: list[Bracket], linearizer: Linearizer) -> list[str]:
        """The parsing tags of constituents; none if they are not a tree over the words."""
        blank = ("",) * self.n_words  # the tags do not depend on the words
        constituents = [Constituent(start - self.start, end - self.start, label) for start, end, label in spans]
        constituents.sort(key=lambda constituent: (constituent.start, -constituent.end))
        try:
            return linearizer.linearize(binarize(Parse(blank, blank, tuple(constituents)))) if blank else []
        except ValueError:
            return []


def make_evalb_scorer(
    spans_key: str | None = None, params: str | Path = "collins", order: str | None = None
) -> Callable[..., dict[str, Any]]:
    """Make the scorer for constituents (see `score_constituents`).

    spans_key (str | None): Where constituents are in `doc.spans`. None: where the component's config says, else
        "constituents".
    params (str | Path): EVALB's parameters: "collins", "new", "spmrl" or a `.prm` file.
    order (str | None): Order of the tags whose accuracy is given: "in", "pre" or "post". None: that of the component's
        config, else "in".
    RAISES (ValueError): If there are no such parameters, or there is no such order. A `.prm` file may be missing until
        something is scored: a trained pipeline may be used where the file is not.
    """
    if order is not None:
        get_linearizer(order)  # better an error now than at the first check of a training
    is_missing = Path(params).suffix == ".prm" and not Path(params).is_file()
    # A partial, unlike a function made here, can be pickled with the component that holds it.
    read = params if is_missing else get_params(params)
    return partial(score_constituents, default_key=spans_key, params=read, default_order=order)


def score_constituents(
    examples: Iterable[Example],
    *,
    params: EvalbParams | str | Path,
    default_key: str | None = None,
    default_order: str | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """EVALB on Docs, over the sentences of the reference.

    Which words are punctuation is read from the reference's `token.tag_`, for gold and predicted constituents alike.
    That is the convention for parsers that do not tag: gold tags are copied into the predicted trees. With predicted
    tags a wrong one changes which words count, which makes the sentence an error in EVALB and drops it from the total.
    Reference words without a tag all count.

    White space and case are ignored. Where tokens differ otherwise, spans are compared by the characters of their
    content. Where even the characters differ, every gold constituent counts as missed. It also does where nothing was
    predicted: unlike in EVALB, no failed sentence is left out. Sentences without a word that counts are left out, and
    so are examples whose reference has no group of gold constituents, or a partial one: a predicted constituent that a
    partial tree does not have may be right.

    params (EvalbParams | str | Path): EVALB's parameters, or where they are; see `get_params`.
    default_key (str | None): Where constituents are in `doc.spans`; None takes `spans_key` from the kwargs.
    default_order (str | None): Order of the tags; None takes `order` from the kwargs, in-order where it is one of the
        user's own.
    RETURNS (dict[str, Any]): `parsetag_f`, `parsetag_p`, `parsetag_r` and `parsetag_em` (exact match: sentences with
        exactly the gold brackets), from 0.0 to 1.0; `parsetag_per_type`, {label: {p, r, f}}, in which labels held
        equal share a row; `parsetag_tag_acc`, {"l", "r", "L", "R", "all"}: the share of gold parsing tags of each kind
        that the predicted tree has too at the same place, None for a kind without gold tags; sentences with differing
        tokens do not enter it. Every score is None without gold constituents. Names carry the key of the constituents
        unless it is the default (`parsetag_mine_f`), so that two parsers do not overwrite each other's scores.
    """
    params = get_params(params)
    key = default_key or kwargs.get("spans_key") or SPANS_KEY
    # Of an order of the user's own, which is known by name alone, the accuracy is that of in-order tags.
    linearizer = get_linearizer(default_order) if default_order else ORDERS.get(kwargs.get("order", "in"), ORDERS["in"])
    prefix = score_prefix(key)
    examples = list(examples)
    annotated = [eg for eg in examples if key in eg.reference.spans and not is_marked(eg.reference, "partial", key)]
    if not annotated:
        _warn_of_no_gold(examples, key)
        return dict.fromkeys(f"{prefix}_{name}" for name in SCORES)
    matched, missing, extra, gold_tags, right_tags = (Counter[str]() for _ in range(5))
    sentences = complete = 0
    aligned = (align_sentences(eg, key, params.delete_labels) for eg in annotated)
    for sentence in chain.from_iterable(aligned):
        sentences += 1
        gold, test = (params.counted(sentence.counted(spans)) for spans in (sentence.gold, sentence.test))
        pairs, only_gold, only_test = match_brackets(gold, test, params)
        complete += sentence.is_parsed and not only_gold and not only_test
        in_both = [bracket for bracket, _ in pairs]
        for counter, brackets in ((matched, in_both), (missing, only_gold), (extra, only_test)):
            counter.update(params.names.get(label, label) for _, _, label in brackets)
        tags = sentence.tags(sentence.gold, linearizer)
        gold_tags.update(tag[0] for tag in tags)
        if not sentence.is_parsed:
            continue
        test_tags = tags if sentence.test == sentence.gold else sentence.tags(sentence.test, linearizer)
        right_tags.update(tag[0] for tag, test_tag in zip(tags, test_tags, strict=False) if tag == test_tag)
    total = PRFScore(tp=matched.total(), fn=missing.total(), fp=extra.total())
    exact = complete / sentences if sentences else 0.0
    labels = sorted(matched | missing | extra)
    per_type = {name: PRFScore(tp=matched[name], fn=missing[name], fp=extra[name]).to_dict() for name in labels}
    tag_counts = {kind: (right_tags[kind], gold_tags[kind]) for kind in CLASS_NAMES}
    tag_counts["all"] = (right_tags.total(), gold_tags.total())
    tag_acc = {kind: right / n if n else None for kind, (right, n) in tag_counts.items()}
    values = (total.fscore, total.precision, total.recall, exact, per_type, tag_acc)
    return {f"{prefix}_{name}": value for name, value in zip(SCORES, values, strict=True)}


def _warn_of_no_gold(examples: list[Example], key: str) -> None:
    """Warn that no example has a whole gold tree: all that there are may be partial, or stand under another key."""
    if n_partial := sum(key in eg.reference.spans for eg in examples):
        warnings.warn(Warnings.W259.format(n=n_partial, key=key), stacklevel=1)
    elif examples:
        text = Warnings.W255.format(n=len(examples), key=key, found=list_groups(eg.reference for eg in examples))
        warnings.warn(text, stacklevel=1)


def score_prefix(key: str) -> str:
    """Give the prefix of the names of scores, for constituents under a key of `doc.spans`."""
    return "parsetag" if key == SPANS_KEY else f"parsetag_{key}"


def align_sentences(example: Example, key: str, deleted: frozenset[str]) -> Iterator[ScoredSentence]:
    """Put predicted constituents beside the gold ones, sentence by sentence.

    YIELDS (ScoredSentence): The sentences of the reference that have a word that counts.
    RAISES (ValueError): If a doc was retokenized since its constituents were set.
    """
    reference, predicted = example.reference, example.predicted
    gold_words, test_words = map_words(reference), map_words(predicted)
    gold_texts, test_texts = _bare_texts(reference, gold_words), _bare_texts(predicted, test_words)
    same_words = gold_texts == test_texts
    gold_widths = [1 if same_words else len(text) for text in gold_texts]
    test_widths = [1 if same_words else len(text) for text in test_texts]
    gold_units = _units_before(gold_words, gold_widths)
    counts = (reference[i].tag_ not in deleted for i in gold_words.tokens)
    before = list(accumulate(chain.from_iterable(map(repeat, counts, gold_widths)), initial=0))
    starts = [gold_units[start] for start in sentence_starts(reference).tolist()]
    gold = _brackets_by_sentence(reference, key, gold_units, starts)
    test: list[list[Bracket]] = [[] for _ in starts]
    is_parsed = has_parses(predicted, key) and (same_words or "".join(gold_texts) == "".join(test_texts))
    if is_parsed:
        test = _brackets_by_sentence(predicted, key, _units_before(test_words, test_widths), starts)
    for i, (start, end) in enumerate(pairwise([*starts, gold_units[-1]])):
        if before[start] < before[end]:
            yield ScoredSentence(start, end - start if same_words else 0, gold[i], test[i], before, is_parsed)


def _bare_texts(doc: Doc, words: WordMap) -> list[str]:
    """The words of a doc, without case and without white space in them."""
    return ["".join(doc[i].text.casefold().split()) for i in words.tokens]


def _units_before(words: WordMap, widths: list[int]) -> list[int]:
    """Count the units before each token, given those of each word; one more entry for the end of the doc."""
    offsets = list(accumulate(widths, initial=0))
    return [offsets[n_words] for n_words in words.before]


def _brackets_by_sentence(doc: Doc, key: str, units: list[int], starts: list[int]) -> list[list[Bracket]]:
    """Find the constituents of a doc over units, by the sentence of the reference in which they start.

    units (list[int]): Units before each token of the doc.
    starts (list[int]): The first unit of each sentence.
    """
    brackets: list[list[Bracket]] = [[] for _ in starts]
    for span in spans_of_group(doc, key):
        start, end = units[span.start], units[span.end]
        if start < end:
            # Among sentences that start at the same unit (all but one are white space), the last has the words.
            brackets[bisect_right(starts, start) - 1].append((start, end, span.label_))
    return brackets

"""The pipeline's scorer: EVALB's counts on Docs, and how many parsing tags are right."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from ..evalb.counts import match_brackets
from ..evalb.params import EvalbParams, get_params
from ..evalb.sentence import Bracket, Rules
from ..linearize import CLASS_NAMES, Linearizer, get_linearizer
from ..tokens.sentences import sentence_starts
from ..tokens.spans import SPANS_KEY
from ..trees import Parse, binarize
from ..trees.parse import Constituent

DEFAULT_ORDER = "in"
SCORES = ("f", "p", "r", "em", "per_type", "tag_acc")


class Scorer(Protocol):
    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]: ...


class ScoredSentence(NamedTuple):
    """A gold sentence and what was predicted over it.

    Positions count units of the Doc. A unit is a word; where the two tokenizations differ, it is a character, and white
    space is left out.

    start (int): Where the sentence starts.
    n_words (int): Number of words; 0 where units are characters.
    gold, test (list[Bracket]): Constituents. A predicted one belongs to the sentence in which it starts.
    before (list[int]): For each boundary between units: how many units that count precede it.
    """

    start: int
    n_words: int
    gold: list[Bracket]
    test: list[Bracket]
    before: list[int]

    def counted(self, spans: list[Bracket]) -> list[Bracket]:
        """Constituents over the units that count."""
        return [(self.before[start], self.before[end], label) for start, end, label in spans]


def make_evalb_scorer(spans_key: str | None = None, params: str | Path = "collins", order: str | None = None) -> Scorer:
    """Make the scorer for constituents (see `score_constituents`).

    spans_key (str | None): Where constituents are in `doc.spans`. None: where the component's config says, else
        "constituents".
    params (str | Path): EVALB's parameters: "collins", "new", "spmrl" or a `.prm` file.
    order (str | None): Order of the tags whose accuracy is given: "in", "pre" or "post". None: that of the component's
        config, else "in".
    RETURNS (Scorer): The scorer.
    """
    # A partial, unlike a function made here, can be pickled with the component that holds it.
    return partial(score_constituents, default_key=spans_key, params=get_params(params), default_order=order)


def score_constituents(
    examples: Iterable[Example],
    *,
    params: EvalbParams,
    default_key: str | None = None,
    default_order: str | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """EVALB on Docs, over the sentences of the reference.

    Which words are punctuation is read from the reference's `token.tag_`, for gold and predicted constituents alike.
    That is the convention for parsers that do not tag: gold tags are copied into the predicted trees. With predicted
    tags a wrong one changes which words count, which makes the sentence an error in EVALB and drops it from the total.
    Reference words without a tag all count.

    White space is ignored. Where tokens differ otherwise, spans are compared by the characters of their content. Where
    even the characters differ, every gold constituent counts as missed; so it does where nothing was predicted: unlike
    in EVALB no failure drops out. Sentences without a word that counts are left out, and so are examples whose
    reference has no group of gold constituents.

    examples (Iterable[Example]): The examples.
    params (EvalbParams): EVALB's parameters.
    default_key (str | None): Where constituents are in `doc.spans`; None takes `spans_key` from the kwargs.
    default_order (str | None): Order of the tags; None takes `order` or `linearizer` from the kwargs.
    RETURNS (dict[str, Any]): `parsetag_f`, `parsetag_p`, `parsetag_r` and `parsetag_em` (exact match: sentences with
        exactly the gold brackets), from 0.0 to 1.0; `parsetag_per_type`, {label: {p, r, f}}, in which labels held
        equal share a row; `parsetag_tag_acc`, {"l", "r", "L", "R", "all"}: the share of gold parsing tags of each kind
        that the predicted tree has too at the same place, None for a kind without gold tags; sentences with differing
        tokens do not enter it. Every score is None without gold constituents. Names carry the key of the constituents
        unless it is the default (`parsetag_mine_f`), so that two parsers do not overwrite each other's scores.
    """
    key = default_key or kwargs.get("spans_key") or SPANS_KEY
    order = default_order or kwargs.get("order") or kwargs.get("linearizer") or DEFAULT_ORDER
    linearizer = order if isinstance(order, Linearizer) else get_linearizer(order)
    rules = Rules(params)
    matched, missing, extra, gold_tags, right_tags = (Counter[str]() for _ in range(5))
    sentences = complete = 0
    annotated = False
    for example in examples:
        if key not in example.reference.spans:
            continue
        annotated = True
        for sentence in align_sentences(example, key, params.delete_labels):
            sentences += 1
            gold, test = (rules.counted(sentence.counted(spans)) for spans in (sentence.gold, sentence.test))
            matching = match_brackets(gold, test, rules)
            complete += not matching.missing and not matching.extra
            for counter, brackets in zip((matched, missing, extra), matching, strict=True):
                counter.update(rules.name(label) for _, _, label in brackets)
            if sentence.n_words:
                _count_tags(sentence, linearizer, gold_tags, right_tags)
    prefix = score_prefix(key)
    if not annotated:
        return dict.fromkeys(f"{prefix}_{name}" for name in SCORES)
    total = PRFScore(tp=matched.total(), fn=missing.total(), fp=extra.total())
    exact = complete / sentences if sentences else 0.0
    labels = sorted(matched | missing | extra)
    per_type = {name: PRFScore(tp=matched[name], fn=missing[name], fp=extra[name]).to_dict() for name in labels}
    tag_counts = {kind: (right_tags[kind], gold_tags[kind]) for kind in CLASS_NAMES}
    tag_counts["all"] = (right_tags.total(), gold_tags.total())
    tag_acc = {kind: right / n if n else None for kind, (right, n) in tag_counts.items()}
    values = (total.fscore, total.precision, total.recall, exact, per_type, tag_acc)
    return {f"{prefix}_{name}": value for name, value in zip(SCORES, values, strict=True)}


def score_prefix(key: str) -> str:
    """What the names of scores begin with, for constituents under this key in `doc.spans`."""
    return "parsetag" if key == SPANS_KEY else f"parsetag_{key}"


def align_sentences(example: Example, key: str, deleted: frozenset[str]) -> Iterator[ScoredSentence]:
    """Put predicted constituents beside the gold ones, sentence by sentence.

    example (Example): An example whose reference has gold constituents.
    key (str): Where constituents are in `doc.spans`.
    deleted (frozenset[str]): Part-of-speech tags of words that do not count.
    YIELDS (ScoredSentence): The sentences of the reference that have a word that counts.
    """
    reference, predicted = example.reference, example.predicted
    words, predicted_words = (["".join(token.text.split()) for token in doc] for doc in (reference, predicted))
    same_words = list(filter(None, words)) == list(filter(None, predicted_words))
    width: Callable[[str], int] = bool if same_words else len
    kept = [token.tag_ not in deleted for token, word in zip(reference, words, strict=True) for _ in range(width(word))]
    before = list(accumulate(kept, initial=0))
    units = list(accumulate(map(width, words), initial=0))
    starts = [units[start] for start in sentence_starts(reference)]
    gold = _sentence_spans(reference, key, units, starts)
    if same_words or "".join(words) == "".join(predicted_words):
        test = _sentence_spans(predicted, key, list(accumulate(map(width, predicted_words), initial=0)), starts)
    else:
        test = [[] for _ in starts]
    for i, (start, end) in enumerate(pairwise([*starts, units[-1]])):
        if before[start] < before[end]:
            yield ScoredSentence(start, end - start if same_words else 0, gold[i], test[i], before)


def _sentence_spans(doc: Doc, key: str, units: list[int], starts: list[int]) -> list[list[Bracket]]:
    """The spans that start in each sentence, in units."""
    groups: list[list[Bracket]] = [[] for _ in starts]
    for span in doc.spans.get(key, ()):
        start, end = units[span.start], units[span.end]
        if start < end:
            # Among sentences that start at the same unit (all but one consist of white space), the last has the words.
            groups[bisect_right(starts, start) - 1].append((start, end, span.label_))
    return groups


def _count_tags(sentence: ScoredSentence, linearizer: Linearizer, gold: Counter[str], right: Counter[str]) -> None:
    """Count the sentence's gold parsing tags, and those that the predicted tree has too, by kind."""
    gold_tags = _linearize(sentence, sentence.gold, linearizer)
    if gold_tags is None:
        return
    gold.update(tag[0] for tag in gold_tags)
    test_tags = gold_tags if sentence.test == sentence.gold else _linearize(sentence, sentence.test, linearizer)
    if test_tags is not None:
        right.update(ours[0] for ours, theirs in zip(gold_tags, test_tags, strict=True) if ours == theirs)


def _linearize(sentence: ScoredSentence, spans: list[Bracket], linearizer: Linearizer) -> list[str] | None:
    """The tags of a sentence; None if the spans are not a tree over it."""
    blank = ("",) * sentence.n_words  # the tags do not depend on the words
    constituents = (Constituent(start - sentence.start, end - sentence.start, label) for start, end, label in spans)
    try:
        return linearizer.linearize(binarize(Parse(blank, blank, tuple(constituents))))
    except ValueError:
        return None

"""The pipeline's scorer: EVALB's counts on Docs, and how many parsing tags are right."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from ..evalb.counts import match_brackets
from ..evalb.params import EvalbParams, get_params
from ..evalb.sentence import Bracket, Rules, get_rules
from ..linearize import CLASS_NAMES, Linearizer, get_linearizer
from ..trees import Parse, binarize
from ..trees.parse import Constituent

DEFAULT_SPANS_KEY = "constituents"
DEFAULT_ORDER = "in"
SCORES = ("f", "p", "r", "em", "per_type", "tag_acc")


class Scorer(Protocol):
    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]: ...


class ScoredSentence(NamedTuple):
    """A gold sentence and what was predicted over it, positions counted in units of the Doc.

    A unit is a word, whitespace left out; where the two tokenizations differ, a character.

    start, end (int): The sentence, in units.
    gold, test (List[Bracket]): Constituents. A predicted one belongs to the sentence in which it starts.
    before (List[int]): By boundary between the Doc's units: how many units that count lie before it.
    words, tags (List[str]): Of the whole Doc; empty where units are characters.
    """

    start: int
    end: int
    gold: list[Bracket]
    test: list[Bracket]
    before: list[int]
    words: list[str]
    tags: list[str]


@registry.scorers("spacy-parsetag.evalb_scorer.v1")
def make_evalb_scorer(spans_key: str | None = None, params: str | Path = "collins", order: str | None = None) -> Scorer:
    """Make the scorer for constituents (see `score_constituents`).

    spans_key (Optional[str]): Where constituents lie in `doc.spans`. None: where the component's config says, else
        "constituents".
    params (Union[str, Path]): EVALB's parameters: "collins", "new", "spmrl" or a `.prm` file.
    order (Optional[str]): Order of the tags whose accuracy is given: "in", "pre" or "post". None: that of the
        component's config, else "in".
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

    Whitespace tokens are ignored. Where tokens differ otherwise, spans are compared by the characters of their content.
    Where even the characters differ, every gold constituent counts as missed; so it does where nothing was predicted:
    unlike in EVALB no failure drops out. Sentences without a word that counts are left out, and so are examples whose
    reference has no group of gold constituents.

    examples (Iterable[Example]): The examples.
    params (EvalbParams): EVALB's parameters.
    default_key (Optional[str]): Where constituents lie in `doc.spans`; None takes `spans_key` from the kwargs.
    default_order (Optional[str]): Order of the tags; None takes `order` or `linearizer` from the kwargs.
    RETURNS (dict[str, Any]): `parsetag_f`, `parsetag_p`, `parsetag_r` and `parsetag_em` (exact match: sentences with
        exactly the gold brackets), from 0.0 to 1.0; `parsetag_per_type`, {label: {p, r, f}}, in which labels held
        equal share a row; `parsetag_tag_acc`, {"l", "r", "L", "R", "all"}: the share of gold parsing tags of each kind
        that the predicted tree has too at the same place, None for a kind without gold tags; sentences with differing
        tokens do not enter it. Every score is None without gold constituents. With another key than "constituents"
        it is part of the names, so that two parsers do not overwrite each other's: `parsetag_{key}_f`.
    """
    key = default_key or kwargs.get("spans_key") or DEFAULT_SPANS_KEY
    linearizer = _get_linearizer(default_order or kwargs.get("order") or kwargs.get("linearizer") or DEFAULT_ORDER)
    rules = get_rules(params)
    total = PRFScore()
    types: dict[str, PRFScore] = {}
    sentences = complete = 0
    tags_gold: Counter[str] = Counter()
    tags_right: Counter[str] = Counter()
    annotated = False
    for example in examples:
        if key not in example.reference.spans:
            continue
        annotated = True
        for sentence in align_sentences(example, key, rules):
            if sentence.before[sentence.start] == sentence.before[sentence.end]:
                continue
            sentences += 1
            complete += _score_sentence(sentence, rules, total, types)
            if sentence.words:
                _score_tags(sentence, linearizer, tags_gold, tags_right)
    prefix = score_prefix(key)
    if not annotated:
        return dict.fromkeys(f"{prefix}_{name}" for name in SCORES)
    counts = {kind: (tags_right[kind], tags_gold[kind]) for kind in CLASS_NAMES}
    counts["all"] = (sum(tags_right.values()), sum(tags_gold.values()))
    tag_acc = {kind: right / n if n else None for kind, (right, n) in counts.items()}
    exact = complete / sentences if sentences else 0.0
    per_type = {label: types[label].to_dict() for label in sorted(types)}
    values = (total.fscore, total.precision, total.recall, exact, per_type, tag_acc)
    return {f"{prefix}_{name}": value for name, value in zip(SCORES, values, strict=True)}


def score_prefix(key: str) -> str:
    """What the names of scores begin with, for constituents under this key in `doc.spans`."""
    return "parsetag" if key == DEFAULT_SPANS_KEY else f"parsetag_{key}"


def _get_linearizer(order: Any) -> Linearizer:
    return order if isinstance(order, Linearizer) else get_linearizer(order)


def align_sentences(example: Example, key: str, rules: Rules) -> Iterator[ScoredSentence]:
    """Put predicted constituents beside the gold ones, sentence by sentence.

    example (Example): An example whose reference has gold constituents.
    key (str): Where constituents lie in `doc.spans`.
    rules (Rules): The rules, for the tags whose words are ignored.
    YIELDS (ScoredSentence): The sentences of the reference; one, the whole Doc, where it has no boundaries.
    """
    reference, predicted = example.reference, example.predicted
    deleted = rules.params.delete_labels
    # Not `token.is_space`: that flag is unset where the vocab has no language, as in many a DocBin of gold trees.
    content = [(token.text, token.tag_) for token in reference if not token.text.isspace()]
    words = [word for word, _ in content]
    tags = [tag for _, tag in content]
    predicted_words = [token.text for token in predicted if not token.text.isspace()]
    same_words = words == predicted_words
    comparable = True
    if same_words:
        width: Callable[[str], int] = _one
        keep = [tag not in deleted for tag in tags]
    else:
        width = _n_content_chars
        keep = [tag not in deleted for word, tag in zip(words, tags, strict=True) for _ in range(width(word))]
        comparable = _content_chars(words) == _content_chars(predicted_words)
    before = [0, *accumulate(keep)]
    unit = _token_units(reference, width)
    starts = [unit[sent.start] for sent in reference.sents] if reference.has_annotation("SENT_START") else [0]
    gold = _split_spans(_unit_spans(reference, key, unit), starts)
    test_spans = _unit_spans(predicted, key, _token_units(predicted, width)) if comparable else []
    test = _split_spans(test_spans, starts)
    for i, start in enumerate(starts):
        end = starts[i + 1] if i + 1 < len(starts) else unit[-1]
        yield ScoredSentence(
            start, end, gold[i], test[i], before, words if same_words else [], tags if same_words else []
        )


def _one(word: str) -> int:
    return 1


def _n_content_chars(word: str) -> int:
    return len("".join(word.split()))


def _content_chars(words: Iterable[str]) -> str:
    return "".join("".join(word.split()) for word in words)


def _token_units(doc: Doc, width: Callable[[str], int]) -> list[int]:
    """For each of the N+1 boundaries between tokens, how many units lie before it."""
    return [0, *accumulate(0 if token.text.isspace() else width(token.text) for token in doc)]


def _unit_spans(doc: Doc, key: str, unit: list[int]) -> list[Bracket]:
    if key not in doc.spans:
        return []
    spans = [(unit[span.start], unit[span.end], span.label_) for span in doc.spans[key]]
    return [span for span in spans if span[0] < span[1]]


def _split_spans(spans: Iterable[Bracket], starts: list[int]) -> list[list[Bracket]]:
    """Give each span to the sentence in which it starts."""
    groups: list[list[Bracket]] = [[] for _ in starts]
    for span in spans:
        # Among sentences that start at the same unit (all but one consist of whitespace), the last has the words.
        groups[bisect_right(starts, span[0]) - 1].append(span)
    return groups


def _score_sentence(sentence: ScoredSentence, rules: Rules, total: PRFScore, types: dict[str, PRFScore]) -> bool:
    """Add a sentence's brackets to the totals; whether they are exactly the gold ones."""
    before = sentence.before
    gold, test = (
        rules.counted([(before[start], before[end], label) for start, end, label in brackets])
        for brackets in (sentence.gold, sentence.test)
    )
    matching = match_brackets(gold, test, rules)
    for name, brackets in zip(("tp", "fn", "fp"), matching, strict=True):
        for _, _, label in brackets:
            for score in (total, types.setdefault(rules.name(label), PRFScore())):
                setattr(score, name, getattr(score, name) + 1)
    return not matching.missing and not matching.extra


def _score_tags(sentence: ScoredSentence, linearizer: Linearizer, gold: Counter[str], right: Counter[str]) -> None:
    """Count the sentence's gold parsing tags, and those that the predicted tree has too, by kind."""
    gold_tags = _linearize(sentence, sentence.gold, linearizer)
    if gold_tags is None:
        return
    gold.update(tag[0] for tag in gold_tags)
    test_tags = gold_tags if sentence.test == sentence.gold else _linearize(sentence, sentence.test, linearizer)
    if test_tags is not None:
        right.update(ours[0] for ours, theirs in zip(gold_tags, test_tags, strict=True) if ours == theirs)


def _linearize(sentence: ScoredSentence, spans: list[Bracket], linearizer: Linearizer) -> list[str] | None:
    """The tags of a sentence; None if the spans are no tree over it."""
    start, end = sentence.start, sentence.end
    constituents = tuple(Constituent(first - start, last - start, label) for first, last, label in spans)
    parse = Parse(tuple(sentence.words[start:end]), tuple(sentence.tags[start:end]), constituents)
    try:
        return linearizer.linearize(binarize(parse))
    except ValueError:
        return None

"""The trainable pipe `parsetag`: scores two tags a word, decodes the best tree, sets it on the doc."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.errors import Errors as SpacyErrors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer

from ..compat import one_thread_after_fork
from ..decode import Decoder, Distribution, TagScores
from ..decode.trees import labelled_nodes
from ..errors import Errors, Warnings, shorten
from ..linearize import Linearizer
from ..linearize.tagset import TagSet, make_tag_set, tags_of_label
from ..ml.losses import Loss
from ..ml.resize import resize_output
from ..ml.words import SentenceScores, Words, require_scores, require_upstream
from ..tokens import has_sentences, register_extensions
from ..tokens.batches import annotate_batches
from ..tokens.groups import SPANS_KEY, Prediction, list_groups, set_predictions
from ..tokens.sentences import require_sentences
from . import checks
from .align import set_gold_sentences
from .constraints import Finder, constrain, constraints_of_doc
from .encode import GoldSentence, gold_loss
from .gold import GoldReader, read_inventory

LEAST_RIVAL = 0.01  # least probability of a constituent that `rivals` lists
PART_ROWS = 2000  # rows of scores that are decoded at a time


class ParseTagger(checks.Checked, TrainablePipe):  # type: ignore[misc]  # a compiled class without annotations
    """Constituency parsing as tagging (Amini and Cotterell, 2022).

    model (Model[list[Doc], SentenceScores]): The learner.
    name (str): The component's name in the pipeline, and of its loss.
    linearizer (Linearizer): The order that trees are written in.
    decoder (Decoder): Finds a tree, given scores. It can be changed on a trained pipeline.
    loss (Loss): What training minimizes.
    spans_key (str): Where the constituents are in `doc.spans`, in training data and on output.
    learn_rate_scale (float): How much faster this pipe's own layers learn than the learning rate says. An encoder that
        it listens to is a component of its own, and learns at the rate as it is.
    max_stack (int | "train" | None): Largest stack size after any tag, for decoding, loss and probabilities; None for
        no bound. The paper bounds it by the largest stack in the training trees: "train".
    probs (bool): Whether to say how probable trees and constituents are. It can be changed on a trained pipeline, as
        can the other settings of prediction that follow.
    k_best (int): How many of the best trees of each sentence to keep for `doc._.parses`; 0 for none.
    constraints (Callable[[Doc], Iterable[Span]] | None): Finds spans that constrain the trees, beside
        `doc.spans["parsetag_constraints"]`; see `constraints_of_doc`.
    conflicts (str): "raise" an error if constraints cannot hold together, or "drop" each one that cannot hold
        together with the ones before it.
    """

    temperature = checks.saved_setting("temperature")  # see `pipeline.calibration`
    tree_temperature = checks.saved_setting("tree_temperature")

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], SentenceScores],
        name: str = "parsetag",
        *,
        linearizer: Linearizer,
        decoder: Decoder,
        loss: Loss,
        spans_key: str = SPANS_KEY,
        learn_rate_scale: float = 1.0,
        max_stack: int | str | None = None,
        probs: bool = False,
        k_best: int = 0,
        constraints: Finder | None = None,
        conflicts: str = "raise",
        scorer: Callable[..., Any] | None = None,
    ) -> None:
        checks.check_setting(name, "spans_key", spans_key)
        register_extensions()
        self.vocab, self.model, self.name = vocab, model, name
        self.linearizer = linearizer
        self.scorer = scorer
        self.learn_rate_scale = learn_rate_scale
        self.probs, self.k_best = probs, k_best
        self.constraints, self.conflicts = constraints, conflicts
        # JSON only: it is saved with the pipe, and passed to the scorer.
        self.cfg: dict[str, Any] = {"tags": [], "order": linearizer.order, "max_stack": 0, "spans_key": spans_key}
        self.cfg.update(temperature=1.0, tree_temperature=1.0)
        self.decoder, self.loss, self.max_stack = decoder, loss, max_stack
        self._gold = GoldReader()

    @property
    def bound(self) -> int | None:
        """The bound on the stack as a number; None for no bound, as before training, or without one in label data."""
        if self.max_stack != "train":
            return self.max_stack  # type: ignore[return-value]
        largest: int = self.cfg["max_stack"]
        return max(largest, checks.least_bound(self.linearizer)) if largest else None

    @property
    def tag_set(self) -> TagSet:
        """The tags, sorted; their ids are columns of the scores."""
        return make_tag_set(tuple(self.cfg["tags"]))

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that the model scores, such as `l/NP` or `R/S+VP`."""
        return tuple(self.cfg["tags"])

    @property
    def constituent_labels(self) -> tuple[str, ...]:
        """The labels that constituents can get, sorted."""
        return self.tag_set.constituent_labels

    @property
    def label_data(self) -> dict[str, Any]:
        """The label data that `spacy init labels` writes and `initialize` takes: tags, and the largest stack."""
        return {"tags": list(self.cfg["tags"]), "order": self.cfg["order"], "max_stack": self.cfg["max_stack"]}

    def add_label(self, label: str) -> int:
        """Add a tag such as `R/NP`, or a constituent label such as `NP`, which adds its four tags.

        A trained component keeps what it has learned.

        label (str): The tag or label. What is written as a tag is taken as one.
        RETURNS (int): 1 if something was added, 0 if it was known.
        RAISES (ValueError): If the model cannot be given more scores.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E255.format(name=self.name, label=label))
        return int(bool(self._add_tags(tags_of_label(label))))

    def add_labels_of(self, examples: Iterable[Example]) -> list[str]:
        """Add the tags of more training data to a trained component, which keeps what it has learned.

        RETURNS (list[str]): The tags that were added, sorted.
        RAISES (ValueError): If the model cannot be given more scores, or there is a partial tree and no chart.
        """
        self._require_labels()

        def checked(eg: Example) -> Example:  # one by one: a corpus may be too large for memory
            validate_examples([eg], "ParseTagger.add_labels_of")
            return eg

        tags, largest_stack = self._read_inventory(map(checked, examples))
        added = self._add_tags(tags)
        if self.cfg["max_stack"]:  # 0 if it is not known
            self.cfg["max_stack"] = max(self.cfg["max_stack"], largest_stack)
        return added

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of docs; see spaCy's `TrainablePipe.pipe`."""
        # This precedes the request for the first doc, and so any use of PyTorch by earlier components in this process.
        one_thread_after_fork()
        return annotate_batches(self, stream, batch_size, lambda docs: self.set_annotations(docs, self.predict(docs)))

    def predict(self, docs: Iterable[Doc]) -> list[list[Prediction]]:
        """Find the tree of each sentence of each doc.

        RETURNS (list[list[Prediction]]): For each doc, the prediction for each sentence with words.
        RAISES (ValueError): If a doc has no sentence boundaries.
        """
        docs = list(docs)
        batch, words, dropped = self.score_docs(docs)
        fields = [of_one for part in batch.parts(PART_ROWS) for of_one in self._find_fields(Distribution(part))]
        if dropped is not None:
            fields = [{**of_one, "dropped_constraints": texts} for of_one, texts in zip(fields, dropped, strict=True)]
        rest = iter(fields)
        return [[Prediction(tokens, **next(rest)) for tokens in sentences] for sentences in words.sentences]

    def _find_fields(self, distribution: Distribution) -> Iterator[dict[str, Any]]:
        """Yield the fields of the prediction for each sentence of a batch, other than its tokens.

        The tree comes from the scores as they are, whatever the temperatures.
        """
        decoded, batch = self.decoder(distribution), distribution.batch
        trees = labelled_nodes(decoded.ids, batch).spans(batch.tags)
        names = ("temperature", "tree_temperature")
        temperatures = [self.cfg[name] if self.probs or self.k_best else 1.0 for name in names]
        at = {temperature: distribution.at(temperature) for temperature in temperatures}
        of_spans, of_trees = map(at.__getitem__, temperatures)
        # Constituents come first: where trees have their temperature, the sums with labels also serve all that follows.
        constituents = of_spans.constituents if self.probs else None
        columns: dict[str, Sequence[Any]] = {}
        if decoded.beam_widths is not None:
            columns["beam_width"] = decoded.beam_widths.tolist()
        if self.probs:
            columns["log_prob"] = of_trees.log_prob(of_trees.likeliest(decoded.ids).ids).tolist()
            columns["entropy"] = of_trees.entropy.tolist()
        if self.k_best:
            columns["k_best"] = of_trees.k_best_parses(self.k_best)
        for s, spans in enumerate(trees):
            described = {} if constituents is None else constituents.describe(s, spans, LEAST_RIVAL)
            yield {"spans": spans, **described, **{field: values[s] for field, values in columns.items()}}

    def score_docs(self, docs: list[Doc]) -> tuple[TagScores, Words, list[list[str]] | None]:
        """Score docs as prediction decodes them: under the docs' constraints.

        RETURNS (tuple[TagScores, Words, list[list[str]] | None]): The batch of all sentences with words; their words;
            and, where constraints that cannot hold are dropped, the dropped ones of each sentence.
        RAISES (ValueError): If a doc has no sentence boundaries, or constraints cannot hold together, naming them.
        """
        self._require_labels()
        require_sentences(docs, name=self.name)
        if any(not token.is_space for doc in docs for token in doc):
            require_upstream(self.model, docs, name=self.name)
        scores = self.model.predict(docs)
        require_scores(scores, name=self.name)
        batch = scores.batch(self.tag_set, self.linearizer, self.bound)
        drop = self.conflicts == "drop"
        constraints = []
        for doc, sentences in zip(docs, scores.words.sentences, strict=True):
            constraints += constraints_of_doc(doc, sentences, self.constraints, drop=drop)
        batch, dropped = constrain(batch, constraints, drop=drop)
        return batch, scores.words, dropped if drop else None

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Sequence[Prediction]]) -> None:
        """Set the trees on the docs, as `doc.spans[spans_key]`, with the rest of what `predict` found as its attrs."""
        asked = dict.fromkeys(("probs", "log_prob", "entropy", "expected_f", "rivals"), self.probs)
        asked |= {"k_best": self.k_best > 0, "dropped_constraints": self.conflicts == "drop"}
        fields = [name for name, is_asked in asked.items() if is_asked]
        for doc, of_sentences in zip(docs, predictions, strict=True):
            set_predictions(doc, of_sentences, spans_key=self.cfg["spans_key"], k=self.k_best, fields=fields)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch; see spaCy's `TrainablePipe.update`.

        A predicted doc without sentence boundaries gets its reference's, so that a learner that reads sentences sees in
        training what it sees in prediction.
        """
        self._require_labels()
        examples = list(examples)
        validate_examples(examples, "ParseTagger.update")
        for eg in examples:
            if not has_sentences(eg.predicted):
                set_gold_sentences(eg)
        updated: dict[str, float] = super().update(examples, drop=drop, sgd=sgd, losses=losses)
        return updated

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by their gradients, at this pipe's own learning rate (see `learn_rate_scale`)."""
        self.model.finish_update(partial(sgd, lr_scale=self.learn_rate_scale))  # type: ignore[arg-type]

    def get_loss(self, examples: Iterable[Example], scores: SentenceScores) -> tuple[float, SentenceScores]:
        """Compute the loss of a batch and its gradient.

        For references marked as partial (`doc.spans[spans_key].attrs["partial"] = True`) the loss is minus the
        log-likelihood of all trees with the known constituents, whatever the loss of the pipe. For references marked as
        soft (`attrs["soft"] = True`) the best trees are weighted by their probabilities (`attrs["k_best"]`): this is
        cross-entropy if the loss of the pipe is a likelihood.

        examples (Iterable[Example]): The examples. Sentences come from the reference docs.
        RETURNS (tuple[float, SentenceScores]): The loss in nats, summed over the batch as spaCy's components do, so
            that they can share an encoder; and its gradient, in the form of the scores.
        """
        examples = list(examples)
        validate_examples(examples, "ParseTagger.get_loss")
        require_scores(scores, name=self.name)
        gold, first_words, n_words = self._read_gold(examples, scores)
        self._gold.check(self.name)
        batch = scores.batch(self.tag_set, self.linearizer, self.bound)
        gold_batch, to_scores = scores.batch_of(batch, first_words, n_words)
        loss, gradient = gold_loss(self.loss, gold_batch, gold)
        return loss, to_scores(gradient)

    def _read_gold(
        self, examples: list[Example], scores: SentenceScores
    ) -> tuple[list[GoldSentence], NDArray[Any], NDArray[Any]]:
        """Read the gold sentences that a learner with such scores can learn from.

        RETURNS (tuple[list[GoldSentence], np.ndarray, np.ndarray]): The sentences, with the first word of each among
            all words of the batch, and its number of words.
        """
        key, tags = self.cfg["spans_key"], self.tag_set
        by_tag = scores.transitions is None and getattr(self.loss, "by_tag", False)
        gold_by_doc = [self._gold.encode(eg, key, tags, self.linearizer, by_tag=by_tag) for eg in examples]
        if any(gold_by_doc):
            self._require_labels()
        gold = [sentence for sentences in gold_by_doc for sentence in sentences]
        if scores.transitions is not None:
            for eg, sentences in zip(examples, gold_by_doc, strict=True):
                if any(sentence.constraints for sentence in sentences):
                    raise ValueError(Errors.E272.format(name=self.name, text=shorten(eg.reference.text, 50)))
        first_words = scores.words.find([[sentence.tokens for sentence in sentences] for sentences in gold_by_doc])
        n_words = np.asarray([len(sentence.tokens) for sentence in gold], dtype=np.int64)
        if scores.by_sentence:
            inside = scores.words.sentences_around(first_words, n_words) >= 0
            docs = [eg.predicted for eg, sentences in zip(examples, gold_by_doc, strict=True) for _ in sentences]
            self._gold.leave_out([*compress(zip(docs, gold, strict=True), ~inside)])
            gold, first_words, n_words = [*compress(gold, inside)], first_words[inside], n_words[inside]
        return gold, first_words, n_words

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
    ) -> None:
        """Set up the tags and the model; see spaCy's `TrainablePipe.initialize`.

        labels (dict[str, Any] | None): Label data as written by `spacy init labels`, to save a pass over the data.
        RAISES (ValueError): If the data has no constituents, or the label data is not such.
        """
        validate_get_examples(get_examples, "ParseTagger.initialize")
        if nlp is not None:
            checks.warn_of_key(nlp, self)
        self._gold = GoldReader()
        if labels is None:
            tags, largest_stack = self._read_inventory(get_examples())
        else:
            tags, largest_stack = checks.read_label_data(labels, self.linearizer.order, self.name)
        if isinstance(self.max_stack, int) and self.max_stack < largest_stack:
            text = Warnings.W257.format(name=self.name, bound=self.max_stack, largest=largest_stack)
            warnings.warn(text, stacklevel=2)
        if not tags and not self.cfg["tags"]:
            groups = list_groups(eg.reference for eg in get_examples())
            raise ValueError(Errors.E251.format(name=self.name, key=self.cfg["spans_key"], found=groups))
        self._add_tags(tags)
        self.cfg.update(order=self.linearizer.order, max_stack=largest_stack, temperature=1.0, tree_temperature=1.0)
        if "tags" in self.model.attrs:  # a learner that has to know what each column is
            self.model.attrs.update(tags=list(self.cfg["tags"]), order=self.linearizer.order)
        sample = [eg.reference for eg in islice(filter(len, get_examples()), 10)]  # empty docs give no shape
        width = 2 * len(self.cfg["tags"])
        outputs: Any = [self.model.ops.alloc2f(len(doc), width) for doc in sample]
        self.model.initialize(X=sample, Y=outputs)

    def _read_inventory(self, examples: Iterable[Example]) -> tuple[set[str], int]:
        has_chart = "pairs" not in self.model.param_names  # no scores of successive tags
        return read_inventory(examples, self.cfg["spans_key"], self.linearizer, self.name, has_chart=has_chart)

    def _add_tags(self, tags: set[str]) -> list[str]:
        """Add tags and the four bare ones; returns those of the tags that are new, sorted."""
        added = sorted(tags - set(self.cfg["tags"]))
        if not added:
            return added
        tag_set = TagSet({*self.cfg["tags"], *tags})
        tag_set.unaries  # noqa: B018 - raises if a label is not a chain, before anything is changed
        # TrainablePipe's `_allow_extra_label` takes the model's width for the number of labels; ours is twice as wide.
        if not resize_output(self.model, self.tag_set, tag_set):
            n_tags, listed = (self.model.maybe_get_dim("nO") or 0) // 2, shorten(", ".join(added), 200)
            raise ValueError(Errors.E256.format(name=self.name, n=n_tags, tags=listed))
        self.cfg["tags"] = list(tag_set.tags)
        return added

    def _require_labels(self) -> None:
        if not self.cfg["tags"]:
            raise ValueError(SpacyErrors.E143.format(name=self.name))
        if self.cfg["order"] != self.linearizer.order:
            raise ValueError(Errors.E253.format(name=self.name, trained=self.cfg["order"], order=self.linearizer.order))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> ParseTagger:
        """Load the pipe from bytes; see spaCy's `TrainablePipe.from_bytes`.

        RAISES (ValueError): If settings and weights do not fit together.
        """
        spans_key = self.cfg["spans_key"]
        super().from_bytes(bytes_data, exclude=exclude)
        self._check_loaded("the bytes of the component", spans_key)
        return self

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> ParseTagger:
        """Load the pipe from a folder; see spaCy's `TrainablePipe.from_disk`.

        RAISES (ValueError): If a file cannot be read, or settings and weights do not fit together, naming the folder.
        """
        spans_key = self.cfg["spans_key"]
        try:
            super().from_disk(path, exclude=exclude)
        except (ValueError, TypeError) as error:
            raise ValueError(Errors.E257.format(name=self.name, source=path, problem=error)) from error
        self._check_loaded(str(path), spans_key)
        return self

    def _check_loaded(self, source: str, spans_key: str) -> None:
        """Raise an error now, not at the first doc, if the loaded data is not such as this pipe saves.

        spans_key (str): The key that the config names. It replaces the loaded one, as the config's other settings do.
        """
        problem = checks.find_problem(self.cfg, self.linearizer.order, self.model.maybe_get_dim("nO"))
        if problem:
            raise ValueError(Errors.E257.format(name=self.name, source=source, problem=problem))
        self.cfg["spans_key"] = spans_key

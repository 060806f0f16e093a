"""The trainable pipe `parsetag`: scores two tags a word, decodes the best tree, sets it on the doc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from spacy.errors import Errors as SpacyErrors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, get_array_module
from thinc.types import Floats2d

from ..compat import one_thread_after_fork
from ..decode import BeamDecoder, Decoder, as_scores
from ..decode.batch import Dependencies
from ..decode.nodes import labelled_nodes
from ..errors import Errors
from ..linearize import CLASS_NAMES, Linearizer, max_stack, split_tag
from ..linearize.tags import TagSet
from ..ml.dependent import DependentScores, mask_dependencies
from ..ml.losses import Loss
from ..tokens.extensions import register_extensions
from ..tokens.group import SPANS_KEY
from ..tokens.spans import SentenceParse, set_parses
from ..trees import binarize, join_chain
from .bounds import with_train_bound
from .gold import GoldMemory, gold_sentences
from .layout import Layout

# Tokens that are words, and constituents over these words.
ParsedSentence = tuple[list[int], list[tuple[int, int, str]]]


class ParsedDoc(list[ParsedSentence]):
    """The sentences of a doc.

    beam_widths (Optional[List[int]]): The beam that each sentence was found with, 0 for the exact decoder; None unless
        a beam search had to widen it for one of them.
    """

    beam_widths: list[int] | None = None


class ParseTagger(TrainablePipe):
    """Constituency parsing as tagging (Amini and Cotterell, 2022).

    vocab (Vocab): The shared vocabulary.
    model (Model[List[Doc], List[Floats2d]]): Scores (tokens, 2 |T|) for each doc.
    name (str): The component's name in the pipeline, and of its loss.
    linearizer (Linearizer): The order that trees are written in.
    decoder (Decoder): Finds a tree, given scores. It can be changed on a trained pipeline.
    loss (Loss): What training minimizes.
    spans_key (str): Where the constituents are in `doc.spans`, in training data and on output.
    scorer (Optional[Callable]): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "parsetag",
        *,
        linearizer: Linearizer,
        decoder: Decoder,
        loss: Loss,
        spans_key: str = SPANS_KEY,
        scorer: Callable | None = None,
    ) -> None:
        for part, protocol in ((linearizer, Linearizer), (decoder, Decoder), (loss, Loss)):
            if not isinstance(part, protocol):
                raise ValueError(Errors.E155.format(name=name, kind=protocol.__name__.lower(), part=part))
        register_extensions()
        self.vocab = vocab
        self.model = model
        self.name = name
        self.linearizer = linearizer
        self.decoder = decoder
        self.loss = loss
        self.scorer = scorer
        # JSON only: it is saved with the pipe, and passed to the scorer.
        self.cfg: dict[str, Any] = {"tags": [], "order": linearizer.order, "max_stack": 0, "spans_key": spans_key}
        self._tag_set: TagSet | None = None
        self._gold_memory = GoldMemory()

    @property
    def tag_set(self) -> TagSet:
        """The tags, sorted; their ids are columns of the scores."""
        if self._tag_set is None or list(self._tag_set.tags) != self.cfg["tags"]:
            self._tag_set = TagSet(self.cfg["tags"])
        return self._tag_set

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that the model scores, such as `l/NP` or `R/S+VP`."""
        return tuple(self.cfg["tags"])

    @property
    def constituent_labels(self) -> tuple[str, ...]:
        """The labels that constituents can get, sorted."""
        return tuple(sorted({label for chain in self.tag_set.chains for label in chain}))

    @property
    def label_data(self) -> dict[str, Any]:
        """What `spacy init labels` writes and `initialize` takes: the tags, and the largest stack in the data."""
        return {"tags": list(self.cfg["tags"]), "order": self.cfg["order"], "max_stack": self.cfg["max_stack"]}

    def add_label(self, label: str) -> int:
        """Add a tag such as `R/NP`, or a constituent label such as `NP`, which adds its four tags.

        label (str): The tag or label. What is written as a tag is taken as one.
        RETURNS (int): 1 if something was added, 0 if it was known.
        RAISES (ValueError): If the model's size is already fixed.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E154.format(name=self.name, label=label))
        try:
            split_tag(label)
            tags = {label}
        except ValueError:
            tags = {f"{kind}/{join_chain([label])}" for kind in CLASS_NAMES}
        return int(self._add_tags(tags))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of docs; see spaCy's `TrainablePipe.pipe`."""
        # Before the first doc is asked for, so before components in front of this one use PyTorch in this process.
        one_thread_after_fork()
        parsed: Iterator[Doc] = super().pipe(stream, batch_size=batch_size)
        return parsed

    def predict(self, docs: Iterable[Doc]) -> list[ParsedDoc]:
        """Find the tree of each sentence of each doc.

        docs (Iterable[Doc]): The docs, with sentence boundaries.
        RETURNS (List[ParsedDoc]): For each doc and each of its sentences, the tokens that are words, and the
            constituents over these in pre-order: first word, end word (exclusive) and label.
        RAISES (ValueError): If a doc has no sentence boundaries.
        """
        docs = list(docs)
        layout = Layout.of(docs, name=self.name)
        parsed = [ParsedDoc() for _ in docs]
        if not len(layout.n_words):
            return parsed
        self._require_labels()
        tags = self.tag_set
        arrays = self.model.predict(docs)
        scores = as_scores(self._by_word(arrays, layout))
        given = self._dependencies(arrays) or (None, None, None)
        decoder = with_train_bound(self.decoder, self.linearizer, self.cfg["max_stack"])
        batch = (scores, layout.rows, layout.n_words, tags, self.linearizer)
        if isinstance(decoder, BeamDecoder):
            ids, _, widths = decoder.search_batch(*batch, *given)
            for doc in np.unique(layout.doc[widths != decoder.beam]):
                parsed[doc].beam_widths = widths[layout.doc == doc].tolist()
        else:
            ids, _ = decoder.decode_batch(*batch, *given)
        nodes = labelled_nodes(ids, layout.rows, layout.n_words, tags, self.linearizer)
        found = zip(nodes.start.tolist(), nodes.end.tolist(), nodes.tag.tolist(), strict=True)
        tokens = (layout.token - layout.offsets[np.repeat(layout.doc, layout.n_words)]).tolist()
        chains = tags.chains
        for doc, first, n_words, n_nodes in zip(
            layout.doc.tolist(), layout.first.tolist(), layout.n_words.tolist(), nodes.counts.tolist(), strict=True
        ):
            spans = [(start, end, label) for start, end, tag in islice(found, n_nodes) for label in chains[tag]]
            parsed[doc].append((tokens[first : first + n_words], spans))
        return parsed

    def set_annotations(self, docs: Iterable[Doc], parsed: Sequence[list[ParsedSentence]]) -> None:
        """Set the trees on the docs, as `doc.spans[spans_key]`.

        Where a beam search had to be widened, `doc.spans[spans_key].attrs["beam_widths"]` has the width that each
        sentence took, 0 for the exact decoder.

        docs (Iterable[Doc]): The docs.
        parsed (Sequence[List[ParsedSentence]]): As `predict` returns it.
        """
        for doc, sentences in zip(docs, parsed, strict=True):
            widths = sentences.beam_widths if isinstance(sentences, ParsedDoc) else None
            attrs = None if widths is None else {"beam_widths": widths}
            set_parses(doc, sentences, spans_key=self.cfg["spans_key"], attrs=attrs)

    def get_loss(self, examples: Iterable[Example], scores: list[Floats2d]) -> tuple[float, list[Floats2d]]:
        """The loss of a batch and its gradient.

        examples (Iterable[Example]): The examples. Sentences come from the reference docs.
        scores (List[Floats2d]): The model's scores for the predicted docs.
        RETURNS (Tuple[float, List[Floats2d]]): The loss in nats, summed over the batch as spaCy's components do, so
            that they can share an encoder; and its gradient for each doc, in the form of the scores.
        """
        examples = list(examples)
        validate_examples(examples, "ParseTagger.get_loss")
        xp = get_array_module(scores[0]) if scores else np
        offsets = np.cumsum([0, *(len(eg.predicted) for eg in examples)])
        token: list[int] = []
        gold: list[np.ndarray] = []
        words: list[int] = []
        for offset, eg in zip(offsets.tolist(), examples, strict=False):
            for tokens, ids in self._gold_memory.get(eg, self.cfg["spans_key"], self.tag_set, self.linearizer):
                token.extend(offset + i for i in tokens)
                words.append(len(tokens))
                gold.append(np.append(ids, np.int32(-1)))
        if not token:
            return 0.0, self._gradients([xp.zeros_like(array) for array in scores], scores, None)
        self._require_labels()
        flat = xp.concatenate(scores)
        by_word = flat[xp.asarray(token)].reshape(2 * len(token), -1)
        rows = 2 * np.cumsum([0, *words])[:-1]
        batch = (
            np.concatenate(gold),
            rows.astype(np.int64),
            np.asarray(words, dtype=np.int32),
            self.tag_set,
            self.linearizer,
        )
        dependencies = self._dependencies(scores)
        d_dependencies: Dependencies | None = None
        minimized = with_train_bound(self.loss, self.linearizer, self.cfg["max_stack"])
        if dependencies is None:
            loss, gradient = minimized(by_word, *batch)
        else:
            loss, gradient, d_dependencies = minimized.dependent(by_word, dependencies, *batch)
        d_flat = xp.zeros_like(flat)
        d_flat[xp.asarray(token)] = gradient.reshape((len(token), -1))
        arrays = [d_flat[offsets[i] : offsets[i + 1]] for i in range(len(examples))]
        return loss, self._gradients(arrays, scores, d_dependencies)

    def _dependencies(self, scores: list[Floats2d]) -> Dependencies | None:
        """The scores of successive tags that come with a batch, if the learner has any."""
        if not isinstance(scores, DependentScores):
            return None
        if not scores.masked:
            return scores.dependencies
        return mask_dependencies(scores.dependencies, self.tag_set, self.linearizer.lattice)

    @staticmethod
    def _gradients(arrays: list[Floats2d], scores: list[Floats2d], dependencies: Dependencies | None) -> list[Floats2d]:
        """The gradient of a batch, in the form of its scores. None stands for zeros."""
        if not isinstance(scores, DependentScores):
            return arrays
        if dependencies is None:
            xp = get_array_module(scores.dependencies.transitions)
            dependencies = Dependencies(*(xp.zeros_like(array) for array in scores.dependencies))
        return DependentScores(arrays, dependencies)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
    ) -> None:
        """Set up the tags and the model.

        get_examples (Callable[[], Iterable[Example]]): Returns the training data.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Dict[str, Any]]): Label data as written by `spacy init labels`, to save a pass over the data.
        RAISES (ValueError): If the data has no constituents, or the label data is not such.
        """
        validate_get_examples(get_examples, "ParseTagger.initialize")
        if labels is not None:
            if not isinstance(labels, dict) or "tags" not in labels:
                raise ValueError(Errors.E152.format(name=self.name))
            if labels.get("order", self.linearizer.order) != self.linearizer.order:
                raise ValueError(
                    Errors.E153.format(name=self.name, trained=labels["order"], order=self.linearizer.order)
                )
            tags, largest = set(labels["tags"]), int(labels.get("max_stack", 0))
        else:
            tags, largest = self._tags_in(get_examples())
        if not tags and not self.cfg["tags"]:
            raise ValueError(Errors.E151.format(name=self.name, key=self.cfg["spans_key"]))
        self._add_tags(tags)
        self.cfg.update(order=self.linearizer.order, max_stack=largest)
        sample = [eg.reference for eg in islice(get_examples(), 10)]
        width = 2 * len(self.cfg["tags"])
        self.model.initialize(X=sample, Y=[self.model.ops.alloc2f(len(doc), width) for doc in sample])

    def _add_tags(self, tags: set[str]) -> bool:
        """Add tags and the four bare ones; whether any was new."""
        added = set(tags) - set(self.cfg["tags"])
        if not added:
            return False
        tag_set = TagSet({*self.cfg["tags"], *tags})
        tag_set.chains  # noqa: B018 - raises if a label is not a chain, before anything is changed
        # TrainablePipe's `_allow_extra_label` takes the model's width for the number of labels; ours is twice as wide.
        layer = self.model.get_ref("output_layer") if self.model.has_ref("output_layer") else self.model
        if layer.has_dim("nO") and layer.get_dim("nO") != 2 * len(tag_set):
            listed = ", ".join(sorted(added))[:200]
            raise ValueError(Errors.E156.format(name=self.name, n=layer.get_dim("nO") // 2, tags=listed))
        self.cfg["tags"] = list(tag_set.tags)
        for tag in tag_set.tags:
            self.vocab.strings.add(tag)
        return True

    def _tags_in(self, examples: Iterable[Example]) -> tuple[set[str], int]:
        """The tags of all gold trees, and the largest stack that one needs."""
        tags: set[str] = set()
        largest = 0
        for eg in examples:
            for sentence in self._gold_sentences(eg):
                sequence = self.linearizer.linearize(binarize(sentence.parse))
                tags.update(sequence)
                largest = max(largest, max_stack(sequence, self.linearizer.lattice))
        return tags, largest

    def _gold_sentences(self, eg: Example) -> list[SentenceParse]:
        return gold_sentences(eg, self.cfg["spans_key"])

    def _by_word(self, scores: Sequence[Floats2d], layout: Layout) -> Floats2d:
        """(2W, T) scores, two rows a word, of (tokens, 2T) arrays a doc."""
        xp = get_array_module(scores[0])
        flat = xp.concatenate([array for array in scores if len(array)])
        if len(layout.token) != len(flat):
            flat = flat[xp.asarray(layout.token)]
        return flat.reshape(2 * len(layout.token), -1)

    def _require_labels(self) -> None:
        if not self.cfg["tags"]:
            raise ValueError(SpacyErrors.E143.format(name=self.name))
        if self.cfg["order"] != self.linearizer.order:
            raise ValueError(Errors.E153.format(name=self.name, trained=self.cfg["order"], order=self.linearizer.order))

"""Several pipelines, one tree: the component `parsetag_ensemble`.

It is a component, and not a decoder, because a decoder sees the scores of one model. Models of other orders or other
training data have other tags, and so other scores. What they have in common is how probable each constituent is.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from catalogue import RegistryError
from spacy.cli.package import get_third_party_dependencies
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import get_package_path, is_package, load_config, load_model, load_model_from_config
from thinc.api import Config

from ..compat import one_thread_after_fork
from ..decode import Constituents, Distribution, TagScores
from ..decode.batch import numbers_of_tags
from ..decode.repair import keep_possible
from ..decode.trees import labelled_nodes
from ..errors import Errors
from ..linearize import TagSet, get_linearizer
from ..tokens.batches import annotate_batches
from ..tokens.extensions import register_extensions
from ..tokens.groups import SPANS_KEY, Prediction, set_predictions
from ..tokens.sentences import require_sentences, run_before, sentence_words
from .checks import Checked, check_setting
from .component import LEAST_RIVAL, PART_ROWS, ParseTagger
from .constraints import DocConstraint, SentenceConstraints, constrain, constraints_of_doc

_DESCRIBED = ("probs", "expected_f", "rivals")  # the fields that each prediction has


class Ensemble(Checked, Pipe):
    """Parses with several pipelines and sets the tree with the best mean probabilities (minimum Bayes risk).

    Each member reads the words and sentences of the doc and runs its own components up to its parser. Probabilities of
    constituents are averaged, and the tree is the one that `MBRDecoder` finds for the mean. A member takes as long as
    with `probs`, without a bound on the length of sentences: the mean needs all of its sums. Temperatures of members
    that are calibrated count for the probabilities that are stated, not for the tree.

    name (str): The component's name in the pipeline.
    pipelines (Sequence[str]): The members, packages or folders. They are loaded when first needed, and saved with the
        component. Once saved they count, whatever the config says.
    cost (float): What each constituent of the tree costs; see `MBRDecoder`.
    spans_key (str): Where the constituents are in `doc.spans`.
    conflicts (str): "raise" an error if the constraints in `doc.spans["parsetag_constraints"]` cannot hold together, or
        "drop" each one that cannot hold together with the ones before it.
    """

    def __init__(
        self,
        name: str = "parsetag_ensemble",
        *,
        pipelines: Sequence[str] = (),
        cost: float = 0.5,
        spans_key: str = SPANS_KEY,
        conflicts: str = "raise",
        scorer: Callable[..., Any] | None = None,
    ) -> None:
        check_setting(name, "spans_key", spans_key)
        register_extensions()
        self.name = name
        self.pipelines = list(pipelines)
        self.cost = cost
        self.conflicts = conflicts
        self.scorer = scorer
        self.cfg = {"spans_key": spans_key}
        self._members: list[Language] = []

    @property
    def members(self) -> list[Language]:
        """The pipelines, loaded.

        RAISES (ValueError): If there are none.
        """
        if not self._members:
            if not self.pipelines:
                raise ValueError(Errors.E264.format(name=self.name))
            self._members = [load_model(path) for path in self.pipelines]
        return self._members

    def __call__(self, doc: Doc) -> Doc:
        """Parse a doc."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of docs, batch by batch. An error takes only the doc that raised it to the error handler."""
        one_thread_after_fork()  # before the first doc is asked for, as in `ParseTagger.pipe`
        return annotate_batches(self, stream, batch_size, self._annotate)

    @contextmanager
    def memory_zone(self, mem: Any = None) -> Iterator[Any]:
        """Begin a memory zone of the members too; `nlp.memory_zone()` calls this."""
        with ExitStack() as zones:
            for member in self.members:
                zones.enter_context(member.memory_zone(mem))
            yield mem

    def _annotate(self, docs: list[Doc]) -> None:
        require_sentences(docs, name=self.name)
        split_docs = [(doc, sentence_words(doc)) for doc in docs]
        constraints = []
        for doc, sentences in split_docs:
            constraints += constraints_of_doc(doc, sentences, None, drop=self.conflicts == "drop")
        names = [*_DESCRIBED, *(["dropped_constraints"] if self.conflicts == "drop" else [])]
        # All at once: of docs that raise an error none is parsed.
        fields = iter([*self._find_fields([doc for doc, sentences in split_docs if sentences], constraints)])
        for doc, sentences in split_docs:
            predictions = [Prediction(tokens, **next(fields)) for tokens in sentences]
            set_predictions(doc, predictions, spans_key=self.cfg["spans_key"], fields=names)

    def _find_fields(self, docs: list[Doc], constraints: Sequence[SentenceConstraints]) -> Iterator[dict[str, Any]]:
        """Yield the fields of the prediction for each sentence of docs that have words, other than its tokens.

        constraints (Sequence[SentenceConstraints]): The constraints on each sentence. A member leaves out those that it
            cannot follow, such as labels that only others know.
        """
        if not docs:
            return
        of_all = [of_sentence.constraints for of_sentence in constraints]
        batches, temperatures = zip(*(_score(member, docs, of_all) for member in self.members), strict=True)
        tags = union_of_tags(batch.tags for batch in batches)
        rest, drop = iter(constraints), self.conflicts == "drop"
        # The rows of all members are the same, two a word, and so are the sentences of their parts.
        for parts in zip(*(batch.parts(PART_ROWS) for batch in batches), strict=True):
            members = [*map(Distribution, parts)]
            mean = _mean(members, tags)
            stated = mean
            if any(temperature != 1.0 for temperature in temperatures):
                stated = _mean([d.at(temperature) for d, temperature in zip(members, temperatures, strict=True)], tags)
            lengths = numbers_of_tags(mean.n_words)
            blank = np.zeros((int(lengths.sum()), len(tags)), dtype=np.float32)
            union = TagScores(blank, np.cumsum(lengths) - lengths, mean.n_words, tags, get_linearizer("in"))
            union, dropped = constrain(union, [*islice(rest, len(lengths))], drop=drop)
            decoded = mean.most_expected(union, self.cost)
            for s, spans in enumerate(labelled_nodes(decoded.ids, union).spans(tags)):
                left_out = dropped[s] if drop else None
                yield {"spans": spans, **stated.describe(s, spans, LEAST_RIVAL), "dropped_constraints": left_out}

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the members, each in a folder, in place of members that were saved there before."""
        members, path = self.members, Path(path)
        path.mkdir(parents=True, exist_ok=True)
        for folder in _member_folders(path):
            shutil.rmtree(folder)
        for i, member in enumerate(members):
            member.to_disk(path / str(i))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "Ensemble":
        """Load the members that were saved, in place of the config's; `pipelines` then has their folders."""
        folders = _member_folders(Path(path))
        self._members = [load_model(folder) for folder in folders]
        self.pipelines = [str(folder) for folder in folders] or self.pipelines
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save the members."""
        members = [[member.config.to_str(), member.to_bytes()] for member in self.members]
        data: bytes = srsly.msgpack_dumps(members)
        return data

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "Ensemble":
        """Load the members that were saved, in place of the config's; `pipelines` is then empty."""
        self._members, self.pipelines = [], []
        for config, member in srsly.msgpack_loads(data):
            self._members.append(load_model_from_config(Config().from_str(config)).from_bytes(member))
        return self


def requirements_of(pipelines: Iterable[str]) -> list[str]:
    """List the packages that pipelines require: what their meta.json says, and what their configs take functions from,
    as `spacy package` finds it. Pipelines that are not there are passed over: an ensemble that was saved has its own.
    """
    required: list[str] = []
    for name in pipelines:
        folder = get_package_path(name) if is_package(name) else Path(name)
        if (folder / "meta.json").is_file():
            required += srsly.read_json(folder / "meta.json").get("requirements", ())
        if (folder / "config.cfg").is_file():  # that of a package is elsewhere, and stands in its meta.json already
            with suppress(RegistryError):  # what lacks here, the member says when it is loaded
                required += get_third_party_dependencies(load_config(folder / "config.cfg"), ["spacy-parsetag"])
    return required


def _member_folders(path: Path) -> list[Path]:
    """Find the folders of saved members, in order; other files do not count."""
    folders = [folder for folder in path.iterdir() if folder.is_dir() and folder.name.isdecimal()]
    return sorted(folders, key=lambda folder: int(folder.name))


def _mean(members: Iterable[Distribution], tags: TagSet) -> Constituents:
    """Average the probabilities of constituents.

    tags (TagSet): The tags of all members: of labels that others know in both orders a member may know one order alone.
    """
    sums = ((d.batch, d.sums(labels=True)) for d in members)
    return Constituents.mean([Constituents.from_sums(*of_member, tags.reordered_chains) for of_member in sums])


def _score(nlp: Language, docs: list[Doc], constraints: Sequence[Sequence[DocConstraint]]) -> tuple[TagScores, float]:
    """Score the words and sentences of docs with a pipeline's parser; return the temperature of constituents too.

    constraints (Sequence[Sequence[DocConstraint]]): Constraints on each sentence, which count more than the pipeline's
        own; those that cannot hold are left out.
    RAISES (ValueError): If the pipeline does not have exactly one parser, or its parser scores successive tags.
    """
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, ParseTagger)]
    if len(parsers) != 1:
        raise ValueError(Errors.E265.format(n=len(parsers), pipes=", ".join(nlp.pipe_names)))
    batch, _, _ = parsers[0].score_docs(run_before(nlp, parsers[0], docs))
    temperature: float = parsers[0].cfg["temperature"]
    if batch.transitions is not None:
        raise ValueError(Errors.E273.format(name=parsers[0].name, nlp=nlp.path or nlp.meta["name"]))
    if not any(constraints):
        return batch, temperature
    of_pipeline = batch.constraints or [()] * len(constraints)
    joined = tuple((*first, *rest) for first, rest in zip(constraints, of_pipeline, strict=True))
    return keep_possible(replace(batch.on_cpu(), constraints=joined))[0], temperature


def union_of_tags(tag_sets: Iterable[TagSet]) -> TagSet:
    """Find the tags that can write every tree whose unary chains are each in one of the tag sets."""
    tags = {tag for tag_set in tag_sets for tag in tag_set.tags}
    return TagSet(side + tag[1:] for tag in tags for side in ("lr" if tag[0] in "lr" else "LR"))

"""Factories of the components, advertised as entry points.

spaCy imports this module whenever a pipeline is made, so it imports no other module of this package: modules that
could be slow or broken are loaded when a component is added.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, Model

if TYPE_CHECKING:
    from ..decode import Decoder
    from ..linearize import Linearizer
    from ..ml.losses import Loss
    from ..ml.words import SentenceScores
    from .component import ParseTagger
    from .ensemble import Ensemble
else:
    # spaCy checks a config against the annotations as it finds them. Those that are text, as all are with `from
    # __future__ import annotations`, it does not check. The component itself checks that its parts fit the protocols.
    Decoder = SentenceScores = Linearizer = Loss = Any

default_config = """
[model]
@architectures = "spacy-parsetag.Tags.v1"

[model.tok2vec]
@architectures = "spacy-parsetag.WordTok2Vec.v1"

[model.tok2vec.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 128
rows = [5000, 1000, 2500, 2500]
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
include_static_vectors = false

[model.tok2vec.encode]
@architectures = "spacy-parsetag.WindowEncoder.v1"
width = ${model.tok2vec.embed.width}
window_size = 1
maxout_pieces = 3
depth = 6
"""
DEFAULT_MODEL = Config().from_str(default_config)["model"]


@Language.factory(
    "parsetag",
    assigns=["doc.spans"],
    requires=["token.is_sent_start"],
    default_config={
        "model": DEFAULT_MODEL,
        "linearizer": {"@misc": "spacy-parsetag.InOrder.v1"},
        "decoder": {"@misc": "spacy-parsetag.ExactDecoder.v1"},
        "loss": {"@misc": "spacy-parsetag.TreeLoss.v1"},
        "spans_key": "constituents",
        "learn_rate_scale": 1.0,
        "max_stack": None,
        "probs": False,
        "k_best": 0,
        "constraints": None,
        "conflicts": "raise",
        "scorer": {"@scorers": "spacy-parsetag.evalb_scorer.v1"},
    },
    default_score_weights={
        "parsetag_f": 1.0,
        "parsetag_p": 0.0,
        "parsetag_r": 0.0,
        "parsetag_em": 0.0,
        "parsetag_tag_acc": None,
        "parsetag_per_type": None,
    },
)
def make_parse_tagger(
    nlp: Language,
    name: str,
    model: Model[list[Doc], SentenceScores],
    linearizer: Linearizer,
    decoder: Decoder,
    loss: Loss,
    spans_key: str,
    learn_rate_scale: float,
    max_stack: int | str | None,
    probs: bool,
    k_best: int,
    constraints: Callable[[Doc], Any] | None,
    conflicts: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> "ParseTagger":
    """Make the component `parsetag`; see `ParseTagger` for the arguments."""
    from ..compat import cache_msgpack_plugins
    from .component import ParseTagger
    from .listeners import reach_nested_listeners

    cache_msgpack_plugins()  # training reads all docs anew in each epoch
    reach_nested_listeners(nlp)
    return ParseTagger(
        nlp.vocab,
        model,
        name,
        linearizer=linearizer,
        decoder=decoder,
        loss=loss,
        spans_key=spans_key,
        learn_rate_scale=learn_rate_scale,
        max_stack=max_stack,
        probs=probs,
        k_best=k_best,
        constraints=constraints,
        conflicts=conflicts,
        scorer=scorer,
    )


@Language.factory("one_sentence", assigns=["token.is_sent_start", "doc.sents"])
def make_one_sentence(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """Make the component `one_sentence`, a function without settings."""
    from ..tokens import one_sentence

    return one_sentence


@Language.factory("paragraphs", assigns=["token.is_sent_start", "doc.sents"])
def make_paragraphs(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """Make the component `paragraphs`, a function without settings."""
    from ..tokens import paragraphs

    return paragraphs


@Language.factory(
    "parsetag_ensemble",
    assigns=["doc.spans"],
    requires=["token.is_sent_start"],
    default_config={
        "pipelines": [],
        "cost": 0.5,
        "spans_key": "constituents",
        "conflicts": "raise",
        "scorer": {"@scorers": "spacy-parsetag.evalb_scorer.v1"},
    },
    default_score_weights={"parsetag_f": 1.0, "parsetag_p": 0.0, "parsetag_r": 0.0, "parsetag_em": 0.0},
)
def make_ensemble(
    nlp: Language,
    name: str,
    pipelines: list[str],
    cost: float,
    spans_key: str,
    conflicts: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> "Ensemble":
    """Make the component `parsetag_ensemble`; see `Ensemble` for the arguments."""
    from .ensemble import Ensemble, requirements_of

    required = [*nlp.meta.get("requirements", ()), *requirements_of(pipelines)]
    nlp.meta["requirements"] = list(dict.fromkeys(required))  # `spacy package` looks into no member
    return Ensemble(name, pipelines=pipelines, cost=cost, spans_key=spans_key, conflicts=conflicts, scorer=scorer)


@Language.factory(
    "tree_matcher",
    assigns=["doc.spans"],
    requires=["doc.spans"],
    default_config={"patterns": {}, "spans_key": "constituents", "matches_key": "tree_matches", "heads": None},
)
def make_tree_matcher(
    nlp: Language, name: str, patterns: dict[str, list[str]], spans_key: str, matches_key: str, heads: str | None
) -> Any:
    """Make a component that finds Tregex patterns in the constituents of docs.

    patterns (dict[str, list[str]]): Patterns by their keys, which label the matches.
    spans_key (str): Key of the constituents in `doc.spans`.
    matches_key (str): Key of the matches there.
    heads (str | None): Head rules for `<#`: "penn", "ctb", "icon" or a file. None for those of the language.
    """
    from .tree_matcher import TreeMatcherPipe

    return TreeMatcherPipe(nlp, name, patterns, spans_key, matches_key, heads)

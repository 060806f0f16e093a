"""Factories of the components, advertised as entry points.

spaCy imports this module whenever a pipeline is made, so it imports nothing of ours: what could be slow or broken is
loaded when a component is added.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, Model

if TYPE_CHECKING:
    from ..decode import Decoder
    from ..linearize import Linearizer
    from ..ml.heads import DocScores
    from ..ml.losses import Loss
    from .ensemble import Ensemble
    from .parsetag import ParseTagger
else:
    # spaCy checks a config against the annotations as it finds them. Those that are text, as all are with `from
    # __future__ import annotations`, it does not check. The component itself checks that its parts fit the protocols.
    Decoder = DocScores = Linearizer = Loss = Any

default_config = """
[model]
@architectures = "spacy-parsetag.Independent.v1"

[model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

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
    requires=["doc.sents"],
    default_config={
        "model": DEFAULT_MODEL,
        "linearizer": {"@misc": "spacy-parsetag.InOrder.v1"},
        "decoder": {"@misc": "spacy-parsetag.ExactDecoder.v1", "max_stack": None},
        "loss": {"@misc": "spacy-parsetag.LatticeLoss.v1", "max_stack": None},
        "spans_key": "constituents",
        "learn_rate_scale": 1.0,
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
    model: Model[list[Doc], DocScores],
    linearizer: Linearizer,
    decoder: Decoder,
    loss: Loss,
    spans_key: str,
    learn_rate_scale: float,
    probs: bool,
    k_best: int,
    constraints: Callable[[Doc], Any] | None,
    conflicts: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> "ParseTagger":
    """Make the component `parsetag`; see `ParseTagger` for the arguments."""
    from .parsetag import ParseTagger

    parts: dict[str, Any] = {"linearizer": linearizer, "decoder": decoder, "loss": loss}
    settings: dict[str, Any] = {"spans_key": spans_key, "learn_rate_scale": learn_rate_scale, "scorer": scorer}
    trust: dict[str, Any] = {"probs": probs, "k_best": k_best, "constraints": constraints, "conflicts": conflicts}
    return ParseTagger(nlp.vocab, model, name, **parts, **settings, **trust)


@Language.factory("one_sentence", assigns=["token.is_sent_start", "doc.sents"])
def make_one_sentence(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """Make the component `one_sentence`, a function without settings."""
    from ..tokens import one_sentence

    return one_sentence


@Language.factory(
    "parsetag_ensemble",
    assigns=["doc.spans"],
    requires=["doc.sents"],
    default_config={
        "pipelines": [],
        "cost": 0.5,
        "spans_key": "constituents",
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
    scorer: Callable[..., dict[str, Any]] | None,
) -> "Ensemble":
    """Make the component `parsetag_ensemble`; see `Ensemble` for the arguments."""
    from .ensemble import Ensemble

    return Ensemble(name, pipelines=pipelines, cost=cost, spans_key=spans_key, scorer=scorer)

"""Turns a trained pipeline into one that predicts with ONNX Runtime, without PyTorch and transformers.

A transformer of spacy-transformers becomes a `tok2vec` component, and its listeners become listeners to that component:
the exported pipeline consists of spaCy's own components, and of layers of `ml/onnx.py`.
"""

import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2Vec, Tok2VecListener
from spacy.util import get_minor_version_range, registry
from thinc.api import Config, Model, PyTorchShim

from ..errors import Errors
from ..files.write import atomic_folder
from ..ml.graphs import Precision, export_bilstm, export_transformer
from ..ml.lstm import LSTMShim
from ..ml.onnx import OnnxShim, onnx_bilstm
from .ensemble import Ensemble

_LISTENER = "spacy-transformers.TransformerListener.v1"
_ARCHITECTURES = [f"spacy-transformers.TransformerModel.v{i}" for i in (1, 2, 3)]
_NO_SETTER = "spacy-transformers.null_annotation_setter.v1"
_SPANS: dict[str, dict[str, Any]] = {  # what the exported transformer takes, by what spacy-transformers took
    "spacy-transformers.strided_spans.v1": {"window": 128, "stride": 96, "by_sentence": False},
    "spacy-transformers.doc_spans.v1": {"window": None, "stride": None, "by_sentence": False},
    "spacy-transformers.sent_spans.v1": {"window": None, "stride": None, "by_sentence": True},
}
_NOT_NEEDED = ("spacy-parsetag", "spacy-transformers", "transformers", "torch")  # begin of the names of requirements


def export_pipeline(nlp: Language, path: Path, precision: Precision = "int8", *, force: bool = False) -> Path:
    """Save a pipeline that predicts what another does with ONNX Runtime.

    The folder appears whole or not at all. The pipeline itself stays as it is. Members of an ensemble are exported too.

    precision (str): "float32", exact to rounding; "int8" for the weights of what is exported, a quarter as large.
    force (bool): Replace a folder that holds an exported pipeline.
    RAISES (ImportError): Without a package that this needs, with the install line.
    RAISES (ValueError): If the folder exists, nothing in the pipeline needs PyTorch, or what does cannot be exported.
    """
    if path.exists() and not (force and _is_exported(path)):
        raise ValueError(Errors.E450.format(path=path))
    with atomic_folder(path) as folder:
        if not _export(nlp, folder, precision):
            raise ValueError(Errors.E268.format(pipes=", ".join(nlp.pipe_names)))
    return path


def _export(nlp: Language, path: Path, precision: Precision) -> bool:
    """Export a pipeline, or save it as it is; return whether there was something to export."""
    config = nlp.config.interpolate()
    config.pop("vars", None)  # all are filled in, and one may be the path of the encoder
    components = config["components"]
    pipes = [(name, pipe) for name, pipe in nlp.components if components[name]["factory"] == "transformer"]
    transformers = {name: _Transformer(name, pipe) for name, pipe in pipes}
    for section, owner in _listeners(components, transformers):
        owner.poolings.setdefault(_name_of(section["pooling"]), section["pooling"])
    named = ((name, getattr(pipe, "model", None)) for name, pipe in nlp.components if name not in transformers)
    models = {name: model for name, model in named if isinstance(model, Model)}
    nodes: Iterator[Any] = (node for model in models.values() for node in model.walk())
    # The transformer that each listener listens to, by the listener's id. That of a disabled component is not linked.
    owners = {
        node.id: _owner_of(node.upstream_name, transformers)
        for node in nodes
        if transformers and node.name == "transformer-listener"
    }
    _check_listeners(nlp, transformers, owners)
    swaps = [(model, *swap) for model in models.values() for swap in _replacements(model, owners, precision)]
    try:
        for model, old, new in swaps:
            _replace(model, old, new)
        for name, model in models.items():
            if torch_layers := [node for node in model.walk() if any(isinstance(s, PyTorchShim) for s in node.shims)]:
                reason = "PyTorch computes it"
                raise ValueError(Errors.E267.format(what=torch_layers[0].name, name=name, reason=reason))
        nlp.to_disk(path, exclude=list(transformers))
    finally:
        for model, old, new in swaps:
            _replace(model, new, old)
    for name, transformer in transformers.items():
        section = transformer.section(components[name])
        components[name] = {"factory": "tok2vec", "model": section}
        (path / name).mkdir()
        transformer.export(section, precision).to_disk(path / name / "model")
        srsly.write_json(path / name / "cfg", {})
    _rewrite(config, transformers)
    Config(config).to_disk(path / "config.cfg")
    has_exported = bool(transformers or swaps)
    for name, pipe in nlp.components:
        if isinstance(pipe, Ensemble):
            for i, member in enumerate(pipe.members):
                shutil.rmtree(path / name / str(i))
                has_exported |= _export(member, path / name / str(i), precision)
    if has_exported:
        _require_onnx(path / "meta.json")
    return has_exported


class _Transformer:
    """A transformer component, and the ways in which its listeners pool the pieces of a word.

    The exported transformer pools itself. If there are several ways, it gives the vectors of all ways side by side.
    """

    def __init__(self, name: str, pipe: Any) -> None:
        self.name = name
        self.pipe = pipe
        self.poolings: dict[str, dict[str, Any]] = {}  # by the name of the layer
        self.width: int = pipe.model.get_dim("nO")

    def listener(self, pooling: str) -> dict[str, Any]:
        """Make the config's section of the layer that takes the place of a listener with this pooling."""
        n = len(self.poolings)
        section = {"@architectures": "spacy.Tok2VecListener.v1", "width": self.width * n, "upstream": self.name}
        if n == 1:
            return section
        start = self.width * list(self.poolings).index(pooling)
        columns = {"start": start, "stop": start + self.width, "tok2vec": section}
        return {"@architectures": "spacy-parsetag.Columns.v1", **columns}

    def section(self, component: dict[str, Any]) -> dict[str, Any]:
        """Make the config's section of the exported transformer.

        RAISES (ValueError): If it does what cannot be exported.
        """
        setter = component.get("set_extra_annotations", {}).get("@annotation_setters", _NO_SETTER)
        if setter != _NO_SETTER:
            reason = "it is called by spacy-transformers"
            raise ValueError(Errors.E267.format(what=setter, name=self.name, reason=reason))
        model = component["model"]
        getter = model["get_spans"].get("@span_getters", "spans of your own")
        for what, exportable in ((model["@architectures"], _ARCHITECTURES), (getter, list(_SPANS))):
            if what not in exportable:
                reason = f"known are {', '.join(exportable)}"
                raise ValueError(Errors.E267.format(what=what, name=self.name, reason=reason))
        poolings = list(self.poolings.values()) or [{"@layers": "reduce_mean.v1"}]
        concatenated = {"@layers": "concatenate.v1", "*": {f"pooling{i}": layer for i, layer in enumerate(poolings)}}
        return {
            "@architectures": "spacy-parsetag.OnnxTransformer.v1",
            **{name: model["get_spans"].get(name, value) for name, value in _SPANS[getter].items()},
            "max_batch_items": self.pipe.cfg["max_batch_items"],
            "pooling": poolings[0] if len(poolings) == 1 else concatenated,
        }

    def export(self, section: dict[str, Any], precision: Precision) -> Model[Any, Any]:
        """The layer that a section describes, with its graph and tokenizer."""
        model, tokenizer = self.pipe.model, self.pipe.model.tokenizer
        if not tokenizer.is_fast:
            reason = "it is written in Python. Set use_fast = true in tokenizer_config before training"
            raise ValueError(Errors.E267.format(what="the tokenizer", name=self.name, reason=reason))
        exported: Model[Any, Any] = registry.resolve({"model": section})["model"]
        exported.set_dim("nO", self.width * max(1, len(self.poolings)))
        exported.attrs.update(
            width=self.width,
            tokenizer=tokenizer.backend_tokenizer.to_str(),
            max_pieces=min(tokenizer.model_max_length, 10**6),  # transformers says 10**30 where there is no limit
            pad_id=tokenizer.pad_token_id or 0,
        )
        exported.shims[0] = OnnxShim(export_transformer(model.transformer, tokenizer.model_input_names, precision))
        return exported


def _check_listeners(nlp: Language, transformers: dict[str, _Transformer], owners: dict[int, _Transformer]) -> None:
    """Check that each listener finds its own encoder's vectors in doc.tensor, where exported transformers write too.

    RAISES (ValueError): If another encoder writes there between a transformer or tok2vec and what listens to it.
    """
    writer = ""
    for name, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) and name not in transformers else ():
            listens_to_tok2vec = isinstance(node, Tok2VecListener) and writer in transformers
            if listens_to_tok2vec or (node.id in owners and owners[node.id].name != writer):
                reason = f"it would read the vectors of '{writer}' in doc.tensor. Move '{writer}' behind '{name}'"
                raise ValueError(Errors.E267.format(what="the listener", name=name, reason=reason))
        if name in transformers or isinstance(pipe, Tok2Vec):
            writer = name


def _replace(model: Model[Any, Any], old: Model[Any, Any], new: Model[Any, Any]) -> None:
    """Put a layer in place of another, as `Model.replace_node`, which fails where a ref is None."""
    for node in list(model.walk(order="dfs_post")):
        if node is not old:
            node.layers[:] = [new if layer is old else layer for layer in node.layers]
            for name in node.ref_names:
                if node.maybe_get_ref(name) is old:
                    node.set_ref(name, new)


def _name_of(pooling: dict[str, Any]) -> str:
    layer: Model[Any, Any] = registry.resolve({"pooling": pooling})["pooling"]
    return layer.name


def _replacements(
    model: Model[Any, Any], owners: dict[int, _Transformer], precision: Precision
) -> Iterator[tuple[Model[Any, Any], Model[Any, Any]]]:
    """Layers of a model that go, each with the one that comes in its place."""
    for node in list(model.walk()):
        if node.layers and node.layers[0].id in owners:  # a chain of a listener and what pools
            section = owners[node.layers[0].id].listener(node.layers[1].layers[0].name)
            yield node, registry.resolve({"model": section})["model"]
        elif node.shims and isinstance(node.shims[0], LSTMShim):
            lstm = onnx_bilstm()
            for dim in ("nI", "nO"):
                lstm.set_dim(dim, node.get_dim(dim))
            lstm.shims[0] = OnnxShim(export_bilstm(node.shims[0]._model, precision))
            yield node, lstm


def _listeners(
    components: dict[str, Any], transformers: dict[str, _Transformer]
) -> Iterator[tuple[dict[str, Any], _Transformer]]:
    """The sections of listeners to transformers, each with the transformer that it names."""
    for section in list(_sections(components)):
        if transformers and section.get("@architectures") == _LISTENER:
            yield section, _owner_of(section.get("upstream", "*"), transformers)


def _owner_of(upstream: str, transformers: dict[str, _Transformer]) -> _Transformer:
    """The transformer of a name; the first one for "*", or where it was renamed."""
    return transformers.get(upstream) or next(iter(transformers.values()))


def _sections(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _sections(item)


def _rewrite(config: dict[str, Any], transformers: dict[str, _Transformer]) -> None:
    """Replace PyTorch's layers in a config with the exported ones."""
    for section, owner in _listeners(config["components"], transformers):
        listener = owner.listener(_name_of(section["pooling"]))
        section.clear()
        section.update(listener)
    for section in _sections(config["components"]):
        if section.get("@layers") == "spacy-parsetag.TorchBiLSTM.v1":
            section.clear()
            section["@layers"] = "spacy-parsetag.OnnxBiLSTM.v1"


def _is_exported(path: Path) -> bool:
    """Check whether a folder is what `export_pipeline` wrote. A pipeline that can be trained is not replaced."""
    meta = srsly.read_json(path / "meta.json") if (path / "meta.json").is_file() else {}
    return any(package.startswith("spacy-parsetag[onnx]") for package in meta.get("requirements", ()))


def _require_onnx(path: Path) -> None:
    """Say in a pipeline's meta.json what it needs now. `spacy package` makes requirements of it."""
    meta = srsly.read_json(path)
    others = [package for package in meta.get("requirements", []) if not package.startswith(_NOT_NEEDED)]
    meta["requirements"] = [f"spacy-parsetag[onnx]{get_minor_version_range(version('spacy-parsetag'))}", *others]
    srsly.write_json(path, meta)

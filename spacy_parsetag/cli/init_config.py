"""`python -m spacy parsetag init-config`: writes a complete config that trains as it stands."""

from typing import Annotated

from spacy.util import load_config, load_model_from_config
from typer import Option as Opt

from ..compat import require
from ..errors import Errors
from ..files.write import STANDARD
from ._util import OrderOption, Output, note, refuse, write_text
from .init_project import PROJECT

# Successive sentences that make a doc, where a component learns to find their ends.
N_SENTS = 8
# Checks in a training of --steps.
N_CHECKS = 7


def init_config_cli(
    output: Output,
    lang: Annotated[str, Opt("--lang", "-l", help="Language, as spaCy calls it")] = "en",
    transformer: Annotated[
        bool, Opt("--transformer/--cpu", help="Fine-tune a transformer, on a GPU; or train a small CNN, on a CPU")
    ] = False,
    encoder: Annotated[str | None, Opt(help="Name or folder of the transformer. Default: bert-large-uncased")] = None,
    order: OrderOption = "in",
    senter: Annotated[bool, Opt("--senter", help="Learn where sentences end, instead of using punctuation")] = False,
    one_sentence: Annotated[bool, Opt("--one-sentence", help="Each text is one sentence")] = False,
    tagger: Annotated[bool, Opt(help="Learn part-of-speech tags too; brackets are printed with them")] = True,
    steps: Annotated[
        int | None, Opt(min=1, help="Training steps. Default: what the treebanks of the docs take")
    ] = None,
    force: Annotated[bool, Opt("--force", "-F", help="Replace the file if it exists")] = False,
) -> None:
    """Write a config that trains as it stands.

    \b
    Examples:
      python -m spacy parsetag init-config config.cfg --lang de
      python -m spacy train config.cfg --output training --paths.train train.spacy --paths.dev dev.spacy
    """
    refuse(senter and one_sentence, "--senter", "a pipeline without --one-sentence")
    refuse(encoder is not None and not transformer, "--encoder", "--transformer")
    refuse(encoder is not None and not encoder.strip(), "--encoder", "a name or a folder, which may not be empty")
    if output != STANDARD and output.exists() and not force:
        raise ValueError(Errors.E466.format(path=output))
    if transformer:
        require("spacy_transformers", "--transformer")
    sentences = "senter" if senter else "one_sentence" if one_sentence else "sentencizer"
    try:
        config = make_config(
            lang, transformer=transformer, encoder=encoder, order=order, sentences=sentences, tagger=tagger, steps=steps
        )
    except ImportError as err:  # spaCy has no such language, or this one needs a package
        raise ValueError(Errors.E461.format(lang=lang, reason=str(err).strip().rstrip("."))) from err
    write_text(config, output)
    if output != STANDARD:
        note(f"{output}: train with --paths.train TRAIN.spacy --paths.dev DEV.spacy", "good")


def make_config(
    lang: str,
    *,
    transformer: bool,
    encoder: str | None = None,
    order: str,
    sentences: str,
    tagger: bool,
    steps: int | None = None,
) -> str:
    """Change a shipped config, and fill it.

    encoder (str | None): The transformer; None for the one that the config has.
    sentences (str): The component that finds sentences: "sentencizer", "senter" or "one_sentence".
    steps (int | None): Steps of training, with seven checks; the rate falls to zero at the last. None: the config's.
    """
    config = load_config(PROJECT / "configs" / ("transformer.cfg" if transformer else "cnn.cfg"))
    components = config["components"]
    shared = "transformer" if transformer else "tok2vec"
    config["nlp"]["lang"] = lang
    if encoder is not None:
        config["vars"]["encoder"] = encoder
    components["parsetag"]["linearizer"] = {"@misc": f"spacy-parsetag.{order.title()}Order.v1"}
    model = components["parsetag"]["model"]
    if order != "in" and model.get("@architectures") == "spacy-parsetag.Spans.v1":  # it scores in-order tags
        tags_model = {"@architectures": "spacy-parsetag.Tags.v1", **{key: model[key] for key in ("tok2vec", "encoder")}}
        components["parsetag"]["model"] = tags_model
    pipeline = [shared, "tagger", "parsetag"] if tagger else [shared, "parsetag"]
    pipeline.insert(1 if sentences == "senter" else 0, sentences)
    if sentences == "senter":
        listener = components["tagger"]["model"]["tok2vec"]
        if transformer:  # the tagger's listener passes on only a tenth of the gradient
            listener = {
                "@architectures": "spacy-transformers.TransformerListener.v1",
                "grad_factor": 1.0,
                "upstream": "transformer",
                "pooling": {"@layers": "reduce_mean.v1"},
            }
        components["senter"] = {"factory": "senter", "model": {"tok2vec": listener}}
    elif sentences not in components:
        components[sentences] = {"factory": sentences}
    config["nlp"]["pipeline"] = pipeline
    config["components"] = {name: components[name] for name in pipeline}
    if steps is not None:
        config["training"].update(max_steps=steps, eval_frequency=max(1, steps // N_CHECKS))
        rate = config["training"]["optimizer"]["learn_rate"]
        rate.update(total_steps=steps, warmup_steps=min(rate["warmup_steps"], max(1, steps // 8)))
    weights = config["training"]["score_weights"]
    weights.update(dict.fromkeys(("tag_acc", "pos_acc", "tag_micro_p", "tag_micro_r", "tag_micro_f")))
    if tagger:
        weights["tag_acc"] = 0.0
    if sentences == "senter":
        weights["sents_f"] = 0.0
        # The parser learns from the treebank's sentences, and is scored over sentences that the senter finds.
        for corpus in ("train", "dev"):
            config["corpora"][corpus] = {
                "@readers": "spacy-parsetag.Corpus.v1",
                "path": f"${{paths.{corpus}}}",
                "n_sents": N_SENTS,
                "gold_sents": corpus == "train",
            }
        if (batcher := config["training"].get("batcher", {})).get("@batchers") == "spacy-parsetag.BatchByLength.v1":
            batcher["size"] = max(1, batcher["size"] // N_SENTS)  # of docs, which have several sentences now
    nlp = load_model_from_config(config, auto_fill=True)
    filled = nlp.config
    if tagger and nlp.make_doc("1").has_annotation("TAG"):  # a tokenizer of Japanese sets tags, which a tagger leaves
        filled["components"]["tagger"]["overwrite"] = True
    # Once more, as spaCy's own commands do: what was filled in must be valid.
    return str(load_model_from_config(filled).config.to_str())

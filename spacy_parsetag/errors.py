"""Every message the package raises, in one place, each with a code that a search finds.

`Errors` holds message templates; raise them as `ValueError(Errors.E001.format(...))`. Malformed treebank input has an
exception class of its own, `TreebankError`, because callers skip, count and list such trees.

The codes run through the rooms, in the order of their numbers:

    001 to 029    trees
    030 to 039    files
    040 to 049    draw
    050 to 099    linearize
    100 to 149    treebanks
    150 to 199    decode
    200 to 224    ml
    225 to 249    training
    250 to 299    pipeline
    300 to 349    tokens
    350 to 399    evalb
    400 to 449    analysis
    450 to 499    cli
    500 to 549    compat
    550 to 599    texts
    600 to 649    search
"""

import unicodedata

_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def shorten(text: str, longest: int) -> str:
    """Cut the middle out of a text of more characters than `longest`, and say how many are left out."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} [... {len(text) - 2 * half:,} characters ...] {text[-half:]}"


def showable(text: str, keep: str = "\n\t") -> str:
    """Make a text fit to be shown, whatever stands in it.

    keep (str): Control characters that stay.
    RETURNS (str): The text without bidirectional overrides, and with a "\ufffd" for each character that moves the
        cursor of a terminal or may not be in XML.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if char not in keep and _breaks(char) else char for char in text if char not in _OVERRIDES)


def _breaks(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or ord(char) & 0xFFFE == 0xFFFE


# The end of the messages on docs without trees.
_CUT_DOCS = (
    "spaCy's Corpus loses constituents where it cuts docs: set gold_preproc = false and max_length = 0 in "
    "[corpora.train]."
)


class _ErrorsWithCodes(type):
    """Prefix each message with its code when it is read."""

    def __getattribute__(cls, code: str) -> str:
        value: str = super().__getattribute__(code)
        if code.startswith("__"):
            return value
        return f"[{code}] {value}"


class Errors(metaclass=_ErrorsWithCodes):
    E001 = "Not a tree over words: {reason}. Each word needs exactly one part-of-speech node above it."
    E002 = (
        "Constituents cross, or are not in pre-order (by start, longer ones first): {first} and {second}. Check the "
        "source of these spans."
    )
    E003 = "Constituent {span} lies outside the sentence of {n} words."
    E004 = "{n_tags} tags cannot cover {n_words} words: a tree over N words has 2N-1 tags."
    E005 = "Not a chain of labels: {label!r}. Join labels by '+', none empty; + and \\ inside one follow a backslash."
    E007 = "Cannot write the {what} {text!r} to a bracket file: {reason}. See escape_token and escape_label."
    E008 = (
        "Word {i} of the tree is {word!r}: a spaCy token cannot be empty, and one of white space only is no word of a "
        "parse. Remove it from the tree. Sentence: {sentence!r}."
    )
    E009 = "Not a tree of NLTK, or a word in it that is no string: {found!r}. Read brackets with nltk.Tree.fromstring."
    E010 = "{name} takes several strings; got one, {value!r}. Write {{{value!r}}} for a set, ({value!r},) for a tuple."
    E011 = "Trees of sentences come as a list, [tree]; got one {found}. A file is read by treebanks.read_trees."

    E030 = "No such file or folder: {path}."
    E031 = (
        "No files named {patterns} below {path}, which holds {held}. Name a file itself, whatever it is called; or, "
        "where the command has --glob, say which to read, for instance --glob='*{suffix}'."
    )
    E032 = "{path} is one of the inputs, or written twice. Write to another file, so that nothing is lost."
    E033 = "{path} cannot be decompressed: {reason}. Is it whole, and named as it is compressed (.gz, .bz2, .xz)?"
    E034 = "{path} would not be compressed. Leave {suffix} out of the name, and compress the file afterwards."
    E035 = "Another run is writing to {path}. Wait until it ends, or choose another folder."
    E036 = (
        "{path} exists and holds something else than what would replace it; it begins with {text!r}. A pattern such as "
        "*.txt may have named it. Give one input, perhaps a folder; or another OUTPUT, or remove that file."
    )

    E040 = "A drawing needs at least {least} columns; got {width}."
    E041 = "Unknown style {style!r} of a drawing. Use one of: text, svg, html, latex."
    E042 = "Cannot draw a thing of type {found}: give a parsed Doc, a Span, or several. NLTK's trees draw themselves."

    E050 = "Not a valid {order}-order tag sequence for {n} words: {reason} at tag {position} ({tag!r})."
    E051 = "Unknown linearization order {order!r}. Use one of: in, pre, post."
    E052 = "Not a tag: {tag!r}. A tag is l, r, L or R, alone or followed by '/' and a label."
    E053 = "The table of the order {order!r} is not a lattice of trees: {reason}. See spacy_parsetag.linearize.Lattice."
    E054 = "Tag {tag!r} is not in the tag set of {n} tags."
    E055 = "Id {id} is that of no tag: the tag set has {n} tags, with ids from 0 on. Leave out rows without a tag (-1)."
    E056 = "Words come with their part-of-speech tags, as pairs: ('She', 'PRP'); got {word!r}."

    E101 = "Unknown encoding {encoding!r}. Use one that Python knows, for instance utf-8, latin-1, utf-16."
    E102 = "Unknown treebank format {name!r}. Known: {known}."
    E105 = (
        "Cannot read the split {text!r}: {reason}. Write shares, such as train=0.8,dev=0.1,test=0.1, or names of files "
        "or folders, such as train=02..21,dev=22,test=23."
    )
    E106 = "No trees in {inputs}."
    E107 = "{path} is neither a folder nor named like one: with several parts or a folder of files, give a folder."
    E108 = "A part of a split cannot be called {name!r}: it becomes the name of a file."
    E109 = "Two of the files would both become {path}. Convert them one by one, or into one file: OUTPUT.spacy."
    E110 = "{path}: convert writes OUTPUT.spacy, or a folder, whose name has no suffix such as {suffix}."
    E111 = (
        "The split leaves {part!r} without a tree: {reason}. Or leave the part out of --split (--split none for no "
        "split)."
    )
    E113 = "Bytes {data} are not valid {encoding}. Say which encoding it is, for instance --encoding {hint}."
    E114 = "Empty tree: brackets without a word, as some treebanks write for no parse. Leave it out, or skip bad trees."
    E115 = "Nothing under the node {label!r}: it needs a word or other nodes. Is a word or a tag missing?"
    E116 = "A node inside the tree has no label; only the root may go without. Is a label or a bracket missing?"
    E117 = "The word {word!r} under {label!r} has no part-of-speech bracket. Write (TAG word), or give a default tag."
    E118 = "NUL byte. Is the file binary, or in another encoding (then say so, for instance --encoding {hint})?"
    E119 = "Closing bracket without an opening one: remove it, or add the missing opening bracket before it."
    E120 = "Text outside of brackets: {text!r}. A bracket file holds trees; `parsetag parse` makes them from text."
    E121 = "The tree is not closed where another one starts. Closing brackets missing: {missing}."
    E122 = "The file ends inside a tree. Closing brackets missing: {missing}. Is the file cut off?"
    E123 = (
        "More than {limit} nodes in one tree, which no sentence has. Closing brackets missing: {missing}. Are trees of "
        "several sentences wrapped in one bracket, or is one of them not closed?"
    )
    E124 = (
        "{kind} holds discontinuous trees, and constituents here are words without gaps. Make the trees continuous "
        "first, and write Penn brackets: treetools (root_attach, boyd_split, raising) and disco-dop do that."
    )
    E125 = (
        "By its name {path} does not hold brackets, and brackets are read here. The trees of docs, and of texts that "
        "parse parsed, come as brackets by: search ROOT {path} --mrg > NAME.mrg"
    )
    E126 = "Cannot read the leaf {leaf!r}: {reason}. Mend the file, or choose the --format that it has."
    E127 = "{path} gives bytes, and trees are read from text: open it in text mode, as gzip.open(PATH, 'rt') does."

    E150 = "Scores must have shape ({rows}, {tags}), 2N-1 rows for N words; got {shape}."
    E151 = (
        "The score of tag {tag!r} at word {word} is {value}, in sentence {s} of the batch, counted from 0. Scores must "
        "be finite, and between -1e300 and 1e300, so that they can be added up. Was training unstable?"
    )
    E152 = (
        "No tree over {n} words exists within a stack bound of {max_stack} for {order}-order tags with this tag set. "
        "Raise or remove the bound (max_stack=None); where it is None, the tags are too few."
    )
    E153 = "Tag {tag!r} is given twice; each column of the scores needs a tag of its own."
    E154 = (
        "A batch has one first row, one number of words and one number per sentence; got shapes {rows}, {words} and "
        "{numbers}."
    )
    E155 = "Sentence {s} of the batch, {n} words from row {row} on, does not fit into {total} rows of scores."
    E156 = "Tag id {id} at row {row} of a decoder's output is none of the {n} tags."
    E157 = "A decoder's output of {n} rows lacks sentence {s}, which has {words} words from row {row} on."
    E158 = "Scores {name!r} must have shape {expected}; got {shape}."
    E159 = "Transition scores {name!r} must lie between -1e300 and 1e300, or be -inf (shut out). Was training unstable?"
    E160 = "A beam keeps 1 to {widest} sequences; got {value!r}. The exact decoder keeps them all."
    E161 = "The bound on the stack must be None or a whole number of at least {least}; got {value!r}."
    E162 = "Scores need at least one tag; the tag set is empty."
    E163 = (
        "The compiled module {module} is missing, or older than the sources; Python took spacy_parsetag from {folder}. "
        "To use the installed package, start Python in another folder than the clone. To use the clone, build it "
        "there, after each change of its compiled parts too: pip install -e ."
    )
    E164 = "Scores of spans do not fit: {reason}. See spacy_parsetag.decode.SpanScores."
    E165 = (
        "{what} reads scores of tags alone, and this batch has scores of spans, or constraints. Use the exact decoder "
        "(spacy-parsetag.ExactDecoder.v1) or minimum Bayes risk (spacy-parsetag.MBRDecoder.v1)."
    )
    E166 = (
        "The score of label {label!r} for the span of words {start} to {end} is {value}, in sentence {s} of the batch, "
        "counted from 0. Scores must be finite, and between -1e300 and 1e300, so that they can be added up. Was "
        "training unstable?"
    )
    E167 = "Spans are known of in-, pre- and post-order tags alone; the order here is {order!r}."
    E168 = (
        "Not a constraint on a sentence of {n} words: {constraint}. Give (start, end, label or None, kind), with words "
        "counted from 0 within the sentence, end exclusive, and a kind of {kinds}."
    )
    E169 = (
        "No tree over {n} words agrees with: {constraints}. Leave one of them out. The "
        "model's tags or the bound on the stack ({max_stack}) may also exclude all trees."
    )
    E170 = "A batch has one list of constraints for each sentence; got {n} lists for {sentences} sentences."
    E171 = "The number of best trees must be a whole number from 1 to {largest}; got {value!r}."
    E172 = "Probabilities of constituents have a mean only over the same sentences; got sentences of {words}."
    E173 = "The number of threads must be a whole number of at least 1; got {n}. None: what OMP_NUM_THREADS says."
    E174 = "A tree's tags are columns of the scores, from 0 to {last}; got {columns}."
    E175 = (
        "Scores of successive tags (transitions) have no chart, so there are no probabilities of constituents, k best "
        "trees, samples, constraints or minimum Bayes risk. Take the best tree, sums, log-probabilities and entropies; "
        "or a learner without transitions."
    )
    E176 = "The cost of a constituent must be a number from -{largest} to {largest}; got {value!r}."
    E177 = "The {what} must be a whole number from 0 to {largest}; got {value!r}."
    E178 = "No tree agrees with {constraint}: the model does not know the label {label!r}. It knows {labels}."
    E179 = (
        "The scores are too great for {what}: all trees of sentence {s} together have {log_z:.3g}, where floats are "
        "{gap:.3g} apart, so that differences between trees are lost. Scale the scores down."
    )
    E180 = (
        "Scores of sentence {s} are so great that rounding hides what its trees differ in, though the trees may score "
        "little: great scores cancel, or no tree has them. Scale the scores down."
    )
    E181 = "The {what} of a batch must be whole numbers of {n_bits} bits; got {value!r}."

    E200 = "{what} must be at least {least}; got {value!r}."
    E201 = "TagLoss learns tags alone, and this model scores spans too. Use spacy-parsetag.TreeLoss.v1."
    E202 = (
        "The learner spacy-parsetag.Spans.v1 scores in-order tags; got order {order!r} and {n} tags. Use it in the "
        "component 'parsetag' with the linearizer spacy-parsetag.InOrder.v1."
    )

    E203 = (
        "This layer has no graph yet: an exported pipeline is loaded from where it was exported to, not initialized "
        "from its config. To train, use the pipeline that it was exported from."
    )
    E204 = (
        "An exported layer cannot be trained. Train the pipeline that it was exported from, and export that again. Or "
        "let its component stay as it is: name it among frozen_components and, if others listen to it, among "
        "annotating_components."
    )
    E205 = (
        "The graph of this transformer ({kind}) does not compute what the transformer does: vectors differ by up to "
        "{difference:.2g}. Please report this, with the versions of torch and transformers."
    )
    E206 = (
        "The transformer of this pipeline reads sentence by sentence, and this doc has no sentence boundaries: "
        "{text!r}. Add a component that sets them before it: nlp.add_pipe('sentencizer', first=True), or "
        "'one_sentence' if each of your docs is one sentence already. Where the transformer is one of the "
        "annotating_components of a training, that component has to be one too."
    )
    E214 = "The layer {name!r} reads no word vectors. Set include_static_vectors = true in its config."
    E215 = "The vocabulary has no word vectors with a row for each word. Set [initialize.vectors] (--paths.vectors)."
    E216 = (
        "The component '{name}' takes its vectors from the component '{upstream}' that it was trained with, and this "
        "doc has {found}. If '{upstream}' is disabled or excluded here, enable it. If '{name}' was sourced, source "
        "both, first nlp.add_pipe('{upstream}', source=other), then nlp.add_pipe('{name}', source=other). If "
        "the pipeline has another '{upstream}', give '{name}' a copy of its own before you source it: "
        "other.replace_listeners('{upstream}', '{name}', [PATH]), where PATH is that of the listener in its config: "
        "'model.tok2vec', in en_parsetag_trf and configs/transformer.cfg 'model.tok2vec.*.encoder'. Where '{name}' is "
        "one of the annotating_components of a training, '{upstream}' has to be one too."
    )
    E217 = (
        "The model of the component '{name}' gives {found}, not scores of tags. Take one of this package's learners, "
        'for instance @architectures = "spacy-parsetag.Tags.v1" in [components.{name}.model].'
    )
    E218 = "Weights of the layer {layer!r} have the shapes {found}, not {expected}. Files are damaged, or were changed."
    E219 = "The factor of spacy-parsetag.Scaled.v1 must be a number above 0; got {value!r}."
    E220 = 'Vectors are not looked up by {attr!r}. Give a string that words have, such as "LOWER", or leave attr out.'

    E225 = "Plateau needs initial_rate > 0, warmup_steps >= 0, 0 < factor < 1 and a patience of at least 1 check."
    E226 = 'PlateauLogger found no schedule. Set "spacy-parsetag.Plateau.v1" in [training.optimizer.learn_rate].'
    E227 = "The batcher BatchByLength needs a {what} of at least 1; got {value!r}."
    E228 = (
        "The augmenter of spacy-parsetag.Corpus.v1 gives {n} words for {text!r}, which has {n_words}. Trees go over "
        "as many words only: take an augmenter that keeps their number, as spaCy's do."
    )

    E251 = (
        "No constituents in the training data of the component '{name}': no reference doc has any in "
        "doc.spans[{key!r}]; they have {found}. Name the group of your trees in the component's config (spans_key), or "
        "convert a treebank with: python -m spacy parsetag convert. " + _CUT_DOCS
    )
    E252 = (
        "The labels given to the component '{name}' must be a dict with 'tags', a list of strings that is not empty, "
        "and perhaps 'max_stack', a whole number, and 'order', a string, as written by 'spacy init labels'."
    )
    E253 = (
        "The component '{name}' was trained with {trained}-order tags, and its linearizer is now {order}-order. Tag "
        "scores mean nothing in another order: train it again, or restore the linearizer."
    )
    E254 = (
        "The component '{name}' was given {part!r}, which is not a {kind}. Name a registered one in a section of its "
        'own, [components.{name}.{kind}], for instance @misc = "spacy-parsetag.{example}.v1".'
    )
    E255 = "Labels of the component '{name}' must be strings; got {label!r}."
    E256 = (
        "The component '{name}' scores {n} tags, and its learner does not say how to score more. These cannot be "
        "added: {tags}. Add labels before training, or give the learner the attribute of spacy_parsetag.ml.resize."
    )
    E257 = "The component '{name}' cannot be loaded from {source}: {problem}. Its files are damaged, or were changed."
    E258 = (
        "The labels given to the component '{name}' are {given}-order tags, and its linearizer is {order}-order. Make "
        "them again, by 'spacy init labels' with this config."
    )
    E259 = "Nothing in the training data can be learned by the component '{name}': {problems}"
    E260 = "Not a kind of constraint: {kind!r} (of {text}). Known: {kinds}. Say it as the span's kb_id."
    E261 = "The constraint {text} covers no word, or leaves its sentence. Check the span and token.is_sent_start."
    E262 = (
        "No tree agrees with all of these constraints: {constraints}. Take one of them out of "
        "doc.spans['parsetag_constraints'], or set conflicts = \"drop\" in the component's config, so that the first "
        "ones count most."
    )
    E263 = "The setting {setting} of the component '{name}' must be {needed}; got {value!r}."
    E264 = 'The component {name!r} has no pipelines. Name two or more: pipelines = ["a/model-best", "b/model-best"].'
    E265 = "A pipeline of an ensemble must have one component 'parsetag'; this one has {n} among: {pipes}."
    E266 = (
        "doc.spans[{key!r}].attrs['soft'] says to learn the best trees of each sentence, and attrs['k_best'] has those "
        "of {n} sentences where the doc has {sentences}. Parse the doc with k_best of at least 1 in the component's "
        "config, and keep its sentence boundaries."
    )

    E267 = (
        "Cannot export {what} of the component '{name}': {reason}. Exported are transformers of spacy-transformers, "
        "what listens to them, and spacy-parsetag.TorchBiLSTM.v1."
    )
    E268 = "No component of this pipeline needs PyTorch, so there is nothing to export; it has: {pipes}."
    E269 = (
        "The tokens of the doc have changed since doc.spans[{key!r}] was written; spaCy does not move span groups when "
        "it merges or splits tokens. Set the group after the components that do so, for instance merge_entities, or "
        "find spans with a function: the setting 'constraints' of the component 'parsetag'."
    )
    E271 = "The function in the setting 'constraints' of 'parsetag' must give spans of the doc; got {found!r}."
    E272 = (
        "The component '{name}' scores successive tags, and a doc of its training data is marked as partial: {text!r}. "
        "Partial trees are learned by probabilities of constituents, and with transitions there are none. Set "
        "transitions = false in [components.{name}.model], or train on whole trees."
    )
    E273 = (
        "The component '{name}' of the pipeline {nlp} scores successive tags (transitions), so it has no probabilities "
        "of constituents to average or to calibrate. Take a pipeline whose learner has no transitions."
    )
    E274 = "The component '{name}' needs a matches_key of its own; {key!r} is empty, or where the constituents are."
    E275 = "Not a pattern with its label: {row!r}. Write {{'label': 'OBJECT', 'pattern': 'VP < NP=object'}}."
    E276 = (
        "The component '{name}': a config file cannot hold {key!r} as the key of patterns. Add the component without "
        "it, then nlp.get_pipe({name!r}).add_patterns([{{'label': {key!r}, 'pattern': '...'}}]), which is saved too."
    )

    E300 = (
        "The doc has no constituents under doc.spans[{key!r}]; it has: {known}. Run a pipeline with the component "
        "'parsetag', or set them with spacy_parsetag.tokens.set_parses. (span.as_doc() drops them.)"
    )
    E301 = "Constituents in doc.spans[{key!r}] cross, neither within the other: {first!r} and {second!r}."
    E302 = (
        "The constituent {text!r} ({label}, tokens {start} to {end}) in doc.spans[{key!r}] does not lie within one "
        "sentence. Check the sentence boundaries (token.is_sent_start) or the spans."
    )
    E303 = "The constituent {label} at tokens {start} to {end} in doc.spans[{key!r}] covers no word. Remove it."
    E304 = (
        "The spans in doc.spans[{key!r}] are listed bottom-up ({lower!r} stands before {upper!r}, which contains it), "
        "so which of {chain} is on top, all over {text!r}, cannot be told. List the spans in pre-order: a constituent "
        "before those within it, the top of a unary chain first."
    )
    E305 = (
        "The constituent {text!r} (tokens {start} to {end}) in doc.spans[{key!r}] has no label. Give it one: "
        "Span(doc, {start}, {end}, label='NP')."
    )
    E306 = "doc.spans[{key!r}] has format {found}; this version reads formats up to {known}. Update spacy-parsetag."
    E307 = (
        "{text!r} (tokens {start} to {end}) is neither a constituent, nor a single word, nor a sentence. {hint} Ask "
        "span._.is_constituent first."
    )
    E308 = "A doc can hold whole sentences only: n_sents must be at least 1; got {n!r}."
    E309 = "{text!r} is white space only: there is no tree over it. Ask span._.is_constituent first."
    E310 = (
        "The tokens of the doc have changed since doc.spans[{key!r}] was written; spaCy does not move span groups when "
        "it merges or splits tokens. Put components that do so, for instance merge_entities, before the parser."
    )
    E311 = "Cannot set the sentence boundaries of {text!r}: the doc has a dependency parse, which has its own."
    E312 = "No tokens {start} to {end} in a doc of {n} tokens: 0 <= start < end <= {n} must hold."
    E313 = (
        "The component '{name}' parses sentence by sentence, and this doc has no sentence boundaries: {text!r}. If the "
        "pipeline has a component that sets them, such as 'senter', and it is disabled or excluded, enable it. Else "
        "add one before '{name}': nlp.add_pipe('sentencizer', before='{name}'), a trained 'senter' or 'parser', or "
        "'one_sentence' if each of your docs is one sentence already. Where '{name}' is one of the "
        "annotating_components of a training, that component has to be one too."
    )
    E320 = (
        "doc.spans[{key!r}] has no {what}. Set {setting} in the config of the component that writes it, or on a "
        "loaded pipeline: nlp.get_pipe('parsetag').{code}. (spaCy loses them in Doc.from_docs and in JSON, and "
        "'parsetag_ensemble' keeps no k best trees.)"
    )
    E321 = "The attrs of doc.spans[{key!r}] do not fit its sentences and constituents. Parse the doc again."
    E322 = "doc._.parses(k) gives the k best trees of each sentence, so k must be a whole number from 1 on; got {k!r}."
    E323 = (
        "{what} changes the tokens of {text!r}, and trees over the new ones cannot be compared with trees over those "
        "that were given. Without it the pipeline can be scored by evaluate, calibrated, and a member of an ensemble."
    )

    E350 = "{path}:{line}: unknown keyword {keyword!r} in a parameter file. Known: {known}."
    E351 = "{path}:{line}: {keyword} takes {expected}; got {value!r}."
    E352 = "Unknown scoring parameters {name!r}: neither one of {known} nor a file."
    E353 = "The {shorter} trees end after sentence {n}{end}, the {longer} trees go on{place}. {remedy}"
    E354 = "Gold sentence {n} cannot be scored{place}: {reason}. Each word needs a bracket with its tag: (NN dog)."
    E355 = "A flat tree takes the words of the gold tree, and gold tree {number} has none."
    E356 = (
        "Two parsers are compared on the same sentences, and there must be some: the first has {first}, the second "
        "{second}; there are documents for {documents}."
    )
    E357 = "A comparison of parsers needs at least 1 sample, and a level between 0 and 1; got {samples} and {level}."
    E358 = "{name} takes pairs of strings, (('ADVP', 'PRT'),); got {value!r}."

    E401 = "A correlation needs {reason}."
    E402 = "Cannot write a figure to {path}: its name must end in {known}."
    E403 = "{path}: not a table of results: {reason}. Write CSV or JSON with treebank, order, f and deviation."
    E404 = "{path}: no mean deviation of treebank {treebank!r} in {order}-order. Give it there, or with --deviation."

    E450 = "{path} exists already. Choose another place, or remove it first."
    E451 = "No sentence has --max-length {longest} words or fewer, so nothing is left to write of {n:,}. Raise it."
    E452 = "Cannot make a tree of this line: {reason}. Write JSON with order, words, pos and tags, as linearize does."
    E453 = (
        "Line {number} of {path} begins a tree, and text stands before it. In brackets only trees and "
        "comments (#) may stand. Say which it is: --format brackets or --format text."
    )
    E454 = "Not a regular expression: {text!r} ({reason})."
    E455 = "{option} needs {needs}."
    E456 = "{n:,} of {total:,} cannot be read ({what}), more than {limit}. Another format? Else --skip-bad {enough}%."
    E457 = "Two of the inputs are called {name!r}. Name them apart: NAME=PATH."
    E458 = "No doc of {path} has complete trees under doc.spans[{key!r}]."
    E459 = "Give one of --json and --csv, not both."
    E460 = "Not a limit: --skip-bad {limit}. Write a number (10), a share (1%), or all."
    E461 = (
        "spaCy cannot make a pipeline for the language {lang!r}: {reason}. For a language that spaCy does not know, or "
        "a treebank whose words are all you need, say --lang xx."
    )
    E462 = "{model} is {what}; the pipeline comes first: {command}"
    E463 = "Cannot tell from the name {path} what to write. Known suffixes: {known}. Or say it with --output-format."
    E464 = "--workers must be at least 1, or -1 for one process per core; got {n}."
    E465 = "No tree keeps its words in cleaning, so nothing is left to write of {n:,}. --clean traces=no keeps traces."
    E466 = "{path} exists already. Choose another place, or replace it with --force."
    E468 = (
        "No pipeline given, and {name}, the one that comes with spacy-parsetag, is not installed. In a clone of "
        "spacy-parsetag: python -m pip install ./models/{name}. Or name another pipeline, a package or a folder."
    )
    E469 = "More than {n} were bad ({what}), listed above. Allow more with --skip-bad: a number, a share, or all."
    E470 = "Cannot clean {text!r}: {reason}. Write KEY=VALUE with one of the keys {known}."
    E471 = (
        "{where}: this tree has no identifier, and --text id takes all trees of one for a text. Parse "
        "texts with ids (JSON lines, or a folder of text files, to .jsonl), or measure by --text file."
    )
    E475 = "Too few sentences ({n}) to fit on a share of {share} and measure on the rest. Give more or another share."
    E476 = "The pipeline {name!r} has no component 'parsetag' with scores to calibrate; it has: {pipes}."
    E477 = "Give one of these, not several: {options}. --csv goes alone or with --by."
    E478 = "There is no pipeline {name!r} for spacy-parsetag. There are: {known}."
    E479 = "{name} {version} goes with spacy-parsetag {range}, and this is {ours}. Install such a version of it first."
    E480 = (
        "{name} {version} is not published yet. A clone of spacy-parsetag has it: pip install ./models/{name}. Or say "
        "with --from where it is: a folder with its wheel or its sources, or the address of a package index."
    )
    E481 = "{python} has no pip to install a pipeline with. Bring it: python -m ensurepip."
    E482 = "{folder} has neither a wheel {name}-{version}-*.whl nor a folder {name} with setup.py, of that version."
    E483 = "pip did not do it, and says above why: {command}"
    E484 = (
        "No such file or folder: '{source}'. A text of one word, without the punctuation that ends a sentence, comes "
        "on standard input, with - for INPUT."
    )
    E485 = "The parser {name!r} is named twice: its scores would stand under one name. Name each parser once."
    E486 = (
        "By its name {path} is neither text nor brackets nor docs. Trees that parse wrote as .jsonl or .parquet come "
        "as brackets by: search ROOT FILE --mrg. If it is text all the same, say --format text."
    )
    E487 = (
        "{first} and {second} are called alike: if convert made one of the other, each tree would count twice. Name "
        "one of them, or say with --glob which to read, for instance --glob='*.spacy'."
    )
    E488 = "{first} and {second} have different gold trees, since their spans_key differ. Score each by itself."

    E500 = "{purpose} needs the package {name!r}, which is not installed. Install it: {install}"

    E550 = (
        "{path} is not a .spacy file, or damaged: {reason}. Brackets become one by: parsetag convert {path} NAME.spacy."
    )
    E552 = "{path} has no column 'text' or 'tokens'; it has: {names}. Rename the one that holds the texts."
    E553 = 'Not a text to parse: {reason}. Write {{"text": "..."}} or {{"tokens": [...], "tags": [...]}}.'
    E554 = "{path} is not a Parquet file that pyarrow can read: {reason}."
    E555 = "Not text in UTF-8: {what} at character {position}.{hint}"
    E556 = "Cannot read this JSON: {reason}."
    E557 = "The pipeline failed: {reason}."
    E558 = "The pipeline split this text into {n} sentences, and --sents line wants one. Use --sents model."
    E559 = (
        "A worker process died; it may have run out of memory. Use fewer processes (--workers) or smaller batches "
        "(--batch-size). --resume goes on with a folder of shards."
    )
    E560 = "The pipeline {name!r} has no component that sets doc.spans[{key!r}]; it has: {pipes}. Add 'parsetag' to it."
    E561 = "{path} holds files, such as {name}, but no manifest of a run. Choose another folder, or an empty one."
    E562 = "{path} holds parses, {n_done:,} of {n:,} shards. Add --resume to go on, or choose another folder."
    E563 = "{path} was begun with other {what}. To go on, give what it was begun with; otherwise choose another folder."
    E564 = (
        "{n_failed:,} text{s} failed, more than {limit}. See above; the shards are kept. To go on: --resume, with a "
        "larger limit for --skip-bad."
    )
    E565 = "{path} has changed since the run began, and some shards may be of the old texts. Begin in another folder."
    E566 = "{path} holds files of several formats: {formats}. Say with --format which to read."
    E567 = "Cannot parse column {column!r} and add {added} to a table of {names}. Name the column of texts, or rename."
    E568 = "{path} is not what a run of parse wrote: {reason}. Remove it, or choose another folder."
    E569 = "The component {pipe!r} of the pipeline {name!r} finds one tree for a sentence: --k-best is for 'parsetag'."
    E570 = "{path} has two columns {name!r}: rename one of them."
    E572 = (
        "The pattern names no node {name!r}. Known: {known}; with .head, such as match.head, its head word, with "
        ".lower that in small letters; file and id, the text."
    )
    E573 = "No node can be named {name!r} in a table of matches, which has a column of that name. Choose another name."
    E574 = "By its name {path} holds {what}, not text. {how} If it is text all the same: --format text."
    E575 = "{name} is a file, and a pipeline is a folder or a package. The pipeline comes first, then what it reads."
    E576 = "Python does not import {path}: with --code goes a file whose name ends in .py."
    E577 = "{name} is a package of Python, and no pipeline."
    E578 = "{path}: trees in JSON are read line by line. Let parse write .jsonl, or .parquet."
    E579 = "The column {column!r} has type {kind}. A column of texts holds strings, or lists of strings for tokens."
    E580 = "The text is null, so there is nothing to parse."
    E581 = "The pipeline {path} is another one than when the run began. Begin in another folder, and let it stay."
    E582 = (
        "{path} has no {key!r}, by which --id names texts: files of JSON lines, Parquet and docs have it. Columns keep "
        "what identified their texts when they were saved: --id goes with --save."
    )
    E583 = "Nothing identifies a text as {key!r}. Write --id id, or a key of its meta, such as --id meta.genre."
    E584 = (
        "The text has {n:,} characters, and the pipeline takes at most {most:,} at once (nlp.max_length). Divide it, "
        "or read it by lines or paragraphs (--format)."
    )

    E600 = (
        "{path} holds no columns of trees, or damaged or compressed ones. Write them with TreeColumns.to_disk, or "
        "`search --save`."
    )
    E601 = "{path} has columns of format {found}; this version reads format {known}. Save them again."
    E602 = "{where}: the constituents are no tree: they cross, leave the sentence, are out of order or without words."
    E603 = "{where}: no parsed text, as `parsetag parse --output-format jsonl`, or parquet, writes it."
    E605 = "Not a Tregex pattern: {what}, at character {at}.\n  {pattern}\n  {mark}"
    E606 = "{path}:{line}: not a head rule. Write LABELS: left|right LABELS, with ; between steps."
    E607 = "Unknown head rules {name!r}: neither one of {known} nor a file."
    E608 = "{path}: not UTF-8 ({problem}). Save the file in this encoding."
    E610 = "Patterns of {key!r} come as a list: matcher.add({key!r}, [PATTERN])."
    E611 = "No patterns have the key {key!r}. Known: {known}."
    E612 = "A TreeMatcher searches docs: matcher(doc), matcher.match([doc, ...]); got a {found}."


class Warnings(metaclass=_ErrorsWithCodes):
    W200 = (
        "TreeLoss learns nothing from gold trees that need a stack of more than {bound}, the component's max_stack. If "
        "it is 'train', say first which trees it goes on with, by add_labels_of; or set it to null."
    )
    W201 = (
        "ONNX Runtime computes on the CPU, though a GPU was asked for: it cannot use CUDA here. The package "
        "'onnxruntime' never can; install the other one in its place: pip uninstall onnxruntime; pip install "
        "onnxruntime-gpu"
    )
    W250 = "The component '{name}' cannot learn from all of its training data: {problems}"
    W251 = (
        "{n:,} of {total:,} sentences ({share:.1%}) are left out, because a constituent begins or ends inside a token "
        "of the tokenizer, for example in {example}. Train on the tokens of the treebank: docs of 'parsetag convert' "
        "have them, unless it was told to detokenize."
    )
    W252 = (
        "{n:,} of {total:,} sentences ({share:.1%}) have tags that the model does not know, for example {example}: "
        "TreeLoss learns nothing from these, TagLoss only their other tags, and nothing where transitions are scored. "
        "Were labels changed, or function tags kept? Initialize the component with this data, and make files of 'spacy "
        "init labels' again. A trained one takes more labels: nlp.get_pipe(name).add_labels_of(examples), or "
        "spacy-parsetag.AddLabels.v1 in a config."
    )
    W253 = (
        "{n:,} of {total:,} sentences ({share:.1%}) are left out, because the predicted doc has a sentence boundary "
        "inside them, for example in {example}: a model that scores spans sees one sentence at a time. Take the "
        "component that sets these boundaries out of the annotating components, or train on docs of one sentence."
    )
    W254 = (
        "{share:.0%} of the words in the training data of the component '{name}' are outside all constituents, as if "
        "only some of them were annotated. The parser would learn that nothing else is there. If trees are partial, "
        "mark each such doc, and training sums over all trees that have these constituents: "
        "doc.spans[{key!r}].attrs['partial'] = True. If they are complete, say False."
    )
    W255 = (
        "None of the {n:,} docs to score on has gold constituents in doc.spans[{key!r}]; they have {found}. So the "
        "parser has no score, and the table of a training shows 0. Score on docs of 'parsetag convert', with the "
        "spans_key of the component, and without gold_preproc and max_length, which cut docs; or set scorer = null in "
        "its config, if it is not to be scored."
    )
    W256 = (
        "None of the first {n} docs of a training has constituents in doc.spans[{key!r}]; the last one has {found}. So "
        "the parser learns nothing, and its loss is 0. Train on docs of 'parsetag convert', with the spans_key of the "
        "component. If only other components are to learn, name the parser among frozen_components: otherwise weight "
        "decay shrinks its weights. " + _CUT_DOCS
    )
    W257 = (
        "The component '{name}' has max_stack = {bound}, and there are training trees that need a stack of {largest}. "
        "Such trees it can never find, and TreeLoss learns nothing from them. Write 'train' for the largest stack of "
        "the training trees, or null for no bound."
    )
    W258 = (
        "No score of the component '{name}' has a weight in [training.score_weights], so that it has no part in what "
        "checkpoint is kept, and no column of its own. Its trees are in doc.spans[{key!r}]: set {score} = 1.0 there."
    )
    W259 = (
        "All docs to score on that have constituents in doc.spans[{key!r}], {n:,}, are marked as partial, and partial "
        "trees are not scored. So the parser has no score, and the table of a training shows 0. Score on whole "
        "trees; or set scorer = null in the component's config, if it is not to be scored."
    )
    W260 = (
        "Several components write to doc.spans[{key!r}], where the trees of the last one stay: {names}. "
        "Give each a spans_key of its own, in its config and in its training data; or remove what is not used."
    )
    W261 = (
        "{n:,} of {total:,} docs in the training data of the component '{name}' have no constituents in "
        "doc.spans[{key!r}], and teach nothing. That is right where nobody knows their trees. " + _CUT_DOCS
    )

    W300 = (
        "The extension {owner}._.{name} was registered by something else and stays as it is. To replace it: "
        "spacy_parsetag.tokens.register_extensions(force=True)."
    )

    W450 = (
        "The measures are of trees with the Penn Treebank's labels and tags; what is a word, a tag says. Here are "
        "others: {labels}. Where these are function tags or empty elements, measure what 'parsetag convert' makes of "
        "the files."
    )

    W550 = "The pipeline '{name}' has several parsers ({parsers}). The trees of '{last}', the last one, are taken."
    W551 = (
        "The run of 'parsetag parse' that writes to {path} has not ended, so shards may be missing. If it was stopped, "
        "give the same command again with --resume."
    )
    W600 = (
        "There are no head rules for the language {lang!r}, and those of the Penn Treebank may be wrong for it. Give "
        "rules, {known} or a file: TreeMatcher(heads=...), the setting 'heads' of 'tree_matcher', or search --heads."
    )


class TreebankError(ValueError):
    """One malformed tree in a treebank file.

    path (str): The file, or a name for the stream.
    line (int): Line where the problem shows, from 1.
    reason (str): What is wrong, and what to do.
    """

    def __init__(self, path: str, line: int, reason: str, tree_line: int | None = None) -> None:
        super().__init__(path, line, reason, tree_line)  # its arguments, so that it gets to another process
        self.path = path
        self.line = line
        self.reason = reason
        self.tree_line = line if tree_line is None else tree_line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


class EmptyTree(TreebankError):
    """A tree without a word, as some treebanks write for no parse."""


class NoParse(EmptyTree):
    """A root wrapper with nothing in it, such as `(TOP)`."""

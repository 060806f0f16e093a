"""Every message the package raises, in one place, each with a code that a search finds.

`Errors` holds message templates; raise them as `ValueError(Errors.E001.format(...))`. Malformed treebank input has
exception classes of its own, because callers skip, count and list them:

    TreebankError (ValueError)          file, line and reason of one malformed tree
    └── one subclass per malformation   defined in `spacy_parsetag.treebanks.penn`
"""


class _ErrorsWithCodes(type):
    """Prefix each message with its code when it is read."""

    def __getattribute__(cls, code: str) -> str:
        value: str = super().__getattribute__(code)
        if code.startswith("__"):
            return value
        return f"[{code}] {value}"


class Errors(metaclass=_ErrorsWithCodes):
    # Trees and linearizations: E001 to E099
    E001 = "Not a tree over words: {reason}. Each word needs exactly one part-of-speech node above it."
    E002 = "Constituents do not nest: {first} and {second} cross. Check the source of these spans."
    E003 = "Constituent {span} lies outside the sentence of {n} words."
    E004 = "Not a valid {order}-order tag sequence for {n} words: {reason} at tag {position} ({tag!r})."
    E005 = "{n_tags} tags cannot cover {n_words} words: a tree over N words has 2N-1 tags."
    E006 = "Unknown linearization order {order!r}. Use one of: in, pre, post."
    E007 = "Not a tag: {tag!r}. A tag is l, r, L or R, alone or followed by '/' and a label."
    E008 = (
        "Not a chain of labels: {label!r}. Join labels by '+', none of them empty, with a backslash before each + and "
        "each backslash inside a label."
    )
    E010 = "Cannot write the {what} {text!r} to a bracket file: {reason}. See escape_token and escape_label."
    E011 = "Unknown encoding {encoding!r}. Use one that Python knows, for instance utf-8, latin-1, utf-16."
    E020 = "The table of the order {order!r} is not a lattice of trees: {reason}. See spacy_parsetag.linearize.Lattice."

    # Tags and decoding: E100 to E199
    E100 = "Tag {tag!r} is not in the tag set of {n} tags."
    E101 = "Scores must have shape ({rows}, {tags}), 2N-1 rows for N words; got {shape}."
    E102 = (
        "The score of tag {tag!r} at word {word} is {value}. Scores must be finite, and between -1e300 and 1e300, so "
        "that they can be added up. Was training unstable?"
    )
    E103 = (
        "No tree over {n} words exists within a stack bound of {max_stack} for {order}-order tags with this tag set. "
        "Raise or remove the bound (max_stack=None)."
    )
    E105 = "Tag {tag!r} is given twice; each column of the scores needs a tag of its own."
    E106 = "A batch has one first row and one number of words per sentence; got shapes {rows} and {words}."
    E107 = "Sentence {s} of the batch, {n} words from row {row} on, does not fit into {total} rows of scores."
    E108 = "Tag id {id} at row {row} of a decoder's output is none of the {n} tags."
    E109 = "A decoder's output of {n} rows lacks sentence {s}, which has {words} words from row {row} on."
    E110 = "Scores {name!r} must have shape {expected}; got {shape}."
    E111 = (
        "The transition scores {name!r} must be numbers between -1e300 and 1e300, or -inf, which shuts a pair out; "
        "one is not. Was training unstable?"
    )
    E112 = "A beam keeps 1 to {widest} sequences; got {value!r}. The exact decoder keeps them all."
    E104 = "The bound on the stack must be None or a whole number of at least {least}; got {value!r}."

    # The pipe: E150 to E199
    E150 = (
        "The component '{name}' parses sentence by sentence, and this doc has no sentence boundaries: {text!r}. Add a "
        "component that sets them before it: nlp.add_pipe('sentencizer', before='{name}'), a trained 'senter' or "
        "'parser', or 'one_sentence' if each of your docs is one sentence already."
    )
    E151 = (
        "No constituents in the training data of the component '{name}': no reference doc has doc.spans[{key!r}]. "
        "Convert a treebank with: python -m spacy parsetag convert"
    )
    E152 = "The labels given to the component '{name}' must be a dict with 'tags', as written by 'spacy init labels'."
    E153 = (
        "The component '{name}' was trained with {trained}-order tags, and its linearizer is now {order}-order. "
        "Tag scores mean nothing in another order: train it again, or restore the linearizer."
    )
    E155 = "The component '{name}' was given {part!r}, which is not a {kind}. Registered ones are in the documentation."
    E154 = "Labels of the component '{name}' must be strings; got {label!r}."

    E156 = (
        "The component '{name}' scores {n} tags, a number that is fixed once its model is initialized; these cannot be "
        "added: {tags}. Add labels before training, or train a new component."
    )

    E157 = (
        "The sum over the tag sequences of {n} words is not finite: either scores are no finite numbers (was training "
        "unstable?), or no tree exists within a stack bound of {max_stack}."
    )
    E158 = (
        "The stack bound 'train' stands for the largest stack in the training data, which only the component knows: "
        "use it in the config of 'parsetag', and a number here."
    )
    E163 = (
        "The component '{name}' cannot be loaded from {source}: {problem}. The files are damaged, or were changed "
        "after training."
    )
    E159 = "{what} of the layer must be at least {least}; got {value}."
    E160 = (
        "The schedule Plateau needs a positive initial_rate, warmup_steps of at least 0, a factor between 0 "
        "and 1, and a "
        "patience of at least 1 check."
    )
    E161 = (
        'PlateauLogger found no schedule to tell the score. Set @schedules = "spacy-parsetag.Plateau.v1" in '
        "[training.optimizer.learn_rate], or take another logger."
    )

    E190 = (
        "The component '{name}' takes its vectors from the component '{upstream}' that it was trained with, and this "
        "doc has {found}. Source both, first nlp.add_pipe('{upstream}', source=other), then nlp.add_pipe('{name}', "
        "source=other). If the pipeline has another '{upstream}', give '{name}' a copy of its own before you source "
        "it: other.replace_listeners('{upstream}', '{name}', ['model.tok2vec'])."
    )
    E191 = "Nothing in the training data can be learned by the component '{name}': {problems}"
    E192 = (
        "The compiled module {module} is missing: Python took spacy_parsetag from {folder}, which holds the sources "
        "only. To use the installed package, start Python in another folder than the clone. To use the clone, build it "
        "there: pip install -e ."
    )

    # Scoring: E200 to E249
    E200 = "{path}:{line}: unknown keyword {keyword!r} in a parameter file. Known: {known}."
    E201 = "{path}:{line}: {keyword} takes {expected}; got {value!r}."
    E202 = "Unknown scoring parameters {name!r}: neither one of {known} nor a file."
    E203 = (
        "The {shorter} trees end after {n} sentences, the {longer} trees go on. Scoring compares sentence by sentence: "
        "write (TOP) or pass None where there is no parse."
    )
    E204 = "Gold sentence {n} cannot be scored: {reason}."
    E205 = "{path}:{line}: byte {data} is not valid {encoding}. Say which encoding it is, for instance latin-1."

    # Docs: E300 to E349
    E300 = (
        "The doc has no constituents under doc.spans[{key!r}]; it has: {known}. Run a pipeline with the component "
        "'parsetag', or set them with spacy_parsetag.tokens.set_parses."
    )
    E301 = (
        "Constituents in doc.spans[{key!r}] cross: {first!r} and {second!r}. Of two constituents one must contain the "
        "other, or they must not overlap."
    )
    E302 = (
        "The constituent {text!r} ({label}, tokens {start} to {end}) in doc.spans[{key!r}] does not lie within one "
        "sentence. Check the sentence boundaries (token.is_sent_start) or the spans."
    )
    E303 = (
        "The constituent {label} at tokens {start} to {end} in doc.spans[{key!r}] covers no word: it is empty or only "
        "white space. Remove it."
    )
    E304 = (
        "The spans in doc.spans[{key!r}] are listed bottom-up ({lower!r} stands before {upper!r}, which "
        "contains it), so "
        "which of {chain} is on top, all over {text!r}, cannot be told. List the spans in pre-order: a constituent "
        "before those within it, the top of a unary chain first."
    )
    E305 = (
        "Word {i} of the tree is {word!r}: a spaCy token cannot be empty, and one of white space only is no word of a "
        "parse. Remove it from the tree. Sentence: {sentence!r}."
    )
    E306 = (
        "doc.spans[{key!r}] has format {found}; this version of spacy-parsetag reads formats up to {known}. Update "
        "spacy-parsetag."
    )
    E307 = (
        "{text!r} (tokens {start} to {end}) is neither a constituent, nor a single word, nor a sentence. "
        "{hint} Ask span._.is_constituent first."
    )
    E308 = "A doc can hold whole sentences only: n_sents must be at least 1; got {n}."
    E309 = "{text!r} is white space only: there is no tree over it. Ask span._.is_constituent first."
    E310 = (
        "The tokens of the doc have changed since doc.spans[{key!r}] was written; spaCy does not move span groups when "
        "it merges or splits tokens. Put components that do so, for instance merge_entities, before the parser."
    )
    E311 = "Cannot set the sentence boundaries of {text!r}: the doc has a dependency parse, which has its own."

    # Projects and configs: E250 to E259
    E250 = "{path} exists already. Choose another place, or remove it first."

    # Commands: E350 to E399
    E350 = "Unknown treebank format {name!r}. Known: {known}."
    E351 = "No such file or folder: {path}."
    E352 = "No files named {patterns} below {path}. Say which files to read, for instance --glob '*.txt'."
    E353 = (
        "Cannot read the split {text!r}: {reason}. Write shares, such as train=0.8,dev=0.1,test=0.1, or names of files "
        "or folders, such as train=02..21,dev=22,test=23."
    )
    E354 = "{path} is not a .spacy file that spaCy can read: {reason}."
    E355 = "No trees in {inputs}."
    E356 = "Cannot make a tree of this line: {reason}. Write JSON with order, words, pos and tags, as linearize does."
    E357 = "{path} is neither a folder nor named like one: with several parts or a folder of files, give a folder."
    E358 = "The pipeline {name!r} has no component that sets doc.spans[{key!r}]; it has: {pipes}. Add 'parsetag' to it."
    E360 = "A part of a split cannot be called {name!r}: it becomes the name of a file."
    E361 = "Not a regular expression: {text!r} ({reason})."
    E362 = "{option} needs {needs}."
    E363 = "Two of the files would both become {path}. Convert them one by one, or into one file: OUTPUT.spacy."
    E396 = (
        "{n:,} of {total:,} trees are malformed, more than {share:.1%} of them. Is the format or the encoding "
        "another one? To leave out so many all the same: --max-bad {enough}."
    )
    E397 = "{path}: convert writes OUTPUT.spacy, or a folder, whose name has no suffix such as {suffix}."
    E398 = (
        "The split leaves {part!r} without a tree. Give it more, choose a smaller --split-block (it is {block}), or "
        "leave the part out of --split (--split none for no split)."
    )
    E395 = "{path} is one of the inputs, or written twice. Write to another file, so that nothing is lost."
    E364 = "No doc of {path} has constituents under doc.spans[{key!r}], so there is nothing to score against."

    # Derivations and analyses: E365 to E389
    E366 = "Not the actions of a shift-reduce parser over a {what} tree: {reason} at action {position}."
    E367 = "Not a share of the trees: {share}. Write a number from 0 to 1."
    E368 = "A correlation needs {reason}."
    E369 = "Cannot write a figure to {path}: its name must end in {known}."
    E370 = "Two of the inputs are called {name!r}. Name them apart: NAME=PATH."
    E371 = "{path}: not a table of results: {reason}. Write CSV or JSON with treebank, order, f and deviation."
    E372 = (
        "No mean deviation of treebank {treebank!r} in {order}-order. Give deviations in the table, or those that "
        "`analyze deviation --json` writes, with --deviation."
    )
    E373 = "No doc of {path} has constituents under doc.spans[{key!r}]."
    E374 = "Give one of --json and --csv, not both."

    # Parsing text: E380 to E389
    E380 = "The pipeline failed: {reason}."
    E381 = (
        "The pipeline split this text into {n} sentences, but with --sents line each text is one sentence. Use "
        "--sents model."
    )
    E382 = (
        "A worker process died; it may have run out of memory. Use fewer processes (--n-process) or smaller batches "
        "(--batch-size)."
    )
    E383 = "Cannot tell from the name {path} what to write. Known suffixes: {known}. Or say it with --format."
    E384 = "--n-process must be at least 1, or -1 for one process per core; got {n}."
    E385 = "Not text in UTF-8: {what} at character {position}."
    E386 = "Cannot read this JSON: {reason}."
    E387 = 'Not a text to parse: {reason}. Write {{"text": "..."}} or {{"tokens": [...], "tags": [...]}}.'

    # Formats of treebanks: E390 to E399
    E390 = "Not a clause of the Sinica Treebank: {reason}."
    E391 = "A flat tree takes the words of the gold tree, and gold tree {number} has none."
    E392 = "Bytes {data} are not valid {encoding}. Say which encoding it is, for instance --encoding big5."


class Warnings(metaclass=_ErrorsWithCodes):
    W001 = "The component '{name}' cannot learn from all of its training data: {problems}"
    W002 = (
        "{n:,} of {total:,} sentences ({share:.1%}) are left out, because a constituent begins or ends inside a token "
        "of the tokenizer, for example in {example}. Train on the tokens of the treebank: docs of 'parsetag convert' "
        "have them, unless it was told to detokenize."
    )
    W003 = (
        "{n:,} of {total:,} sentences ({share:.1%}) have tags that the model does not know, for example {example}: "
        "LatticeLoss learns nothing from these, TagLoss only their other tags. Were labels changed, or function tags "
        "kept? Initialize the component with this data, and make files of 'spacy init labels' again."
    )
    W300 = (
        "The extension {owner}._.{name} was registered by something else and stays as it is. To replace it: "
        "spacy_parsetag.tokens.register_extensions(force=True)."
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

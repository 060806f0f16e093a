"""Search in docs: the matcher, the component, heads and base noun phrases on spans."""

import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_parsetag.files.write import STANDARD
from spacy_parsetag.search import Tregex, docs as search_docs
from spacy_parsetag.search.docs import TreeMatcher, columns_of_docs
from spacy_parsetag.texts.search import tabulate
from spacy_parsetag.tokens import doc_to_strings, docs_from_trees, register_extensions
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.brackets import format_tree

RELATIVE = "(NP (NP (NNS papers)) (SBAR (WHNP (WDT that)) (S (VP (VBP bore)))))"
TREES = f"""(TOP (S (NP (DT The) (NN man)) (VP (VBZ reads) {RELATIVE})))
(TOP (S (NP (NP (PRP$ Her) (NN dog) (POS 's)) (NN tail)) (VP (VBZ wags))))
(TOP (FRAG (NP (NNP Kim) (, ,) (CC and) (NNP Lee))))
"""


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def docs(nlp: Language) -> list[Doc]:
    return list(docs_from_trees(nlp.vocab, read_string(TREES)))


@pytest.fixture
def extensions() -> Iterator[None]:
    register_extensions(force=True)
    yield


def test_columns(nlp: Language, docs: list[Doc]) -> None:
    expected = TREES.splitlines()
    together = list(docs_from_trees(nlp.vocab, read_string(TREES), n_sents=3))
    empty = Doc(nlp.vocab)
    for given in (docs, together, [docs[0], empty, Doc(nlp.vocab, words=["a"]), *docs[1:]]):
        columns = columns_of_docs(given).columns
        assert [format_tree(columns.tree(i)) for i in range(len(columns))] == expected
    assert columns_of_docs([empty]).columns.starts.tolist() == columns_of_docs([]).tokens.tolist() == []


def test_many_words(nlp: Language) -> None:
    """More than the table of strings has room for at first: each has one number all the same."""
    words = [f"w{i}" for i in range(9000)]
    doc = Doc(nlp.vocab, words=words * 2, tags=["X"] * 18_000)
    doc.spans["constituents"] = [Span(doc, 0, 18_000, "S")]
    columns = columns_of_docs([doc]).columns
    assert columns.words(0) == words * 2 and len(columns.strings) == len(set(columns.strings))


def test_unusual_docs(nlp: Language, docs: list[Doc]) -> None:
    """Other orders, spans that begin late and unknown tags are read as `parses_from_doc` reads them."""
    doc = Doc(nlp.vocab, words=["She", "\n", "reads"], tags=["PRP", "_SP", ""], pos=["PRON", "SPACE", "VERB"])
    doc.spans["constituents"] = [Span(doc, 2, 3, "VP"), Span(doc, 0, 3, "S")]
    places = columns_of_docs([docs[1], doc])
    trees = [format_tree(places.columns.tree(i)) for i in range(2)]
    assert trees == [TREES.splitlines()[1], "(TOP (S (PRP She) (VP (VERB reads))))"]
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("VP", ["VP"])
    assert [match.span.text for match in matcher(doc)] == ["reads"]
    docs[1].spans["constituents"] = [*docs[1].spans["constituents"], Span(docs[1], 0, 1)]
    with pytest.raises(ValueError, match=r"\[E305\].*'Her'.*has no label"):
        matcher(docs[1])
    with docs[0].retokenize() as retokenizer:
        retokenizer.split(docs[0][1], ["m", "an"], heads=[(docs[0][1], 0), (docs[0][1], 1)])
    with pytest.raises(ValueError, match="tokens of the doc have changed"):
        matcher(docs[0])


def test_white_space(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """Docs that are read at once have the columns of their parses, wherever white space or a sentence of it is."""
    choose = random.Random(0).choice
    [tree] = read_string("(S (NP (DT The) (NN man)) (VP (VBZ reads) (NP (NNS papers))))")
    at_once = 0
    for _ in range(100):
        docs = []
        for _ in range(3):
            words: list[str] = []
            starts: list[bool] = []
            spans: list[tuple[int, int, str]] = []
            for _ in range(choose([1, 2])):
                tokens = []
                for word in Parse.from_tree(tree).words:
                    space = choose([[], [], ["\n"], [" ", "\n\n"]])
                    starts += [choose([not tokens, False]) for _ in space] + [not tokens]
                    tokens.append(len(words) + len(space))
                    words += [*space, word]
                constituents = Parse.from_tree(tree).spans
                spans += [(tokens[start], tokens[end - 1] + 1, label) for start, end, label in constituents]
            doc = Doc(nlp.vocab, words=words, tags=["X"] * len(words), sent_starts=starts)
            doc.spans["constituents"] = [Span(doc, *span) for span in spans]
            doc.user_data["id"] = choose(["a", [f"{i}" for i in range(len(doc_to_strings(doc)))]])
            docs.append(doc)
        found = columns_of_docs(docs)
        with monkeypatch.context() as patch:
            at_once += search_docs._read_at_once([(1, docs[0])], "constituents", None, "id") is not None
            patch.setattr(search_docs, "_read_at_once", lambda *args: None)
            expected = columns_of_docs(docs)
        assert found.tokens.tolist() == expected.tokens.tolist()
        assert (found.columns.line == expected.columns.line).all() and found.columns.ids == expected.columns.ids
        trees = [[columns.tree(i) for i in range(len(columns))] for columns in (found.columns, expected.columns)]
        assert trees[0] == trees[1]
    assert at_once == 100


def test_tokens_that_were_merged_and_split(nlp: Language) -> None:
    """As many tokens as before, and each constituent ends where it ended: one begins within a word that was split."""
    [doc] = docs_from_trees(nlp.vocab, read_string("(TOP (S (DT The) (NN man) (VP (VBZ rereads) (NNS papers))))"))
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("VP", ["VP"])
    assert [match.span.text for match in matcher(doc)] == ["rereads papers"]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.split(doc[2], ["re", "reads"], heads=[(doc[2], 0), (doc[2], 1)])
    with pytest.raises(ValueError, match="tokens of the doc have changed"):
        matcher(doc)


def test_sentences_in_another_order(nlp: Language) -> None:
    """Constituents are those of the sentence that they are in, wherever the group has them."""
    starts = [True, False, True, False]
    doc = Doc(nlp.vocab, words=["She", "reads", "Kim", "sings"], tags=["PRP", "VBZ", "NNP", "VBZ"], sent_starts=starts)
    doc.spans["constituents"] = [
        Span(doc, 2, 4, "SQ"),
        Span(doc, 2, 3, "NP"),
        Span(doc, 0, 2, "S"),
        Span(doc, 1, 2, "VP"),
    ]
    columns = columns_of_docs([doc]).columns
    expected = ["(TOP (S (PRP She) (VP (VBZ reads))))", "(TOP (SQ (NP (NNP Kim)) (VBZ sings)))"]
    assert [format_tree(columns.tree(i)) for i in range(2)] == doc_to_strings(doc) == expected


def test_sentences_of_a_hook_and_groups_of_a_later_version(nlp: Language) -> None:
    """Trees are those of the sentences that `doc.sents` gives, and of no group that this version cannot read."""
    doc = Doc(nlp.vocab, words=["She", "reads"], tags=["PRP", "VBZ"], sent_starts=[True, False])
    doc.user_hooks["sents"] = lambda doc: (doc[i : i + 1] for i in range(2))
    doc.spans["constituents"] = [Span(doc, 0, 1, "NP"), Span(doc, 1, 2, "VP")]
    columns = columns_of_docs([doc]).columns
    expected = ["(TOP (NP (PRP She)))", "(TOP (VP (VBZ reads)))"]
    assert [format_tree(columns.tree(i)) for i in range(len(columns))] == doc_to_strings(doc) == expected
    del doc.user_hooks["sents"]
    doc.spans["constituents"].attrs["format"] = 2
    with pytest.raises(ValueError, match=r"^\[E306\]"):
        columns_of_docs([doc])


def test_matcher(nlp: Language, docs: list[Doc]) -> None:
    matcher = TreeMatcher(nlp.vocab)
    assert not len(matcher) and matcher(docs[0]) == []
    matcher.add("RELATIVE", ["NP < (SBAR=clause < WHNP=wh)", "NP !< __ < __"])
    matcher.add("COORDINATE", ["NP=np < CC ?< NNS=none"])
    assert len(matcher) == 2 and "RELATIVE" in matcher and "X" not in matcher
    found = dict(enumerate(matches for _, matches in matcher.pipe(docs, batch_size=2)))
    ((label, span, names),) = found[0]
    assert (label, span.label_, span.text) == ("RELATIVE", "NP", "papers that bore")
    assert {name: (each.text, each.label_) for name, each in names.items()} == {
        "clause": ("that bore", "SBAR"),
        "wh": ("that", "WHNP"),
    }
    assert found[1] == [] and [list(match.names) for match in found[2]] == [["np"]]
    assert matcher(docs[0])[0].span == span
    assert matcher.match(iter(docs)) == list(found.values()) and len(list(matcher.spans(iter(docs)))) == 5
    matcher.remove("RELATIVE")
    assert matcher(docs[0]) == []
    with pytest.raises(ValueError, match="No patterns have the key 'RELATIVE'"):
        matcher.remove("RELATIVE")
    matcher.add(1, ["NP"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Known: COORDINATE, 1"):
        matcher.remove("zz")
    with pytest.raises(ValueError, match="come as a list"):
        matcher.add("X", "NP")
    with pytest.raises(ValueError, match="come as a list"):
        matcher.add("X", [["NP"]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="come as a list"):
        matcher.add("X", None)  # type: ignore[arg-type]
    matcher.add("G", (label for label in ("NP", "VP")))
    assert matcher.patterns["G"] == ["NP", "VP"]
    matcher.remove("G")
    with pytest.raises(ValueError, match="Not a Tregex pattern"):
        matcher.add("X", ["NP <"])
    assert "X" not in matcher


def test_what_is_no_doc(nlp: Language, docs: list[Doc]) -> None:
    matcher = TreeMatcher(nlp.vocab)
    for search in (lambda: matcher("She sings."), lambda: matcher.match(docs[0]), lambda: list(matcher.pipe(["She"]))):
        with pytest.raises(ValueError, match=r"\[E612\].*got a (str|Token)\."):
            search()


def test_several_patterns_of_a_key(nlp: Language, docs: list[Doc]) -> None:
    """Their matches are in the order of the text, and equal ones come once."""
    pipe = nlp.add_pipe("tree_matcher", config={"patterns": {"K": ["VP", "NP", "NP < DT=d", "NP <, DT=d", "NP < NN"]}})
    expected = [("The man", ["The"]), ("reads papers that bore", []), ("papers that bore", []), ("papers", [])]
    expected = [("The man", []), *expected, ("bore", [])]
    matches = pipe.matcher(docs[0])
    assert [(match.span.text, [each.text for each in match.names.values()]) for match in matches] == expected
    texts = [text for match, names in expected for text in (match, *names)]
    assert [span.text for span in pipe(docs[0]).spans["tree_matches"]] == texts


def test_a_word_that_is_called_as_the_root_is(nlp: Language) -> None:
    [doc] = docs_from_trees(nlp.vocab, read_string("(TOP (S (NP (DT the) (NN TOP)) (VP (VBZ is) (NP (NN TOP)))))"))
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("TOP", ["__ < TOP"])
    assert [match.span.start for match in matcher(doc)] == [1, 3]
    columns = columns_of_docs([doc]).columns
    for pattern, name, n in (("NN < __=word", "word", 2), ("TOP", "match", 3)):
        tregex = Tregex(pattern)
        assert tabulate(columns, tregex.matches(columns), (name,), tregex.rules, STANDARD) == {("TOP",): n}


def test_matches_in_a_span(nlp: Language) -> None:
    (doc,) = docs_from_trees(nlp.vocab, read_string(TREES), n_sents=3)
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("NP", ["NP"])
    in_sentences = [[match.span.text for match in matcher(sent)] for sent in doc.sents]
    assert in_sentences[1] == ["Her dog 's tail", "Her dog 's"]
    assert [text for texts in in_sentences for text in texts] == [match.span.text for match in matcher(doc)]
    assert [match.span.text for match in matcher(doc[3:5])] == ["papers"]
    assert matcher(doc[0:0]) == []


def test_dollars_in_a_config(tmp_path: Path) -> None:
    """Each time that a config is saved, a "$" in it becomes two, which loading leaves."""
    patterns = {"A": ["NP $+ VP", "NP $-- (/^PRP\\$$/ $ NN)"]}
    nlp = spacy.blank("en")
    nlp.add_pipe("tree_matcher", config={"patterns": patterns})
    for i in range(3):
        nlp.to_disk(tmp_path / str(i))
        nlp = spacy.load(tmp_path / str(i))
        assert nlp.get_pipe("tree_matcher").matcher.patterns == patterns


@pytest.mark.parametrize("key", ["nsubj:pass", "A=B", "", " A", ";A", "[A]"])
def test_keys_that_a_config_file_cannot_hold(nlp: Language, key: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\[E276\].*add_patterns") as caught:
        nlp.add_pipe("tree_matcher", config={"patterns": {key: ["NP"]}})
    assert repr(key) in str(caught.value)
    nlp.add_pipe("tree_matcher").add_patterns([{"label": key, "pattern": "NP"}])
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("tree_matcher").matcher.patterns == {key: ["NP"]}


def test_component(nlp: Language, docs: list[Doc], tmp_path: Path) -> None:
    pipe = nlp.add_pipe("tree_matcher", config={"patterns": {"OBJECT": ["VP < /^VB/=verb < NP=object"]}})
    pipe.add_patterns([{"label": "WH", "pattern": "/^WH/"}])
    for row in ({"label": "X"}, {"label": "X", "pattern": [{"LOWER": "x"}]}, "X"):
        for add in (pipe.add_patterns, lambda rows: pipe.initialize(patterns=rows)):
            with pytest.raises(ValueError, match=r"\[E275\].*'label': 'OBJECT'") as caught:
                add([row])
            assert repr(row) in str(caught.value)
    assert pipe.labels == ("OBJECT", "WH")
    found = [[(span.label_, span.text) for span in doc.spans["tree_matches"]] for doc in pipe.pipe(docs)]
    assert found[0] == [
        ("OBJECT", "reads papers that bore"),
        ("OBJECT.verb", "reads"),
        ("OBJECT.object", "papers that bore"),
        ("WH", "that"),
    ]
    assert found[1:] == [[], []]
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert loaded.get_pipe("tree_matcher").labels == pipe.labels
    again = loaded(Doc(loaded.vocab).from_bytes(docs[0].to_bytes()))
    assert [(span.label_, span.text) for span in again.spans["tree_matches"]] == found[0]
    assert pipe.from_bytes(pipe.to_bytes()).labels == pipe.labels
    with pytest.raises(ValueError, match="Not a Tregex pattern"):
        pipe.from_bytes(pipe.to_bytes().replace(b"/^WH/", b"NP < "))
    assert pipe.labels == ("OBJECT", "WH")
    # Initialized again, as in a notebook: each pattern counts once.
    rows = [{"label": "WH", "pattern": "/^WH/"}, {"label": "NP", "pattern": "NP"}]
    for _ in range(2):
        pipe.initialize(patterns=rows)
    assert pipe.matcher.patterns["WH"] == ["/^WH/"] and pipe.matcher.patterns["NP"] == ["NP"]


@pytest.mark.parametrize("from_file", [False, True])
def test_patterns_in_the_initialize_section(nlp: Language, from_file: bool, tmp_path: Path) -> None:
    """As a training reads them."""
    pipe = nlp.add_pipe("tree_matcher", config={"patterns": {"A": ["NP"]}})
    nlp.initialize()
    rows = [{"label": "B", "pattern": "VP"}, {"label": "B", "pattern": "PP"}]
    srsly.write_jsonl(tmp_path / "rows.jsonl", rows)
    reader = {"@readers": "srsly.read_jsonl.v1", "path": str(tmp_path / "rows.jsonl")}
    nlp.config["initialize"]["components"]["tree_matcher"] = {"patterns": reader if from_file else rows}
    nlp.initialize()
    assert pipe.matcher.patterns == {"A": ["NP"], "B": ["VP", "PP"]}
    for row in ({"label": "X", "pattern": [{"LOWER": "x"}]}, 3):
        nlp.config["initialize"]["components"]["tree_matcher"] = {"patterns": [row]}
        with pytest.raises(ValueError, match=r"\[E275\].*'label': 'OBJECT'"):
            nlp.initialize()


def test_own_head_rules_are_saved(nlp: Language, docs: list[Doc], tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("*: left\nNP: left DT\n", encoding="utf-8")
    config = {"patterns": {"DT": ["DT >#NP"]}, "heads": str(rules)}
    pipe = nlp.add_pipe("tree_matcher", config=config)
    nlp.to_disk(tmp_path / "nlp")
    rules.unlink()
    other = spacy.blank("en").add_pipe("tree_matcher", config=config)
    with pytest.raises(ValueError, match=r"\[E607\].*rules.txt"):
        other(docs[0])
    for loaded in (spacy.load(tmp_path / "nlp").get_pipe("tree_matcher"), other.from_bytes(pipe.to_bytes())):
        again = loaded.from_bytes(loaded.to_bytes())(Doc(loaded.matcher.vocab).from_bytes(docs[0].to_bytes()))
        assert [span.text for span in again.spans["tree_matches"]] == ["The"]
    # Where the config names no rules, the saved ones come along, time and again.
    default = spacy.blank("en").add_pipe("tree_matcher").from_bytes(pipe.to_bytes())
    assert default.from_bytes(default.to_bytes()).matcher.rules.text == pipe.matcher.rules.text
    # Rules that the config names count, and are saved as such.
    penn = spacy.load(tmp_path / "nlp", config={"components.tree_matcher.heads": "penn"})
    penn.to_disk(tmp_path / "penn")
    for loaded in (penn, spacy.load(tmp_path / "penn")):
        again = loaded.get_pipe("tree_matcher")(Doc(loaded.vocab).from_bytes(docs[0].to_bytes()))
        assert not again.spans["tree_matches"]


@pytest.mark.parametrize("copied", [lambda pipe: pickle.loads(pickle.dumps(pipe)), deepcopy])
def test_copies(nlp: Language, docs: list[Doc], copied: Callable[[Any], Any]) -> None:
    """A pipe that has been at work finds the same in another process, and as a copy."""
    pipe = nlp.add_pipe("tree_matcher", config={"patterns": {"OBJECT": ["VP < /^VB/=verb < NP=object", "NP=x < =x"]}})
    expected = [span.text for span in pipe(docs[0]).spans["tree_matches"]]
    del docs[0].spans["tree_matches"]
    assert [span.text for span in copied(pipe)(docs[0]).spans["tree_matches"]] == expected and len(expected) == 3


def test_docs_of_several_vocabularies(docs: list[Doc]) -> None:
    """Each string is looked up where it is known."""
    [other] = docs_from_trees(spacy.blank("en").vocab, read_string("(TOP (S (NP (NNP Zoe)) (VP (VBZ yodels))))"))
    matcher = TreeMatcher(docs[0].vocab)
    matcher.add("VERB", ["VP < /^VB/=verb"])
    found = matcher.match([docs[1], other])
    assert [[match.names["verb"].text for match in matches] for matches in found] == [["wags"], ["yodels"]]


def test_docs_without_constituents(nlp: Language, docs: list[Doc]) -> None:
    """Nothing was parsed, which is something else than nothing was found; an error takes only the doc that has it."""
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("NP", ["NP"])
    assert matcher(Doc(nlp.vocab)) == []
    bare = Doc(nlp.vocab, words=["Rain"])
    with pytest.raises(ValueError, match=r"E300.*'parsetag'"):
        matcher(bare)
    pipe = nlp.add_pipe("tree_matcher", config={"patterns": {"NP": ["NP"]}})
    with pytest.raises(ValueError, match="E300"):
        nlp("Rain")
    with pytest.raises(ValueError, match="E300"):
        list(pipe.pipe([docs[0], bare]))
    failed: list[Doc] = []
    pipe.set_error_handler(lambda name, pipe, docs, err: failed.extend(docs))
    assert list(pipe.pipe([docs[0], bare, docs[1]])) == [docs[0], docs[1]] and failed == [bare]


def test_heads_and_base_nps(docs: list[Doc], extensions: None) -> None:
    heads = {span.text: span._.head.text for doc in docs for span in doc._.constituents}
    assert heads["The man reads papers that bore"] == "reads" and heads["papers that bore"] == "papers"
    assert heads["that bore"] == "that" and heads["Her dog 's tail"] == "tail" and heads["Her dog 's"] == "'s"
    assert heads["Kim , and Lee"] == "Kim" and heads["The man"] == "man"
    bases = [[span.text for span in doc._.base_nps] for doc in docs]
    assert bases == [["The man", "papers"], ["Her dog 's tail"], ["Kim , and Lee"]]


def test_base_nps_of_possessors(extensions: None) -> None:
    """A possessor is one of its own where the phrase around it has another noun phrase, and is none itself."""
    effort = "(NP (NP (NNP Sony) (POS 's)) (NN effort) (S (VP (TO to) (VP (VB hire) (NP (NNS producers))))))"
    nested = "(NP (NP (NP (PRP$ her) (NN dog) (POS 's)) (NN tail) (POS 's)) (NN end))"
    docs = docs_from_trees(spacy.blank("en").vocab, read_string(f"(TOP {effort})(TOP (S {nested} (VP (VBD hurt))))"))
    assert [[span.text for span in doc._.base_nps] for doc in docs] == [
        ["Sony 's", "producers"],
        ["her dog 's tail 's end"],
    ]


def test_heads_of_chinese(extensions: None) -> None:
    """By the rules of their own treebank."""
    [doc] = docs_from_trees(
        spacy.blank("zh").vocab, read_string("(TOP (IP (NP (NR 上海) (NN 浦东)) (VP (AD 很) (VA 大))))")
    )
    assert [doc[:]._.head.text, doc[2:]._.head.text] == ["大", "大"]
    matcher = TreeMatcher(doc.vocab)
    matcher.add("HEAD", ["IP <<# (__=head !< __)"])
    [match] = matcher(doc)
    assert match.names["head"].text == "大"
    pipe = spacy.blank("zh").add_pipe("tree_matcher", config={"patterns": {"HEAD": ["IP <<# VA"]}})
    assert [(span.start, span.end) for span in pipe(doc).spans["tree_matches"]] == [(0, 4)]


def test_a_language_without_head_rules(extensions: None) -> None:
    [doc] = docs_from_trees(spacy.blank("de").vocab, read_string("(TOP (S (NP (NE Kim)) (VP (VVFIN singt))))"))
    with pytest.warns(UserWarning, match="W600.*'de'"):
        assert doc[:]._.head.text == "singt"
    matcher = TreeMatcher(doc.vocab)
    with pytest.warns(UserWarning, match="W600"):
        matcher.add("HEAD", ["S <# VP"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matcher.add("CHILD", ["S < VP"])
        TreeMatcher(doc.vocab, heads="penn").add("HEAD", ["S <# VP"])

"""The tools that make silver trees: text from its sources, and trees from a teacher."""

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Corpus
from tiny import make_examples, make_nlp, train

from spacy_parsetag.tokens.groups import SPANS_KEY
from spacy_parsetag.trees import Parse
from tools import texts
from tools.english import Sentence, vary, write
from tools.silver import Silver, cut, grams, main, make_soft_doc, marks_of, read_sentences, silver_runs, silver_trees

MASC = "She_PRP did_VBD n't_RB go_VB ._. \nHe_PRP paid_VBD $_$ 5_CD ._.\n\nA_DT new_JJ paragraph_NN"
CNXML = """<document xmlns="http://cnx.rice.edu/cnxml"><metadata><para>No.</para></metadata><content>
<para>Cells are <term>small</term> (<link target-id="f"/>).</para><section><title>No</title><para>They
grow.<footnote>No.</footnote></para><list><item>No</item></list></section></content></document>"""


def plain(*words: str) -> Sentence:
    return Sentence(Parse(words, ("X",) * len(words), ()), [True] * len(words))


def test_text_of_sources(tmp_path: Path) -> None:
    masc, book = tmp_path / "masc_tagged" / "spoken", tmp_path / "modules" / "m1"
    for folder in (masc, book):
        folder.mkdir(parents=True)
    (masc / "x.txt").write_text(MASC)
    (masc / "wsj_0001.txt").write_text(MASC)
    (book / "index.cnxml").write_text(CNXML)
    assert list(texts.read_masc(tmp_path)) == [["She didn't go. He paid $5.", "A new paragraph"]]
    assert list(texts.read_openstax(tmp_path)) == [["Cells are small.", "They grow."]]
    pages = [
        "P R O C E E D I N G S\n(10:00 a.m.)\n1\nMR. DOE: We say\n2\n3 no -- maybe.",
        "JUSTICE ROE: Why?\nwas submitted",
    ]
    assert texts.spoken_turns(pages) == ["We say 3 no – maybe.", "Why?"]


def test_a_source_is_fetched_at_its_commit(tmp_path: Path) -> None:
    origin = tmp_path / "someone" / "data"
    origin.mkdir(parents=True)
    git = ["git", "-C", str(origin), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    commits = []
    for text in ("free", "not free"):
        (origin / "data_1.json").write_text(text)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", text], check=True)
        done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, text=True, capture_output=True)
        commits.append(done.stdout.strip())
    source = texts.Source("someone/data", commits[0], "data_1.json", "CC BY", 10, texts.read_taskmaster)
    texts.fetch(source, tmp_path / "got", tmp_path.as_uri())
    assert (tmp_path / "got" / "data_1.json").read_text() == "free"


def test_sentences_of_text(tmp_path: Path) -> None:
    """What is no prose, comes twice, or is in a treebank is left out."""
    treebank = "We hold these truths to be self-evident, that all are created equal."
    (tmp_path / "a.txt").write_text(f"She reads. She reads. 12 13 14 = 5.\n\n{treebank} He sings.\n")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    counts: Counter[str] = Counter()
    excluded = {hash(gram) for gram in grams(f"Once more: {treebank.lower()}")}
    (found,) = read_sentences(sorted(tmp_path.glob("*.txt")), nlp, excluded, counts)
    assert [sentence.parse.words for sentence in found] == [("She", "reads", "."), ("He", "sings", ".")]
    assert found[0].spaces == [True, False, True] and found[0].paragraph and not found[1].paragraph
    assert counts == {"read": 2, "twice": 1, "no prose": 1, "in a treebank": 1}


def test_sentences_that_are_scored(tmp_path: Path) -> None:
    """They are known by their letters, and longer ones by eight words, wherever they are cut; their documents stay."""
    scored = ["So we say!", "One two three four five six seven eight nine."]
    (tmp_path / "a.txt").write_text(f"SO – we say? She sings. Zero {scored[1].lower()} So we say yes.\n\n" * 3)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    write(list(nlp.pipe(scored)), tmp_path / "scored.spacy")
    counts: Counter[str] = Counter()
    (found,) = read_sentences(sorted(tmp_path.glob("*.txt")), nlp, set(), counts, marks_of([tmp_path / "scored.spacy"]))
    assert [sentence.parse.words[1] for sentence in found] == ["sings", "we"]
    assert counts == {"read": 2, "held out": 2, "twice": 8}


@pytest.mark.parametrize("written", ["don't", "do n't", "Don’t", "DO N’T"])
@pytest.mark.parametrize("going", ["gonna", "gon na", "Gon na"])
@pytest.mark.parametrize("can", ["cannot", "can not"])
def test_words_as_treebanks_cut_them(written: str, going: str, can: str) -> None:
    """A sentence is the same whether its words are together, as in texts, or apart, as in treebanks."""
    same = set(grams(f"I {written} think we are {going} say what one {can} know ."))
    assert same == set(grams("I don't think we are gonna say what one cannot know"))
    assert same == {
        "i dont think we are gonna say what",
        "dont think we are gonna say what one",
        "think we are gonna say what one cannot",
        "we are gonna say what one cannot know",
    }
    assert set(grams("He wants a gown na and can not a note be seen")) > {"he wants a gown na and cannot a"}


def test_documents_of_a_treebank(tmp_path: Path) -> None:
    """Where three sentences are in a treebank, the whole document is: also what there is too short to be known."""
    speech = [
        f"Number {word} of the things that we say here today is long." for word in ("one", "two", "three", "four")
    ]
    excluded = {hash(gram) for text in speech for gram in grams(text)}
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    (tmp_path / "a.txt").write_text(f"{speech[0]} Thank you.\n\n{speech[1]}\n\nGood night. {speech[2]}\n")
    (tmp_path / "b.txt").write_text(f"{speech[0]} He sings.\n\n{speech[1]} She reads.\n")
    counts: Counter[str] = Counter()
    (found,) = read_sentences(sorted(tmp_path.glob("*.txt")), nlp, excluded, counts)
    assert [sentence.parse.words for sentence in found] == [("He", "sings", "."), ("She", "reads", ".")]
    assert counts == {"documents of a treebank": 1, "in a treebank": 2, "read": 2}


@pytest.fixture(scope="module")
def teacher() -> Language:
    nlp = make_nlp(probs=True, k_best=3)
    train(nlp, make_examples(nlp), steps=30)
    return nlp


def test_trees_of_the_teacher(tmp_path: Path, teacher: Language) -> None:
    """The docs hold its k best trees, also where words were changed, and a pipeline can learn them."""
    words = ("She", "enjoys", "reading", "papers", ".")
    counts: Counter[str] = Counter()
    assert silver_trees(teacher, [plain(*words)], 1.1, counts) == [None] and counts["unsure"] == 1
    long = ("Rain", "Rain", "Rain", "Rain", "Rain", "Rain")
    silver, none = silver_trees(teacher, [plain(*words), plain(*long)], 0.0, counts)
    assert none is None and counts["no verb"] == 1 and counts["words"] == 5
    assert isinstance(silver, Silver)
    assert [list(span) for span in silver.parse.spans] == silver.k_best[0][1]
    rng = random.Random(0)
    docs = [make_soft_doc(teacher, run, rng) for run in silver_runs([[silver] * 20], rng)]
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "silver.spacy")
    examples = list(Corpus(tmp_path / "silver.spacy")(make_nlp()))
    assert sum(len(eg.reference.spans[SPANS_KEY].attrs["k_best"]) for eg in examples) == 20
    assert train(make_nlp(), examples, steps=3)["parsetag"] > 0
    assert all(token.tag_ for token in docs[0])
    assert not any(token.tag_ for token in make_soft_doc(teacher, [silver], rng, tags=False))


def test_a_teacher_of_another_language(tmp_path: Path, teacher: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that holds of English tags is asked of it, and there may be no treebank to leave out."""
    teacher.to_disk(tmp_path / "en")
    spacy.load(tmp_path / "en", config={"nlp.lang": "nl"}).to_disk(tmp_path / "nl")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(
        "Een twee drie vier vijf zes zeven\n\nAcht negen tien elf twaalf dertien\n"
    )
    options = ["--splitter", tmp_path / "nl", "--expected-f", 0]
    words = ["silver", tmp_path / "nl", tmp_path / "texts", tmp_path / "out", *options]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    main()
    with pytest.raises(SystemExit, match=r"has the language en, and the teacher nl: give a --splitter"):
        monkeypatch.setattr(sys, "argv", [*map(str, words), "--splitter", str(tmp_path / "en")])
        main()
    with pytest.raises(SystemExit, match=r"texts has no b\.txt or c\*\."):
        monkeypatch.setattr(sys, "argv", [*map(str, words), "--files", "b.txt", "c*"])
        main()
    docs = list(DocBin().from_disk(tmp_path / "out" / "silver-000.spacy").get_docs(teacher.vocab))
    assert sum(len(doc.spans[SPANS_KEY].attrs["k_best"]) for doc in docs) == 2
    assert not any(doc.user_data["mended"] for doc in docs)


def test_variants_keep_all_trees() -> None:
    trees = [[-0.1, [[0, 3, "S"], [1, 2, "VP"]]], [-2.0, [[0, 3, "S"], [2, 3, "X"]]]]
    parsed = Parse(("She", "reads", "."), ("PRP", "VBZ", "."), ())
    silver = Silver(parsed, [True, False, True], k_best=trees)
    variants = [cut(silver, vary(silver, random.Random(seed), ('"', '"'), "'", "-")) for seed in range(100)]
    assert {len(variant.parse) for variant in variants} == {2, 3}
    for variant in variants:
        if len(variant.parse) == 3:
            assert variant.k_best == trees
        else:
            assert variant.k_best == [[-0.1, [[0, 2, "S"], [1, 2, "VP"]]], [-2.0, [[0, 2, "S"]]]]

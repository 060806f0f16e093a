"""The synthetic treebank: the same everywhere, no sentence twice, valid trees, natural lengths, every construction."""

import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from nltk import Tree

from spacy_parsetag.treebanks.penn import read_trees
from spacy_parsetag.trees import Parse, from_nltk
from tools.synthetic import DATA, generate, write_parts
from tools.synthetic.grammar import read_grammar

ROOT = Path(__file__).resolve().parent.parent.parent

N_SAMPLE = 2500
# A change of grammar, lexicon or sampler changes these: then figures measured on the treebank are to be taken anew.
FIRST_LINES = 50
FIRST_LINES_SHA256 = "edaa75d04ac43d9c34007988caf9f41acc369a6fd4c7e3db28abad4a5e22d1a4"

LABELS = "ADJP ADVP CONJP FRAG INTJ NML NP NX PP PRN PRT QP S SBAR SBARQ SINV SQ TOP UCP VP WHADJP WHADVP WHNP WHPP X"
TAGS = (
    "$ '' , -LRB- -RRB- . : CC CD DT EX IN JJ JJR JJS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB ``"
)

# Each construction that the documentation names, as a pattern over a tree's line.
CONSTRUCTIONS = {
    "coordination of noun phrases": r"\(NP \(NP .*\) \(CC and\) \(NP ",
    "coordination of verb phrases": r"\(VP \(VP .*\) \(CC and\) \(VP ",
    "coordination of sentences": r"\(S \(S .*\) \(CC (and|but|or)\) \(S ",
    "coordination of adjectives": r"\(ADJP \(JJ [^()]+\) \(CC and\) \(JJ ",
    "coordination of prepositional phrases": r"\(PP \(PP .*\) \(CC and\) \(PP ",
    "coordination of unlikes": r"\(UCP ",
    "flat coordination of nouns": r"\(NP (\(JJ [^()]+\) )?\(NNS [^()]+\) \(CC and\) \(NNS ",
    "conjunction of several words": r"\(CONJP \(RB as\) \(RB well\) \(IN as\)\)",
    "subject relative clause": r"\(SBAR \(WHNP \(W(P who|DT that|DT which)\)\) \(S \(VP ",
    "object relative clause": r"\(SBAR \(WHNP \(WDT that\)\) \(S \(NP ",
    "relative clause without a relativiser": r"\(NP \(NP [^()]*\([^()]*\) \(NNS? [^()]+\)\) \(SBAR \(S \(NP ",
    "reduced relative clause": r"\(NP \(NP .*\) \(VP \(VBN ",
    "relative clause with a preposition": r"\(SBAR \(WHPP \(IN [a-z]+\) \(WHNP ",
    "prepositional phrase of a noun": r"\(NP \(NP .*\) \(PP ",
    "prepositional phrase of a verb": r"\(VP \(VB[DZP] [^()]+\) \(NP \(DT [^()]+\) \(NN [^()]+\)\) \(PP ",
    "two objects": r"\(VP \(VB[DZ]? (gave|gives|give|sent|told)\) \(NP \([^()]+\)\) \(NP ",
    "particle before its object": r"\(PRT \(RP [a-z]+\)\) \(NP ",
    "particle after its object": r"\(VB[A-Z]? [^()]+\) \(NP \([^()]+\)\) \(PRT ",
    "clause without a complementiser": r"\(VB[A-Z]? [^()]+\) \(SBAR \(S \(NP ",
    "raising": r"\((VBD seemed|VBZ seems|VBP seem)\) \(S \(VP \(TO to\)",
    "control by the object": r"\(VB[A-Z]? (persuaded?|asked|told|forced?)\) \(NP [^\n]*?\)\) \(S \(VP \(TO to\)",
    "infinitive with a subject": r"\(VB[A-Z]? (wants?|wanted|expects?|expected)\) \(S \(NP ",
    "small clause": r"\(S \(NP [^\n]*?\) \(ADJP ",
    "passive": r"\(VP \(VB[DZP] (was|were|is|are)\) .*\(VP \(VBN ",
    "passive with its agent": r"\(VP \(VBN [^()]+\) \(PP \(IN by\)",
    "perfect": r"\(VP \((VBD had|VBZ has|VBP have)\) \(VP \(VBN ",
    "negation": r"\(RB (not|n't)\) \(VP ",
    "nested compound": r"\(NP .*\(NML \(NN [^()]+\) \(NN [^()]+\)\)",
    "flat compound": r"\(NP (\(DT [^()]+\) )?\(NN [^()]+\) \(NN ",
    "shared determiner": r"\(NX \(NX ",
    "apposition": r"\(NP \(NP .*\) \(, ,\) \(NP ",
    "parenthesis": r"\(PRN \(-LRB- -LRB-\) .* \(-RRB- -RRB-\)\)",
    "quotation with inversion": r"\(SINV \(`` ``\) \(S .*\) \(, ,\) \('' ''\) \(VP \(VB[DZ] [^()]+\)\) \(NP ",
    "quotation without inversion": r"\(S \(`` ``\) \(S .*\) \(, ,\) \('' ''\) \(NP ",
    "inversion after an adverb": r"\(SINV \(ADVP \(RB (Never|Rarely|Seldom)\)\) \(VBD had\)",
    "yes-no question": r"\(TOP \(SQ ",
    "question for the subject": r"\(SBARQ \(WHNP \(WP Who\)\) \(SQ \(VP ",
    "question for the object": r"\(SBARQ \(WHNP .*\) \(SQ \((VBD|VBZ|VBP|MD) [^()]+\) \(NP ",
    "command": r"\(TOP \(S \(VP \(VB [A-Z]",
    "headline": r"\(TOP \(S \(NP .*\)\)\)$",
    "fragment": r"\(TOP \(FRAG ",
    "money": r"\(NP \(QP \(\$ \$\) \(CD [\d.]+\) \(CD [a-z]+\)\)\)",
    "percentage": r"\(NP \(CD [\d.]+\) \(NN %\)\)",
    "measured number": r"\(QP \(JJR more\) \(IN than\) \(CD ",
    "date": r"\(NP \(NNP [A-Z][a-z]+\.?\) \(CD \d+\)",
    "existential": r"\(NP \(EX (t|T)here\)\) \(VP ",
    "extraposition": r"\(NP \(PRP [iI]t\)\) \(VP \(VB[DZ] [^()]+\) \(ADJP .*\) \(SBAR \(IN that\)",
    "unary chain of clause and verb phrase": r"\(S \(VP \(VB[A-Z]? [^()]+\)\)\)",
    "unary chain of three": r"\(SBAR \(S \(VP ",
    "adverb before the verb": r"\(VP \(ADVP \(RB [^()]+\)\) \(VB",
    "dash": r"\(: --\)",
    "semicolon": r"\(: ;\)",
    "colon": r"\(: :\)",
}


def format_tree(tree: Tree) -> str:
    return tree.pformat(margin=10**6)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return [format_tree(tree) for _, tree in generate({"sample": N_SAMPLE}, seed=1)]


def test_same_seed_same_trees() -> None:
    drawn = [f"{name} {format_tree(tree)}" for name, tree in generate({"dev": 20, "train": FIRST_LINES}, seed=0)]
    again = [f"{name} {format_tree(tree)}" for name, tree in generate({"dev": 20, "train": FIRST_LINES}, seed=0)]
    other = [f"{name} {format_tree(tree)}" for name, tree in generate({"dev": 20, "train": FIRST_LINES}, seed=1)]
    assert drawn == again
    assert drawn != other
    assert hashlib.sha256("\n".join(drawn).encode()).hexdigest() == FIRST_LINES_SHA256


def test_parts_do_not_depend_on_each_others_sizes() -> None:
    small = list(generate({"train": 10, "dev": 5, "test": 5}, seed=3))
    large = list(generate({"train": 40, "dev": 5, "test": 5}, seed=3))
    assert small == large[: len(small)]


def test_no_sentence_twice() -> None:
    trees = generate({"train": 400, "dev": 200, "test": 200})
    sentences = Counter(" ".join(Parse.from_tree(from_nltk(tree)).words) for _, tree in trees)
    assert sentences.total() == 800
    assert max(sentences.values()) == 1


def test_trees_are_valid(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "sample.mrg"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    trees = list(read_trees(path))
    assert len(trees) == N_SAMPLE
    for tree in trees:
        parse = Parse.from_tree(tree)
        assert tree.label == "TOP" and len(tree.children) == 1
        assert parse.spans[0].start == 0 and parse.spans[0].end == len(parse.words)


def test_lengths_are_natural(lines: list[str]) -> None:
    lengths = sorted(len(re.findall(r" [^()\s]+\)", line)) for line in lines)
    assert lengths[0] >= 1 and lengths[-1] <= 40
    assert 16.0 < sum(lengths) / len(lengths) < 20.0
    assert lengths[len(lengths) // 10] <= 9
    assert lengths[-len(lengths) // 10] >= 28


def test_every_label_and_tag_is_drawn(lines: list[str]) -> None:
    drawn = set(re.findall(r"\((\S+) (?=\()", " ".join(lines)))
    assert sorted(drawn) == LABELS.split()
    assert sorted(set(re.findall(r"\((\S+) [^()\s]+\)", " ".join(lines)))) == sorted(TAGS.split())


def test_every_definition_is_called() -> None:
    grammar = read_grammar(DATA / "grammar.txt")
    start, *others = grammar
    text = (DATA / "grammar.txt").read_text(encoding="utf-8")
    assert start == "sentence" and all(re.search(rf"<{name}[ >]", text) for name in others)


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_construction_is_drawn(lines: list[str], name: str) -> None:
    assert any(re.search(CONSTRUCTIONS[name], line) for line in lines)


def test_subjects_agree_with_verbs(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert not re.search(r"\(NP \(PRP ([Hh]e|[Ss]he)\)\) \(VP \((VBP|VBD were)", text)
    assert not re.search(r"\(NP \(PRP ([Tt]hey|[Ww]e)\)\) \(VP \((VBZ|VBD was)", text)
    assert not re.search(r"\(NP \(PRP I\)\) \(VP \((VBZ|VBP are|VBD were)", text)
    assert not re.search(r"\(DT [Aa]\) \([A-Z]+ [aeio][^n]", text)
    assert not re.search(r"\(NP \(DT (these|those)\) \(NN [^()]+\)\)", text)


def test_test_part_has_unseen_words() -> None:
    words: dict[str, Counter[str]] = {"train": Counter(), "test": Counter()}
    for name, tree in generate({"train": 1500, "test": 200}):
        words[name].update(word.lower() for word in Parse.from_tree(from_nltk(tree)).words)
    unseen = sum(count for word, count in words["test"].items() if word not in words["train"])
    assert 0.02 < unseen / words["test"].total() < 0.12


def test_the_same_bytes_are_written(tmp_path: Path) -> None:
    sizes = {"train": 30, "dev": 10, "test": 0}
    for name in ("a", "b"):
        write_parts(tmp_path / name, sizes, seed=5)
    for name, size in sizes.items():
        written = (tmp_path / "a" / f"{name}.mrg").read_bytes()
        assert written == (tmp_path / "b" / f"{name}.mrg").read_bytes()
        assert written.count(b"\n") == size
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["dev.mrg", "test.mrg", "train.mrg"]


def run_tool(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tools.synthetic", *arguments], capture_output=True, text=True, cwd=ROOT
    )


def test_command(tmp_path: Path) -> None:
    done = run_tool(str(tmp_path / "out"), "--train", "12", "--dev", "3", "--test", "3", "--seed", "2")
    assert done.returncode == 0, done.stderr
    assert [len(list(read_trees(tmp_path / "out" / f"{name}.mrg"))) for name in ("train", "dev", "test")] == [12, 3, 3]


def test_numbers_below_zero_are_refused(tmp_path: Path) -> None:
    done = run_tool(str(tmp_path / "out"), "--train", "-1")
    assert done.returncode == 2 and "below 0" in done.stderr
    assert not (tmp_path / "out").exists()

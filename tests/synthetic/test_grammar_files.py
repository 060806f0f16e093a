"""Grammar and lexicon files: what they mean, and that each mistake names its file and line."""

from random import Random

import pytest

from spacy_parsetag.synthetic import GrammarError, load_sampler
from spacy_parsetag.synthetic.inflect import comparison, participle, past, plural, takes_an, third_person
from spacy_parsetag.synthetic.lexicon import read_lexicon
from spacy_parsetag.treebanks.penn import format_tree

LEXICON = """
[noun class=person]
child/children | pp(of,person):4
[noun class=stuff]
water/-
[verb subj=person]
eat ate eaten | np(stuff):1
stop* | 0:1
"""


@pytest.fixture
def sampler(tmp_path):
    def load(grammar, lexicon=LEXICON):
        (tmp_path / "grammar.txt").write_text(grammar, encoding="utf-8")
        (tmp_path / "lexicon.txt").write_text(lexicon, encoding="utf-8")
        return load_sampler(tmp_path)

    return load


def test_a_small_grammar(sampler):
    drawn = sampler(
        """
start sentence
define sentence
    1  {n ~ noun class=person num=sg} {v ~ verb frame=np}   # draws rows
       (S (NP (DT a) ($n.tag $n.form)) <vp v=$v form=past> 0%(ADVP (RB never)) (, ,) (. .))
define vp v form num=sg
    1 [form=past v.frame=np]   (VP (VBD $v.past) <object class=$v.obj>)
    1 [form!=past]             (VP (VB $v.base))
define object class
    1  {o ~ noun class=$class} (NP ($o.tag $o.form))
"""
    ).sample(Random(0))
    assert format_tree(drawn) == "(TOP (S (NP (DT A) (NN child)) (VP (VBD ate) (NP (NN water))) (. .)))"


@pytest.mark.parametrize(
    "line,text,code",
    [
        (3, "start s\ndefine s\n    1 (S (NN dog)", "E263"),
        (3, "start s\ndefine s\n    1 (S (NN dog)))", "E263"),
        (3, "start s\ndefine s\n    one (S (NN dog))", "E262"),
        (3, "start s\ndefine s\n    1 [=x] (NN dog)", "E262"),
        (3, "start s\ndefine s\n    1 {x ~ } (NN dog)", "E262"),
        (3, "start s\ndefine s\n    1 dog", "E262"),
        (3, "start s\ndefine s\n    1 (NP dog (NN cat))", "E270"),
        (3, "start s\ndefine s\n    1 (S <np>)", "E265"),
        (3, "start s\ndefine s\n    1 (NN $x)", "E268"),
        (3, "start s\ndefine s\n    1 [x=1] (NN dog)", "E268"),
        (3, "start s\ndefine s\n    1 {n ~ nuon} (NN $n.form)", "E269"),
        (3, "start s\ndefine s\n    1 <t y=1>\ndefine t x\n    1 (NN dog)", "E266"),
        (3, "start s\ndefine s\n    1 <t>\ndefine t x\n    1 (NN dog)", "E267"),
        (4, "start s\ndefine s\n    1 (NN dog)\ndefine s\n    1 (NN dog)", "E264"),
        (2, "start s\ndefine s", "E260"),
        (2, "start s\ndefine s\n    0 (NN dog)", "E277"),
        (2, "start s\ndefin s\n    1 (NN dog)", "E261"),
        (1, "    1 (NN dog)", "E259"),
        (2, "define s\n    1 (NN dog)", "E271"),
        (1, "start t\ndefine s\n    1 (NN dog)", "E265"),
    ],
)
def test_bad_grammar_names_file_and_line(sampler, tmp_path, line, text, code):
    with pytest.raises(GrammarError, match=code) as caught:
        sampler(text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'grammar.txt'}:{line}: ")


@pytest.mark.parametrize(
    "line,text,code",
    [
        (1, "[noun class]\ndog", "E250"),
        (1, "dog\n[noun]", "E251"),
        (1, "[noun share=much]\ndog", "E252"),
        (2, "[word]\nin | w=x", "E252"),
        (2, "[noun]\ndog | np(", "E253"),
        (2, "[noun]\n | pp(of,place):1", "E254"),
        (2, "[verb]\ngive | np(person,thing):1", "E255"),
        (2, "[noun]\ndog | pp(of,person):7 that:4", "E256"),
        (2, "[noun]\ndog dogs", "E257"),
        (2, "[verb]\ngo", "E257"),
        (2, "[adj]\nbig bigger", "E257"),
        (2, "[word]\nin | np(thing):1", "E258"),
    ],
)
def test_bad_lexicon_names_file_and_line(sampler, tmp_path, line, text, code):
    with pytest.raises(GrammarError, match=code) as caught:
        sampler("start s\ndefine s\n    1 (NN dog)", text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'lexicon.txt'}:{line}: ")


def test_bytes_that_are_not_utf8_name_file_and_line(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_bytes(b"[noun]\ncaf\xe9\n")
    with pytest.raises(GrammarError, match="E278") as caught:
        read_lexicon([path])
    assert caught.value.line == 2


@pytest.mark.parametrize(
    "text,code",
    [
        ("start s\ndefine s\n    1 (S <s> <s>)", "E275"),
        ("start s\ndefine s x=1\n    1 [x=2] (NN dog)", "E272"),
        ("start s\ndefine s\n    1 {n ~ noun class=idea} (NN $n.form)", "E273"),
        ("start s\ndefine s\n    1 (NP <t>)\ndefine t\n    1 -", "E274"),
        ("start s\ndefine s\n    1 {n ~ noun} (NN $n.past)", "E279"),
    ],
)
def test_draws_always_end(sampler, text, code):
    with pytest.raises(GrammarError, match=code):
        sampler(text).sample(Random(0))


def test_rows_of_the_lexicon(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text(LEXICON + "[adj of=any]\nbig* -er\n[place]\nNew York\n", encoding="utf-8")
    tables = read_lexicon([path])
    assert [(row.attrs["form"], row.attrs["tag"]) for row in tables["noun"].rows] == [
        ("child", "NN"),
        ("children", "NNS"),
        ("water", "NN"),
    ]
    eat, stop = tables["verb"].rows
    assert (eat.attrs["frame"], eat.attrs["obj"], eat.attrs["part"]) == ("np", "stuff", "eaten")
    assert (stop.attrs["past"], stop.attrs["ing"], stop.attrs["s"]) == ("stopped", "stopping", "stops")
    assert tables["adj"].rows[0].attrs["est"] == "biggest"
    assert tables["place"].rows[0].attrs["second"] == "York"


def test_inflection():
    assert [plural(word) for word in ("dog", "box", "city", "day")] == ["dogs", "boxes", "cities", "days"]
    assert [third_person(word) for word in ("go", "carry", "say", "watch")] == ["goes", "carries", "says", "watches"]
    assert [past(word) for word in ("walk", "hope", "carry", "play")] == ["walked", "hoped", "carried", "played"]
    assert [participle(word) for word in ("walk", "hope", "lie", "agree")] == ["walking", "hoping", "lying", "agreeing"]
    assert comparison("happy") == ("happier", "happiest")
    assert [takes_an(word) for word in ("apple", "hour", "university", "European", "dog", "8", "umbrella")] == [
        True,
        True,
        False,
        False,
        False,
        True,
        True,
    ]

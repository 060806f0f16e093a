"""Grammar and lexicon files: what they mean, and that mistakes name their file and line."""

import doctest
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tools.synthetic import generate, inflect
from tools.synthetic.lexicon import Table, read_lexicon
from tools.synthetic.sampler import Sampler

LEXICON = """
[noun class=person]
child/children | pp(of,person):4
[noun class=stuff]
water/-
[verb subj=person]
eat ate eaten | np(stuff):1
stop* | 0:1
"""
MakeSampler = Callable[..., Sampler]


@pytest.fixture
def make_sampler(tmp_path: Path) -> MakeSampler:
    def make(grammar: str, lexicon: str = LEXICON) -> Sampler:
        (tmp_path / "grammar.txt").write_text(grammar, encoding="utf-8")
        (tmp_path / "lexicon.txt").write_text(lexicon, encoding="utf-8")
        return Sampler(tmp_path)

    return make


def test_a_small_grammar(make_sampler: MakeSampler) -> None:
    drawn = make_sampler(
        """
define sentence
    1  {n ~ noun class=person num=sg} {v ~ verb frame=np}   # draws rows
       (S (NP (DT a) ($n.tag $n.form)) <vp v=$v form=past> 0%(ADVP (RB never)) (, ,) (. .))
define vp v form num=sg
    1 [form=past v.frame=np]   (VP (VBD $v.past) <object class=$v.obj>)
    1 [form!=past]             (VP (VB $v.base))
define object class
    1  {o ~ noun class=$class} (NP ($o.tag $o.form))
"""
    ).draw(Random(0))
    wanted = "(TOP (S (NP (DT A) (NN child)) (VP (VBD ate) (NP (NN water))) (. .)))"
    assert drawn.pformat(margin=100) == wanted


@pytest.mark.parametrize(
    "line,text",
    [
        (2, "define s\n    1 (S (NN dog)"),
        (2, "define s\n    1 (S (NN dog)))"),
        (2, "define s\n    one (S (NN dog))"),
        (2, "define s\n    1 {x ~ } (NN dog)"),
        (2, "define s\n    1 dog"),
        (2, "define s\n    1 (NP dog (NN cat))"),
        (2, "define s\n    1 (S <np>)"),
        (2, "define s\n    1 <t y=1>\ndefine t x\n    1 (NN dog)"),
        (2, "define s\n    1 <t>\ndefine t x\n    1 (NN dog)"),
        (1, "defin s\n    1 (NN dog)"),
        (1, "    1 (NN dog)"),
    ],
)
def test_bad_grammar_names_file_and_line(make_sampler: MakeSampler, tmp_path: Path, line: int, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        make_sampler(text)
    assert str(caught.value).startswith(f"{tmp_path / 'grammar.txt'}:{line}: ")


@pytest.mark.parametrize(
    "line,text",
    [
        (1, "[noun class]\ndog"),
        (1, "dog\n[noun]"),
        (2, "[word]\nin | w=x"),
        (2, "[noun]\ndog | np("),
        (2, "[verb]\ngive | np(person,thing):1"),
        (2, "[noun]\ndog | pp(of,person):7 that:4"),
        (2, "[noun]\ndog dogs"),
        (2, "[adj]\nbig bigger"),
    ],
)
def test_bad_lexicon_names_file_and_line(make_sampler: MakeSampler, tmp_path: Path, line: int, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        make_sampler("define s\n    1 (NN dog)", text)
    assert str(caught.value).startswith(f"{tmp_path / 'lexicon.txt'}:{line}: ")


@pytest.mark.parametrize(
    "text,message",
    [
        ("define s\n    1 (S <s> <s>)", "no sentence of 1 to 40 words"),
        ("define s x=1\n    1 [x=2] (NN dog)", "No option of 's'"),
        ("define s\n    1 {n ~ noun class=idea} (NN $n.form)", "No row of the table"),
    ],
)
def test_draws_always_end(make_sampler: MakeSampler, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_sampler(text).draw(Random(0))


def test_a_grammar_with_one_sentence_gives_no_second(make_sampler: MakeSampler, tmp_path: Path) -> None:
    make_sampler("define s\n    1 (NN dog)")
    with pytest.raises(ValueError, match="no new sentence"):
        list(generate({"train": 2}, data=tmp_path))


def test_rows_of_the_lexicon(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.txt"
    path.write_text(LEXICON + "[adj of=any]\nbig* -er\n[place]\nNew York\n", encoding="utf-8")
    tables = read_lexicon([path])

    def column(table: str, *names: str) -> list[tuple[str | Table, ...]]:
        return [tuple(row[name] for name in names) for row, _ in tables[table].rows]

    assert column("noun", "form", "tag") == [("child", "NN"), ("children", "NNS"), ("water", "NN")]
    assert column("verb", "frame", "part", "past", "ing", "s")[0] == ("np", "eaten", "ate", "eating", "eats")
    assert column("verb", "frame", "part", "past", "ing", "s")[1] == ("0", "stopped", "stopped", "stopping", "stops")
    assert column("adj", "est") == [("biggest",)]
    assert column("place", "second") == [("York",)]


def test_inflection() -> None:
    assert doctest.testmod(inflect).failed == 0
    assert [inflect.plural(word) for word in ("dog", "box", "city", "day")] == ["dogs", "boxes", "cities", "days"]
    assert [inflect.third_person(word) for word in ("go", "carry", "say")] == ["goes", "carries", "says"]
    assert [inflect.past(word) for word in ("walk", "hope", "carry", "play")] == [
        "walked",
        "hoped",
        "carried",
        "played",
    ]
    assert [inflect.participle(word) for word in ("walk", "hope", "lie")] == ["walking", "hoping", "lying"]
    assert inflect.comparison("happy") == ("happier", "happiest")
    assert all(inflect.takes_an(word) for word in ("apple", "hour", "8", "umbrella"))
    assert not any(inflect.takes_an(word) for word in ("university", "European", "dog"))

"""Draw the constituents of a doc: in a terminal, as SVG, as a page in HTML, for LaTeX, and in a notebook."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from spacy.glossary import GLOSSARY
from spacy.tokens import Doc, Span
from wasabi.util import supports_ansi

from ..errors import Errors, shorten, showable
from ..tokens.extensions import read_tree
from ..tokens.groups import SPANS_KEY, parses_from_doc
from ..trees.brackets import format_tree
from ..trees.tree import ROOT, Tree, preorder
from .labels import ICON_TAGS, explain
from .latex import draw_latex
from .nodes import nodes_of
from .svg import COLORS, draw_svg
from .text import LEAST_WIDTH, draw_text

_MARGIN = 12  # pixels around a tree in an SVG file
_OUTLINE = 90  # columns of an outline in a page: long sentences are easier to read there than in a wide tree
_CSS = """
.parsetag section { margin: 0 0 2.5em }
.parsetag p { margin: 0 0 .6em; line-height: 1.5 }
.parsetag .tree { overflow-x: auto; padding: .3em 0 }
.parsetag details { margin-top: .4em; color: #757575; font-size: .85em }
.parsetag pre { white-space: pre; overflow-x: auto }
.parsetag .brackets { white-space: pre-wrap; overflow-wrap: anywhere }
.parsetag td { padding: .1em 1.2em .1em 0; text-align: left; vertical-align: top }
"""
_PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ margin: 2.5em auto; max-width: 75em; padding: 0 1.5em; font-family: Helvetica, Arial, sans-serif }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


class Sentence(NamedTuple):
    """Holds what is drawn at once: the text of a sentence or a span, the tree over it, and the numbers of its nodes
    that stand out (see `nodes_of`)."""

    text: str
    tree: Tree
    marks: frozenset[int] = frozenset()


class Drawing(str):
    """Holds a drawing as text or markup, which a notebook shows as SVG."""

    def __new__(cls, text: str, sentences: Sequence[Sentence] = (), tags: bool = True) -> "Drawing":
        drawing = super().__new__(cls, text)
        drawing.sentences = sentences
        drawing.tags = tags
        return drawing

    sentences: Sequence[Sentence]
    tags: bool

    def __repr__(self) -> str:
        return str(self)  # what a Python shell prints

    def _repr_html_(self) -> str:
        return _html(self.sentences, self.tags)


def render(
    what: Doc | Span | Iterable[Doc | Span],
    style: str = "text",
    *,
    spans_key: str = SPANS_KEY,
    tags: bool = True,
    width: int | None = None,
    color: bool | None = None,
) -> Drawing:
    """Draw the constituents of docs, or of spans that are constituents or sentences.

    style (str): "text" for a terminal, "svg", "html" for a page of its own with all sentences, or "latex" for brackets
        of the package forest.
    spans_key (str): Key of the group in `doc.spans`.
    tags (bool): Show part-of-speech tags where there are any.
    width (int | None): For text: the columns to fit into; by default the terminal's.
    color (bool | None): For text: colour labels; by default where standard output is a terminal that shows colours, and
        the environment variable NO_COLOR is not set.
    RETURNS (Drawing): A string with the text or the markup. As the value of a notebook's cell it shows itself as SVG.
    RAISES (ValueError): If `what` is something else, the doc has no constituents, they are not trees, the span is not a
        constituent, the style is not known, or the width is below 20.
    """
    sources = list(what) if isinstance(what, Iterable) and not isinstance(what, (Doc, Span, str)) else [what]
    for source in sources:
        if not isinstance(source, (Doc, Span)):
            raise ValueError(Errors.E042.format(found=type(source).__name__))
    if len(sources) > 1:  # such as `doc.sents`: spaCy may make a sentence of white space alone
        sources = [source for source in sources if not source.text.isspace()]
    sentences = [sentence for source in sources for sentence in _sentences(source, spans_key)]
    if style == "text":
        width = max(LEAST_WIDTH, shutil.get_terminal_size().columns) if width is None else width
        color = _shows_colors() if color is None else color
        drawn = "\n\n".join(draw_text(sentence.tree, width, color=color, tags=tags) for sentence in sentences)
    elif style == "svg":
        drawn = _svg(sentences, tags)
    elif style == "html":
        drawn = draw_page(sentences, tags=tags, lang=next((source.vocab.lang for source in sources), ""))
    elif style == "latex":
        drawn = "\n".join(draw_latex(sentence.tree, tags=tags) for sentence in sentences)
    else:
        raise ValueError(Errors.E041.format(style=style))
    return Drawing(drawn, sentences, tags)


def draw_page(sentences: Sequence[Sentence], *, tags: bool = True, lang: str = "") -> str:
    """Draw sentences as a page of its own in HTML."""
    title = escape(shorten(showable(" ".join(sentences[0].text.split())), 60)) if sentences else "No sentences"
    return _PAGE.format(lang=escape(lang), title=title, body=_html(sentences, tags))


def _sentences(source: Doc | Span, spans_key: str) -> list[Sentence]:
    if isinstance(source, Span):
        return [Sentence(source.text, read_tree(source, spans_key))]
    parses = parses_from_doc(source, spans_key) if len(source) else []
    return [Sentence(source[tokens[0] : tokens[-1] + 1].text, parse.to_tree(ROOT)) for tokens, parse in parses]


def explain_all(sentences: Sequence[Sentence], tags: bool = True) -> list[tuple[str, str, str]]:
    """Explain the labels of drawn constituents, and part-of-speech tags: text, kind (see `DrawnNode`) and meaning.

    Labels come first, each once, in the order of the drawing. Those that are not known are left out.
    """
    nodes = (node for sentence in sentences for node in preorder(nodes_of(sentence.tree, tags=tags)))
    labels = dict.fromkeys((node.text, node.kind) for node in nodes if node.kind != "word")
    tags_shown = {text for text, kind in labels if kind == "tag"}
    meanings = max((GLOSSARY, ICON_TAGS), key=lambda known: len(tags_shown & known.keys()))
    rows = ((text, kind, meanings.get(text) if kind == "tag" else explain(text)) for text, kind in labels)
    explained = [(text, kind, meaning) for text, kind, meaning in rows if meaning]
    return sorted(explained, key=lambda row: row[1] == "tag")


def _shows_colors() -> bool:
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed and sys.stdout.isatty() and supports_ansi()


def _svg(sentences: Sequence[Sentence], tags: bool) -> str:
    """Draw one picture of all trees, one below the other, on white."""
    drawings = [draw_svg(sentence.tree, tags=tags, marks=sentence.marks) for sentence in sentences]
    sizes = [[float(str(svg.get(side)).removesuffix("px")) for side in ("width", "height")] for svg in drawings]
    width = max((width for width, _ in sizes), default=0) + 2 * _MARGIN
    height = sum(height + _MARGIN for _, height in sizes) + _MARGIN
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    picture = Element(
        "svg", {**size, "viewBox": f"0 0 {width:g} {height:g}", "xmlns": "http://www.w3.org/2000/svg", "color": "#111"}
    )
    SubElement(picture, "rect", {**size, "fill": "#fff"})
    y = float(_MARGIN)
    for svg, (_, height) in zip(drawings, sizes, strict=True):
        del svg.attrib["xmlns"]
        svg.set("x", str(_MARGIN))
        svg.set("y", f"{y:g}")
        picture.append(svg)
        y += height + _MARGIN
    return tostring(picture, encoding="unicode") + "\n"


def _html(sentences: Sequence[Sentence], tags: bool) -> str:
    """Write all trees, each below its text, and what their labels mean."""
    parts = [f'<div class="parsetag">\n<style>{_CSS}</style>']
    for text, tree, marks in sentences:
        brackets = f'<pre class="brackets">{escape(showable(format_tree(tree)))}</pre>'
        parts += [
            "<section>",
            f'<p dir="auto">{escape(showable(text))}</p>',
            f'<div class="tree">{tostring(draw_svg(tree, tags=tags, marks=marks), encoding="unicode")}</div>',
            f"<details><summary>Outline</summary><pre>{escape(draw_text(tree, _OUTLINE, tags=tags))}</pre></details>",
            f"<details><summary>Brackets</summary>{brackets}</details>",
            "</section>",
        ]
    if not sentences:
        parts.append("<p>There are no sentences.</p>")
    rows = [
        f'<tr><td style="color: {COLORS[kind]}">{escape(label)}</td><td>{escape(meaning)}</td></tr>'
        for label, kind, meaning in explain_all(sentences, tags)
    ]
    if rows:
        parts += ["<details><summary>Labels</summary><table>", *rows, "</table></details>"]
    return "\n".join([*parts, "</div>"])

"""Draws the pictures of the page `docs/explanation/how-it-works.md` from what the code does.

The tags are what the linearizers write, the arcs what their lattices allow, the stack what the tags do to it, and the
chart what a pipeline says. A change in the code changes the picture.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any

import spacy
from nltk import Tree

from spacy_parsetag.decode import TreeDistribution
from spacy_parsetag.linearize import CLASS_NAMES, ORDERS, Lattice, get_linearizer
from spacy_parsetag.linearize.base import split_tag
from spacy_parsetag.trees import BinaryTree, Parse, binarize, from_nltk

MODELS = Path(__file__).resolve().parent.parent / "models"
SENTENCE = "(S (NP (X She)) (VP (X enjoys) (S (VP (X reading) (NP (X papers))))))"
AMBIGUOUS = "She saw the woman with the telescope."
LEAF, NODE, GREY, PATH = "#0b6e4f", "#7a3b9c", "#b9bec6", "#c2410c"
NAMES = {"pre": "pre-order", "in": "in-order", "post": "post-order"}


class Svg:
    """A picture on white."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.start = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" font-family="DejaVu Sans, Verdana, sans-serif" font-size="14">'
            f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
        )
        self.parts: list[str] = []

    def text(
        self, x: float, y: float, text: str, fill: str = "#1f2328", anchor: str = "middle", size: int = 14
    ) -> None:
        place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"'
        self.parts.append(f'<text {place} fill="{fill}">{escape(text)}</text>')

    def note(self, x: float, y: float, text: str, fill: str, size: int) -> None:
        """Write text with a white rim, which covers what it is written over."""
        place = f'x="{x:g}" y="{y:g}" text-anchor="middle" font-size="{size}"'
        rim = 'stroke="#fff" stroke-width="5" stroke-linejoin="round" paint-order="stroke"'
        self.parts.append(f'<text {place} fill="{fill}" {rim}>{escape(text)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = "#57606a", width: float = 1.2) -> None:
        ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
        self.parts.append(f'<line {ends} stroke="{stroke}" stroke-width="{width:g}"/>')

    def box(self, x: float, y: float, width: float, height: float, stroke: str, fill: str = "#fff") -> None:
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"'
        self.parts.append(f'<rect {place} fill="{fill}" stroke="{stroke}"/>')

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>')

    def save(self, path: Path) -> None:
        path.write_text("\n".join([self.start, *self.parts, "</svg>"]) + "\n", encoding="utf8")


def _colour(tag: str) -> str:
    return LEAF if tag[0] in "lr" else NODE


def _draw_tree(svg: Svg, tree: BinaryTree, tags: Sequence[str], words: Sequence[str], step: float, top: float) -> None:
    """Draw a binary tree, a node at the middle of its words, with the tag of each node, all in pre-order."""
    places: list[tuple[float, float]] = []
    word = 0

    def draw(depth: int) -> tuple[float, float]:
        nonlocal word
        node = len(places)
        places.append((0, 0))
        if tree.leaf[node]:
            places[node] = (step * (word + 0.5), top + 62 * depth)
            svg.text(places[node][0], places[node][1] + 40, words[word])
            svg.line(places[node][0], places[node][1] + 8, places[node][0], places[node][1] + 26)
            word += 1
        else:
            below = [draw(depth + 1), draw(depth + 1)]
            places[node] = (sum(x for x, _ in below) / 2, top + 62 * depth)
            for x, y in below:
                svg.line(places[node][0], places[node][1] + 8, x, y - 16)
        svg.text(*places[node], tags[node], _colour(tags[node]))
        return places[node]

    draw(0)


def _example() -> tuple[BinaryTree, tuple[str, ...]]:
    """The tree of `SENTENCE` and its words."""
    parse = Parse.from_tree(from_nltk(Tree.fromstring(SENTENCE)))
    return binarize(parse), parse.words


def orders(path: Path) -> None:
    """Draw the tree with the tag of each node, and the tags in the three orders."""
    (tree, words), step = _example(), 160.0
    svg = Svg(step * len(words), 480, "A binary tree, and its tags in three orders")
    _draw_tree(svg, tree, get_linearizer("pre").linearize(tree), words, step, 24)
    width = step * len(words) / (2 * len(words))
    for row, order in enumerate(("pre", "in", "post")):
        y = 290 + 64 * row
        svg.text(8, y - 6, NAMES[order], "#57606a", "start", 12)
        leaf = iter(words)
        for i, tag in enumerate(get_linearizer(order).linearize(tree)):
            svg.box(4 + i * width, y, width - 8, 28, _colour(tag))
            svg.text(i * width + width / 2, y + 19, tag, _colour(tag), size=13)
            if tag[0] in "lr":
                svg.text(i * width + width / 2, y + 43, next(leaf), "#57606a", size=11)
    svg.save(path)


def _nodes(lattice: Lattice, length: int) -> list[set[tuple[int, int]]]:
    """Find the nodes of a lattice, after each number of tags, that lie on a way from its start to its end."""
    arcs = [*zip(lattice.source, lattice.need, lattice.target, lattice.delta, strict=True)]
    forward = [{(lattice.start_stack, lattice.start_state)}]
    for _ in range(length):
        forward.append({(n + d, t) for n, s in forward[-1] for source, need, t, d in arcs if s == source and n >= need})
    backward = [{(lattice.end_stack, lattice.end_state)}]
    for before in reversed(forward[:-1]):
        steps = ((n, s, (n + d, t)) for n, s in before for source, need, t, d in arcs if s == source and n >= need)
        backward.append({(n, s) for n, s, after in steps if after in backward[-1]})
    return backward[::-1]


def lattice(path: Path, order: str = "in") -> None:
    """Draw all tag sequences of the sentence's length as ways through the lattice; the tree's own in colour."""
    linearizer = get_linearizer(order)
    table, tags = linearizer.lattice, linearizer.linearize(_example()[0])
    layers = _nodes(table, len(tags))
    rows = sorted({node for layer in layers for node in layer}, reverse=True)
    step, height = 92.0, 56.0
    svg = Svg(150 + step * len(tags), 30 + height * len(rows), f"The lattice of {NAMES[order]}")

    def place(t: int, node: tuple[int, int]) -> tuple[float, float]:
        return 130 + step * t, 40 + height * rows.index(node)

    for size, state in rows:
        next_classes = " or ".join(CLASS_NAMES[c] for c in range(4) if table.source[c] == state)
        svg.text(8, place(0, (size, state))[1] + 4, f"stack {size}, {next_classes}", "#57606a", "start", 11)
    node: tuple[int, int] = (table.start_stack, table.start_state)
    tree_arcs: set[tuple[int, tuple[int, int], int]] = set()
    for t, tag in enumerate(tags):
        c = int(split_tag(tag)[0])
        tree_arcs.add((t, node, c))
        node = (node[0] + table.delta[c], table.target[c])
    notes: list[tuple[float, float, str, str]] = []
    for t, layer in enumerate(layers[:-1]):
        drawn = [(n, s, c) for n, s in layer for c in range(4) if s == table.source[c] and n >= table.need[c]]
        for n, s, c in sorted(drawn, key=lambda arc: (t, arc[:2], arc[2]) in tree_arcs):
            after = (n + table.delta[c], table.target[c])
            if after in layers[t + 1]:
                of_tree = (t, (n, s), c) in tree_arcs
                (x1, y1), (x2, y2) = place(t, (n, s)), place(t + 1, after)
                svg.line(x1, y1, x2, y2, PATH if of_tree else GREY, 2.6 if of_tree else 1.2)
                name = tags[t] if of_tree else CLASS_NAMES[c]
                notes.append(((2 * x1 + x2) / 3, (2 * y1 + y2) / 3 + 4, name, PATH if of_tree else "#6e7781"))
    for note in notes:  # over all lines
        svg.note(*note, size=12)
    for t, layer in enumerate(layers):
        for node in layer:
            svg.dot(*place(t, node), 5, "#1f2328")
    svg.save(path)


def stack(path: Path) -> None:
    """Draw what in-order tags do to the stack; `_` is where a right child is still to come."""
    tree, leaves = _example()
    linearizer = get_linearizer("in")
    tags = linearizer.linearize(tree)
    sizes = list(accumulate((linearizer.lattice.delta[split_tag(tag)[0]] for tag in tags), initial=0))[1:]
    svg = Svg(760, 40 + 44 * len(tags), "The stack after each tag, in in-order")
    svg.text(20, 22, "tag", "#57606a", "start", 12)
    svg.text(130, 22, "stack after it", "#57606a", "start", 12)
    items: list[str] = []
    words = iter(leaves)
    for row, (tag, size) in enumerate(zip(tags, sizes, strict=True)):
        tag_class, label = split_tag(tag)
        kind = CLASS_NAMES[tag_class]
        inside = next(words) if kind in "lr" else f"{items.pop()} _"
        subtree = f"({label} {inside})" if label or kind in "LR" else inside
        if kind in "lL":
            items.append(subtree)
        else:
            items[-1] = items[-1].replace("_", subtree)
        assert len(items) == size
        y = 36 + 44 * row
        svg.text(20, y + 20, tag, _colour(tag), "start")
        x = 130.0
        for item in items:
            width = 16 + 8.4 * len(item)
            svg.box(x, y, width, 30, "#57606a", "#f6f8fa")
            svg.text(x + 8, y + 20, item, anchor="start", size=13)
            x += width + 10
    svg.save(path)


def chart(path: Path, least: float = 0.02) -> None:
    """Draw the probabilities of the constituents of a sentence that has two readings, as a chart."""
    name = "en_parsetag_sm"
    version = json.loads((MODELS / name / "meta.json").read_text(encoding="utf8"))["version"]
    nlp = spacy.load(MODELS / name / name / f"{name}-{version}")
    doc = nlp(AMBIGUOUS)
    parser: Any = nlp.get_pipe("parsetag")
    batch, _, _ = parser.score_docs([doc])
    cells: dict[tuple[int, int], list[tuple[float, str]]] = {}
    calibrated = TreeDistribution.from_batch(batch.scaled(1 / parser.temperature), 0)
    for (start, end, label), prob in calibrated.constituents.items():
        if prob >= least:
            cells.setdefault((start, end), []).append((prob, label))
    n, width, height = len(doc), 104.0, 52.0
    svg = Svg(n * width + 20, n * height + 60, f"Probabilities of the constituents of {AMBIGUOUS!r}")
    for start in range(n):
        for end in range(start + 1, n + 1):
            x, y = 10 + width * (start + (end - start - 1) / 2), 14 + height * (n - end + start)
            labels = sorted(cells.get((start, end), []), reverse=True)
            shade = f"rgb({255 - 120 * labels[0][0]:.0f},{255 - 50 * labels[0][0]:.0f},255)" if labels else "#fff"
            svg.box(x + 2, y, width - 4, height - 4, "#d0d7de", shade)
            for i, (prob, label) in enumerate(labels[:2]):
                svg.text(x + width / 2, y + 20 + 18 * i, f"{label} {prob:.2f}", size=12)
    for i, word in enumerate(doc):
        svg.text(10 + width * (i + 0.5), 34 + height * n, word.text)
    svg.save(path)


def draw_pictures(folder: Path) -> None:
    """Write all pictures.

    folder (Path): Where; it is made if it is not there.
    """
    folder.mkdir(exist_ok=True)
    orders(folder / "orders.svg")
    for order in ORDERS:
        lattice(folder / f"lattice-{order}.svg", order)
    stack(folder / "stack.svg")
    chart(folder / "chart.svg")

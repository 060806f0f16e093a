"""Draw a tree as SVG, by svgling."""

from collections.abc import Collection
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from ..trees.tree import Tree, preorder
from .labels import explain
from .nodes import DrawnNode, is_right_to_left, n_columns, nodes_of

FONT_SIZE = 15
_FONT = "font-family: Helvetica, Arial, sans-serif;"
# Each has a contrast of 4.5 or more to white and to black.
COLORS = {
    "clause": "#28864b", "noun": "#2678c6", "verb": "#cf4540", "preposition": "#a5680f", "modifier": "#9e58be",
    "other": "#238282", "tag": "#757575", "word": "currentColor",
    "mark": "#e6007a",
}  # fmt: skip
_COLUMN = 0.55  # ems that a column of a terminal takes in this font, a little more than the average letter
_CAPITAL = 0.2  # ems that a capital takes beside that
_TAG_SIZE = 0.8  # of the size of other text
_DEEPEST = 60  # svgling and some readers of SVG are recursive


def draw_svg(tree: Tree, *, tags: bool = True, marks: Collection[int] = ()) -> Element:
    """Draw a tree as SVG.

    marks (Collection[int]): The nodes that stand out (see `nodes_of`): bold, in a colour of their own.
    RETURNS (Element): The element, with its size in pixels. Words have the colour of the text around it, and there is
        no background. A tree of right-to-left text is mirrored. Constituents more than 60 levels deep are triangles.
    """
    from svgling.core import TreeLayout, TreeOptions, VertAlign

    top = nodes_of(tree, tags=tags, marks=marks)
    nodes = list(preorder(top))
    step = -1 if is_right_to_left("".join(node.text for node in nodes if node.kind == "word")) else 1
    if any(node.kind == "tag" for node in nodes):  # words without one stand in a row with the others all the same
        for node in nodes:
            if node.kind != "tag":
                below = node.children
                node.children = [DrawnNode("", "tag", [child]) if child.kind == "word" else child for child in below]
    options = TreeOptions(
        leaf_nodes_align=True, vert_align=VertAlign.TOP, distance_to_daughter=1.5, font_style=_FONT, font_size=FONT_SIZE
    )
    svg: Element = TreeLayout(_convert(top, step, 1), options).get_svg().get_xml()
    for element in list(svg.iter("svg")):
        element.set("overflow", "visible")  # a word that is wider than it was taken for is not cut
        for defs in element.findall("defs"):
            element.remove(defs)
    return svg


def _convert(node: DrawnNode, step: int, depth: int) -> list[Any]:
    """Make a tree as svgling takes it: lists of a node and what is below."""
    from svgling.core import DeferredNodePos

    if node.is_leaf:
        children = []
    elif depth == _DEEPEST:
        words = " ".join([below.text for below in preorder(node) if below.kind == "word"])
        children = [[DeferredNodePos(partial(_draw_node, DrawnNode(words, "word"), False))]]
    else:
        children = [_convert(child, step, depth + 1) for child in node.children[::step]]
    return [DeferredNodePos(partial(_draw_node, node, depth == _DEEPEST)), *children]


def _draw_node(node: DrawnNode, is_triangle: bool, options: Any) -> Any:
    """Draw a label, or a word below its tag, as svgling places it, and the lines to what is below."""
    from svgling.core import IndirectDescent, NodePos, TriangleEdge
    from svgwrite.container import SVG
    from svgwrite.text import Text

    rows = [node, *node.children] if node.kind == "tag" else [node]
    svg = SVG(x=0, y=0, width="100%", debug=False)  # half of the time would go into checks of what is right
    for number, row in enumerate(rows):
        y = (1 + number * 1.1) * FONT_SIZE
        color = COLORS["mark" if row.is_marked else row.kind]
        text = Text(row.text, insert=("50%", y), text_anchor="middle", fill=color, debug=False)
        if row.is_marked:
            text["font-weight"] = "bold"
        if row.kind == "tag":
            text["font-size"] = _TAG_SIZE * FONT_SIZE
        meaning = None if node.is_leaf else explain(node.text)
        if meaning is not None:
            text.set_desc(title=meaning)
        svg.add(text)
    width = max(_width(row) for row in rows) + 1
    placed = NodePos(svg, x=50, y=0, width=width, height=1 + 1.1 * (len(rows) - 1), options=options, text=node.text)
    edge, n_edges = (TriangleEdge, 1) if is_triangle else (IndirectDescent, 0 if node.is_leaf else len(node.children))
    for i in range(n_edges):
        placed.set_edge_style(i, edge(stroke=COLORS["tag"]))
    return placed


def _width(node: DrawnNode) -> float:
    """Estimate the ems that a text takes."""
    ems = n_columns(node.text) * _COLUMN + sum(map(str.isupper, node.text)) * _CAPITAL
    return ems * _TAG_SIZE if node.kind == "tag" else ems

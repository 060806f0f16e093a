"""Made-up bracket files, and what can go wrong with them, for tests of everything that reads such files.

    data = mutate(make_treebank(rng).encode("utf8"), rng)

Both are functions of the random generator alone, so a seed names a test case.
"""

import random
from collections.abc import Callable, Sequence

from nltk import Tree

PHRASES = ("S", "NP", "VP", "PP", "ADJP", "SBAR", "NP|PRN")
TAGS = ("NN", "VBZ", "DT", "IN", ",", "PRP$", "-LRB-", "N-A")
WORDS = ("dog", "naïve", "語", "-LRB-", "1\\/2", "it's", "3,000", "a\u00a0b", "*", "=")
LAYOUTS = ("lines", "pretty", "joined", "windows")


def make_tree(rng: random.Random, name: str, n_words: int, root: str = "TOP") -> Tree:
    """A random tree under a root wrapper; its first word is `name`, so that it can be told from others."""
    words = [name] + [rng.choice(WORDS) for _ in range(n_words - 1)]
    nodes = [Tree(rng.choice(TAGS), [word]) for word in words]
    while len(nodes) > 1 or rng.random() < 0.3:
        start = rng.randrange(len(nodes))
        end = min(len(nodes), start + rng.randint(1, 4))
        nodes[start:end] = [Tree(rng.choice(PHRASES), nodes[start:end])]
    if nodes[0].height() == 2:
        nodes = [Tree("S", nodes)]
    return Tree(root, nodes) if root != "bare" else Tree("S", nodes)


def pretty(tree: Tree, indent: int = 0) -> str:
    """A small tree over several lines, as the Penn Treebank prints it."""
    if not isinstance(tree[0], Tree):
        return f"({tree.label()} {tree[0]}) "
    inner = "".join("\n" + "  " * (indent + 1) + pretty(child, indent + 1) for child in tree)
    return f"({tree.label()} {inner})"


def one_line(tree: Tree) -> str:
    """A small tree on one line."""
    return f"({tree.label()} " + " ".join(one_line(child) if isinstance(child, Tree) else child for child in tree) + ")"


def format_layout(trees: Sequence[Tree], layout: str) -> str:
    """Write trees in one of `LAYOUTS`."""
    lines = [one_line(tree) for tree in trees]
    if layout == "pretty":
        return "\n\n".join(pretty(tree) for tree in trees) + "\n"
    if layout == "joined":
        return " ".join(lines)
    return "".join(line + ("\r\n" if layout == "windows" else "\n") for line in lines)


def make_treebank(rng: random.Random, n_trees: int = 12) -> str:
    """A random bracket file in a random layout, with a root wrapper of a random kind or none."""
    root = rng.choice(["TOP", "ROOT", "", "bare"])
    trees = [make_tree(rng, f"w{i}", rng.randint(1, 8), root) for i in range(n_trees)]
    return format_layout(trees, rng.choice(LAYOUTS))


def mutate(data: bytes, rng: random.Random, n_edits: int = 0) -> bytes:
    """Damage a file.

    data (bytes): The file's content.
    rng (random.Random): Decides everything.
    n_edits (int): Number of edits. 0: one to five.
    RETURNS (bytes): The damaged content.
    """
    for _ in range(n_edits or rng.randint(1, 5)):
        data = rng.choice(_EDITS)(data, rng)
    return data


def _slice(data: bytes, rng: random.Random) -> slice:
    start = rng.randint(0, len(data))
    return slice(start, min(len(data), start + rng.choice([1, 1, 1, 2, 5, 40])))


def _splice(data: bytes, rng: random.Random, pieces: Sequence[bytes]) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(pieces) + data[at:]


def _delete(data: bytes, rng: random.Random) -> bytes:
    where = _slice(data, rng)
    return data[: where.start] + data[where.stop :]


def _duplicate(data: bytes, rng: random.Random) -> bytes:
    where = _slice(data, rng)
    return data[: where.stop] + data[where] + data[where.stop :]


def _swap(data: bytes, rng: random.Random) -> bytes:
    if len(data) < 2:
        return data
    chars = bytearray(data)
    i = rng.randrange(len(chars) - 1)
    j = i + 1 if rng.random() < 0.5 else rng.randrange(len(chars))
    chars[i], chars[j] = chars[j], chars[i]
    return bytes(chars)


def _insert(data: bytes, rng: random.Random) -> bytes:
    return _splice(data, rng, [b"(", b")", b" ", b"\n", b"()", b"(())", b"(NP)", b"word", b"\\", b"(TOP ", b"\n("])


def _insert_byte(data: bytes, rng: random.Random) -> bytes:
    return _splice(data, rng, [bytes([rng.randrange(256)])])


def _bad_utf8(data: bytes, rng: random.Random) -> bytes:
    return _splice(
        data, rng, [b"\xff", b"\xc3", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xff\xfe", b"\x80" * 9]
    )


def _odd_characters(data: bytes, rng: random.Random) -> bytes:
    chars = ["\x00", "\x00" * 5, "\ufeff", "\u00a0", "\u2028", "\x85", "\x0b", "\x1c", "\x1a", "\ufffd", "\U0001f600"]
    return _splice(data, rng, [char.encode("utf8") for char in chars])


def _line_breaks(data: bytes, rng: random.Random) -> bytes:
    old, new = rng.choice(
        [(b"\n", b"\r\n"), (b"\n", b"\r"), (b"\n", b" "), (b" ", b"\n"), (b"\n", b"\n\n"), (b"\n", b"")]
    )
    return data.replace(old, new, rng.choice([-1, 1, 3]))


def _truncate(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] if rng.random() < 0.7 else data[at:]


def _bracket(data: bytes, rng: random.Random) -> bytes:
    """Delete a bracket, or turn it around."""
    places = [i for i, char in enumerate(data) if char in b"()"]
    if not places:
        return data
    i = rng.choice(places)
    turned = b")" if data[i : i + 1] == b"(" else b"("
    return data[:i] + rng.choice([b"", b"", turned]) + data[i + 1 :]


def _recode(data: bytes, rng: random.Random) -> bytes:
    return data.decode("utf8", errors="replace").encode(
        rng.choice(["utf-16", "utf-16-le", "utf-8-sig", "latin-1"]), "replace"
    )


_EDITS: list[Callable[[bytes, random.Random], bytes]] = [
    *([_delete, _duplicate, _swap, _insert, _bracket] * 3),
    *([_insert_byte, _bad_utf8, _odd_characters, _line_breaks, _truncate] * 2),
    _recode,
]

"""The synthetic treebank: English sentences drawn from a weighted grammar. It is not a sample of real text.

Each part has its own random numbers, seeded by the seed and the part's name, and the parts are drawn in the order test,
dev, train. So test and dev stay the same when the training part is made larger or smaller, and a smaller training part
is the beginning of a larger one. No sentence comes twice, within a part or between parts.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from nltk import Tree

from .sampler import Sampler

__all__ = ["generate", "write_parts"]

DATA = Path(__file__).parent / "data"
_DRAWN_FIRST = ("test", "dev")
_MAX_REPEATS = 1000


def generate(sizes: Mapping[str, int], *, seed: int = 0, data: Path = DATA) -> Iterator[tuple[str, Tree]]:
    """Draw the parts of a treebank.

    sizes (Mapping[str, int]): Number of trees by part, such as {"train": 4000, "dev": 500, "test": 500}.
    seed (int): Seed. The same one gives the same trees on every machine.
    data (Path): Folder with `grammar.txt` and the lexicon, all other `.txt` files.
    YIELDS (Tuple[str, nltk.Tree]): Part and tree under TOP, brackets written -LRB-: test first, then dev, then others.
    RAISES (ValueError): The grammar has a mistake, or no more sentences to give.
    """
    sampler = Sampler(data)
    seen: set[tuple[str, ...]] = set()
    for name in sorted(sizes, key=lambda name: _DRAWN_FIRST.index(name) if name in _DRAWN_FIRST else 2):
        rng = Random(f"{seed}:{name}")
        for _ in range(sizes[name]):
            for _ in range(_MAX_REPEATS):
                tree = sampler.draw(rng)
                words = tuple(tree.leaves())
                if words not in seen:
                    break
            else:
                raise ValueError(f"{_MAX_REPEATS} draws gave no new sentence: the grammar has too few.")
            seen.add(words)
            yield name, tree


def write_parts(folder: Path, sizes: Mapping[str, int], *, seed: int = 0) -> None:
    """Draw the parts of a treebank, and write each to `PART.mrg` with a tree on each line.

    folder (Path): Folder for the files. It is made if need be, and older files are replaced.
    sizes (Mapping[str, int]): See `generate`.
    seed (int): See `generate`.
    """
    parts: dict[str, list[str]] = {name: [] for name in sizes}
    for name, tree in generate(sizes, seed=seed):
        parts[name].append(f"{tree.pformat(margin=10**6)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in parts.items():
        (folder / f"{name}.mrg").write_text("".join(lines), encoding="utf-8", newline="\n")

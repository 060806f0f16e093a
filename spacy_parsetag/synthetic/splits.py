"""Draw train, dev and test parts from the bundled grammar, or from another.

Each part has its own stream of chance, seeded by the seed and the part's name, and parts are drawn in the order test,
dev, train. So test and dev stay the same when the training part is made larger or smaller, and a smaller training
part is the beginning of a larger one. No sentence comes twice, within a part or between parts.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from nltk import Tree

from ..errors import Errors
from ..treebanks.penn import write_trees
from .errors import GrammarError
from .lexicon import read_lexicon
from .reader import read_grammar
from .sampler import Sampler

GRAMMAR_DIR = Path(__file__).parent.parent / "data" / "synthetic"
GRAMMAR_FILE = "grammar.txt"
# The parts that others must not overlap come first; parts of other names follow in the order given.
_DRAWN_FIRST = ("test", "dev")
_MAX_REPEATS = 1000


def load_sampler(grammar_dir: str | Path | None = None) -> Sampler:
    """Read a grammar and its lexicon.

    grammar_dir (Union[str, Path, None]): A folder with `grammar.txt` and lexicon files, the other `.txt` files; None
        for the bundled one.
    RETURNS (Sampler): A sampler over sentences of 1 to 40 words.
    RAISES (GrammarError): Grammar or lexicon cannot be used; the error names file and line.
    """
    folder = GRAMMAR_DIR if grammar_dir is None else Path(grammar_dir)
    lexicon = sorted(path for path in folder.glob("*.txt") if path.name != GRAMMAR_FILE)
    return Sampler(read_grammar(folder / GRAMMAR_FILE), read_lexicon(lexicon))


def generate(sizes: Mapping[str, int], *, seed: int = 0, sampler: Sampler | None = None) -> Iterator[tuple[str, Tree]]:
    """Draw the parts of a treebank.

    sizes (Mapping[str, int]): Number of trees by part, such as {"train": 4000, "dev": 500, "test": 500}.
    seed (int): Seed; the same one gives the same trees on every machine.
    sampler (Optional[Sampler]): The grammar to draw from; None for the bundled one.
    YIELDS (Tuple[str, nltk.Tree]): Part and tree under TOP, words in file form: test first, then dev, then the others.
    RAISES (ValueError): A size is negative, or the grammar has no more sentences to give.
    """
    for name, size in sizes.items():
        if size < 0:
            raise ValueError(Errors.E276.format(name=name, size=size))
    drawing = load_sampler() if sampler is None else sampler
    return _generate(sizes, seed, drawing)


def _generate(sizes: Mapping[str, int], seed: int, sampler: Sampler) -> Iterator[tuple[str, Tree]]:
    first = [name for name in _DRAWN_FIRST if name in sizes]
    seen: set[tuple[str, ...]] = set()
    for name in [*first, *(name for name in sizes if name not in first)]:
        rng = Random(f"{seed}:{name}")
        for _ in range(sizes[name]):
            tree = _draw_new(sampler, rng, seen)
            yield name, tree


def _draw_new(sampler: Sampler, rng: Random, seen: set[tuple[str, ...]]) -> Tree:
    for _ in range(_MAX_REPEATS):
        tree = sampler.sample(rng)
        words = _words(tree)
        if words not in seen:
            seen.add(words)
            return tree
    line = sampler.grammar.definitions[sampler.grammar.start].line
    reason = Errors.E275.format(attempts=_MAX_REPEATS, least=sampler.min_words, most=sampler.max_words)
    raise GrammarError(sampler.grammar.path, line, reason)


def _words(tree: Tree) -> tuple[str, ...]:
    words = []
    agenda = [tree]
    while agenda:
        node = agenda.pop()
        if isinstance(node, str):
            words.append(node)
        else:
            agenda.extend(reversed(node))
    return tuple(words)


def write_splits(
    out_dir: str | Path, sizes: Mapping[str, int], *, seed: int = 0, sampler: Sampler | None = None
) -> dict[str, Path]:
    """Draw the parts of a treebank and write each to `PART.mrg`, a tree a line.

    Nothing is written before every part is drawn; each file appears whole or not at all, in place of an older one.

    out_dir (Union[str, Path]): Folder for the files, made if need be.
    sizes (Mapping[str, int]): Number of trees by part; a part of size 0 gives an empty file.
    seed (int): See `generate`.
    sampler (Optional[Sampler]): See `generate`.
    RETURNS (Dict[str, Path]): The files by part.
    RAISES (ValueError): See `generate`.
    """
    parts: dict[str, list[Tree]] = {name: [] for name in sizes}
    for name, tree in generate(sizes, seed=seed, sampler=sampler):
        parts[name].append(tree)
    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.mrg" for name in sizes}
    for name, path in paths.items():
        write_trees(path, parts[name])
    return paths

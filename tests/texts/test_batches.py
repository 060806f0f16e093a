"""Texts in batches: by number, and by length where no number is given."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from spacy_parsetag.search.docs import TreeMatcher
from spacy_parsetag.texts.input import Record
from spacy_parsetag.texts.output import Parsed, open_output
from spacy_parsetag.texts.parser import Settings, in_batches, load_parser
from spacy_parsetag.texts.processes import map_in_processes


def sizes(lengths: list[int], size: int | None) -> list[int]:
    records = [Record("a text", {"text": "x" * n}) for n in lengths]
    batches = list(in_batches(records, size))
    assert [record for batch in batches for record in batch] == records
    return [len(batch) for batch in batches]


def test_by_number() -> None:
    assert sizes([10] * 7, 3) == [3, 3, 1]
    assert sizes([100_000] * 4, 3) == [3, 1]
    assert sizes([], 3) == []


def test_by_length() -> None:
    assert sizes([100] * 600, None) == [256, 256, 88]
    assert sizes([16_000] * 5, None) == [2, 2, 1]
    assert sizes([0, 50_000, 5], None) == [2, 1]


def pipe_of(name: str) -> Callable[..., Any]:
    nlp = spacy.blank("en")
    return TreeMatcher(nlp.vocab).pipe if name == "TreeMatcher" else nlp.add_pipe(name).pipe


@pytest.mark.parametrize("name", ["parsetag", "parsetag_ensemble", "tree_matcher", "TreeMatcher"])
@pytest.mark.parametrize("size", [0, -1])
def test_batches_of_nothing(name: str, size: int) -> None:
    """With 0, spaCy's own components give no doc, and say nothing."""
    with pytest.raises(ValueError, match=rf"\[E200\] batch_size must be at least 1; got {size}"):
        next(pipe_of(name)([Doc(spacy.blank("en").vocab)], batch_size=size))


def test_length_of_a_text() -> None:
    assert Record("", {"tokens": ["She", "reads"], "text": "She reads!"}).text == "She reads"
    assert Record("", {}, "not JSON").text == ""


def test_results_that_nobody_reads() -> None:
    """Workers that end while they write large ones, as for `| head`, leave nothing that is waited for."""
    code = (
        "from spacy_parsetag.texts.processes import map_in_processes\n"
        "results = map_in_processes(bytes, [10] + [300_000] * 4000, 2)\n"
        "print([len(next(results)) for _ in range(3)])\n"
        "results.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "[10, 300000, 300000]\n", done.stderr


def test_small_results_are_not_waited_for() -> None:
    results = map_in_processes(time.sleep, [0, 120, 120], 2, patience=0)
    assert next(results) is None
    start = time.perf_counter()
    results.close()
    assert time.perf_counter() - start < 60


def test_workers_ignore_interrupts_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker has the handler of the process that starts it, long before it has imported anything."""
    before = signal.getsignal(signal.SIGINT)
    seen: list[Any] = []

    class Pool(futures.ProcessPoolExecutor):
        def submit(self, *args: Any, **options: Any) -> Any:
            seen.append(signal.getsignal(signal.SIGINT))
            return super().submit(*args, **options)

    monkeypatch.setattr(futures, "ProcessPoolExecutor", Pool)
    for size in map_in_processes(len, ["a", "bc"], 2):
        assert size and signal.getsignal(signal.SIGINT) is before
    assert seen == [signal.SIG_IGN] * 2
    with futures.ThreadPoolExecutor() as threads:  # of a server, where no signal can be handled
        assert threads.submit(lambda: list(map_in_processes(len, ["a"], 2))).result() == [1]


def test_tasks_that_nobody_began_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled future that no worker was told of is never done for `wait`."""
    awaited = []

    def wait(pending: list[futures.Future[Any]], timeout: float) -> None:
        awaited.extend(pending)

    monkeypatch.setattr(futures, "wait", wait)
    with pytest.raises(TypeError):
        list(map_in_processes(bytes, ["no bytes", *([1] * 20)], 2))
    assert not any(future.cancelled() for future in awaited)


def test_each_batch_can_be_read_at_once(tmp_path: Path) -> None:
    with open_output(tmp_path / "out.mrg", "brackets") as write:
        for written in ("(TOP (NN a))\n", "(TOP (NN a))\n(TOP (NN b))\n"):
            write(Parsed(1, [written.splitlines()[-1]]))
            (temporary,) = tmp_path.iterdir()
            assert temporary.read_text() == written


def test_words_of_earlier_batches_are_forgotten(pipeline: Path) -> None:
    parser = load_parser(Settings(str(pipeline), -1, None, True, "jsonl"))
    n_strings = set()
    for i in range(3):
        records = [Record("", {"text": f"word{i} other{i}"}), Record("", {"tokens": [f"new{i}"]})]
        assert not parser(records).failures
        n_strings.add(len(parser.nlp.vocab.strings))
    assert len(n_strings) == 1

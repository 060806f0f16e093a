"""`parsetag parse` over many texts: two workers over one process, memory.

    python benchmarks/parse.py workers   --workers 2 over one process, runs in turns
    python benchmarks/parse.py pipe      nlp.pipe(n_process=2) over n_process=1, which sends docs between processes
    python benchmarks/parse.py memory    resident memory at each 50,000 of 500,000 texts

The pipeline is the CNN that `parsetag` has without a config, trained for a moment on the synthetic treebank, unless
--model names another. The texts are sentences of that treebank, each with a number of its own, so that each brings a
word that was not seen before.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from record import parse_arguments, write_result
from samples import draw_trees
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_parsetag.texts.shards import MANIFEST, NOTES
from spacy_parsetag.tokens import docs_from_trees

SHARD_SIZE = 1000
WORKERS = 2


def make_inputs(folder: Path, n_texts: int, model: str | None) -> tuple[Path, Path]:
    """A pipeline, and a file of texts."""
    trees = draw_trees(2000)
    sentences = [" ".join(tree.leaves()) for tree in trees]
    texts = folder / "texts.txt"
    with texts.open("w", encoding="utf-8") as file:
        file.writelines(f"{sentences[i % len(sentences)]} {i}\n" for i in range(n_texts))
    nlp = spacy.load(model) if model is not None else train(trees[:500])
    nlp.to_disk(folder / "model")
    return folder / "model", texts


def train(trees: list[Any]) -> spacy.language.Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag")
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs_from_trees(nlp.vocab, trees)]
    optimizer = nlp.initialize(lambda: examples)
    for start in range(0, len(examples), 32):
        nlp.update(examples[start : start + 32], sgd=optimizer)
    return nlp


def start(*args: object) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "spacy", "parsetag", "parse", *map(str, args)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> None:
    _, error = process.communicate()
    if process.returncode:
        raise SystemExit(error.decode())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def run_workers(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, texts = make_inputs(folder, args.texts, args.model)
    seconds: dict[int, list[float]] = {1: [], WORKERS: []}
    for repeat in range(args.repeats):
        for workers, times in seconds.items():
            out = folder / f"out-{workers}-{repeat}"
            begin = time.perf_counter()
            finish(start(model, texts, out, "--shard-size", SHARD_SIZE, "--workers", workers))
            times.append(round(time.perf_counter() - begin, 2))
    alone, together = (min(times) for times in seconds.values())
    expected = contents(folder / "out-1-0")
    return {
        "texts": args.texts,
        "shard_size": SHARD_SIZE,
        "seconds": {str(workers): times for workers, times in seconds.items()},
        "texts_a_second": {str(workers): round(args.texts / min(times), 1) for workers, times in seconds.items()},
        "times_as_fast": round(alone / together, 2),
        "same_output": all(contents(path) == expected for path in folder.glob("out-*")),
    }


def run_pipe(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, path = make_inputs(folder, args.texts, args.model)
    nlp, texts = spacy.load(model), path.read_text(encoding="utf-8").splitlines()
    speeds = {}
    for n_process in (1, WORKERS):
        begin = time.perf_counter()
        for _ in nlp.pipe(texts, n_process=n_process, batch_size=256):
            pass
        speeds[str(n_process)] = round(len(texts) / (time.perf_counter() - begin), 1)
    return {"texts": args.texts, "texts_a_second": speeds}


def run_memory(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, texts = make_inputs(folder, args.texts, args.model)
    out, step = folder / "out", args.texts // 10
    process = start(model, texts, out, "--shard-size", SHARD_SIZE, "--batch-size", 500)
    memory: dict[int, float] = {}
    while process.poll() is None:
        n_done = sum(1 for _ in (out / NOTES).glob("*.json")) * SHARD_SIZE if (out / NOTES).exists() else 0
        if n_done // step > len(memory):
            memory[n_done] = resident(process.pid)
        time.sleep(0.05)
    finish(process)
    if not (out / MANIFEST).exists():
        raise SystemExit("no output")
    return {
        "texts": args.texts,
        "resident_mb": {str(n): mb for n, mb in memory.items()},
        "last_over_first": round(memory[max(memory)] / memory[min(memory)], 3),
    }


def resident(pid: int) -> float:
    """Resident memory of a process in MB, on Linux."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["workers", "pipe", "memory"])
    parser.add_argument("--texts", type=int, help="by default 100,000, 5,000, 500,000")
    parser.add_argument("--model", help="a pipeline, a package or a folder")
    parser.add_argument("--repeats", type=int, default=2, help="runs; the fastest counts")
    args = parse_arguments(parser)
    run, n_texts = {
        "workers": (run_workers, 100_000),
        "pipe": (run_pipe, 5000),
        "memory": (run_memory, 500_000),
    }[args.what]
    args.texts = args.texts or n_texts
    with TemporaryDirectory() as folder:
        figures = run(Path(folder), args)
        for name, value in figures.items():
            print(f"{name}: {value}")
        write_result(figures, args.output, args.made_by, pipelines=[Path(folder) / "model"])


if __name__ == "__main__":
    main()

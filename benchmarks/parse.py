"""`parsetag parse` over many texts: runs that are killed, two workers over one process, memory.

    python benchmarks/parse.py kills     20 kills of a run over 20,000 texts; then its output, and what was parsed twice
    python benchmarks/parse.py workers   --workers 2 over one process, runs in turns
    python benchmarks/parse.py pipe      nlp.pipe(n_process=2) over n_process=1, which sends docs between processes
    python benchmarks/parse.py memory    resident memory at each 50,000 of 500,000 texts

The pipeline is the CNN that `parsetag` has without a config, trained for a moment on the synthetic treebank, unless
--model names another. The texts are sentences of that treebank, each with a number of its own, so that each brings a
word that was not seen before.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # each process has one thread

import spacy
from record import ROOT, parse_arguments, write_result
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_parsetag.texts.shards import MANIFEST, NOTES
from spacy_parsetag.tokens import docs_from_trees

# A component that writes down each text it sees.
LOG = """
import os
from spacy.language import Language

@Language.component("benchmark_log")
def log(doc):
    with open(os.environ["PARSETAG_LOG"], "ab") as file:
        file.write(doc.text.encode() + b"\\n")
    return doc
"""


def make_inputs(folder: Path, n_texts: int, model: str | None, *, with_log: bool) -> tuple[str, Path, list[str]]:
    """A pipeline, a file of texts, and options of the command."""
    sys.path.append(str(ROOT))
    from tools.synthetic import generate

    trees = [tree for _, tree in generate({"train": 2000})]
    sentences = [" ".join(tree.leaves()) for tree in trees]
    texts = folder / "texts.txt"
    with texts.open("w", encoding="utf-8") as file:
        file.writelines(f"{sentences[i % len(sentences)]} {i}\n" for i in range(n_texts))
    nlp = spacy.load(model) if model is not None else train(trees[:500])
    options = []
    if with_log:
        code = folder / "code.py"
        code.write_text(LOG, encoding="utf-8")
        spacy.util.import_file("code", code)
        nlp.add_pipe("benchmark_log", first=True)
        options = ["--code", str(code)]
    nlp.to_disk(folder / "model")
    return str(folder / "model"), texts, options


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


def start(*args: object, **variables: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "spacy", "parsetag", "parse", *map(str, args)]
    return subprocess.Popen(command, env={**os.environ, **variables}, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> None:
    _, error = process.communicate()
    if process.returncode:
        raise SystemExit(error.decode())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def run_kills(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, texts, options = make_inputs(folder, args.texts, args.model, with_log=True)
    options += ["--shard-size", str(args.shard_size), "--batch-size", "100", "--workers", str(args.workers)]
    begin = time.perf_counter()
    finish(start(model, texts, folder / "calm", *options, PARSETAG_LOG=str(folder / "calm.log")))
    seconds = time.perf_counter() - begin
    rng = random.Random(args.seed)
    log, out = folder / "log", folder / "out"
    moments = []
    # Moments are numbers of texts parsed: at moments of time most runs would still be starting.
    for moment in sorted(rng.randrange(args.texts) for _ in range(args.kills)):
        goal = n_lines(log) + max(0, moment - n_distinct(log))
        process = start(model, texts, out, *options, "--resume", PARSETAG_LOG=str(log))
        while n_lines(log) <= goal and process.poll() is None:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        time.sleep(0.5)  # for its workers to end
        moments.append(n_distinct(log))
    finish(start(model, texts, out, *options, "--resume", PARSETAG_LOG=str(log)))
    counts = Counter(log.read_text(encoding="utf-8").splitlines())
    n_twice = sum(counts.values()) - len(counts)
    return {
        "texts": args.texts,
        "shard_size": args.shard_size,
        "workers": args.workers,
        "kills_after_texts": moments,
        "undisturbed_seconds": round(seconds, 1),
        "same_output": contents(out) == contents(folder / "calm"),
        "texts_parsed": len(counts),
        "parsed_again": n_twice,
        "parsed_again_at_most": args.kills * args.workers * args.shard_size,
    }


def n_distinct(log: Path) -> int:
    return len(set(log.read_text(encoding="utf-8").splitlines())) if log.exists() else 0


def run_workers(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, texts, _ = make_inputs(folder, args.texts, args.model, with_log=False)
    seconds: dict[int, list[float]] = {1: [], args.workers: []}
    for repeat in range(args.repeats):
        for workers, times in seconds.items():
            out = folder / f"out-{workers}-{repeat}"
            begin = time.perf_counter()
            finish(start(model, texts, out, "--shard-size", args.shard_size, "--workers", workers))
            times.append(round(time.perf_counter() - begin, 2))
    alone, together = (min(times) for times in seconds.values())
    expected = contents(folder / "out-1-0")
    return {
        "texts": args.texts,
        "shard_size": args.shard_size,
        "seconds": {str(workers): times for workers, times in seconds.items()},
        "texts_a_second": {str(workers): round(args.texts / min(times), 1) for workers, times in seconds.items()},
        "times_as_fast": round(alone / together, 2),
        "same_output": all(contents(path) == expected for path in folder.glob("out-*")),
    }


def run_pipe(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, path, _ = make_inputs(folder, args.texts, args.model, with_log=False)
    nlp, texts = spacy.load(model), path.read_text(encoding="utf-8").splitlines()
    speeds = {}
    for n_process in (1, args.workers):
        begin = time.perf_counter()
        for _ in nlp.pipe(texts, n_process=n_process, batch_size=256):
            pass
        speeds[str(n_process)] = round(len(texts) / (time.perf_counter() - begin), 1)
    return {"texts": args.texts, "texts_a_second": speeds}


def run_memory(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    model, texts, _ = make_inputs(folder, args.texts, args.model, with_log=False)
    out, step = folder / "out", args.texts // 10
    process = start(model, texts, out, "--shard-size", args.shard_size, "--batch-size", 500)
    memory: dict[int, float] = {}
    while process.poll() is None:
        n_done = sum(1 for _ in (out / NOTES).glob("*.json")) * args.shard_size if (out / NOTES).exists() else 0
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
    parser.add_argument("what", choices=["kills", "workers", "pipe", "memory"])
    parser.add_argument("--texts", type=int, help="by default 20,000, 100,000, 5,000, 500,000")
    parser.add_argument("--model", help="a pipeline, a package or a folder")
    parser.add_argument("--shard-size", type=int, help="200 for kills, else 1,000")
    parser.add_argument("--workers", type=int, help="1 for kills, else 2")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2, help="runs; the fastest counts")
    parser.add_argument("--seed", type=int, default=0)
    args = parse_arguments(parser)
    run, n_texts, n_workers, shard_size = {
        "kills": (run_kills, 20_000, 1, 200),
        "workers": (run_workers, 100_000, 2, 1000),
        "pipe": (run_pipe, 5000, 2, 1000),
        "memory": (run_memory, 500_000, 1, 1000),
    }[args.what]
    args.texts, args.workers = args.texts or n_texts, args.workers or n_workers
    args.shard_size = args.shard_size or shard_size
    with TemporaryDirectory() as folder:
        figures = run(Path(folder), args)
    for name, value in figures.items():
        print(f"{name}: {value}")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()

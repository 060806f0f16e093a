"""Parse files of texts to a folder of shards. A run that was killed, at any moment, can resume where it stopped.

A shard holds the parses of a range of texts of one file. A note that describes the shard is written after it. Both are
files that appear whole or not at all, and both are on the disk before the next shard begins. A shard that lacks its
note, or differs from it, is parsed again. When all shards are there, the notes become a part of the manifest.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors
from ..files.find import hash_files
from ..files.lock import lock_folder
from ..files.write import TEMPORARY, text_output
from .input import Record, Source
from .output import COUNTS, open_output
from .parser import BatchParser, Settings, in_batches, load_parser

FORMAT = 1
MANIFEST = "_manifest.json"  # with "_", so that Arrow and Spark pass over it where the folder is a table
NOTES = ".notes"  # the folder of the notes on shards, until the run ends
LOCK = f"{NOTES}/.lock"  # of the run that is at work
SHARD_SUFFIXES = {"brackets": ".mrg", "jsonl": ".jsonl", "spacy": ".spacy", "parquet": ".parquet"}
PACKAGES = ("spacy-parsetag", "spacy", "thinc", "numpy")

Note = dict[str, Any]  # see `ShardParser.__call__`


class Shard(NamedTuple):
    """Names a range of texts.

    number (int): Its place among all shards, from 0.
    source (int): Which of the files it is of, from 0.
    start (int): Its first text, counted in that file from 0.
    stop (int): The text after its last.
    """

    number: int
    source: int
    start: int
    stop: int


class Job(NamedTuple):
    """Holds what the shards of a run have in common. It goes to each worker.

    settings (Settings): How to parse.
    sources (tuple[Source, ...]): The files of texts.
    folder (Path): The folder of shards.
    batch_size (int | None): Texts in a batch; None for what `in_batches` takes.
    model_sha256 (str): The hash of the pipeline, which is the same for all workers; "" if nobody has to know.
    first_source (int): Which of the files of the run the first of these is, from 0.
    """

    settings: Settings
    sources: tuple[Source, ...]
    folder: Path
    batch_size: int | None
    model_sha256: str = ""
    first_source: int = 0

    def source(self, shard: Shard) -> Source:
        """Find the file of a shard."""
        return self.sources[shard.source - self.first_source]

    def only(self, shard: Shard) -> "Job":
        """Give the same with the file of a shard alone: a task with all files of a large run would be slow to send."""
        return self._replace(sources=(self.source(shard),), first_source=shard.source)

    def absolute(self) -> "Job":
        """Give the same with full paths, for workers that run in other folders. Failures name files as before."""
        sources = tuple(
            each._replace(path=each.path.resolve(), name=each.name or str(each.path)) for each in self.sources
        )
        return self._replace(settings=self.settings.absolute(), sources=sources, folder=self.folder.resolve())

    def name(self, shard: Shard) -> str:
        """Name a shard's file."""
        return f"{shard.number:06d}{SHARD_SUFFIXES[self.settings.format]}"

    def note_path(self, shard: Shard) -> Path:
        return self.folder / NOTES / f"{shard.number:06d}.json"

    def read_note(self, shard: Shard) -> Note | None:
        """Read the note on a shard; None if the shard still has to be parsed."""
        try:
            note = json.loads(self.note_path(shard).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return self.check_note(note, shard)

    def check_note(self, note: Any, shard: Shard) -> Note | None:
        """Return a note if it is about this shard and its hash is that of the shard's file, else None."""
        if not isinstance(note, dict) or not self.place(shard).items() <= note.items():
            return None
        if not isinstance(note.get("failures"), list) or not all(isinstance(note.get(name, 0), int) for name in COUNTS):
            return None
        path = self.folder / self.name(shard)
        return note if path.is_file() and hash_files([path]) == note.get("sha256") else None

    def place(self, shard: Shard) -> Note:
        """Say in a note which shard it is on: its file, and the range of texts."""
        return {"file": self.name(shard), "source": shard.source, "start": shard.start, "stop": shard.stop}


class ShardParser:
    """Parses shards with a loaded pipeline. Successive shards of one file take one pass over it.

    parser (BatchParser | None): The pipeline. If None, this process loads it, once.
    RAISES (ValueError): If it is another one than when the run began.
    """

    def __init__(self, job: Job, parser: BatchParser | None = None) -> None:
        self.job = job
        self.parser = parser or load_parser(job.settings)
        if job.model_sha256 not in ("", self.parser.sha256):
            raise ValueError(Errors.E581.format(path=job.settings.model))
        self.place = (-1, 0)  # the file that is open, and the next text in it
        self.unread: Iterator[Callable[[], Record]] = iter(())
        self.stamps = {source.path: read_stamp(source.path) for source in job.sources}

    def __call__(self, shard: Shard, progress: Callable[[int], object] = lambda n: None) -> Note:
        """Parse a shard, write it, and then write the note on it.

        progress (Callable[[int], object]): Called after each batch with its number of texts.
        RETURNS (dict[str, Any]): "file" (name), "bytes" and "sha256" of the shard; "source", "start" and "stop", the
            range of texts; the `COUNTS` of these, as in a `Parsed`; "failures", for each text that failed file, line
            and reason.
        RAISES (ValueError): If the file of texts has changed since this parser was made; there is no note then.
        """
        earlier_note = self.job.read_note(shard)  # where an engine does a task again
        if earlier_note is not None:
            return earlier_note
        path = self.job.folder / self.job.name(shard)
        counts = Counter(dict.fromkeys(COUNTS, 0))
        failures: list[str] = []
        with open_output(path, self.job.settings.format, sync=True) as write:
            for batch in in_batches(self._read(shard), self.job.batch_size):
                parsed = self.parser(batch)
                write(parsed)
                counts.update(parsed.counts)
                failures += parsed.failures
                progress(len(batch))
        source = self.job.source(shard).path
        if read_stamp(source) != self.stamps[source]:
            raise ValueError(Errors.E565.format(path=source))
        written = {"bytes": path.stat().st_size, "sha256": hash_files([path])}
        note: Note = {**self.job.place(shard), **written, **counts, "failures": failures}
        write_json(note, self.job.note_path(shard))
        return note

    def _read(self, shard: Shard) -> Iterator[Record]:
        source = self.job.source(shard)
        file, place = self.place
        if file != shard.source or place > shard.start:
            self.unread, place = source.prepare(), 0
        self.place = (-1, 0)  # in case that this shard is not read to its end
        n_left = shard.stop - shard.start
        for make in islice(self.unread, shard.start - place, shard.stop - place):
            n_left -= 1
            yield make()
        if n_left:
            raise ValueError(Errors.E565.format(path=source.path))
        self.place = (shard.source, shard.stop)


load_shard_parser = lru_cache(1)(ShardParser)  # the pipeline stays, see `load_parser`


def parse_shard(task: tuple[Job, Shard]) -> Note:
    """Parse a shard in whatever process this is."""
    job, shard = task
    return load_shard_parser(job)(shard)


class Run:
    """Fills a folder of shards.

    shard_size (int): Texts in a shard; the last one of a file may have fewer.
    RAISES (ValueError): If the folder holds something else, if it was begun with other files, another pipeline, other
        options or versions, or if it was begun and `resume` is false.
    """

    def __init__(self, job: Job, parser: BatchParser, shard_size: int, resume: bool) -> None:
        self.job = job
        hashes = [hash_files([source.path]) for source in job.sources]  # first: what comes after it, `finish` sees
        counts = [source.n_texts() for source in job.sources]
        self.shards = plan_shards(counts, shard_size)
        self.n_texts = sum(counts)
        self.head = json.loads(json.dumps(describe_run(job, parser, shard_size, counts, hashes)))
        self.notes: dict[str, Note] = {}  # by the file of the shard
        self.n_done = self.n_failed = 0  # texts
        self.counts: Counter[str] = Counter()
        with ExitStack() as lock:
            lock.enter_context(lock_folder(job.folder, LOCK))  # first: a run that ends changes manifest and notes
            self._begin(resume)
            self.lock = lock.pop_all()

    def _begin(self, resume: bool) -> None:
        """Count what an earlier run has left, if this may go on with it, and make the folder fit to go on."""
        job, path = self.job, self.job.folder / MANIFEST
        saved_notes: dict[int, Any] = {}
        if path.exists():
            manifest = read_manifest(path)
            check_same(manifest, self.head, job.folder)
            names = {job.name(shard) for shard in self.shards}
            for file in sorted(job.folder.glob(f"*{SHARD_SUFFIXES[job.settings.format]}")):
                if file.stem.isdigit() and file.name not in names:
                    raise ValueError(Errors.E568.format(path=file, reason=f"the run has {len(names):,} of them"))
            saved_notes.update(enumerate(manifest.get("shards", ())))
            for shard in self.shards:
                note = job.read_note(shard) or job.check_note(saved_notes.get(shard.number), shard)
                if note is not None:
                    self.add(note)
            if not resume:
                raise ValueError(Errors.E562.format(path=job.folder, n_done=len(self.notes), n=len(self.shards)))
        elif others := sorted(
            one.name for one in job.folder.iterdir() if one.name != NOTES and not one.match(TEMPORARY)
        ):
            raise ValueError(Errors.E561.format(path=job.folder, name=others[0]))
        for folder in (job.folder, job.folder / NOTES):
            remove_temporaries(folder)  # of a run that was killed
        is_reopened = bool(saved_notes) and len(self.notes) < len(self.shards)
        if is_reopened:  # the run had ended: restore the notes from its manifest
            for shard in self.shards:
                if job.name(shard) in self.notes:
                    write_json(self.notes[job.name(shard)], job.note_path(shard))
        if is_reopened or not path.exists():
            write_json(self.head, path)

    def add(self, note: Note) -> None:
        """Count a shard that is parsed."""
        self.notes[note["file"]] = note
        self.n_done += note["stop"] - note["start"]
        self.n_failed += len(note["failures"])
        self.counts.update({name: note.get(name, 0) for name in COUNTS})  # an earlier version made fewer

    def check(self, allowed: float | Fraction, limit: str) -> None:
        """Raise a ValueError, which names the limit, if more texts failed than are allowed."""
        if self.n_failed > allowed:
            raise ValueError(Errors.E564.format(n_failed=self.n_failed, s="s" * (self.n_failed != 1), limit=limit))

    def finish(self) -> None:
        """Write the manifest with all shards, when all are there.

        RAISES (ValueError): If a file of texts has changed since the run began. The notes are then deleted, as a
            shard may hold the old texts or the new ones.
        """
        remove_temporaries(self.job.folder)  # of workers that were killed and replaced
        pairs = zip(self.job.sources, self.head["sources"], strict=True)
        changed = [source.path for source, begun in pairs if hash_files([source.path]) != begun["sha256"]]
        if not changed:
            shards = [self.notes[self.job.name(shard)] for shard in self.shards]
            counts = {"n_texts": self.n_texts, "n_failed": self.n_failed}
            write_json({**self.head, **counts, "shards": shards}, self.job.folder / MANIFEST)
        for path in (self.job.folder / NOTES).iterdir():
            if path != self.job.folder / LOCK and not path.is_dir():  # file systems may have folders of their own there
                path.unlink(missing_ok=True)
        self.lock.close()
        if changed:
            raise ValueError(Errors.E565.format(path=changed[0]))


def plan_shards(counts: Iterable[int], size: int) -> list[Shard]:
    """Cut files into ranges of at most `size` texts; no range goes on in the next file."""
    ranges = ((source, start, min(start + size, n)) for source, n in enumerate(counts) for start in range(0, n, size))
    return [Shard(number, *texts) for number, texts in enumerate(ranges)]


def describe_run(
    job: Job, parser: BatchParser, shard_size: int, counts: Sequence[int], hashes: Sequence[str]
) -> dict[str, Any]:
    """Describe for the manifest everything that the output depends on.

    counts, hashes (Sequence): The number of texts and the hash of each file.
    """
    settings = job.settings
    folder = os.path.commonpath([source.path.parent for source in job.sources])
    return {
        "format": FORMAT,
        "sources": [
            {
                "name": source.path.relative_to(folder).as_posix(),
                "id": source.id,
                "format": source.format,
                "n_texts": n,
                "sha256": sha256,
            }
            for source, n, sha256 in zip(job.sources, counts, hashes, strict=True)
        ],
        "model": {"sha256": parser.sha256, "meta": parser.nlp.meta},
        "options": {
            "sents": "line" if settings.one_sentence else "model",
            **{name: getattr(settings, name) for name in ("format", "probs", "k_best")},
            "batch_size": job.batch_size,
            "shard_size": shard_size,
            "code": hash_files([settings.code]) if settings.code else None,
        },
        "versions": {name: version(name) for name in PACKAGES},
    }


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the manifest of an earlier run. Raises a ValueError if the file is something else."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as err:
        raise ValueError(Errors.E568.format(path=path, reason=err)) from err
    parts = {"sources": list, "model": dict, "options": dict, "versions": dict}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(key), kind) for key, kind in parts.items()):
        raise ValueError(Errors.E568.format(path=path, reason=f"a manifest has {', '.join(parts)}"))
    if not isinstance(manifest.get("shards", []), list):
        raise ValueError(Errors.E568.format(path=path, reason="its shards are no list"))
    if manifest.get("format") != FORMAT:
        raise ValueError(Errors.E568.format(path=path, reason=f"its format is not {FORMAT}"))
    return manifest


def is_unfinished(folder: Path) -> bool:
    """Check whether a folder is that of a run which has not ended."""
    try:
        return "shards" not in read_manifest(folder / MANIFEST)
    except (OSError, ValueError):  # there is none, or it is something else
        return False


def check_same(old: dict[str, Any], new: dict[str, Any], folder: Path) -> None:
    """Raise a ValueError that says what differs between an earlier run and this one, if something does."""
    changes = ["files to parse"] if old["sources"] != new["sources"] else []
    if old["model"].get("sha256") != new["model"]["sha256"]:
        changes.append("model")
    for key in ("options", "versions"):
        before, now = old[key], new[key]
        changes += [f"{name} (was {before.get(name)}, is {now[name]})" for name in now if before.get(name) != now[name]]
    if changes:
        raise ValueError(Errors.E563.format(path=folder, what=", ".join(changes)))


def read_stamp(path: Path) -> tuple[int, int]:
    """Read the size and the time of the last change of a file, which nearly always tell if it has changed."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def write_json(data: dict[str, Any], path: Path) -> None:
    """Write a file of JSON that appears whole or not at all."""
    with text_output(path, sync=True) as file:  # it writes a name of a file that is in no encoding
        file.write(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def remove_temporaries(folder: Path) -> None:
    """Remove the files that were being written to a folder when their writers were killed."""
    for path in folder.glob(TEMPORARY):
        path.unlink(missing_ok=True)

"""Parse and search on a Spark cluster. Python workers load the pipeline once; texts go in, and rows come out."""

import builtins
import json
import os
import re
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..compat import require
from ..errors import Errors
from .output import SENTS
from .parquet import ADDED, TableParser, table_settings
from .shards import Job, Note, Shard, load_shard_parser

MAX_TASKS = 1000
# Errors of the machine that a task is on: a full disk, a file that is not there, a package that is missing.
_OF_MACHINE = "|".join(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, OSError | ImportError)
)


def spark_parse(
    df: Any, model: str | Path, column: str = "text", *, one_sentence: bool = True, code: str | Path | None = None
) -> Any:
    """Parse a column of a Spark DataFrame. Each Python worker loads the pipeline once.

    df (pyspark.sql.DataFrame): Rows with texts. It stays lazy.
    model, column, one_sentence, code: As for `ray_parse`.
    RETURNS (pyspark.sql.DataFrame): The same rows with the columns "sents" and "error", as `ray_parse` adds them.
    RAISES (ValueError): If the DataFrame lacks the column or has one of the new ones, whatever their case.
    """
    found = _find_name(df.columns, column)
    if found is None or any(_find_name(df.columns, name) for name in ADDED):
        names = ", ".join(df.columns)
        raise ValueError(Errors.E567.format(column=column, added=" and ".join(ADDED), names=names))
    types = require("pyspark.sql.types", "spark_parse")
    added = types.StructType.fromDDL(f"sents {_ddl(SENTS)}, error string")
    schema = types.StructType([*df.schema, *added])
    settings = table_settings(model, -1, code, one_sentence)
    return df.mapInArrow(partial(_map_tables, partial(TableParser, settings, found)), schema)


def spark_search(df: Any, pattern: str, *, heads: str = "penn") -> Any:
    """Find a Tregex pattern in a Spark DataFrame of parsed texts, such as `spark_parse` returns.

    df (pyspark.sql.DataFrame): Rows with a column "sents", and perhaps "id". It stays lazy.
    pattern, heads: As for `ray_search`.
    RETURNS (pyspark.sql.DataFrame): A row for each way to match, as `ray_search` has them.
    RAISES (ValueError): If it is no pattern.
    """
    from .search import MATCHES, TableSearcher  # with compiled code, which spaCy's command line does without

    names = {name: _find_name(df.columns, name) for name in ("id", "sents")}
    columns = df.select(*(df[found].alias(name) for name, found in names.items() if found is not None))
    search = TableSearcher(pattern, heads)  # an error comes here, and not from a worker
    return columns.mapInArrow(partial(_map_tables, lambda: search), _ddl(MATCHES))


def spark_shards(job: Job, shards: list[Shard], n_workers: int | None) -> Generator[Note, None, None]:
    """Parse shards with the Python workers of a Spark cluster: that of PYSPARK_SUBMIT_ARGS, or one on this machine.

    n_workers (int | None): How many workers a session on this machine has, where there is none yet; None for one per
        core.
    YIELDS (dict[str, Any]): The note on each shard, when all are done. A task that Spark does again parses only what
        the first attempt did not write.
    RAISES (ValueError): If a task raises one, or an OSError or ImportError, four times.
    """
    builder = require("pyspark.sql", "--engine spark").SparkSession.builder
    has_master = re.search(r"--master\b|\bspark\.master\b", os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    if n_workers is not None and not has_master:  # the builder's would replace that one
        builder = builder.master(f"local[{n_workers},4]")  # as on a cluster, a task is tried four times
    columns = ", ".join(f"`{name}` long" for name in Shard._fields)
    rows = builder.getOrCreate().createDataFrame(shards, columns)
    rows = rows.repartitionByRange(min(len(shards), MAX_TASKS), "number").sortWithinPartitions("number")
    try:
        noted = rows.mapInArrow(partial(_parse_shards, job.absolute()), "note string").collect()
    except require("pyspark.errors", "--engine spark").PythonException as err:
        for pattern in (r"^ValueError: (\[E\d+\] .*)", rf"^(?:{_OF_MACHINE}): (.*)"):
            if stated := re.search(pattern, str(err), re.MULTILINE):
                raise ValueError(stated[1]) from err
        raise
    for row in noted:
        yield json.loads(row.note)


def _find_name(names: list[str], name: str) -> str | None:
    """Find a column whatever its case, as Spark does; one that has just this name comes first."""
    return min((each for each in names if each.lower() == name.lower()), key=lambda each: each != name, default=None)


def _ddl(kind: Any) -> str:
    if isinstance(kind, list):
        return f"array<{_ddl(kind[0])}>"
    if isinstance(kind, dict):
        return f"struct<{', '.join(f'`{name}`: {_ddl(each)}' for name, each in kind.items())}>"
    return "int" if kind is int else "string"


def _map_tables(load: Callable[[], Callable[[Any], Any]], batches: Iterator[Any]) -> Iterator[Any]:
    change = load()
    for batch in batches:
        yield from change(batch).to_batches()


def _parse_shards(job: Job, batches: Iterator[Any]) -> Iterator[Any]:
    pa = require("pyarrow", "--engine spark")
    for batch in batches:
        parse = load_shard_parser(job)
        for row in batch.to_pylist():
            note = json.dumps(parse(Shard(**row)))
            yield pa.RecordBatch.from_pydict({"note": [note]})

"""Ray and Spark on clusters of two workers on this machine, one of which is killed in the middle."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from texts_data import Run, contents, write_texts

from spacy_parsetag.texts import ray_parse, ray_search, spark_parse, spark_search
from spacy_parsetag.texts.input import Source
from spacy_parsetag.texts.on_ray import _n_workers, ray_shards
from spacy_parsetag.texts.on_spark import _ddl, spark_shards
from spacy_parsetag.texts.output import SENTS
from spacy_parsetag.texts.parquet import TableParser, table_settings
from spacy_parsetag.texts.parser import Settings
from spacy_parsetag.texts.shards import NOTES, Job, Shard, plan_shards

N = 600


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the pipeline writes down what it parses, in whatever process."""
    path = tmp_path_factory.mktemp("log") / "log"
    os.environ["PARSETAG_TEST_LOG"] = str(path)
    os.environ["PARSETAG_TEST_SECONDS"] = "0.005"  # a text, so that there is a middle
    yield path
    del os.environ["PARSETAG_TEST_LOG"], os.environ["PARSETAG_TEST_SECONDS"]


@pytest.fixture(scope="module")
def rows(run: Run, pipeline: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What one process makes of the texts."""
    source = write_texts(tmp_path_factory.mktemp("texts") / "in.txt", N, boom=17)
    lines = run("parse", pipeline, source, "--output-format", "jsonl", "--skip-bad", "all").stdout.splitlines()
    return [json.loads(line) for line in lines]


def kill_one(log: Path) -> threading.Thread:
    """Kill the process that parses after a while."""

    def kill() -> None:
        while not log.exists() or log.read_bytes().count(b"\n") < N // 4:
            time.sleep(0.02)
        os.kill(int(log.read_text().splitlines()[-1].split("\t")[0]), signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def check(found: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Every text once, with the trees of one process."""
    assert sorted(row["id"] for row in found) == list(range(N))
    for row in found:
        one = rows[row["id"]]
        assert (row["text"], row["sents"]) == (one["text"], one["sents"])
        assert (row["error"] is None) == ("error" not in one)


def test_settings_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the folder gets its full path; a package keeps its name, even beside a folder of that name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    found = table_settings("model", 0, "code.py", True)
    assert (found.model, found.gpu_id, found.code) == (str(tmp_path / "model"), 0, tmp_path / "code.py")
    found = table_settings("en_parsetag_sm", -1, None, False)
    assert (found.model, found.gpu_id, found.code) == ("en_parsetag_sm", -1, None)
    (tmp_path / "spacy").mkdir()
    assert table_settings("spacy", -1, None, True).model == "spacy"
    assert table_settings(Path("spacy"), -1, None, True).model == str(tmp_path / "spacy")


def test_tables(pipeline: Path, code: Path, rows: list[dict[str, Any]]) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parse = TableParser(table_settings(pipeline, -1, code, True), "text")
    texts = [*(row["text"] for row in rows[:20]), None]
    columns = {"text": texts, "n": range(21)}
    for table in (pa.table(columns), pa.RecordBatch.from_pydict(columns)):
        found = parse(table)
        assert found.schema.names == ["text", "n", "sents", "error"] and found.column("n").to_pylist() == [*range(21)]
        assert [row["sents"] for row in found.to_pylist()] == [*(row["sents"] for row in rows[:20]), []]
        assert [i for i, error in enumerate(found.column("error").to_pylist()) if error] == [17, 20]
    for bad in (pa.table({"texts": texts}), pa.table({"text": texts, "error": texts})):
        with pytest.raises(ValueError, match="E567"):
            parse(bad)
    assert "[E580] The text is null" in found.column("error")[20].as_py()
    for column, kind in (([None, 1], "int64"), ([b"She"], "binary"), ([[], [1]], "list<")):
        with pytest.raises(ValueError, match=f"E579.*'text' has type {kind}"):
            parse(pa.table({"text": column}))
    assert parse(pa.table({"text": pa.array(["She"]).dictionary_encode()})).column("error").to_pylist() == [None]
    assert parse(pa.table({"text": pa.nulls(2)})).column("error").null_count == 0
    tokens = TableParser(table_settings(pipeline, -1, code, True), "tokens")
    (row,) = tokens(pa.table({"tokens": [["New York", "barks"]]})).to_pylist()
    assert row["sents"][0]["words"] == ["New York", "barks"]


@pytest.fixture(scope="module")
def ray(log: Path) -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="ray is not installed")
    pytest.importorskip("ray.data", reason="ray.data is not installed")
    ray.init(num_cpus=3, include_dashboard=False, logging_level="error", log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.slow
def test_ray(ray: Any, pipeline: Path, code: Path, log: Path, rows: list[dict[str, Any]]) -> None:
    log.unlink(missing_ok=True)
    items = [{"id": i, "text": row["text"]} for i, row in enumerate(rows)]
    dataset = ray.data.from_items(items, override_num_blocks=12)
    killer = kill_one(log)
    parsed = ray_parse(dataset, pipeline, code=code, batch_size=50, concurrency=2)
    check(parsed.take_all(), rows)
    killer.join(1)
    assert not killer.is_alive()


@pytest.fixture(scope="module")
def spark(log: Path) -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.mark.slow
def test_spark(spark: Any, pipeline: Path, code: Path, log: Path, rows: list[dict[str, Any]]) -> None:
    log.unlink(missing_ok=True)
    df = spark.createDataFrame([(i, row["text"]) for i, row in enumerate(rows)], "id long, text string")
    killer = kill_one(log)
    parsed = spark_parse(df.repartition(8), pipeline, code=code)
    check([row.asDict(recursive=True) for row in parsed.collect()], rows)
    killer.join(1)
    assert not killer.is_alive()


@pytest.mark.slow
def test_names_on_spark(spark: Any, pipeline: Path, code: Path) -> None:
    """Case does not count."""
    df = spark.createDataFrame([("She sings",)], "Text string")
    (row,) = spark_parse(df, pipeline, "text", code=code).collect()
    assert row["Text"] == "She sings" and row["sents"] and row["error"] is None
    for bad, column in ((df.withColumnRenamed("Text", "Error"), "error"), (df, "texts")):
        with pytest.raises(ValueError, match="E567"):
            spark_parse(bad, pipeline, column, code=code)
    df = spark.createDataFrame(PARSED, f"id string, sents {_ddl(SENTS)}")
    df = df.withColumnRenamed("id", "ID").withColumnRenamed("sents", "Sents")
    check_matches([row.asDict() for row in spark_search(df, "NP < PRP=p").collect()])


@pytest.mark.slow
@pytest.mark.parametrize("engine, options", [("ray", ["--workers", 8]), ("spark", [])])  # on 3 CPUs
def test_command(
    request: Any, engine: str, options: list[Any], run: Run, pipeline: Path, code: Path, log: Path, tmp_path: Path
) -> None:
    """The same shards as without an engine."""
    request.getfixturevalue(engine)
    log.unlink(missing_ok=True)
    source = write_texts(tmp_path / "in.txt", N, boom=17)
    args = ("--code", code, "--shard-size", 20, "--skip-bad", "all")
    killer = kill_one(log)
    result = run("parse", pipeline, source, tmp_path / engine, *args, "--engine", engine, *options)
    assert result.exit_code == 0, result.stderr
    killer.join(1)
    assert not killer.is_alive()
    assert run("parse", pipeline, source, tmp_path / "one", *args).exit_code == 0
    assert contents(tmp_path / engine) == contents(tmp_path / "one")


def make_job(tmp_path: Path) -> tuple[Job, list[Shard]]:
    """Shards of a file that has lost its last text."""
    source = write_texts(tmp_path / "in.txt", 4)
    (tmp_path / "out" / NOTES).mkdir(parents=True)
    settings = Settings("en_parsetag_sm", -1, None, True, "brackets")
    return Job(settings, (Source(source, "text"),), tmp_path / "out", None), plan_shards([5], 5)


@pytest.mark.slow
@pytest.mark.parametrize("engine, parse_shards", [("ray", ray_shards), ("spark", spark_shards)])
def test_errors_of_tasks(
    request: Any, engine: str, parse_shards: Any, pipeline: Path, code: Path, tmp_path: Path
) -> None:
    """They come as one line, and not as the tracebacks of an engine."""
    request.getfixturevalue(engine)
    job, shards = make_job(tmp_path)
    job = job._replace(settings=job.settings._replace(model=str(pipeline), code=code))
    with pytest.raises(ValueError, match=r"^\[E565\] [^\n]*in\.txt has changed[^\n]*$"):
        list(parse_shards(job, shards, 1))
    (job.folder / "000000.mrg").mkdir()
    with pytest.raises((ValueError, OSError), match=r"^\[Errno 21\] [^\n]*000000\.mrg[^\n]*$"):
        list(parse_shards(job, plan_shards([4], 5), 1))


@pytest.mark.slow
@pytest.mark.parametrize("given, master", [("", "local[2,4]"), ("--master local[3] ", "none")])
def test_the_master_that_is_set_stays(given: str, master: str) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    code = """
from pyspark.sql import SparkSession
from spacy_parsetag.texts.on_spark import spark_shards
def stop(builder):
    raise SystemExit(builder._options.get("spark.master", "none"))
SparkSession.Builder.getOrCreate = stop
next(spark_shards(None, [], 2))
"""
    env = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{given}pyspark-shell"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert done.stderr.splitlines()[-1] == master


@pytest.mark.slow
@pytest.mark.parametrize("options, n", [({}, 2), ({"num_cpus": 2}, 1), ({"num_cpus": 0.5}, 4), ({"num_gpus": 1}, 1)])
def test_actors_leave_a_cpu_to_read(ray: Any, options: dict[str, float], n: int) -> None:
    assert _n_workers("ray_parse", options) == n


@pytest.mark.slow
def test_a_shard_that_kills_its_processes(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "starts"

    def die(task: Any) -> None:
        with log.open("a") as file:
            file.write("start\n")
        os._exit(1)

    monkeypatch.setattr("spacy_parsetag.texts.on_ray.parse_shard", die)
    with pytest.raises(ValueError, match="E559"):
        list(ray_shards(*make_job(tmp_path), None))
    assert len(log.read_text().splitlines()) == 4


TREES = [{"start": 0, "end": 0, "words": ["She", "sings"], "pos": ["PRP", "VBZ"], "tree": "", "constituents": [
    {"label": "S", "start": 0, "end": 2}, {"label": "NP", "start": 0, "end": 1}, {"label": "VP", "start": 1, "end": 2},
]}]  # fmt: skip
PARSED = [{"id": str(i), "sents": TREES[: i % 2]} for i in range(40)]


def check_matches(found: list[dict[str, Any]]) -> None:
    assert sorted(int(row.pop("id")) for row in found) == [*range(1, 40, 2)]
    for row in found:
        assert row.pop("row") > 0
        assert row.pop("sentence") == 1
        assert (row.pop("left"), row.pop("right")) == ("", "sings")
        assert row == {"label": "NP", "start": 0, "end": 1, "text": "She", "names": '{"p": "PRP", "p.text": "She"}'}


@pytest.mark.slow
def test_search_on_ray(ray: Any) -> None:
    dataset = ray.data.from_items(PARSED, override_num_blocks=4)
    check_matches(ray_search(dataset, "NP < PRP=p", batch_size=7, concurrency=2).take_all())
    with pytest.raises(ValueError, match="E605"):
        ray_search(dataset, "NP <")


@pytest.mark.slow
def test_search_on_spark(spark: Any) -> None:
    df = spark.createDataFrame(PARSED, f"id string, sents {_ddl(SENTS)}")
    check_matches([row.asDict() for row in spark_search(df.repartition(4), "NP < PRP=p").collect()])
    with pytest.raises(ValueError, match="E605"):
        spark_search(df, "NP <")

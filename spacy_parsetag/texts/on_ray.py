"""Parse and search on a Ray cluster. Actors load the pipeline once; texts go in, and rows come out."""

from collections import deque
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from ..compat import require
from ..errors import Errors
from .parquet import TableParser, table_settings
from .shards import Job, Note, Shard, parse_shard


def ray_parse(
    dataset: Any,
    model: str | Path,
    *,
    column: str = "text",
    one_sentence: bool = True,
    batch_size: int = 256,
    code: str | Path | None = None,
    **options: Any,
) -> Any:
    """Parse a column of a `ray.data.Dataset` with actors; each loads the pipeline once.

    dataset (ray.data.Dataset): Rows with texts. It stays lazy.
    model (str | Path): The pipeline, a package or a folder that every node has at the same place.
    column (str): The column with the texts: strings, or lists of strings for texts in tokens.
    one_sentence (bool): Each text is one sentence. Otherwise the pipeline splits it.
    code (str | Path | None): A Python file with registered functions that the pipeline needs.
    **options: For `map_batches`: `concurrency`, the number of actors (as many as there are CPUs and GPUs for, beside
        one CPU, which Ray needs to read); for GPUs `num_gpus=1`; `num_cpus`, `memory`, and so on.
    RETURNS (ray.data.Dataset): The same rows with the columns "sents" (sentences with "start", "end", "words",
        "offsets", "pos", "constituents" and "tree", as `parsetag parse --output-format jsonl` writes them) and "error"
        (null, or why it failed).
    """
    settings = table_settings(model, 0 if options.get("num_gpus") else -1, code, one_sentence)
    options.setdefault("concurrency", _n_workers("ray_parse", options))
    return dataset.map_batches(
        TableParser, fn_constructor_args=[settings, column], batch_format="pyarrow", batch_size=batch_size, **options
    )


def ray_search(dataset: Any, pattern: str, *, heads: str = "penn", batch_size: int = 4096, **options: Any) -> Any:
    """Find a Tregex pattern in a `ray.data.Dataset` of parsed texts, such as `ray_parse` returns.

    dataset (ray.data.Dataset): Rows with a column "sents", and perhaps "id". It stays lazy.
    heads (str): Head rules for `<#` and its kin: "penn", "ctb", "icon" or a file.
    **options: For `map_batches`, as in `ray_parse`.
    RETURNS (ray.data.Dataset): A row for each way to match: "id", "row" (of its batch), "sentence" (of its text, from
        1), "label", "start", "end" (words of the sentence), "text", "left", "right" (the words
        before and after it) and "names" (the named nodes, as JSON).
    RAISES (ValueError): If it is no pattern.
    """
    from .search import TableSearcher  # with compiled code, which spaCy's command line does without

    TableSearcher(pattern, heads)  # an error comes here, and not from an actor
    options.setdefault("concurrency", _n_workers("ray_search", options))
    return dataset.map_batches(
        TableSearcher, fn_constructor_args=[pattern, heads], batch_format="pyarrow", batch_size=batch_size, **options
    )


def ray_shards(job: Job, shards: list[Shard], n_workers: int | None) -> Generator[Note, None, None]:
    """Parse shards with tasks on a Ray cluster (RAY_ADDRESS, or one on this machine), in any order.

    job (Job): What the shards have in common. Every node must have its folders at the same place.
    n_workers (int | None): How many tasks at a time; None for all CPUs but one. On GPUs each has one GPU.
    YIELDS (dict[str, Any]): The note on each shard. Where a process dies, another does its shard, three times at most.
    RAISES (ValueError): If processes die of a shard. What a task raises comes as it is.
    """
    ray = require("ray", "--engine ray")
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    on_gpu = job.settings.gpu_id >= 0
    job = job.absolute()
    job = job._replace(settings=job.settings._replace(gpu_id=-1 + on_gpu))  # a task sees no GPU but its own
    # Processes keep the pipeline from task to task; without `max_calls` those with a GPU would end after each.
    task = ray.remote(num_cpus=1, num_gpus=int(on_gpu), max_calls=0, max_retries=3)(parse_shard)
    todo, pending = deque(shards), list[Any]()
    n_tasks, errors = n_workers or _n_workers("--engine ray", {}), ray.exceptions
    try:
        while todo or pending:
            while todo and len(pending) < n_tasks:
                shard = todo.popleft()
                pending.append(task.remote((job.only(shard), shard)))
            (done,), pending = ray.wait(pending)
            yield ray.get(done)
    except errors.RayTaskError as err:
        raise err.cause from err
    except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as err:
        raise ValueError(Errors.E559) from err
    finally:
        for unneeded in pending:
            ray.cancel(unneeded)


def _n_workers(feature: str, options: Mapping[str, Any]) -> int:
    """Count the actors or tasks that a cluster has room for, beside a CPU to read.

    options (Mapping[str, Any]): What each takes: `num_cpus`, 1 by default, and `num_gpus`.
    """
    ray = require("ray", feature)
    if not ray.is_initialized():
        ray.init()
    resources = ray.cluster_resources()
    fitting = [(resources.get("CPU", 1) - 1) / (options.get("num_cpus") or 1)]
    if n_gpus := options.get("num_gpus"):
        fitting.append(resources.get("GPU", 0) / n_gpus)
    return max(1, int(min(fitting)))

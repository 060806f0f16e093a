"""Do tasks in this process or in several, which end with this one."""

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures  # it imports the pool of processes when it is used
from contextlib import contextmanager, nullcontext
from multiprocessing import active_children, connection, get_context, parent_process
from threading import Thread, current_thread, main_thread
from typing import TypeVar

from ..errors import Errors

PATIENCE = 10.0
TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


def map_in_processes(
    function: Callable[[TaskT], ResultT], tasks: Iterable[TaskT], n_process: int, patience: float = PATIENCE
) -> Generator[ResultT, None, None]:
    """Do tasks in this process, or in several, a few at a time. Results keep the order of the tasks.

    What a process loads for its first task, such as a pipeline, serves the others. (`nlp.pipe(n_process=...)` sends
    each doc there and back as bytes, which takes most pipelines longer than to parse.)

    patience (float): Seconds to wait for results that nobody needs any more, after an error or Ctrl-C. With small
        results, which are handed over at once, it may be 0.
    RAISES (ValueError): If a process dies, for instance because memory ran out.
    """
    if n_process <= 1:
        yield from map(function, tasks)
        return
    earlier_children = set(active_children())
    # NumPy and PyTorch in the workers read this when they are imported there.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // n_process)))
    pool = futures.ProcessPoolExecutor(n_process, get_context("spawn"), initializer=_start_worker)
    pending: deque[futures.Future[ResultT]] = deque()
    try:
        for number, task in enumerate(tasks):
            with _ignoring_interrupts() if number < n_process else nullcontext():  # only then a worker starts
                pending.append(pool.submit(function, task))
            if len(pending) > 2 * n_process:
                pending[0].result()  # it stays among those that are waited for, if this is interrupted
                yield pending.popleft().result()
        while pending:
            pending[0].result()
            yield pending.popleft().result()
        pool.shutdown()
    except futures.BrokenExecutor as err:
        raise ValueError(Errors.E559) from err
    finally:
        # After an error nobody needs what the workers are doing. But if a worker ended while it writes a large result,
        # this process would wait for the rest for ever. So it first waits for results.
        pool.shutdown(wait=False, cancel_futures=True)
        futures.wait([future for future in pending if not future.cancelled()], timeout=patience)
        for process in set(active_children()) - earlier_children:
            process.terminate()


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Let a worker that is started here ignore Ctrl-C from its first moment, and print no traceback of imports."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or current_thread() is not main_thread():  # only this one may, and set again what Python knows
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends its workers
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the main process is gone: a process that is killed cannot end its workers."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

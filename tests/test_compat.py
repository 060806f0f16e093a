"""What other packages are told to do."""

import os
import subprocess
import sys

import catalogue
import numpy as np
import pytest
import srsly

from spacy_parsetag.compat import cache_msgpack_plugins, cache_plugins


def test_plugins_are_searched_once(monkeypatch):
    """The same plugins as before, those of entry points among them; another search only once more is registered."""

    monkeypatch.setattr(catalogue, "REGISTRY", {**catalogue.REGISTRY})
    registry, searches = catalogue.create("parsetag_test", "decoders", entry_points=True), []
    registry.register("own", func=len)
    monkeypatch.setattr(registry, "get_entry_points", lambda: searches.append(1) or {"of_entry_point": abs})
    cache_plugins(registry)
    assert registry.get_all() == registry.get_all() == {"own": len, "of_entry_point": abs}
    assert len(searches) == 1
    registry.register("later", func=min)
    assert registry.get_all() == {"own": len, "of_entry_point": abs, "later": min}


def test_msgpack_as_before():
    cache_msgpack_plugins()
    array = np.arange(3)
    np.testing.assert_array_equal(srsly.msgpack_loads(srsly.msgpack_dumps({"a": array}))["a"], array)


CODE = """
import threading, numpy, spacy_parsetag.compat as compat
from threadpoolctl import threadpool_info, threadpool_limits
def threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
threadpool_limits(2, user_api="blas")
inside, leave, found = threading.Event(), threading.Event(), [threads()]
def stay():
    with compat.one_blas_thread():
        inside.set()
        leave.wait()
other = threading.Thread(target=stay)
with compat.one_blas_thread():
    found.append(threads())
    other.start()
    inside.wait()
    found.append(threads())
found.append(threads())
leave.set()
other.join()
found.append(threads())
print(found)
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="a second CPU is missing: BLAS has one thread anyway")
@pytest.mark.parametrize("said, expected", [(None, "[{2}, {1}, {1}, {2}, {2}]"), ("2", f"[{', '.join(['{2}'] * 5)}]")])
def test_one_blas_thread_unless_the_user_says_otherwise(said, expected):
    env = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    env |= {"OMP_NUM_THREADS": said} if said else {}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == expected

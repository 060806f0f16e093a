"""What other packages are told to do."""

import os
import subprocess
import sys

import catalogue
import numpy as np
import pytest
import srsly
from srsly.msgpack import msgpack_decoders, msgpack_encoders

from spacy_parsetag.compat import cache_msgpack_plugins


def test_plugins_of_msgpack_stay(monkeypatch):
    """The same plugins before and after, those of entry points among them, found without another search."""

    monkeypatch.setattr(catalogue, "REGISTRY", {**catalogue.REGISTRY})

    def of_entry_point(obj, chain=None):
        return chain(obj) if chain is not None else obj

    for registry in (msgpack_encoders, msgpack_decoders):
        monkeypatch.setattr(registry, "entry_points", True)
        monkeypatch.setattr(registry, "get_entry_points", lambda: {"parsetag_test": of_entry_point})
    before = [registry.get_all() for registry in (msgpack_encoders, msgpack_decoders)]
    cache_msgpack_plugins()
    for registry, plugins in zip((msgpack_encoders, msgpack_decoders), before, strict=True):
        monkeypatch.setattr(registry, "get_entry_points", dict)
        assert registry.get_all() == plugins and plugins["parsetag_test"] is of_entry_point
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

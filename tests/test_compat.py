"""What other packages are told to do."""

import catalogue
import numpy as np
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

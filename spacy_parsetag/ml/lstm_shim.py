"""A PyTorch BiLSTM in a Thinc shim that is built late, when its sizes are known, or when it is loaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import srsly
from thinc.api import PyTorchShim, xp2torch
from thinc.util import get_torch_default_device

from ..compat import require


@cache
def lstm_class() -> Any:
    """The PyTorch module, made when PyTorch is first needed.

    RAISES (ImportError): Without PyTorch, with the install line.
    """
    torch = require("torch", "spacy-parsetag.BiLSTM.v1")
    rnn = torch.nn.utils.rnn

    class SentencesLSTM(torch.nn.Module):  # type: ignore[name-defined]
        """(words, nI) vectors of sentences one after another -> (words, 2 hidden), each sentence on its own."""

        def __init__(self, nI: int, hidden: int, depth: int) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(nI, hidden, depth, bidirectional=True)

        def forward(self, flat: Any, lengths: list[int]) -> Any:
            # Packed, so that no sentence sees the padding of a longer one.
            packed = rnn.pack_sequence(flat.split(lengths), enforce_sorted=False)
            padded, _ = rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # (S, longest, 2 hidden)
            steps = torch.arange(padded.shape[1], device=padded.device)
            return padded[steps[None] < torch.tensor(lengths, device=padded.device)[:, None]]

    return SentencesLSTM


class LSTMShim(PyTorchShim):
    """Holds no module until `build` or `from_bytes`; its sizes are saved with its weights."""

    def __init__(self) -> None:
        super().__init__(None, config={})

    def build(self, nI: int, hidden: int, depth: int) -> None:
        """Make the module, with random weights."""
        self.cfg: dict[str, int] = {"nI": nI, "hidden": hidden, "depth": depth}
        self._model = lstm_class()(**self.cfg).to(get_torch_default_device())

    def to_bytes(self) -> bytes:
        if self._model is None:
            return srsly.msgpack_dumps({"config": self.cfg, "state": b""})
        return super().to_bytes()

    def from_bytes(self, bytes_data: bytes) -> "LSTMShim":
        config = srsly.msgpack_loads(bytes_data)["config"]
        if not config:
            self.cfg, self._model = {}, None
            return self
        self.build(**config)
        super().from_bytes(bytes_data)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": self.to_bytes()}  # the module's class is local, so pickle cannot name it

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "_model": None})
        self.from_bytes(state["_model"])

    def to_device(self, device_type: str, device_id: int) -> None:
        if self._model is not None:
            super().to_device(device_type, device_id)

    @contextmanager
    def use_params(self, params: dict[tuple[int, str], Any]) -> Iterator[None]:
        """Use other weights for a while, such as the optimizer's averages, which Thinc's own shim does not find."""
        own = {} if self._model is None else self._model.state_dict()
        given = {
            name: xp2torch(params[(self.id, name)], device=self.device) for name in own if (self.id, name) in params
        }
        if not given:
            yield
            return
        backup = {name: value.clone() for name, value in own.items()}
        self._model.load_state_dict({**own, **given})
        try:
            yield
        finally:
            self._model.load_state_dict(backup)

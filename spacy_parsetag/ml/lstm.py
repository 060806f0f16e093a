"""A BiLSTM between encoder and heads, in PyTorch: tags depend on each other through it (paper section 4.2)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, cast

from thinc.api import ArgsKwargs, Model, PyTorchShim, torch2xp, xp2torch
from thinc.types import Floats2d, FloatsXd, Ints1d
from thinc.util import get_torch_default_device, get_width

from ..compat import one_thread_after_fork, require
from .words import Arrays, SequenceModel, check_sizes, cut


def _torch() -> Any:
    return require("torch", "spacy-parsetag.TorchBiLSTM.v1")


def bilstm(depth: int = 2, hidden_width: int | None = None) -> SequenceModel:
    """Run a BiLSTM over sequences of vectors: spacy-parsetag.TorchBiLSTM.v1. It needs PyTorch.

    Input: (words, nI) arrays. Output: (words, 2 hidden) arrays, first the forward states. The dropout between layers
    is at the rate that the training loop passes.

    hidden_width (int | None): Cells in each direction; None for half the width of the sample of outputs that is passed
        to `initialize`. The sample has scores of |T| tags for two slots.
    RAISES (ImportError): Without PyTorch, with the install line.
    """
    _torch()
    check_sizes(depth=depth, hidden_width=hidden_width)
    return Model(
        "bilstm",
        _forward,
        init=_init,
        dims={"nI": None, "nO": None},
        attrs={"depth": depth, "hidden_width": hidden_width, "dropout_rate": 0.0},
        shims=[LSTMShim()],
    )


class LSTMShim(PyTorchShim):
    """Thinc's shim around a torch.nn.LSTM that is made when its sizes are known: by `_init`, or when it is loaded.

    Thinc has two LSTMs of its own. `PyTorchLSTM.v1` pads, so the scores of a sentence depend on the longest one of its
    batch; the gradients of `LSTM.v1` differ from finite differences (Thinc 8.3.14).
    """

    def __init__(self) -> None:
        super().__init__(_torch().nn.Module(), deserialize_model=_load_lstm)

    def begin_update(self, inputs: ArgsKwargs) -> tuple[Any, Callable[[ArgsKwargs], None]]:
        """Run the LSTM, on a CPU by `_unroll`. The input's gradient stays at its tensor, where `_forward` reads it."""
        torch = _torch()
        if self.device.type != "cpu":
            self._model.flatten_parameters()  # Thinc replaced each weight; cuDNN wants them in one piece
            return cast(tuple[Any, Callable[[ArgsKwargs], None]], super().begin_update(inputs))
        self._model.train()
        outputs = inputs.args[0]._replace(data=_unroll(torch, self._model, *inputs.args[0][:2]))
        return (outputs, None), lambda grads: torch.autograd.backward(*grads.args, **grads.kwargs)

    @contextmanager
    def use_params(self, params: dict[tuple[int, str], FloatsXd]) -> Iterator[None]:
        """Use other weights for a while, such as the optimizer's averages, which Thinc's own shim does not find."""
        weights = self._model.state_dict()
        names = [name for name in weights if (self.id, name) in params]
        backup = {name: weights[name].clone() for name in names}
        others = {name: xp2torch(params[self.id, name], device=self.device) for name in names}
        self._model.load_state_dict(others, strict=False)
        try:
            yield
        finally:
            self._model.load_state_dict(backup, strict=False)


def _make_lstm(nI: int, hidden: int, depth: int, device: Any) -> Any:
    return _torch().nn.LSTM(nI, hidden, depth, bidirectional=True).to(device)


def _load_lstm(model: Any, data: bytes, device: Any) -> Any:
    """Make an LSTM with saved weights; return the model unchanged if it was saved before it had weights."""
    state = _torch().load(BytesIO(data), map_location=device)
    if state:
        depth = len(state) // 8  # two directions, each with weights and biases of inputs and of states
        model = _make_lstm(state["weight_ih_l0"].shape[1], state["weight_hh_l0"].shape[1], depth, device)
        model.load_state_dict(state)
    return model


def _unroll(torch: Any, lstm: Any, X: Any, sizes: Any) -> Any:
    """Run an LSTM of two directions over packed sequences, to be trained through on a CPU.

    PyTorch's own LSTM slices the words of each step out of all words, and its backward pass adds a gradient of the size
    of all words for each step: its time grows with the square of the longest sentence.

    X (torch.Tensor): (words, nI): the first words of all sequences, the longest one's first, then the second words.
    sizes (torch.Tensor): (steps,): how many sequences each step has.
    RETURNS (torch.Tensor): (words, 2 hidden).
    """
    sizes, linear = sizes.tolist(), torch.nn.functional.linear
    for layer in range(lstm.num_layers):
        if layer:
            X = torch.nn.functional.dropout(X, lstm.dropout)
        directions = []
        for backwards in (False, True):
            W_in, W_state, b_in, b_state = lstm.all_weights[2 * layer + backwards]
            steps = linear(X, W_in, b_in + b_state).split(sizes)
            state = cell = X.new_zeros(0, lstm.hidden_size)
            states = []
            for inputs in reversed(steps) if backwards else steps:
                # The shortest sequences are last. Forwards they end before the others, backwards they begin after them.
                if missing := max(0, len(inputs) - len(state)):
                    zeros = X.new_zeros(missing, lstm.hidden_size)
                    state, cell = torch.cat([state, zeros]), torch.cat([cell, zeros])
                state, cell = state[: len(inputs)], cell[: len(inputs)]
                input_gate, forget_gate, candidate, output_gate = (inputs + linear(state, W_state)).chunk(4, dim=1)
                cell = forget_gate.sigmoid() * cell + input_gate.sigmoid() * candidate.tanh()
                state = output_gate.sigmoid() * cell.tanh()
                states.append(state)
            directions.append(torch.cat(states[::-1] if backwards else states))
        X = torch.cat(directions, dim=1)
    return X


def _init(model: SequenceModel, X: Arrays | None = None, Y: Arrays | None = None) -> None:
    hidden = model.attrs["hidden_width"]
    if X is not None:
        model.set_dim("nI", get_width(X))
    if hidden is not None:
        model.set_dim("nO", 2 * hidden)
    elif Y is not None:
        model.set_dim("nO", 2 * (get_width(Y) // 2))
    sizes = model.get_dim("nI"), model.get_dim("nO") // 2, model.attrs["depth"]
    model.shims[0]._model = _make_lstm(*sizes, get_torch_default_device())  # with random weights


def _forward(model: SequenceModel, X: Arrays, is_train: bool) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
    xp = model.ops.xp
    lengths = [len(x) for x in X]
    present = [n for n in lengths if n]
    if not present:
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in X], lambda dY: [xp.zeros_like(x) for x in X]
    one_thread_after_fork()
    torch = _torch()
    shim = cast(LSTMShim, model.shims[0])
    # Packed, so that no sentence sees the padding of a longer one: first the first words of all sentences, and so on.
    order = torch.nn.utils.rnn.pack_sequence(torch.arange(sum(lengths)).split(present), enforce_sorted=False)
    order = order.to(shim.device)
    rows = cast(Ints1d, torch2xp(order.data))
    packed = xp2torch(xp.concatenate(X)[rows], requires_grad=is_train, device=shim.device)  # (words, nI)
    inputs = ArgsKwargs(args=(order._replace(data=packed),), kwargs={})
    # Between layers. 0 in prediction: another thread may have put the module into training mode.
    shim._model.dropout = model.attrs["dropout_rate"] if is_train else 0.0
    (outputs, _), torch_backprop = shim(inputs, is_train)

    def unpack(array: Any) -> Arrays:
        unpacked = model.ops.alloc2f(*array.shape)
        unpacked[rows] = cast(Floats2d, torch2xp(array))
        return cut(unpacked, lengths)

    def backprop(dY: Arrays) -> Arrays:
        gradient = xp2torch(xp.concatenate(dY)[rows], device=shim.device)
        torch_backprop(ArgsKwargs(args=((outputs.data,),), kwargs={"grad_tensors": (gradient,)}))
        return unpack(packed.grad)

    return unpack(outputs.data), backprop

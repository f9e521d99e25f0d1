"""A PyTorch model as a table of layers: what `profile:file=…` of the program reads."""

import math
import pathlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional, Union

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .model import only_on_this_rank

Seconds = Mapping[str, tuple[float, float]]


class Layer:
    """A module with parameters of its own, and what a forward pass costs there."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tensors: list[tuple[str, torch.nn.Parameter]] = []
        self.flops = 0.0
        self.activations = 0


class Counter(TorchDispatchMode):  # type: ignore[misc]
    """Counts the operations of a forward pass, below automatic differentiation, and gives each to the innermost module
    that is running and has parameters; else to the one that ran before, or to the first."""

    def __init__(self, layers: Mapping[torch.nn.Module, Layer]) -> None:
        super().__init__()
        self._layers = layers
        self._running: list[Layer] = []
        self._last = next(iter(layers.values()))

    def begin(self, module: torch.nn.Module, *_: Any) -> None:
        self._running.append(self._layers[module])
        self._last = self._running[-1]

    def end(self, *_: Any) -> None:
        self._running.pop()

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        result = function(*arguments, **(named or {}))
        returns = function._schema.returns
        if any(one.alias_info is not None and not one.alias_info.is_write for one in returns):
            return result  # a view
        layer = self._running[-1] if self._running else self._last
        elements = sum(one.numel() for one in tensors_of(result) if one.is_floating_point())
        layer.flops += flops_of(function._schema.name, arguments, result, elements)
        layer.activations += elements
        return result


def flops_of(operation: str, arguments: Any, result: Any, elements: int) -> float:
    """Two a multiply-add of products and convolutions; one an element of all else."""
    name = operation.removeprefix("aten::")
    multiplied = elements / 2
    if name in ("mm", "bmm"):
        multiplied = result.numel() * arguments[0].shape[-1]
    elif name in ("addmm", "baddbmm", "addmv"):
        multiplied = result.numel() * arguments[1].shape[-1]
    elif name == "mv":
        multiplied = arguments[0].numel()
    elif name == "convolution":
        inputs, weight, transposed = arguments[0], arguments[1], arguments[6]
        multiplied = (inputs if transposed else result).numel() * weight[0].numel()
    elif name.startswith("_scaled_dot_product"):
        query, key, value = arguments[:3]
        multiplied = query.numel() // query.shape[-1] * key.shape[-2] * (query.shape[-1] + value.shape[-1])
    return 2.0 * multiplied


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """All in tuples, lists and dicts, of any depth."""
    if torch.is_tensor(value):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from tensors_of(one)
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_of(one)


def samples_of(batch: Any) -> int:
    """The length of the first tensor. Raises ValueError where there is none."""
    for one in tensors_of(batch):
        if one.dim() > 0 and one.shape[0] > 0:
            return int(one.shape[0])
    raise ValueError("no tensor of the batch says how many samples it has; give samples=…")


def called(model: torch.nn.Module, batch: Any) -> Any:
    """The model on a batch: a tuple or a list is its arguments, a dict those by name."""
    if isinstance(batch, Mapping):
        return model(**batch)
    return model(*batch) if isinstance(batch, (tuple, list)) else model(batch)


def layers_of(model: torch.nn.Module) -> dict[torch.nn.Module, Layer]:
    """Each trained parameter that all ranks have once, where it comes first, in the order of `model.parameters()`. Raises
    ValueError where there is none."""
    layers: dict[torch.nn.Module, Layer] = {}
    seen: set[torch.nn.Parameter] = set()
    own = only_on_this_rank(model)
    for path, module in model.named_modules():
        for name, one in module.named_parameters(recurse=False):
            if not one.requires_grad or one in seen or one.numel() == 0 or id(one) in own:
                continue
            seen.add(one)
            layers.setdefault(module, Layer(path.replace(",", ";") or type(model).__name__)).tensors.append((name, one))
    if not layers:
        raise ValueError("the model has no parameter that requires a gradient; there is nothing to train")
    return layers


@contextmanager
def watched(layers: Mapping[torch.nn.Module, Layer], counter: Counter) -> Iterator[None]:
    hooks = []
    try:
        for module in layers:
            hooks += [module.register_forward_pre_hook(counter.begin), module.register_forward_hook(counter.end)]
        yield
    finally:
        for hook in hooks:
            hook.remove()


def count(model: torch.nn.Module, batch: Any, call: Callable[[torch.nn.Module, Any], Any]) -> dict[torch.nn.Module, Layer]:
    """The layers of a forward pass in training mode, of the whole batch."""
    layers = layers_of(model)
    counter = Counter(layers)
    modes = {module: module.training for module in model.modules()}
    try:
        with watched(layers, counter), torch.enable_grad(), counter:
            call(model.train(), batch)
    finally:
        for module, mode in modes.items():
            module.training = mode
    return layers


def profile_of(model: torch.nn.Module, batch: Any, path: "str | pathlib.Path", loss: Optional[Callable[[torch.nn.Module, Any], Any]],
               samples: Optional[int], seconds: Optional[Seconds]) -> pathlib.Path:
    number = samples_of(batch) if samples is None else samples
    layers = list((layers_of(model) if seconds is not None else count(model, batch, loss or called)).values())
    costs, columns = measured(layers, seconds) if seconds is not None else counted(layers, number)
    lines = [f"# summary: {type(model).__name__}", f"# source: {'measured' if seconds is not None else 'counted'} in Python",
             f"# batch: {number}", f"layer,tensor,parameters,dimensions,decays,{columns}"]
    for layer in layers:
        cost = costs[layer.name]
        for name, one in layer.tensors:
            lines.append(f"{layer.name},{name},{one.numel()},{'x'.join(map(str, one.shape))},{int(one.dim() > 1)},{cost}")
            cost = ","  # once a layer
    target = pathlib.Path(path)
    target.write_text("\n".join(lines) + "\n", "utf-8")
    return target


def counted(layers: list[Layer], samples: int) -> tuple[dict[str, str], str]:
    """Of one sample."""
    return {one.name: f"{one.flops / samples:.17g},{one.activations / samples:.17g}" for one in layers}, "forward_flops,activations"


def measured(layers: list[Layer], seconds: Seconds) -> tuple[dict[str, str], str]:
    """Of the whole batch. Raises ValueError for layers that are missing or unknown, and for seconds that no clock shows."""
    names = [one.name for one in layers]
    if wrong := sorted(set(names) ^ set(seconds)):
        raise ValueError(f"seconds are {'missing for' if wrong[0] in names else 'given for the unknown'} layer '{wrong[0]}'; give "
                         f"(forward, backward) for each of: {', '.join(names)}")
    for name, pair in seconds.items():
        if len(pair) != 2 or not all(isinstance(one, (int, float)) and math.isfinite(one) and one >= 0 for one in pair):
            raise ValueError(f"layer '{name}' has {pair!r}; give seconds of forward and of backward, as (0.001, 0.002)")
    return {name: ",".join(f"{1000 * one:.17g}" for one in pair) for name, pair in seconds.items()}, "forward_ms,backward_ms"


Clock = Union[str, float, Seconds]


def of_clock(clock: Clock, model: torch.nn.Module, loss: Callable[[torch.nn.Module, Any], Any], batch: Any, samples: int,
             folder: pathlib.Path) -> str:
    """What `trigram run` is told as --profile; a table of the model's own is written into the folder. Raises ValueError
    for what is no clock."""
    if isinstance(clock, str) and clock != "flops":
        return clock
    seconds = clock if isinstance(clock, Mapping) else None
    if isinstance(clock, bool) or not isinstance(clock, (str, int, float, Mapping)) or (isinstance(clock, (int, float)) and not 0 < clock < 1e9):
        raise ValueError(f"clock={clock!r} is none: give the name of a profile, \"flops\", the seconds of a step, or (forward, backward) "
                         "seconds by layer")
    table = profile_of(model, batch, folder / f"{type(model).__name__}.csv", loss, samples, seconds)
    how = "" if seconds is not None else f",compute={'roofline' if clock == 'flops' else f'{clock:.17f}s'}"
    return f"profile:file={table}{how}"

"""Optimizers whose states are divided among the ranks: ZeRO, stage 1 (Rajbhandari et al. 2020)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from gradsmith.autograd.grad_mode import enable_grad, no_grad
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.operands import array_of
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.distributed.shards import Shard
from gradsmith.distributed.world import group_of
from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import raise_missing
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import zeros

__all__ = ["DistributedOptimizer", "ZeroRedundancyOptimizer"]
__getattr__ = raise_missing(__name__)

# They do more than element by element.
_WHOLE = ("Adafactor", "LBFGS", "Muon", "SparseAdam")


class DistributedOptimizer:
    """An optimizer of which each rank has a part: the moments of some of the elements, which it updates for all.

    With n ranks each keeps 1/n of the states. A step sums the gradients so that each rank gets its part, updates that,
    and gathers the parameters: each of the two sends ``(n - 1) / n`` of their bytes, together what an `all_reduce`
    sends.

    Parameters
    ----------
    params : iterable of Parameter or of dict
        As for `optim.Optimizer`. They become parts of one tensor for each dtype of a group.
    optimizer_class : type
        An optimizer that works element by element, `optim.Adam` for instance.
    process_group : ProcessGroup, optional
        Default: the world.
    averages_gradients : bool, default True
        Gradients are each rank's own. With a `DistributedDataParallel` module they are averages already: then False.
    **defaults
        Arguments of the optimizer.

    Raises
    ------
    ValueError
        The optimizer does more than element by element.

    Notes
    -----
    A parameter without a gradient is updated as if that was zero.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributed.init_process_group()
    >>> model = gs.nn.Linear(2, 1)
    >>> optimizer = gs.distributed.optim.DistributedOptimizer(model.parameters(), gs.optim.Adam, lr=0.1)
    >>> model(gs.ones(2)).sum().backward()
    >>> optimizer.step()
    >>> gs.distributed.destroy_process_group()
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type,
        process_group: Any = None,
        averages_gradients: bool = True,
        **defaults: Any,
    ) -> None:
        if optimizer_class.__name__ in _WHOLE:
            raise ValueError(
                f"DistributedOptimizer divides parameters among the ranks element by element, which "
                f"{optimizer_class.__name__} "
                "can't be: use an optimizer such as Adam"
            )
        self.group = group_of(process_group, "DistributedOptimizer")
        self.averages_gradients = averages_gradients
        given = list(params)
        groups = given if given and isinstance(given[0], dict) else [{"params": given}]
        self.flats: list[list[_Flat]] = []
        inner = []
        for options in groups:
            flats = flats_of(list(options["params"]), self.group)
            self.flats.append(flats)
            inner.append({**options, "params": [flat.shard for flat in flats]})
        self.optim = optimizer_class(inner, **defaults)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The options of each group; its parameters are this rank's parts."""
        groups: list[dict[str, Any]] = self.optim.param_groups
        return groups

    @property
    def state(self) -> Any:
        return self.optim.state

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters; all ranks call it."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            flats = [flat for group in self.flats for flat in group]
            pending = [flat.start_gradients(self.group, self.averages_gradients) for flat in flats]
            for flat, one in zip(flats, pending):
                flat.finish_gradients(one)
            self.optim.step()
            gathering = [flat.start_gathering(self.group) for flat in flats]
            for one in gathering:
                one.wait()
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for flat in (flat for group in self.flats for flat in group):
            for p in flat.parameters:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.zero_()

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """This rank's part of the state; `distributed.checkpoint` saves it, and loads it with any number of ranks."""
        saved: dict[str, Any] = self.optim.state_dict()
        flats = [flat for group in self.flats for flat in group]
        state = {}
        for number, of_one in saved["state"].items():
            flat = flats[number]
            state[number] = {
                name: Shard(value, flat.start, flat.total) if _is_divided(value, flat) else value
                for name, value in of_one.items()
            }
        return {"state": state, "param_groups": saved["param_groups"]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave, of as many ranks."""
        state = {
            number: {name: value.tensor if isinstance(value, Shard) else value for name, value in of_one.items()}
            for number, of_one in state_dict["state"].items()
        }
        self.optim.load_state_dict({"state": state, "param_groups": copy.deepcopy(state_dict["param_groups"])})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Further parameters, with options of their own."""
        flats = flats_of(list(param_group["params"]), self.group)
        self.flats.append(flats)
        self.optim.add_param_group({**param_group, "params": [flat.shard for flat in flats]})

    def __repr__(self) -> str:
        return f"DistributedOptimizer(rank {self.group.rank()} of {self.group.size()}: {self.optim!r})"


ZeroRedundancyOptimizer = DistributedOptimizer


class _Flat:
    """Parameters of one dtype in one tensor, of which each rank has a part of one size.

    Attributes
    ----------
    shard : Parameter
        This rank's part, in the memory of the whole.
    start, total : int
        The place of the part, and the number of elements without padding.
    """

    def __init__(self, parameters: list[Any], group: ProcessGroup) -> None:
        self.parameters = parameters
        self.total = sum(p.numel() for p in parameters)
        length = -(-self.total // group.size())
        self.start = group.rank() * length
        self.whole = zeros(length * group.size(), dtype=parameters[0].dtype)
        self.gradient: Any = None
        place = 0
        with no_grad():
            for p in parameters:
                part = self.whole[place : place + p.numel()].view(p.shape)
                part.copy_(p)
                p.data = part
                place += p.numel()
        self.shard = Parameter(self.whole[self.start : self.start + length])

    def start_gradients(self, group: ProcessGroup, averages: bool) -> Any:
        """Put the gradients together, and begin to average them."""
        whole = zeros(self.whole.shape[0], dtype=self.whole.dtype)
        place = 0
        for p in self.parameters:
            if p.grad is not None:
                whole[place : place + p.numel()].view(p.shape).copy_(p.grad)
            place += p.numel()
        length = self.shard.shape[0]
        if not averages:
            self.gradient = whole[self.start : self.start + length]
            return None
        self.gradient = zeros(length, dtype=self.whole.dtype)
        return group.ranks.start_reduce_scatter(
            array_of(self.gradient), array_of(whole), ReduceOp.AVG, waits=False, is_agreed=True
        )

    def finish_gradients(self, pending: Any) -> None:
        if pending is not None:
            pending.wait()
        self.shard.grad = self.gradient

    def start_gathering(self, group: ProcessGroup) -> Any:
        """Begin to give all ranks the updated parts."""
        sent = array_of(self.shard).copy()
        return group.ranks.start_all_gather(array_of(self.whole), sent, waits=False, is_agreed=True)


def flats_of(parameters: list[Any], group: ProcessGroup) -> list[_Flat]:
    """One for each dtype, in the order in which these come."""
    by_dtype: dict[Any, list[Any]] = {}
    for p in parameters:
        if not isinstance(p, Tensor):
            raise TypeError(
                f"DistributedOptimizer: optimizer can only optimize Tensors, but one of the params is {type(p)}"
            )
        by_dtype.setdefault(p.dtype, []).append(p)
    return [_Flat(those, group) for those in by_dtype.values()]


def _is_divided(value: Any, flat: _Flat) -> bool:
    return isinstance(value, Tensor) and value.shape == flat.shard.shape and value.ndim == 1

"""`DistributedDataParallel`: the same module on all ranks, and the average of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from gradsmith.autograd.grad_mode import is_grad_enabled, no_grad
from gradsmith.distributed.ddp.comm_hook import check_hook, run_hook
from gradsmith.distributed.ddp.grad_bucket import GradBucket
from gradsmith.distributed.ddp.join import Join
from gradsmith.distributed.ddp.reducer import Reducer
from gradsmith.distributed.objects import gathered_bytes
from gradsmith.distributed.operands import written
from gradsmith.distributed.world import group_of
from gradsmith.futures import Future
from gradsmith.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]

_MEGABYTE = 1024 * 1024


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over the ranks of a group, while backward goes on.

    Each rank gives it another part of the batch. The parameters start with the values of the group's first rank, and
    since all ranks have the same gradients after a backward, they stay the same.

    Parameters
    ----------
    module : Module
        It has parameters that require grad, the same for all ranks. Its own forward, too, has to be called through
        this.
    device_ids, output_device, dim, check_reduction : optional
        Accepted and not used.
    broadcast_buffers : bool, default True
        Before each forward in training all ranks get the buffers of the first one.
    process_group : ProcessGroup, optional
        Default: the world.
    bucket_cap_mb : float, default 25
        Gradients are summed in messages of about so many megabytes.
    find_unused_parameters : bool, default False
        The outputs need not depend on all parameters. It takes a walk through the graph after each forward. A parameter
        that no rank has used keeps the gradient that it had.
    gradient_as_bucket_view : bool, default False
        Gradients are parts of the messages, which saves a copy and the memory of it.
    static_graph : bool, default False
        Like `find_unused_parameters`.
    delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision, device_mesh : optional
        Accepted and not used.

    Attributes
    ----------
    module : Module
        The module itself.

    Raises
    ------
    RuntimeError
        No parameter requires grad, or the ranks' modules differ.

    Notes
    -----
    The loss is a mean over each rank's part of the batch: with parts of one size the gradient is that of the mean over
    the whole batch. Results are the same in every run with as many ranks.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributed.init_process_group()
    >>> model = gs.nn.parallel.DistributedDataParallel(gs.nn.Linear(2, 1))
    >>> model(gs.ones(3, 2)).mean().backward()
    >>> model.module.weight.grad
    tensor([[1., 1.]])
    >>> gs.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
    ) -> None:
        super().__init__()
        self.process_group = group_of(process_group, "DistributedDataParallel")
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self.module = module
        self.dim, self.broadcast_buffers = dim, broadcast_buffers
        self.find_unused_parameters = find_unused_parameters or static_graph
        self.gradient_as_bucket_view, self.static_graph = gradient_as_bucket_view, static_graph
        self.joining: Join | None = None
        self.source = 0
        self._expect_same_modules()
        if init_sync:
            self.copy_parameters_of(0)
        cap = 25 if bucket_cap_mb is None else bucket_cap_mb
        self.reducer = Reducer(
            named, self.process_group, cap * _MEGABYTE, gradient_as_bucket_view, self.find_unused_parameters
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module; the gradients of the next backward will be averaged."""
        records = self.training and is_grad_enabled()
        if records and self.joining is not None:
            self.joining.announce()
        if records and self.reducer.syncs:
            self.broadcast_buffers_of(self.source)
        outputs = self.module(*inputs, **kwargs)
        if is_grad_enabled() and self.reducer.syncs:
            self.reducer.prepare(outputs)
        return outputs

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within it gradients are added up on each rank, and the first backward after it averages their sums.

        The forward has to be within it, too.
        """
        before, self.reducer.syncs = self.reducer.syncs, False
        try:
            yield
        finally:
            self.reducer.syncs = before

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """For ranks with different numbers of inputs: those that are done wait for the others, and take part in their
        sums.

        Parameters
        ----------
        divide_by_initial_world_size : bool
            Averages are over all ranks; otherwise over those that have inputs.
        enable : bool
            Otherwise this does nothing.
        throw_on_early_termination : bool
            All ranks raise a RuntimeError when one has no more inputs.

        Returns
        -------
        context manager
            The loop over the inputs is within it. At its end all ranks have the parameters of the last ones.
        """
        return Join(self, divide_by_initial_world_size, enable, throw_on_early_termination)

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Future[Any]]) -> None:
        """Let a function average the gradients, one bucket after the other, instead of an `all_reduce`.

        Parameters
        ----------
        state : object
            The first argument of the hook, which may keep something in it from one backward to the next.
        hook : callable
            Takes the state and a `GradBucket`, and returns a `futures.Future` of a tensor with the averaged gradients,
            in the shape of ``bucket.buffer()``. It is called within backward, as soon as the gradients of a bucket are
            there, by all ranks for the same buckets in the same order; the future is waited for at the end. Those of
            `distributed.algorithms.ddp_comm_hooks` average in half precision or compress the gradients.

        Raises
        ------
        RuntimeError
            The module has a hook.
        TypeError, ValueError
            `hook` can't be called with a state and a bucket, or its annotations say that it returns something else.

        Examples
        --------
        >>> import gradsmith as gs
        >>> dist = gs.distributed
        >>> dist.init_process_group()
        >>> def average(group, bucket):
        ...     work = dist.all_reduce(bucket.buffer().div_(dist.get_world_size(group)), group=group, async_op=True)
        ...     return work.get_future().then(lambda future: future.value()[0])
        >>> model = gs.nn.parallel.DistributedDataParallel(gs.nn.Linear(2, 1))
        >>> model.register_comm_hook(None, average)
        >>> model(gs.ones(3, 2)).mean().backward()
        >>> model.module.weight.grad
        tensor([[1., 1.]])
        >>> dist.destroy_process_group()
        """
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook can only be called once.")
        check_hook(hook)
        self.reducer.hook = partial(run_hook, hook, state)

    # ---- what is the same for all

    def broadcast_buffers_of(self, source: int) -> None:
        """All ranks get the buffers of one of the group."""
        if self.broadcast_buffers:
            with no_grad():
                self._copy(list(self.module.buffers()), source)

    def copy_parameters_of(self, source: int) -> None:
        """All ranks get the parameters and buffers of one of the group."""
        with no_grad():
            self._copy([*self.module.parameters(), *self.module.buffers()], source)

    def _copy(self, tensors: list[Any], source: int) -> None:
        for x in written("DistributedDataParallel", tensors):
            self.process_group.ranks.start_broadcast(x, source, is_agreed=True).wait()

    def _expect_same_modules(self) -> None:
        """The ranks agree on names, shapes and dtypes once, and not for each message."""
        tensors = [*self.module.named_parameters(), *self.module.named_buffers()]
        own = "\n".join(f"{name}: {t.dtype} of shape {tuple(t.shape)}" for name, t in tensors)
        everyone = [text.decode() for text in gathered_bytes(self.process_group, own.encode())]
        for rank, text in zip(self.process_group.members, everyone):
            if text != everyone[0]:
                raise RuntimeError(
                    f"DistributedDataParallel: the module of rank {rank} has other parameters than that of rank "
                    f"{self.process_group.members[0]}: {_first_difference(everyone[0], text)}"
                )

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "DistributedDataParallel belongs to a process group and can't be pickled: save its state_dict(), or its "
            "`module`"
        )


def _first_difference(one: str, other: str) -> str:
    """The first lines that differ."""
    for a, b in zip(one.split("\n"), other.split("\n")):
        if a != b:
            return f"'{a}' and '{b}'"
    return f"{one.count(chr(10)) + 1} and {other.count(chr(10)) + 1} of them"

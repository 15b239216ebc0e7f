"""Hooks of a module's gradients.

Note [Gradients of a module]
An identity stands before and after `forward`: one over the tensors among the arguments, one over those of the output.
Their nodes are where the gradients of exactly these tensors pass, whatever the module does in between.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from gradsmith.autograd.function import Function
from gradsmith.autograd.grad_mode import is_grad_enabled
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module.global_hooks import GLOBAL
from gradsmith.runtime.arrays.warning_place import warn_caller

Gradients = tuple[Any, ...]


class BackwardHookFunction(Function):
    """The tensors themselves, through one node."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        passed = tuple(tensor.view_as(tensor) for tensor in tensors)
        ctx.mark_non_differentiable(*(new for new, tensor in zip(passed, tensors) if not tensor.requires_grad))
        return passed

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients


def hooks_of(module: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """The full hooks, the plain ones, and those that come before; the global ones first."""
    full: list[Any] = []
    plain: list[Any] = []
    for table, is_full in (
        (GLOBAL.backward, GLOBAL.backward_are_full),
        (module._backward_hooks, module._is_full_backward_hook),
    ):
        (full if is_full else plain).extend(table.values())
    return full, plain, [*GLOBAL.backward_pre.values(), *module._backward_pre_hooks.values()]


class BackwardHooks:
    """The hooks of one call; see Note [Gradients of a module]."""

    def __init__(self, module: Any, hooks: list[Any], pre_hooks: list[Any]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.inputs: _Places | None = None
        self.arguments = 0
        self.grad_output: Gradients | None = None  # between the two nodes of one backward run

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that `forward` gets."""
        self.arguments = len(args)
        node, instead, self.inputs = _through_identity(args)
        if node is not None:
            node.register_hook(self._after)
        return instead  # type: ignore[no-any-return]

    def leave(self, output: Any) -> Any:
        """The output that the caller gets."""
        if not isinstance(output, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(output)}",
                stacklevel=5,
            )
        outputs = output if isinstance(output, tuple) else (output,)
        node, instead, places = _through_identity(outputs)
        if node is not None and places is not None:
            node.register_hook(lambda _, gradients: self._before(places, gradients))
        return instead if isinstance(output, tuple) else instead[0]

    def _before(self, places: _Places, gradients: Gradients) -> Gradients:
        """The output's gradients have arrived."""
        grad_output = places.spread(gradients)
        for hook in self.pre_hooks:
            grad_output = _replaced(grad_output, hook(self.module, grad_output), "Backward pre hook", "grad_output")
        self.grad_output = grad_output
        if self.inputs is None:
            self._call_without_inputs(grad_output)
        return places.pick(grad_output)

    def _call_without_inputs(self, grad_output: Gradients) -> None:
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients.",
            stacklevel=2,
        )
        self.grad_output = None
        for hook in self.hooks:
            instead = hook(self.module, (None,) * self.arguments, grad_output)
            if instead is not None and not (isinstance(instead, tuple) and all(one is None for one in instead)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )

    def _after(self, gradients: Gradients, _: Any) -> Gradients | None:
        """The gradients of the inputs are computed."""
        if self.grad_output is None or self.inputs is None:
            return None  # they did not come from the output: those of a double backward, for example
        grad_input = self.inputs.spread(gradients)
        for hook in self.hooks:
            instead = hook(self.module, grad_input, self.grad_output)
            grad_input = _replaced(grad_input, instead, "Backward hook", "grad_input")
        self.grad_output = None
        return self.inputs.pick(grad_input)


class _Places:
    """Where the tensors are among the arguments, or in the output."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.count = len(values)
        self.indices = [place for place, value in enumerate(values) if isinstance(value, Tensor)]

    def spread(self, gradients: Gradients) -> Gradients:
        found: list[Any] = [None] * self.count
        for place, gradient in zip(self.indices, gradients):
            found[place] = gradient
        return tuple(found)

    def pick(self, gradients: Gradients) -> Gradients:
        return tuple(gradients[place] for place in self.indices)


def _through_identity(values: tuple[Any, ...]) -> tuple[Any, Any, _Places | None]:
    """(node, values that come out of it, places of the tensors); no node when no tensor is recorded."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
        return None, values, None
    places = _Places(values)
    passed = BackwardHookFunction.apply(*tensors)
    instead = list(values)
    for place, tensor in zip(places.indices, passed):
        instead[place] = tensor
    node = next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None)
    rebuilt = type(values)(*instead) if hasattr(values, "_fields") else tuple(instead)
    return node, rebuilt, places


def _replaced(gradients: Gradients, instead: Any, who: str, what: str) -> Gradients:
    if instead is None:
        return gradients
    instead = instead if isinstance(instead, (tuple, list)) else (instead,)
    if len(instead) != len(gradients):
        raise RuntimeError(
            f"{who} returned an invalid number of {what}, got {len(instead)}, but expected {len(gradients)}"
        )
    return tuple(instead)


# ---- hooks of register_backward_hook


def add_plain_hooks(module: Any, hooks: list[Any], args: tuple[Any, ...], output: Any) -> None:
    """Attach the hooks to the operation that made the output, or the first tensor in it."""
    first = output
    while not isinstance(first, Tensor):
        first = next(iter(first.values() if isinstance(first, dict) else first))
    if first.grad_fn is None:
        return
    for hook in hooks:
        first.grad_fn.register_hook(lambda grads, outputs, hook=hook: hook(module, grads, outputs))
    if missing := _what_plain_hooks_miss(args, output, first.grad_fn):
        when, what = missing
        warn_caller(
            f"Using a non-full backward hook when {when} is deprecated, as it is in PyTorch: the hook will be missing "
            f"some {what}. Please use register_full_backward_hook, whose hooks get the gradients of the module.",
            FutureWarning,
        )


def _what_plain_hooks_miss(args: tuple[Any, ...], output: Any, node: Any) -> tuple[str, str] | None:
    """When, and which gradients, hooks of the operation `node` do not get all that they are thought to get."""
    if not _are_tensors(output):
        return "a Module does not return a single Tensor or a tuple of Tensors", "grad_output"
    if not _are_tensors(args):
        return "a Module does not take as input a single Tensor or a tuple of Tensors", "grad_input"
    last = _nodes_of(output if isinstance(output, tuple) else (output,))
    if len(last) > 1:
        return "the outputs are generated by different autograd Nodes", "grad_output"
    if _nodes_of(args) != {following for following, _ in node.next_functions}:
        return "the forward contains multiple autograd Nodes", "grad_input"
    return None


def _are_tensors(values: Any) -> bool:
    return isinstance(values, Tensor) or (isinstance(values, tuple) and all(isinstance(one, Tensor) for one in values))


def _nodes_of(tensors: tuple[Tensor, ...]) -> set[Any]:
    return {tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None}

"""`FlopCounterMode`: how many floating point operations the products of a program take, by op and by module.

Note [Counted as PyTorch counts]
A product of matrices is two operations for each multiplication; additions of biases, elementwise ops and products with
vectors are not counted. The names are those that PyTorch's ops have below its modules: `linear` with a bias is
``aten.addmm``, its backward ``aten.mm``. What PyTorch's kernels for CPUs hide from its counter, attention and recurrent
layers, is counted here as its other kernels show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradsmith.nn.modules.module.global_hooks import register_module_forward_hook, register_module_forward_pre_hook
from gradsmith.runtime.history.observers import install, uninstall
from gradsmith.runtime.observers.recorder import Recorder, Span

if TYPE_CHECKING:
    from typing_extensions import Self

    from gradsmith.nn.modules.module import Module

__all__ = ["FlopCounterMode"]

_Shape = tuple[int, ...]
_GLOBAL = "Global"


class FlopCounterMode:
    """Count the floating point operations of products in the calling thread, its backwards included.

    A context manager; entering it again begins anew.

    Parameters
    ----------
    mods : Module or list of Module, optional
        Not needed: modules are seen when they are called.
    depth : int, optional
        How many levels of modules the table shows; None for all.
    display : bool
        Print the table at the end.
    custom_mapping : dict, optional
        Must be empty: the ops that are counted are known.

    Examples
    --------
    >>> import gradsmith as gs
    >>> model = gs.nn.Linear(4, 5)
    >>> with FlopCounterMode(display=False) as counter:
    ...     model(gs.ones(3, 4)).sum().backward()
    >>> counter.get_total_flops()
    240
    >>> counter.get_flop_counts()["Linear"]
    {'aten.addmm': 120, 'aten.mm': 120}
    """

    def __init__(
        self,
        mods: Module | list[Module] | None = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: Mapping[Any, Any] | None = None,
    ) -> None:
        if custom_mapping:
            raise ValueError("FlopCounterMode: custom_mapping means nothing in gradsmith; leave it out")
        self.flop_counts: dict[str, dict[str, int]] = {}
        self.depth = depth
        self.display = display
        self._names: dict[int, str] = {}  # of modules, by identity
        self._modules: list[Module] = []  # that run, innermost last; and those that have names, kept alive
        self._named: list[Module] = []
        self._of_nodes: dict[int, tuple[str, ...]] = {}  # the modules in which a node was recorded
        self._recorder: Recorder | None = None
        self._hooks: list[Any] = []

    def __enter__(self) -> Self:
        if self._recorder is not None:
            raise RuntimeError("FlopCounterMode: it is counting already; take another one inside")
        self.flop_counts = {}
        self._names, self._named, self._modules, self._of_nodes = {}, [], [], {}
        self._recorder = Recorder(record_shapes=True)
        install(self._recorder)
        self._hooks = [
            register_module_forward_pre_hook(self._enter_module),
            register_module_forward_hook(self._leave_module, always_call=True),
        ]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._recorder is not None
        for hook in self._hooks:
            hook.remove()
        uninstall(self._recorder)
        self._recorder.close_all()
        self._count()
        self._recorder = None
        if self.display:
            print(self.get_table(self.depth))

    # ---- results

    def get_total_flops(self) -> int:
        """The operations of all ops.

        Returns
        -------
        int
        """
        return sum(self.get_flop_counts().get(_GLOBAL, {}).values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """The operations by module and op.

        Returns
        -------
        dict
            Of ``"Global"`` and of the modules, as ``"Sequential.0"``: the operations of each op, as ``"aten.mm"``.
        """
        self._count()
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The operations as a table.

        Parameters
        ----------
        depth : int, optional
            How many levels of modules to show; that of the counter by default.

        Returns
        -------
        str
        """
        return _table(self.get_flop_counts(), self.depth if depth is None else depth)

    # ---- counting: what has ended since the last time, whenever a module begins or ends

    def _enter_module(self, module: Module, args: Any) -> None:
        self._count()
        self._modules.append(module)

    def _leave_module(self, module: Module, args: Any, output: Any) -> None:
        self._count()
        if module in self._modules:  # a hook of its own may have failed before ours
            while self._modules.pop() is not module:
                pass

    def _count(self) -> None:
        if self._recorder is None:
            return
        running = tuple(self._name_of(module) for module in self._modules)
        for span in self._recorder.take():
            if span.kind != "op":
                continue
            modules = dict.fromkeys([_GLOBAL, *running, *self._modules_of_backward(span)])
            if span.sequence_nr >= 0:
                self._of_nodes[span.sequence_nr] = tuple(modules)
            if _is_counted(span):
                self._add(modules, span)

    def _add(self, modules: Mapping[str, None], span: Span) -> None:
        name, flops = _FLOPS[_base(span)](span)
        for module in modules if flops else ():
            counts = self.flop_counts.setdefault(module, {})
            counts[name] = counts.get(name, 0) + flops

    def _modules_of_backward(self, span: Span) -> Iterator[str]:
        """Those whose forward recorded the nodes that an op runs in."""
        for around in _around(span):
            if around.kind == "node":
                yield from self._of_nodes.get(around.sequence_nr, ())

    def _name_of(self, module: Module) -> str:
        """``Sequential.0`` of what a module that ran has inside; the class of any other."""
        if id(module) not in self._names:
            self._name(module, type(module).__name__)
        return self._names[id(module)]

    def _name(self, module: Module, name: str) -> None:
        self._names[id(module)] = name
        self._named.append(module)
        for child, inner in module.named_children():
            if id(inner) not in self._names:
                self._name(inner, f"{name}.{child}")


# ---- ops

_Count = tuple[str, int]


def _is_counted(span: Span) -> bool:
    """An op with a formula, that is no part of another one."""
    return _base(span) in _FLOPS and not any(
        around.kind == "op" and _base(around) in _FLOPS for around in _around(span)
    )


def _around(span: Span) -> Iterator[Span]:
    while (parent := span.parent) is not None:
        yield parent
        span = parent


def _base(span: Span) -> str:
    return span.name.rstrip("_")


def _shapes(span: Span) -> tuple[Any, ...]:
    assert span.shapes is not None
    return span.shapes


def _matmul(span: Span) -> _Count:
    a, b = _shapes(span)[:2]
    if len(a) < 2 or len(b) < 2:
        return "aten.mm", 0
    name = "aten.bmm" if len(a) > 2 and len(b) > 2 else "aten.mm"
    return name, 2 * prod(span.result_shapes) * a[-1]


def _linear(span: Span) -> _Count:
    x, weight, bias = _shapes(span)[:3]
    return "aten.addmm" if bias else "aten.mm", 2 * prod(x[:-1]) * prod(weight)


def _matmul_of_transpose(span: Span) -> _Count:
    a, b = _shapes(span)[:2]
    return "aten.mm", 2 * prod(a) * b[-1]


def _added_product(span: Span) -> _Count:
    a, b = _shapes(span)[1:3]
    return f"aten.{_base(span)}", 2 * prod(a) * b[-1]


def _convolution(span: Span, points: int) -> _Count:
    """Of a product of a kernel, the second operand, with each of so many points of a channel."""
    x, weight = _shapes(span)[:2]
    return _name_of_convolution(span), 2 * points * x[0] * prod(weight)


def _conv_output(span: Span) -> _Count:
    return _convolution(span, prod(span.result_shapes[2:]))


def _conv_image(span: Span) -> _Count:
    return _convolution(span, prod(_shapes(span)[0][2:]))


def _conv_weight(span: Span) -> _Count:
    """Each element of a kernel is a sum over the points of the smaller image, here without regard of groups."""
    small, large = _shapes(span)[:2]
    return _name_of_convolution(span), 2 * prod(span.result_shapes[2:]) * prod(small) * large[1]


def _name_of_convolution(span: Span) -> str:
    is_backward = any(around.kind == "node" for around in _around(span))
    return "aten.convolution_backward" if is_backward else "aten.convolution"


def _attention(span: Span) -> _Count:
    query, key, value = _shapes(span)[:3]
    return "aten._scaled_dot_product_flash_attention", 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _attention_backward(span: Span) -> _Count:
    """The weights again, then two products for the gradients of either product."""
    query, key, value = _shapes(span)[1:4]
    flops = 2 * prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])
    return "aten._scaled_dot_product_flash_attention_backward", flops


def _recurrent(span: Span) -> _Count:
    """The rows of all steps with the weights of the state; the other products are `linear`."""
    shapes = _shapes(span)
    rows = prod(shapes[0][:-1])
    return "aten.mm", 2 * rows * sum(prod(shapes[i]) for i in _WEIGHTS_OF_STEPS[_base(span)] if shapes[i])


# Where the weights stand among the operands: that of the state, and of a projection.
_WEIGHTS_OF_STEPS = {
    "lstm_steps": (1, 2),
    "lstm_pullback": (2, 3),
    "gru_steps": (1,),
    "gru_pullback": (2,),
    "rnn_steps": (1,),
    "rnn_pullback": (2,),
}

_FLOPS: dict[str, Callable[[Span], _Count]] = {
    "matmul": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "linear": _linear,
    "matmul_of_transpose": _matmul_of_transpose,
    "addmm": _added_product,
    "baddbmm": _added_product,
    "addbmm": _added_product,
    "conv_output": _conv_output,
    "conv_image": _conv_image,
    "conv_weight": _conv_weight,
    "attention": _attention,
    "attention_backward": _attention_backward,
    **dict.fromkeys(_WEIGHTS_OF_STEPS, _recurrent),
}


# ---- the table

_SUFFIXES = ("", "K", "M", "B", "T")


def _table(counts: Mapping[str, Mapping[str, int]], depth: int | None) -> str:
    total = sum(counts.get(_GLOBAL, {}).values())
    modules = [name for name in sorted(counts) if name != _GLOBAL and (depth is None or name.count(".") < depth)]
    rows = [row for name in modules for row in _rows(name, counts[name], total, " " * name.count("."))]
    if counts and not any(sum(counts[name].values()) >= total for name in modules):
        rows = [*_rows(_GLOBAL, counts.get(_GLOBAL, {}), total, ""), *((f" {name}", *rest) for name, *rest in rows)]
    return _aligned([("Module", "FLOP", "% Total"), *(rows or [(_GLOBAL, "0", "0%")])])


def _rows(name: str, counts: Mapping[str, int], total: int, indent: str) -> Iterator[tuple[str, ...]]:
    for label, flops in ((name, sum(counts.values())), *((f" - {op}", flops) for op, flops in counts.items())):
        yield indent + label, _with_suffix(flops, total), f"{flops / total:.2%}" if total else "0%"


def _with_suffix(flops: int, total: int) -> str:
    """All numbers of a table in the unit that suits the total."""
    thousands = max(0, min(len(_SUFFIXES) - 1, (len(str(total)) - 2) // 3))
    return f"{flops / 1000**thousands:.3f}{_SUFFIXES[thousands]}"


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])

"""``torch.ops``: PyTorch's operators by the names of its own table, ``torch.ops.aten.add.Tensor(x, y)``.

Each is the function of that name here, and all its overloads are that function, which looks at its arguments itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import gradsmith
from gradsmith.names.missing import did_you_mean, reason_for

__all__ = ["aten"]

# Operators that are methods, functions or indexing here, as what they do to a tensor.
_IN_OTHER_WORDS: dict[str, Callable[..., Any]] = {
    "_pin_memory": lambda x, device=None: x.pin_memory(),
    "_to_copy": lambda x, *, dtype=None, memory_format=None, **placement: x.to(
        dtype=x.dtype if dtype is None else dtype, copy=True
    ),
    "_unsafe_view": lambda x, size: x.reshape(size),
    "alias": lambda x: x.view(x.shape),
    "slice": lambda x, dim=0, start=None, end=None, step=1: x[
        (slice(None),) * (dim % x.ndim) + (slice(start, end, step),)
    ],
}

# Beginnings of names that stand for a module, and that module.
_MODULES = {"linalg_": "linalg", "fft_": "fft", "special_": "special"}


class Operator:
    """A function by PyTorch's name, and by the names of its overloads: ``default``, ``Tensor``, ``Scalar``, ``int``."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.__name__ = name
        self.__doc__ = function.__doc__
        self._function = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._function(*args, **named)

    def __getattr__(self, overload: str) -> Operator:
        if overload.startswith("_"):
            raise AttributeError(f"torch.ops.aten.{self.__name__} has no overload {overload!r}", name=overload)
        return self

    def __repr__(self) -> str:
        return f"<operator aten.{self.__name__}>"


class _Aten:
    """The operators that are functions of gradsmith, of its layers' functions or methods of tensors."""

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("__"):
            raise AttributeError(name)
        operator = Operator(name, _function_of(name))
        setattr(self, name, operator)
        return operator


def _function_of(name: str) -> Callable[..., Any]:
    if name in _IN_OTHER_WORDS:
        return _IN_OTHER_WORDS[name]
    places: list[tuple[Any, str]] = [(gradsmith, name), (gradsmith.nn.functional, name), (gradsmith.Tensor, name)]
    for start, module in _MODULES.items():
        if name.startswith(start):
            places.insert(0, (getattr(gradsmith, module), name.removeprefix(start)))
    for place, name_there in places:
        found: Callable[..., Any] | None = getattr(place, name_there, None)
        if callable(found) and not isinstance(found, type):
            return found
    if name.startswith("_"):
        return _internal(name)
    known = dir(gradsmith)
    reason = reason_for("torch", name)
    problem = f"torch.ops.aten.{name} has no counterpart in gradsmith" + (f": {reason}" if reason else "")
    raise AttributeError(problem + did_you_mean(name, known), name=name)


def _internal(name: str) -> Callable[..., Any]:
    """An operator of PyTorch's own, which libraries name when they register what replaces it, and rarely call."""

    def unavailable(*args: Any, **named: Any) -> NoReturn:
        raise NotImplementedError(
            f"torch.ops.aten.{name} has no counterpart in gradsmith: it is an internal operator of PyTorch. Call the "
            "public function that stands for it"
        )

    return unavailable


aten = _Aten()


class Namespace:
    """The operators that `torch.library.custom_op` has made with this namespace in their names."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        from gradsmith.library.custom_ops import operator_named

        found = operator_named(f"{self._name}::{name}")
        if found is None:
            raise AttributeError(f"torch.ops.{self._name} has no operator {name!r}", name=name)
        return found

    def __dir__(self) -> list[str]:
        from gradsmith.library.custom_ops import names_in

        return names_in(self._name)


def __getattr__(name: str) -> Any:
    if dir(Namespace(name)):
        return Namespace(name)
    raise AttributeError(
        f"torch.ops.{name} has no counterpart in gradsmith, which has the operators of torch.ops.aten and those that "
        "torch.library.custom_op has made. Another operator of one's own is an autograd.Function, or an entry of a "
        "table: gradsmith.load_ops",
        name=name,
    )

"""A list whose tensors are parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.container.places import place_of
from gradsmith.nn.modules.module import Module
from gradsmith.nn.parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from typing_extensions import Self


class ParameterList(Module):
    """A list whose tensors are made parameters of the module that has the list; other values stay as they are.

    Parameters
    ----------
    values : iterable, optional

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ParameterList([gs.ones(2, 3), gs.ones(4)])
    ParameterList(
        (0): Parameter containing: [gradsmith.float32 of size 2x3]
        (1): Parameter containing: [gradsmith.float32 of size 4]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[place] for place in range(len(self))])

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[place] for place in range(len(self))[idx]])
        return getattr(self, str(place_of(idx, len(self))))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(place_of(idx, len(self))), as_parameter(param))

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        setattr(self, str(self._size), as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end.

        Raises
        ------
        TypeError
            `values` is no iterable, or a tensor.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def pop(self, idx: int = -1) -> Any:
        """Remove a value and return it; those behind it are numbered anew."""
        values = list(self)
        removed = values.pop(place_of(idx, len(self)))
        for place in range(len(self)):
            delattr(self, str(place))
        self._size = 0
        self.extend(values)
        return removed

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({place}): {line_of(value)}" for place, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


def as_parameter(value: Any) -> Any:
    """A tensor as a parameter; anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def line_of(value: Any, type_name: Callable[[Any], str] | None = None) -> str:
    """Text of a value in the repr of a container of parameters; the type of its elements is `type_name` of it."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    if is_lazy(value):
        return repr(value)
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    elements = f"gradsmith.{value.dtype.name}" if type_name is None else type_name(value)
    return f"{kind} containing: [{elements} of size {'x'.join(map(str, value.shape))}]"

"""A dict whose tensors are parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import TYPE_CHECKING, Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.container.module_dict import pairs_of
from gradsmith.nn.modules.container.parameter_list import as_parameter, line_of
from gradsmith.nn.modules.module import Module

if TYPE_CHECKING:
    from typing_extensions import Self


class ParameterDict(Module):
    """Values by name, whose tensors are made parameters of the module that has the dict.

    Parameters
    ----------
    parameters : mapping or iterable of (str, object), optional
        A plain dict is taken in the order of its sorted names.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ParameterDict({"left": gs.ones(2, 3), "right": gs.ones(4)})
    ParameterDict(
        (left): Parameter containing: [torch.FloatTensor of size 2x3]
        (right): Parameter containing: [torch.FloatTensor of size 4]
    )
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        _check_key(key)
        if key not in self._keys:
            raise AttributeError(f"'{self._get_name()}' object has no attribute '{key}'")
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        _check_key(key)
        setattr(self, key, as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of `key`, which becomes `default` when there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all values."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a value and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last value and return it with its name.

        Raises
        ------
        KeyError
            The dict is empty.
        """
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default` when there is none."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with the same value for all names."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and values."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Iterable[Any]:
        """The values."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Add values, in place of those of the same names; a plain dict is taken in the order of its sorted names.

        Raises
        ------
        TypeError
            `parameters` is no iterable, or its keys are no strings.
        ValueError
            An element of an iterable is no pair.
        """
        pairs = pairs_of("ParameterDict", parameters)
        is_plain = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(pairs, key=lambda pair: pair[0]) if is_plain else pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {line_of(value, Tensor.type)}" for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        joined = ParameterDict(other)
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self


def _check_key(key: Any) -> None:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string "
            f"(type is '{type(key).__name__}')."
        )

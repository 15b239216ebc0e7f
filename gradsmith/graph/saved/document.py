"""What a file says: a program as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsmith.utils.pytree import TreeSpec

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Kind:
    """Dtype and shape of a value."""

    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype} of shape {list(self.shape)}"


@dataclass(frozen=True)
class Call:
    """One call of an op.

    Attributes
    ----------
    op : str
        See ops.py.
    operands : tuple
        Values as slots, also in lists and tuples; everything else as it is.
    results : tuple of Kind or None
        Of what the op gives, which are the next values; None for a result that is no tensor. An op that writes has
        none.
    """

    op: str
    operands: tuple[Any, ...]
    results: tuple[Kind | None, ...]


@dataclass(frozen=True)
class Argument:
    """One leaf of the arguments.

    Attributes
    ----------
    kind : Kind or None
        Of a tensor; None for anything else, which has to be `plain` in each call.
    value : int
        The number of the tensor; two leaves that were one tensor have the same.
    """

    kind: Kind | None
    requires_grad: bool = False
    value: int = -1
    plain: Any = None


@dataclass(frozen=True)
class Stored:
    """A tensor that the function captured or made of numbers.

    Attributes
    ----------
    array : ndarray
        Laid out as it was.
    is_fresh : bool
        Does each run begin with a copy? Not so with captured tensors, which keep what is written to them.
    """

    array: Array
    is_fresh: bool


@dataclass(frozen=True)
class Result:
    """One leaf of the results: a value, an argument itself, or something plain."""

    value: int | None = None
    argument: int | None = None
    plain: Any = None


@dataclass(frozen=True)
class Backward:
    """The program of the gradients.

    Attributes
    ----------
    calls : tuple of Call
        They read values of the forward. Their own follow those of the forward and the gradients that come in, one for
        each recorded result.
    gradients : tuple of (int, int or None)
        Numbers of tensors among the arguments, and the values that are their gradients.
    """

    calls: tuple[Call, ...]
    gradients: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class Document:
    """A program. Its values are the tensors among the arguments, the stored ones, and the results of the calls.

    Attributes
    ----------
    dtype : str
        The default dtype of floats that it was made under.
    recorded : tuple of int
        Results that have a history where the arguments require grad.
    """

    name: str
    dtype: str
    tree: TreeSpec
    arguments: tuple[Argument, ...]
    stored: tuple[Stored, ...]
    forward: tuple[Call, ...]
    result_tree: TreeSpec
    results: tuple[Result, ...]
    recorded: tuple[int, ...]
    backward: Backward | None

    @property
    def n_arguments(self) -> int:
        """How many tensors there are among the arguments."""
        return len({argument.value for argument in self.arguments if argument.kind is not None})


def kind_of(tensor: Any) -> Kind:
    """The kind of a tensor or array."""
    return Kind(tensor.dtype.name, tuple(tensor.shape))

"""einsum with both of its ways to say what is summed: an equation, or a list of subscripts after each operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.generated import linalg
from gradsmith.generated.tensor import Tensor

# In the order of an output that is left out. Importing `string` for them would compile its templates.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(*args: Any) -> Tensor:
    """Sum of products along the indices that an equation or lists of subscripts name.

    Parameters
    ----------
    *args
        Either an equation and the operands, ``einsum("ij,jk->ik", a, b)``; or each operand followed by the numbers of
        its dimensions, from 0 to 51 or `...`, with those of the result at the end:
        ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        When there are no operands, or a subscript is out of range.
    RuntimeError
        When equation and operands do not fit together.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    return linalg.einsum(*args if isinstance(args[0], str) else _with_equation(args))


def _with_equation(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in the form of an equation and operands."""
    pairs, rest = args[: len(args) // 2 * 2], args[len(args) // 2 * 2 :]
    inputs = ",".join(_text(subscripts, position) for position, subscripts in enumerate(pairs[1::2]))
    output = f"->{_text(rest[0], len(pairs) // 2)}" if rest else ""
    return (inputs + output, *pairs[::2])


def _text(subscripts: Sequence[Any], position: int) -> str:
    if not isinstance(subscripts, (list, tuple)):
        raise TypeError(
            f"einsum(): expected a list of subscripts after operand {position}, but got {type(subscripts).__name__}"
        )
    return "".join("..." if subscript is Ellipsis else _letter(subscript) for subscript in subscripts)


def _letter(subscript: Any) -> str:
    if not isinstance(subscript, int):
        raise TypeError(f"einsum(): subscripts are integers or Ellipsis, not {type(subscript).__name__}")
    if not 0 <= subscript < len(_LETTERS):
        raise ValueError(f"einsum(): subscript {subscript} in subscript list is not within the valid range [0, 52)")
    return _LETTERS[subscript]

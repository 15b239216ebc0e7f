"""Named tuples that ops with several results return."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def return_type(op: str, name: str, fields: tuple[str, ...], module: str) -> Any:
    """A named tuple class that prints as PyTorch's do.

    Parameters
    ----------
    op : str
        The op that returns it, for printing.
    name, module : str
        Name of the class and where it is found, for pickling.
    fields : tuple of str

    Examples
    --------
    >>> return_type("max", "MaxDimResult", ("values", "indices"), __name__)(1.0, 2)
    gradsmith.return_types.max(
    values=1.0,
    indices=2)
    """
    base = namedtuple(name, fields, module=module)  # type: ignore[misc]

    def __repr__(self: Any) -> str:
        items = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self))
        return f"gradsmith.return_types.{op}(\n{items})"

    members = {"__slots__": (), "__repr__": __repr__, "__module__": module, "name_of_op": op}
    members["_make"] = classmethod(tuple.__new__)  # an op has the right number of results, and no time to count them
    return type(name, (base,), members)

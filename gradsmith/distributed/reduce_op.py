"""How the arrays of several ranks become one."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["ReduceOp"]


class ReduceOp(enum.Enum):
    """What `all_reduce`, `reduce` and `reduce_scatter` do with the tensors of all ranks.

    `AVG` is the sum divided by the number of ranks. `BAND`, `BOR` and `BXOR` are for integers and bools, bit by bit. Of
    complex tensors there are the sum, the average and the product.
    """

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"

    # Members are looked up in each call: by identity, which takes a tenth of the time of a hash of the name.
    __hash__ = object.__hash__

    def check(self, op: str, dtype: Any) -> None:
        """Refuse what is not defined for a dtype.

        Raises
        ------
        RuntimeError
            Bits of floating-point numbers, the order of complex numbers, the average of integers.
        """
        if dtype.kind in _UNDEFINED[self]:
            raise RuntimeError(f"{op}: {self._reason()}, but the dtype is {dtype}")

    def _reason(self) -> str:
        if self is ReduceOp.AVG:
            return "ReduceOp.AVG is for floating-point and complex tensors"
        if self in (ReduceOp.MIN, ReduceOp.MAX):
            return f"complex numbers have no order, so ReduceOp.{self.name} is not defined for them"
        return f"ReduceOp.{self.name} is for integers and bools"


# The kinds of dtypes for which an op is not defined.
_UNDEFINED = {
    ReduceOp.SUM: "", ReduceOp.PRODUCT: "", ReduceOp.AVG: "biu", ReduceOp.MIN: "c", ReduceOp.MAX: "c",
    ReduceOp.BAND: "fc", ReduceOp.BOR: "fc", ReduceOp.BXOR: "fc",
}  # fmt: skip

ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # PyTorch's name of the class of the members

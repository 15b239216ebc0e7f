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

    def check(self, op: str, dtype: Any) -> None:
        """Refuse what is not defined for a dtype.

        Raises
        ------
        RuntimeError
            Bits of floating-point numbers, the order of complex numbers, the average of integers.
        """
        if self in _BITWISE and dtype.kind not in "biu":
            raise RuntimeError(f"{op}: ReduceOp.{self.name} is for integers and bools, but the dtype is {dtype}")
        if self in _ORDERED and dtype.kind == "c":
            raise RuntimeError(
                f"{op}: complex numbers have no order, so ReduceOp.{self.name} is not defined for {dtype}"
            )
        if self is ReduceOp.AVG and dtype.kind not in "fc":
            raise RuntimeError(
                f"{op}: ReduceOp.AVG is for floating-point and complex tensors, but the dtype is {dtype}"
            )


_BITWISE = {ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR}
_ORDERED = {ReduceOp.MIN, ReduceOp.MAX}

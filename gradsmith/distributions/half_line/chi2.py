"""The chi-squared distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.half_line.gamma import Gamma
from gradsmith.distributions.utils import as_shape, broadcast_all
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The chi-squared distribution: of the sum of `df` squares of normal numbers.

    Parameters
    ----------
    df : float or Tensor
        Degrees of freedom, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Chi2(3.0).variance
    tensor(6.)
    """

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Parameter, validate_args: bool | None = None) -> None:
        (half,) = broadcast_all(df)
        super().__init__(half / 2, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Chi2, _instance)
        shape = as_shape(batch_shape)
        new.concentration, new.rate = self.concentration.expand(shape), self.rate.expand(shape)
        return self._finish_expanded(new, shape)

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2

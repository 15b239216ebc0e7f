"""Activations with bounds, and those that shrink small elements."""

from __future__ import annotations

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module


class Sigmoid(Module):
    """The logistic function of each element: ``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Sigmoid()(gs.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.sigmoid`."""
        return F.sigmoid(input)


class Hardsigmoid(Module):
    """A piecewise linear function like `Sigmoid`: ``relu6(x + 3) / 6``.

    Parameters
    ----------
    inplace : bool, optional
        Change the input itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Hardsigmoid()(gs.tensor([0.0, 4.0]))
    tensor([0.5000, 1.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.hardsigmoid`."""
        return F.hardsigmoid(input, self.inplace)


class Tanh(Module):
    """The hyperbolic tangent of each element.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Tanh()(gs.tensor([0.0, 2.0]))
    tensor([0.0000, 0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.tanh`."""
        return F.tanh(input)


class LogSigmoid(Module):
    """The logarithm of the logistic function of each element.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LogSigmoid()(gs.tensor([0.0, 2.0]))
    tensor([-0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.logsigmoid`."""
        return F.logsigmoid(input)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta`` of each element: a smooth `ReLU`.

    Parameters
    ----------
    beta : float, optional
    threshold : float, optional
        Elements whose product with `beta` is greater stay as they are.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Softplus()(gs.tensor([0.0, 2.0]))
    tensor([0.6931, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.softplus`."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    """``x / (1 + abs(x))`` of each element.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Softsign()(gs.tensor([0.0, 3.0]))
    tensor([0.0000, 0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.softsign`."""
        return F.softsign(input)


class Tanhshrink(Module):
    """Each element less its hyperbolic tangent.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Tanhshrink()(gs.tensor([0.0, 2.0]))
    tensor([0.0000, 1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.tanhshrink`."""
        return F.tanhshrink(input)


class Softshrink(Module):
    """Elements moved towards zero by `lambd`; zero for what is nearer.

    Parameters
    ----------
    lambd : float, optional

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Softshrink()(gs.tensor([0.25, 2.0]))
    tensor([0.0000, 1.5000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.softshrink`."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(Module):
    """Elements farther from zero than `lambd`; zero in place of the others.

    Parameters
    ----------
    lambd : float, optional

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Hardshrink()(gs.tensor([0.25, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.hardshrink`."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class GLU(Module):
    """The first half of a dimension times the logistic function of the second half.

    Parameters
    ----------
    dim : int, optional
        The dimension, of an even size.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.GLU()(gs.tensor([3.0, 0.0]))
    tensor([1.5000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.glu`."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"

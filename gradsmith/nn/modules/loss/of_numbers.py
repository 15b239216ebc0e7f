"""Losses of numbers: how far they are from those that were wanted."""

from __future__ import annotations

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.loss.base import Loss


class L1Loss(Loss):
    """The absolute difference of input and target.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.L1Loss()(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.l1_loss`."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """The squared difference of input and target.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MSELoss()(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.mse_loss`."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """The squared difference where it is small, and the absolute one beyond.

    Parameters
    ----------
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.
    beta : float, optional
        Where the one becomes the other.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.SmoothL1Loss()(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.smooth_l1_loss`."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """Half the squared difference where it is small, and a multiple of the absolute one beyond.

    Parameters
    ----------
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.
    delta : float, optional
        Where the one becomes the other.

    Raises
    ------
    TypeError
        `delta` is no number.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.HuberLoss()(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.huber_loss`."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class PoissonNLLLoss(Loss):
    """The negative log probability of counts under Poisson distributions.

    Parameters
    ----------
    log_input : bool, optional
        Whether the input is the logarithm of the expected counts.
    full : bool, optional
        Whether an approximation of the logarithm of the target's factorial is added.
    size_average : bool, optional
        Old ways to say `reduction`.
    eps : float, optional
        Added to the input before its logarithm is taken.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.PoissonNLLLoss()(gs.tensor([0.0, 0.0]), gs.tensor([1.0, 2.0]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.poisson_nll_loss`."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(Loss):
    """The negative log probability of numbers under normal distributions.

    Parameters
    ----------
    full : bool, optional
        Whether the constant term is added.
    eps : float, optional
        The least variance.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.GaussianNLLLoss()(gs.tensor([1.0]), gs.tensor([3.0]), gs.tensor([1.0]))
    tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """See `nn.functional.gaussian_nll_loss`."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(Loss):
    """The divergence of distributions from others: ``target * (log(target) - input)``.

    Parameters
    ----------
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum", "batchmean"}, optional
        What is returned of the losses; ``"batchmean"``, their sum by the number of rows, is the mean of
        divergences.
    log_target : bool, optional
        Whether the target is the logarithm of a distribution.

    Examples
    --------
    >>> import gradsmith as gs
    >>> loss = gs.nn.KLDivLoss(reduction="batchmean")
    >>> loss(gs.tensor([[0.5, 0.5]]).log(), gs.tensor([[0.5, 0.5]]))
    tensor(0.)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.kl_div`."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)

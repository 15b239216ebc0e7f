"""Weights of given lengths, and weights divided by their largest singular value."""

from __future__ import annotations

from typing import Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import mv, vdot
from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module
from gradsmith.nn.utils.parametrize import register_parametrization
from gradsmith.nn.utils.spectral_norms import output_dim
from gradsmith.nn.utils.weight_norms import lengths, of_length


class _WeightNorm(Module):
    """A length and a direction -> a weight."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return of_length(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return lengths(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn the length and the direction of a parameter apart: ``original0`` and ``original1``.

    Parameters
    ----------
    module : Module
    name : str, optional
    dim : int or None, optional
        The dimension whose slices have a length each; None for one length.

    Returns
    -------
    Module
        `module`.

    Notes
    -----
    Source: Salimans and Kingma, Weight normalization, 2016.

    Examples
    --------
    >>> from gradsmith import nn
    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
    >>> layer.parametrizations.weight.original0.shape, layer.parametrizations.weight.original1.shape
    ((3, 1), (3, 2))
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """Hook of `load_state_dict`: take states that `nn.utils.weight_norm` made."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{number}"] = state_dict.pop(key)


class _SpectralNorm(Module):
    """A weight -> the weight divided by its largest singular value."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight.detach())
            for name, size in zip(("_u", "_v"), matrix.shape):
                start = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(name, F.normalize(start, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _power_method(self, matrix: Tensor, iterations: int) -> None:
        with no_grad():
            for _ in range(iterations):
                self._u.copy_(F.normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call changes the buffers, which this one's graph needs
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value  # of a weight whose norm is not one, too: it will be divided


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a parameter by its largest singular value, found by iterations, one or more a use in training.

    Parameters
    ----------
    module : Module
    name : str, optional
    n_power_iterations : int, optional
        Steps of the power method for each use.
    eps : float, optional
        The least norm, so that nothing is divided by zero.
    dim : int, optional
        The dimension of outputs: 1 for transposed convolutions, and 0 otherwise.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        There is no tensor of that name, or a number is not positive.

    Notes
    -----
    Source: Miyato et al., Spectral normalization, 2018.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.utils.parametrizations.spectral_norm(gs.nn.Linear(20, 40), n_power_iterations=50)
    >>> abs(gs.linalg.matrix_norm(layer.weight, 2).item() - 1.0) < 0.01
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = output_dim(module) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))

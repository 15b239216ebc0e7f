"""Weights divided by their largest singular value, by hooks: the older form of `parametrizations.spectral_norm`."""

from __future__ import annotations

from typing import Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import dot, mv
from gradsmith.generated.linalg_namespace import multi_dot, pinv
from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.parameter import Parameter, is_lazy

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: before each call, the weight is computed of ``weight_orig`` and its singular vectors."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next call changes the buffers, which this one's graph needs
        return weight / dot(u, mv(matrix, v))  # type: ignore[no-any-return]

    def remove(self, module: Any) -> None:
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        rows, columns = hook.reshape_weight_to_matrix(weight).shape
        with no_grad():
            u, v = (
                F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps).detach() for size in (rows, columns)
            )
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_NoteVersion(hook))
        module._register_load_state_dict_pre_hook(_CompleteState(hook))
        return hook


class _NoteVersion:
    """Hook of `state_dict`: from version 1 on, states have both singular vectors."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        local_metadata.setdefault("spectral_norm", {})[f"{self.hook.name}.version"] = self.hook._version


class _CompleteState:
    """Hook of `load_state_dict`: find the vector that states of older versions do not have."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str], *rest: Any
    ) -> None:
        version = local_metadata.get("spectral_norm", {}).get(f"{self.hook.name}.version")
        key = prefix + self.hook.name
        is_whole = all(key + suffix in state_dict for suffix in ("_orig", "_u", "_v")) and key not in state_dict
        if version is not None or is_whole:
            return
        if any(key + suffix not in state_dict for suffix in ("_orig", "", "_u")):
            missing_keys += [key] if strict and key not in state_dict else []  # the others are the module's own
            return
        with no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            matrix = self.hook.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = _other_vector(matrix, state_dict[key + "_u"], (original / weight).mean())


def _other_vector(matrix: Tensor, u: Tensor, sigma: Tensor) -> Tensor:
    """The vector v for which ``u @ matrix @ v`` is sigma and u is in proportion to ``matrix @ v``."""
    v = multi_dot([pinv(matrix.t() @ matrix), matrix.t(), u.unsqueeze(1)]).squeeze(1)
    return v * (sigma / dot(u, mv(matrix, v)))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a parameter by its largest singular value, found by iterations, one or more a call in training.

    Parameters
    ----------
    module : Module
    name : str, optional
    n_power_iterations : int, optional
        Steps of the power method for each call.
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
    RuntimeError, ValueError
        This was done already, or there is no such parameter.

    Notes
    -----
    `parametrizations.spectral_norm` is newer. Source: Miyato et al., Spectral normalization, 2018.

    Examples
    --------
    >>> from gradsmith import nn
    >>> sorted(nn.utils.spectral_norm(nn.Linear(2, 3)).state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def output_dim(module: Any) -> int:
    """The dimension of a layer's weight that belongs to its outputs."""
    from gradsmith.nn.modules.conv import _ConvTransposeNd

    return 1 if isinstance(module, _ConvTransposeNd) else 0


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make an ordinary parameter of one that `spectral_norm` changed.

    Raises
    ------
    ValueError
        It was not changed.
    """
    hook = _popped(module._forward_pre_hooks, lambda hook: isinstance(hook, SpectralNorm) and hook.name == name)
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook.remove(module)
    _popped(module._state_dict_hooks, lambda other: getattr(other, "hook", None) is hook)
    _popped(
        module._load_state_dict_pre_hooks, lambda other: getattr(getattr(other, "hook", None), "hook", None) is hook
    )
    return module


def _popped(hooks: Any, is_it: Any) -> Any:
    number = next((number for number, hook in hooks.items() if is_it(hook)), None)
    return None if number is None else hooks.pop(number)

"""Pruning: a parameter times a mask of zeros and ones, so that some of its elements, or whole slices, are zero.

The parameter goes on as ``weight_orig``, the mask is the buffer ``weight_mask``, and before each call of the module
``weight`` is their product. What is pruned again keeps its zeros, and an amount counts among what is left.

>>> import gradsmith as gs
>>> from gradsmith.nn.utils import prune
>>> layer = gs.nn.Linear(2, 2, bias=False)
>>> with gs.no_grad():
...     _ = layer.weight.copy_(gs.tensor([[0.1, -2.0], [3.0, -0.4]]))
>>> prune.l1_unstructured(layer, "weight", amount=2).weight_mask
tensor([[0., 1.],
        [1., 0.]])
>>> prune.remove(layer, "weight").weight
Parameter containing:
tensor([[ 0., -2.],
        [ 3., -0.]], requires_grad=True)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any

from gradsmith.generated.linalg_namespace import vector_norm
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.utils.convert_parameters import parameters_to_vector
from gradsmith.runtime.tensors.factories.creation import ones_like
from gradsmith.runtime.tensors.factories.random import rand_like, randperm

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(ABC):
    """A way to choose what is pruned, and the hook that computes the pruned tensor. A subclass has `compute_mask`.

    Attributes
    ----------
    PRUNING_TYPE : {"unstructured", "structured", "global"}
        What `compute_mask` gets of a tensor that has been pruned already: the elements that are left, in one dimension;
        the slices of the dimension `dim` that are left; or all of it.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask, of the shape of `t`, by the importance `t` of the elements; the zeros of `default_mask` stay."""

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Any) -> Tensor:
        """The pruned tensor."""
        original: Tensor = getattr(module, self._tensor_name + "_orig")
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter by a method of this class, made with the other arguments.

        Parameters
        ----------
        module : Module
        name : str
            Of the parameter.
        importance_scores : Tensor, optional
            The elements with the lowest scores go; by default the parameter itself says.

        Returns
        -------
        BasePruningMethod
            The hook: a `PruningContainer` when the parameter was pruned before.
        """
        new = cls(*args, **kwargs)
        new._tensor_name = name
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} "
                f"instead of {tensor.shape}"
            )
        older = _hook_of(module, name)
        method = new if older is None else _joined(older, new)
        default = ones_like(tensor) if older is None else getattr(module, name + "_mask").detach().clone()
        mask = method.compute_mask(scores.detach(), default_mask=default.detach())
        if older is None:
            module.register_parameter(name + "_orig", tensor)
            del module._parameters[name]
        else:
            _remove_hook(module, older)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor times the mask that this method chooses."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} instead of {t.shape}"
            )
        default = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores.detach(), default_mask=default.detach())

    def remove(self, module: Any) -> None:
        """Let the parameter be what is left of it: its zeros stay, and will be trained."""
        name, pruned = self._tensor_name, self.apply_mask(module)
        original = module._parameters.pop(name + "_orig")
        del module._buffers[name + "_mask"]
        if hasattr(module, name):
            delattr(module, name)
        original.data = pruned.detach()
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Methods that were applied to a parameter one after another."""

    PRUNING_TYPE = "global"

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Append a method.

        Raises
        ------
        TypeError, ValueError
            It is none, or prunes another parameter.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """What the last method leaves of what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype, copy=True)
        left = _left(method, mask)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def _left(method: BasePruningMethod, mask: Tensor) -> Any:
    """The index of what has not been pruned, as the method wants it."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return ...
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = _dimension(mask, method.dim)
    others = [other for other in range(mask.ndim) if other != dim]
    return (slice(None),) * dim + (mask.sum(dim=others) != 0,)


def _joined(older: BasePruningMethod, new: BasePruningMethod) -> PruningContainer:
    return PruningContainer(*(older if isinstance(older, PruningContainer) else [older]), new)


# ---- methods


class Identity(BasePruningMethod):
    """Prunes nothing, and makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it is."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements by chance.

    Parameters
    ----------
    amount : int or float
        How many, or which fraction.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        self.amount = _amount(amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros at places by chance."""
        return _without_lowest(rand_like(t), self.amount, default_mask)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements with the least absolute values.

    Parameters
    ----------
    amount : int or float
        How many, or which fraction.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        self.amount = _amount(amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros where `t` is least."""
        return _without_lowest(t.abs(), self.amount, default_mask)


class RandomStructured(BasePruningMethod):
    """Prunes slices of a dimension by chance.

    Parameters
    ----------
    amount : int or float
        How many slices, or which fraction.
    dim : int, default -1
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        self.amount, self.dim = _amount(amount), dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in slices by chance."""
        dim, count = _structure(t, self.dim, self.amount)
        return _without_slices(default_mask, dim, randperm(t.shape[dim])[:count])


class LnStructured(BasePruningMethod):
    """Prunes the slices of a dimension with the least norms.

    Parameters
    ----------
    amount : int or float
        How many slices, or which fraction.
    n : float or {"fro"}
        The order of the norm.
    dim : int, default -1
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        self.amount, self.n, self.dim = _amount(amount), n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in the slices of least norm."""
        dim, count = _structure(t, self.dim, self.amount)
        others = [other for other in range(t.ndim) if other != dim]
        norms = vector_norm(t, 2 if self.n == "fro" else self.n, dim=others)
        return _without_slices(default_mask, dim, norms.argsort(stable=True)[:count])


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Parameters
    ----------
    mask : Tensor
        Zeros where the parameter shall be zero, and ones.
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask, and the zeros that were there."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"the mask must have the shape of the parameter, {default_mask.shape}, but has {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _without_lowest(scores: Tensor, amount: float, mask: Tensor) -> Tensor:
    count = _count(amount, scores.numel())
    flat = mask.clone().reshape(-1)
    flat[scores.reshape(-1).argsort(stable=True)[:count]] = 0
    return flat.reshape(mask.shape)


def _without_slices(mask: Tensor, dim: int, slices: Tensor) -> Tensor:
    kept = mask.clone()
    kept[(slice(None),) * dim + (slices,)] = 0
    return kept


# ---- amounts and dimensions


def _amount(amount: Any) -> Any:
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if float(amount) < 0 or (not isinstance(amount, Integral) and float(amount) > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    return amount


def _count(amount: float, size: int) -> int:
    if isinstance(amount, Integral) and amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return int(amount) if isinstance(amount, Integral) else round(amount * size)


def _structure(t: Tensor, dim: int, amount: float) -> tuple[int, int]:
    """The dimension, and how many of its slices go."""
    if t.ndim < 2:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{tuple(t.shape)} with {t.ndim} dims"
        )
    dim = _dimension(t, dim)
    return dim, _count(amount, t.shape[dim])


def _dimension(t: Tensor, dim: int) -> int:
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {tuple(t.shape)}")
    return dim % t.ndim


# ---- hooks of a module


def _hook_of(module: Any, name: str) -> BasePruningMethod | None:
    hooks = (hook for hook in module._forward_pre_hooks.values() if isinstance(hook, BasePruningMethod))
    return next((hook for hook in hooks if hook._tensor_name == name), None)


def _remove_hook(module: Any, hook: BasePruningMethod) -> None:
    for number, other in list(module._forward_pre_hooks.items()):
        if other is hook:
            del module._forward_pre_hooks[number]


# ---- functions


def identity(module: Any, name: str) -> Any:
    """Make the mask of a parameter, of ones; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune elements of a parameter by chance, so many or such a fraction; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Tensor | None = None) -> Any:
    """Prune the elements of a parameter that have the least absolute values, or scores; returns the module."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune slices of a dimension of a parameter by chance; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Prune the slices of a dimension of a parameter that have the least norms; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune a parameter where a mask is zero; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Any, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one: the least elements of all of them go.

    Parameters
    ----------
    parameters : iterable of (Module, str)
    pruning_method : type
        An unstructured one, which is made with the other arguments.
    importance_scores : dict, optional
        Scores by (module, name).
    """
    pairs, scores = list(parameters), importance_scores or {}
    if not all(isinstance(pair, tuple) for pair in pairs):
        raise TypeError("global_unstructured(): parameters must be pairs of a module and a name")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "all of them"
    tensors = [getattr(module, name) for module, name in pairs]
    importance = parameters_to_vector([scores.get(pair, tensor) for pair, tensor in zip(pairs, tensors)])
    masks = [getattr(module, f"{name}_mask", ones_like(tensor)) for (module, name), tensor in zip(pairs, tensors)]
    mask = PruningContainer(method).compute_mask(importance.detach(), parameters_to_vector(masks).detach())
    sizes = [tensor.numel() for tensor in tensors]
    for (module, name), tensor, part in zip(pairs, tensors, mask.split(sizes)):
        custom_from_mask(module, name, part.reshape(tensor.shape))


def remove(module: Any, name: str) -> Any:
    """Let a pruned parameter be what is left of it, without mask and hook; returns the module.

    Raises
    ------
    ValueError
        It is not pruned.
    """
    hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hook.remove(module)
    _remove_hook(module, hook)
    return module


def is_pruned(module: Any) -> bool:
    """Whether a parameter of the module, or of one in it, is pruned."""
    hooks = (hook for part in module.modules() for hook in part._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)

"""The functions of users as SciPy calls them: of one vector, with derivatives beside the value."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsmith import func
from gradsmith.func import grad as gradient_of
from gradsmith.func import hessian, jacfwd, jacrev, linearize, value_and_grad
from gradsmith.generated.joining import cat
from gradsmith.optimize.parameters import Parameters, Vector
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.creation import tensor as new_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

Tree = Callable[..., Any]
REMEMBERED = 8  # values of latest points, which callbacks ask for


def array_of(tensor: Any) -> NDArray[np.float64]:
    """A plain array for compiled solvers, which write to it and ignore strides; a gradient may be expanded."""
    return np.array(tensor.numpy(force=True), np.float64, order="C")


def is_sparse(form: Any) -> bool:
    """Is this the form of a sparse derivative: the word, or a pattern?"""
    return form == "sparse" if isinstance(form, str) else type(form).__name__ == "SparsityPattern"


class Function:
    """A function of a tree of parameters, called with a vector of float64."""

    def __init__(self, parameters: Parameters, fun: Any, args: Any, name: str = "fun") -> None:
        if not callable(fun):
            raise TypeError(f"{parameters.where}(): {name} must be callable, got {type(fun).__name__}")
        self.parameters = parameters
        self.fun = fun
        self.args = args if isinstance(args, tuple) else (args,)
        self.name = name

    def called(self, vector: Any) -> Any:
        """What the user's function gives, of a tensor that holds all parameters."""
        return self.fun(self.parameters.tree(vector), *self.args)

    def error(self, text: str, kind: type[Exception] = ValueError) -> Exception:
        return kind(f"{self.parameters.where}(): {self.name} {text}")

    def unrecorded(self, value: Any) -> Exception:
        """The error for a result that no gradient can come from."""
        return self.error(
            f"gives a {type(value).__name__}, of which no gradient is known: compute it from its argument by operators "
            "and functions of gradsmith, without .item(), .numpy() or float()",
            TypeError,
        )


class Objective(Function):
    """A function that gives one number, with its gradient and its second derivatives."""

    def __init__(self, parameters: Parameters, fun: Any, args: Any) -> None:
        super().__init__(parameters, fun, args)
        self.values: dict[bytes, float] = {}
        self._value_and_gradient = value_and_grad(self.number)
        self._linearized: tuple[bytes, Any] = (b"", None)

    def number(self, vector: Any) -> Any:
        """The value as a tensor without dimensions."""
        result = self.called(vector)
        if not is_tensor(result):
            raise self.unrecorded(result)
        if result.numel() != 1:
            raise self.not_one(result)
        return result.reshape(())

    def not_one(self, result: Any) -> Exception:
        return self.error(f"must give one number, got shape {list(result.shape)}: reduce it, for example with .sum()")

    def value(self, x: Vector) -> float:
        """The value alone, for methods that need no gradient; `fun` may give any number then."""
        with no_grad():
            result = self.called(new_tensor(x))
        return self._remembered(x, result)

    def value_and_gradient(self, x: Vector) -> tuple[float, Vector]:
        value, gradient = self._value_and_gradient(new_tensor(x))
        number, slope = self._remembered(x, value), array_of(gradient)
        if not np.isfinite(slope).all() and np.isfinite(number):
            place = self.parameters.place(int(np.argmin(np.isfinite(slope))))
            raise self.error(
                f"is {number:.6g}, but its gradient by {place} is not finite; gradsmith.autograd.detect_anomaly names "
                "the op, and nan_safe may help"
            )
        return number, slope

    def known_value(self, x: Vector) -> float:
        """The value at a point, which mostly has been computed just before."""
        found = self.values.get(x.tobytes())
        return self.value(x) if found is None else found

    def _remembered(self, x: Vector, value: Any) -> float:
        number = self._as_number(value)
        if not self.values and not np.isfinite(number):
            raise self.error(f"is {number} at {self.parameters.name}: start where it is finite")
        while len(self.values) >= REMEMBERED:
            del self.values[next(iter(self.values))]
        self.values[x.tobytes()] = number
        return number

    def _as_number(self, value: Any) -> float:
        plain = value.detach().numpy(force=True) if is_tensor(value) else value
        if not isinstance(plain, (numbers.Real, np.ndarray, np.generic)):
            raise self.error(f"must give a number, got {type(value).__name__}", TypeError)
        array = np.asarray(plain)
        if array.dtype.kind not in "iufb":
            raise self.error(f"must give a real number, got dtype {array.dtype}", TypeError)
        if array.size != 1:
            raise self.not_one(array)
        return float(array.reshape(()))

    # ---- second derivatives

    def hessian(self, x: Vector) -> NDArray[Any]:
        return array_of(hessian(self.number)(new_tensor(x)))

    def hessian_product(self, x: Vector, vector: NDArray[Any]) -> NDArray[Any]:
        """The gradient is recorded once for each point, and differentiated for each vector."""
        key = x.tobytes()
        if self._linearized[0] != key:
            self._linearized = key, linearize(gradient_of(self.number), new_tensor(x))[1]
        product = self._linearized[1](new_tensor(np.asarray(vector, np.float64).ravel()))
        return array_of(product)

    def sparse_hessian(self, pattern: Any) -> Callable[[Vector], Any]:
        """The Hessian as a sparse array; without a pattern, that at the start."""
        found = func.hessian_pattern(self.number)(new_tensor(self.parameters.start)) if pattern is None else pattern
        transform = func.sparse_hessian(self.number, pattern=found)
        return lambda x: transform(new_tensor(x))


class VectorFunction(Function):
    """A function that gives several numbers, and its Jacobian."""

    def _leaves(self, vector: Any) -> list[Any]:
        leaves: list[Any] = pytree.flatten(self.called(vector))[0]
        if not leaves:
            raise self.error("gives no numbers")
        return leaves

    def _numbers(self, vector: Any) -> Any:
        """The results as one tensor, from left to right."""
        leaves = self._leaves(vector)
        for leaf in leaves:
            if not is_tensor(leaf):
                raise self.unrecorded(leaf)
        parts = [leaf.reshape((-1,)) for leaf in leaves]
        return parts[0] if len(parts) == 1 else cat(parts)

    def value(self, x: Vector) -> NDArray[Any]:
        with no_grad():
            leaves = self._leaves(new_tensor(x))
        arrays = [leaf.numpy(force=True) if is_tensor(leaf) else np.asarray(leaf) for leaf in leaves]
        for array in arrays:
            if array.dtype.kind not in "iuf":
                raise self.error(f"must give real numbers, got dtype {array.dtype}", TypeError)
        return np.concatenate([array.ravel() for array in arrays]).astype(np.float64)

    def first_value(self) -> NDArray[Any]:
        """The values at the start, which must be finite."""
        found = self.value(self.parameters.start)
        if not np.isfinite(found).all():
            place = int(np.argmin(np.isfinite(found)))
            raise self.error(f"is {found[place]} at {self.parameters.name}, in element {place}: start elsewhere")
        return found

    def jacobian(self, jac: Any, count: int) -> Callable[[Vector], Any]:
        """The Jacobian of `count` results, dense or sparse as `jac` says."""
        if is_sparse(jac):
            return self._sparse_jacobian(None if isinstance(jac, str) else jac)
        if not isinstance(jac, str) or jac not in ("auto", "forward", "reverse"):
            raise ValueError(
                f"{self.parameters.where}(): jac must be 'auto', 'forward', 'reverse', 'sparse' or a SparsityPattern, "
                f"got {jac!r}"
            )
        is_forward = jac == "forward" or (jac == "auto" and self.parameters.size <= count)
        transform = (jacfwd if is_forward else jacrev)(self._numbers)
        return lambda x: self._finite(array_of(transform(new_tensor(x))))

    def _sparse_jacobian(self, pattern: Any) -> Callable[[Vector], Any]:
        found = func.jacobian_pattern(self._numbers)(new_tensor(self.parameters.start)) if pattern is None else pattern
        transform = func.sparse_jacobian(self._numbers, pattern=found)
        return lambda x: transform(new_tensor(x))

    def _finite(self, matrix: NDArray[Any]) -> NDArray[Any]:
        wrong = ~np.isfinite(matrix)
        if wrong.any():
            row, column = (int(n[0]) for n in np.nonzero(wrong))
            raise self.error(
                f"has a Jacobian that is not finite: that of element {row} by {self.parameters.place(column)}"
            )
        return matrix

    def weighted_hessian(self, x: Vector, weights: NDArray[Any]) -> Any:
        """The sum of the Hessians of all results, each times a weight."""
        factors = new_tensor(np.asarray(weights, np.float64))
        return array_of(hessian(lambda v: (self._numbers(v) * factors).sum())(new_tensor(x)))

"""`opcheck`: does an operator do what it has been declared and registered to do?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradsmith.autograd import grad
from gradsmith.generated.tensor import Tensor
from gradsmith.library.custom_ops import CustomOpDef
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.runtime.tensors.queries import allclose
from gradsmith.utils import pytree

DEFAULT_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """An operator has failed a test of `opcheck`."""


def opcheck(
    op: CustomOpDef,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = DEFAULT_TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Try an operator on arguments: whether it keeps to its declaration, and what is registered fits to what it gives.

    Whether its gradients are right is a question for `gradsmith.autograd.gradcheck`.

    Parameters
    ----------
    op : CustomOpDef
    args : tuple
    kwargs : dict, optional
    test_utils : str or sequence of str
        ``"test_schema"``: it writes to no argument but those that it is declared to write to, and returns none.
        ``"test_autograd_registration"``: results have a gradient for arguments that ask for one, if one is registered.
        ``"test_faketensor"``: what `register_fake` has registered gives the shapes and dtypes of the results.
        ``"test_aot_dispatch_dynamic"``, ``"test_aot_dispatch_static"``: what `gradsmith.compile` makes of a call gives
        the same results.
    raise_exception : bool
        Raise what a test finds. Otherwise it stands in the result.
    atol, rtol : float, optional
        Tolerances of the comparison of results.

    Returns
    -------
    dict
        ``"SUCCESS"``, or the exception, by the names of the tests.

    Raises
    ------
    OpCheckError
        A test has failed.
    ValueError
        `op` is no such operator, or there is no such test.

    Examples
    --------
    >>> import gradsmith as gs
    >>> @gs.library.custom_op("docs::twice", mutates_args=())
    ... def twice(x: gs.Tensor) -> gs.Tensor:
    ...     return x * 2
    >>> @twice.register_fake
    ... def _(x):
    ...     return gs.empty_like(x)
    >>> gs.library.opcheck(twice, (gs.ones(2),), test_utils=("test_schema", "test_faketensor"))
    {'test_schema': 'SUCCESS', 'test_faketensor': 'SUCCESS'}
    """
    if not isinstance(op, CustomOpDef):
        raise ValueError(f"opcheck(op, ...): op must be an operator that custom_op has made, got {type(op)}")
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(names) <= _TESTS.keys():
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {tuple(_TESTS)} but it "
            "was not"
        )
    found: dict[str, Any] = {}
    for name in names:
        try:
            _TESTS[name](op, tuple(args), dict(kwargs or {}), {"atol": atol, "rtol": rtol})
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            found[name] = error
    return found


def _test_schema(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any], tolerances: dict[str, Any]) -> None:
    values = op._arguments(*_copies(args, kwargs))
    before, _ = _copies(values, {})
    with no_grad():
        op._computed(values)
    for name, own, old in zip(op._signature.parameters, values, before, strict=True):
        changed = any(not _equal(*pair) for pair in zip(_tensors(own), _tensors(old), strict=True))
        if changed and name not in op._written:
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _test_autograd(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any], tolerances: dict[str, Any]) -> None:
    if op._backward is None or op._written:
        return
    args, kwargs = _copies(args, kwargs)
    learned = [tensor for tensor in _tensors((args, kwargs)) if tensor.requires_grad]
    results = [tensor for tensor in _tensors(op(*args, **kwargs)) if tensor.requires_grad]
    if not learned:
        return
    if not results:
        raise RuntimeError("no result requires grad, though arguments do and a backward is registered")
    for tensor, gradient in zip(learned, grad(results, learned, [_ones_like(r) for r in results], allow_unused=True)):
        if gradient is not None and gradient.shape != tensor.shape:
            raise RuntimeError(f"the gradient of an argument of shape {list(tensor.shape)} is {list(gradient.shape)}")


def _test_fake(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any], tolerances: dict[str, Any]) -> None:
    values = op._arguments(*_copies(args, kwargs))
    leaves, spec = pytree.flatten(values)
    fake = spec.unflatten([leaf.detach().to("meta") if is_tensor(leaf) else leaf for leaf in leaves])
    with no_grad():
        expected, found = _tensors(op._computed(values)), _tensors(op._computed(fake))
    if len(expected) != len(found):
        raise RuntimeError(f"the operator gives {len(expected)} tensors and what is registered as fake {len(found)}")
    for one, other in zip(expected, found):
        for what, is_one, is_other in (("Shapes", one.shape, other.shape), ("Dtypes", one.dtype, other.dtype)):
            if is_one != is_other:
                raise RuntimeError(
                    f"When comparing the output of {op._qualname} on tensors without data and concrete Tensors, found "
                    f"mismatched tensor metadata: {what} {is_one} and {is_other} are not equal!"
                )


def _test_compiled(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any], tolerances: dict[str, Any]) -> None:
    from gradsmith.compiler import compile

    def called(*args: Any, **kwargs: Any) -> Any:
        return op(*args, **kwargs)

    plain, plain_names = _copies(args, kwargs)
    traced, traced_names = _copies(args, kwargs)
    expected = op(*plain, **plain_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kernel that asks for values runs as it is
        found = compile(called, on_escape="eager")(*traced, **traced_names)
    given = {name: value for name, value in tolerances.items() if value is not None}
    for one, other in zip(_tensors((expected, plain)), _tensors((found, traced)), strict=True):
        if not allclose(other.detach(), one.detach(), equal_nan=True, **given):
            raise RuntimeError("the results of a compiled call are others")


_Test = Callable[[CustomOpDef, tuple[Any, ...], dict[str, Any], dict[str, Any]], None]
_TESTS: dict[str, _Test] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd,
    "test_faketensor": _test_fake,
    "test_aot_dispatch_static": _test_compiled,
    "test_aot_dispatch_dynamic": _test_compiled,
}


def _copies(args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments with tensors of their own."""
    leaves, spec = pytree.flatten((args, kwargs))
    own = [leaf.detach().clone().requires_grad_(leaf.requires_grad) if is_tensor(leaf) else leaf for leaf in leaves]
    copies: tuple[Any, dict[str, Any]] = spec.unflatten(own)
    return copies


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.flatten(tree)[0] if is_tensor(leaf)]


def _equal(one: Tensor, other: Tensor) -> bool:
    """Also where both are NaN."""
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())


def _ones_like(tensor: Tensor) -> Tensor:
    return tensor.detach().new_ones(tensor.shape)

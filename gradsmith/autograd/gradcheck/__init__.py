"""Comparison of derivatives with numerical ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.autograd.gradcheck.errors import GradcheckError

# The checks are imported on first use: few programs need them.

__all__ = [
    "gradcheck",
    "gradgradcheck",
    "GradcheckError",
    "get_numerical_jacobian",
    "get_analytical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    method: str = "difference",
    order: int = 1,
) -> bool:
    """Compare derivatives of `func` with numerical ones, with respect to all inputs that require grad.

    The defaults suit inputs of double precision. At a point where a function is not differentiable, the two need not
    agree. A complex output counts as two functions, its real and its imaginary part; the gradient of a complex input
    z = x + iy is dL/dx + i dL/dy.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor or a tuple of tensors.
    inputs : Tensor or tuple
        What to call it with. No two elements of an input may share memory.
    eps : float
        Step of the differences.
    atol, rtol : float
        Tolerances, absolute and relative to the numerical derivative.
    raise_exception : bool
        Raise GradcheckError where something is wrong; otherwise False is returned.
    nondet_tol : float
        By how much two runs of one backward may differ.
    check_undefined_grad : bool
        Check that undefined gradients of outputs, and undefined tangents of inputs, count as zeros.
    check_grad_dtypes : bool
        Check that gradients have the dtypes of inputs, and tangents those of outputs.
    check_batched_grad : bool
        Check that several gradients computed in one call are what they are one at a time.
    check_batched_forward_grad : bool
        Check that several tangents carried through one run are what they are one at a time.
    check_forward_ad, check_backward_ad : bool
        Check forward mode; check reverse mode. At least one.
    fast_mode : bool
        Compare products of the Jacobians with random directions, one of each input and output, in place of all
        elements. When they differ, the whole Jacobians are computed for the message.
    masked : bool, optional
        Let gradients of zero gradients deviate from zero by rounding.
    method : {"difference", "complex_step"}
        Central differences; or a step into the complex plane, which is exact to rounding, for real inputs of a function
        that is analytic and takes complex tensors.
    order : int
        Which derivative to check: 1 for that of `func`, 2 for that of its gradient as `gradgradcheck` does, and so on.

    Returns
    -------
    bool
        Whether all is well.

    Raises
    ------
    GradcheckError
        Something is wrong; both Jacobians, the largest deviation and its place are in the message.
    ValueError
        No input requires grad, or `method` does not suit the function.
    RuntimeError
        Elements of an input share memory.
    AssertionError
        Options contradict each other, or outputs change their shapes or dtypes with the values of inputs.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([0.5, 2.0], dtype=gs.float64, requires_grad=True)
    >>> gs.autograd.gradcheck(gs.sin, x)
    True
    """
    from gradsmith.autograd.gradcheck.options import Options
    from gradsmith.autograd.gradcheck.order import gradient_of
    from gradsmith.autograd.gradcheck.run import check

    options = Options(
        eps=eps,
        atol=atol,
        rtol=rtol,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad,
        fast_mode=fast_mode,
        masked=bool(masked),
        method=method,
    )
    if order < 1:
        raise ValueError(f"gradcheck: order must be at least 1, got {order}")
    for _ in range(order - 1):
        func, inputs = gradient_of(func, inputs)
    try:
        check(func, inputs, options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
    method: str = "difference",
) -> bool:
    """Compare second derivatives of `func` with numerical derivatives of its gradient.

    The gradient is taken as a function of `inputs` and `grad_outputs`, and checked with respect to all of them that
    require grad.

    Parameters
    ----------
    func : callable
        Takes tensors, gives a tensor or a tuple of tensors.
    inputs : Tensor or tuple
        What to call it with.
    grad_outputs : Tensor or tuple of Tensor, optional
        Gradients of those outputs that require grad. By default random ones that require grad, the same in each run.
    gen_non_contig_grad_outputs : bool
        Make the random ones not contiguous.
    check_fwd_over_rev, check_rev_over_rev : bool
        Check forward mode over reverse mode; check reverse mode over reverse mode. At least one.
    eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes
        See `gradcheck`.
    check_batched_grad, fast_mode, masked, method
        See `gradcheck`.

    Returns
    -------
    bool
        Whether all is well.

    Raises
    ------
    GradcheckError
        Something is wrong. See also `gradcheck`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([0.5, 2.0], dtype=gs.float64, requires_grad=True)
    >>> gs.autograd.gradgradcheck(gs.sin, x)
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    from gradsmith.autograd.gradcheck.order import gradient_of

    gradient, points = gradient_of(func, inputs, grad_outputs, spread=gen_non_contig_grad_outputs)
    return gradcheck(
        gradient,
        points,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        masked=masked,
        method=method,
    )


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Any, ...]:
    """Jacobians of the first output of `fn` by central differences.

    Parameters
    ----------
    fn : callable
        Takes all inputs as one argument.
    inputs : tuple
        That argument.
    target : Tensor or tuple of Tensor, optional
        With respect to what, by default the inputs: of these, the ones that require grad.
    eps : float
        Step of the differences.
    grad_out : float
        Only 1.0.

    Returns
    -------
    tuple of Tensor
        For each target a matrix with a row for each of its elements, and a column for each of the output.
    """
    from gradsmith.autograd.gradcheck import jacobians

    jacobians.refuse_other_gradients(grad_out, "get_numerical_jacobian")
    return jacobians.of_first_output(fn, inputs, target, eps)


def get_analytical_jacobian(
    inputs: Any, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Any, ...], bool, bool, bool]:
    """Jacobians of a recorded output by reverse mode.

    Parameters
    ----------
    inputs : Tensor or tuple
        With respect to what: those that require grad.
    output : Tensor
        Of real numbers.
    nondet_tol : float
        By how much two runs may differ.
    grad_out : float
        Only 1.0.

    Returns
    -------
    jacobians : tuple of Tensor
        As `get_numerical_jacobian` gives them.
    reentrant : bool
        Whether two runs gave the same.
    correct_grad_sizes, correct_grad_types : bool
        Whether all gradients have the shapes, and the dtypes, of the inputs.
    """
    from gradsmith.autograd.gradcheck import jacobians

    jacobians.refuse_other_gradients(grad_out, "get_analytical_jacobian")
    return jacobians.by_backward(inputs, output, nondet_tol)


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Any,
    outputs: Any,
    eps: float,
    input: Any = None,
    is_forward_ad: bool = False,
) -> tuple[Any, ...]:
    """Jacobians of all outputs of `fn` with respect to one input, by central differences.

    Parameters
    ----------
    fn : callable
        Takes the inputs.
    input_idx : int
        Which one, counted from 0.
    inputs : tuple
        All of them.
    outputs : tuple of Tensor
        What `fn` gives for them.
    eps : float
        Step of the differences.
    input : Tensor, optional
        Perturb this tensor in place of the input of that number.
    is_forward_ad : bool
        Whether outputs may be complex.

    Returns
    -------
    tuple of Tensor
        For each output a matrix with a row for each element of the input.
    """
    from gradsmith.autograd.gradcheck import jacobians

    target = inputs[input_idx] if input is None else input
    return jacobians.of_one_input(fn, inputs, outputs, target, eps, is_forward_ad)

"""Checks of ``strict=True``: refuse results that are zero only because of a missing dependency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NOT_ALLOWED = "This is not allowed in strict mode"


def require_recorded(outputs: Sequence[Any]) -> None:
    for index, output in enumerate(outputs):
        if not output.requires_grad:
            raise RuntimeError(
                f"Output {index} of the user-provided function does not require gradients. The outputs must be "
                "computed in a differentiable manner from the input when running in strict mode."
            )


def require_dependence(values: Sequence[Any], of: str = "The output") -> None:
    """No value may be None."""
    for index, value in enumerate(values):
        if value is None:
            raise RuntimeError(f"{of} of the user-provided function is independent of input {index}. {NOT_ALLOWED}.")


def require_varying_gradient(gradients: Sequence[Any]) -> None:
    """The gradient, of which a Hessian is the derivative, has to depend on something."""
    require_dependence(gradients)
    for index, gradient in enumerate(gradients):
        if not gradient.requires_grad:
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                f"input {index} is independent of the input. {NOT_ALLOWED}. You should ensure that your function is "
                "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
                "function for example)."
            )


def require_history(values: Sequence[Any], of: str) -> None:
    """With create_graph: results that could be differentiated again."""
    for index, value in enumerate(values):
        if not value.requires_grad:
            raise RuntimeError(
                f"The {of} of the user-provided function is independent of input {index}. {NOT_ALLOWED} when "
                "create_graph=True."
            )

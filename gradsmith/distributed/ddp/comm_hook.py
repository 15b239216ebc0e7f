"""Communication hooks: functions of the user's that average the gradients of a bucket."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradsmith.distributed.ddp.grad_bucket import GradBucket
from gradsmith.futures import Future
from gradsmith.generated.tensor import Tensor

__all__ = ["check_hook", "result_of", "run_hook"]


def check_hook(hook: Any) -> None:
    """Refuse what cannot be a hook.

    Raises
    ------
    TypeError
        It can't be called, or not with a state and a bucket.
    ValueError
        Its annotations say that it takes or returns something else.
    """
    if not callable(hook):
        raise TypeError("Communication hook must be callable.")
    signature = _signature(hook)
    try:
        arguments = signature.bind(None, None).arguments
    except TypeError as error:
        raise TypeError(f"Communication hook must take a state and a bucket: {error}") from None
    bucket = signature.parameters[list(arguments)[-1]]
    if bucket.annotation not in (inspect.Parameter.empty, Any, GradBucket):
        raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
    returned = signature.return_annotation
    if returned not in (inspect.Signature.empty, Any, Future, Future[Any], Future[Tensor]):
        raise ValueError("Communication hook: return annotation should be torch.futures.Future[torch.Tensor].")


def _signature(hook: Callable[..., Any]) -> inspect.Signature:
    """With annotations that are written as text, where they can be found, and otherwise without."""
    try:
        return inspect.signature(hook, eval_str=True)
    except NameError:
        found = inspect.signature(hook)
        parameters = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
        return found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)


def run_hook(hook: Callable[[Any, GradBucket], Any], state: Any, bucket: GradBucket) -> Future[Any]:
    """What the hook returns.

    Raises
    ------
    RuntimeError
        It returns something else than a future.
    """
    future = hook(state, bucket)
    if not isinstance(future, Future):
        raise RuntimeError(
            f"Communication hook should return a Future of the averaged gradients, got {type(future).__name__}"
        )
    return future


def result_of(future: Future[Any], like: Any) -> Any:
    """The tensor that the future of a hook gives, in place of one of the same shape.

    Raises
    ------
    RuntimeError
        It gives something else.
    """
    found = future.wait()
    if not isinstance(found, Tensor) or found.shape != like.shape:
        what = f"a tensor of shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
        raise RuntimeError(
            f"Communication hook: its future should give a tensor of shape {tuple(like.shape)}, as the buffer of the "
            f"bucket, but gives {what}"
        )
    return found

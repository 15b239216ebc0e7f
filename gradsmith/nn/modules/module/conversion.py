"""Other dtypes and devices for all tensors of a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module.registry import Registry
from gradsmith.nn.parameter import Parameter, is_lazy
from gradsmith.runtime.arrays.device import as_device
from gradsmith.runtime.arrays.dtypes import MissingDtype, as_dtype, float16, float32, float64
from gradsmith.runtime.tensors.factories.creation import empty_like

if TYPE_CHECKING:
    from typing_extensions import Self


class Conversion(Registry):
    """Parameters stay the same objects, so that an optimizer that has them goes on with the converted ones."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Let every parameter, its gradient and every buffer be what `fn` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _converted(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating and complex parameters and buffers, or move all to another device; in place.

        Parameters
        ----------
        device : device or str, optional
        dtype : dtype, optional
            A floating or complex one.
        tensor : Tensor, optional
            Take its dtype and device.
        non_blocking, memory_format : optional
            Without effect.

        Raises
        ------
        TypeError
            The dtype is neither floating nor complex.
        NotImplementedError
            The module has no data: it is on the device "meta". `to_empty` gives it memory.

        Examples
        --------
        >>> import gradsmith as gs
        >>> gs.nn.Linear(2, 2).to(gs.float64).weight.dtype
        dtype('float64')
        """
        device, dtype = place_and_dtype(*args, **kwargs)
        if dtype is not None and dtype.kind not in "fc":
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor: Tensor) -> Tensor:
            takes_dtype = tensor.is_floating_point() or tensor.is_complex()
            return _moved(tensor, device, dtype if takes_dtype else None)

        return self._apply(convert)

    def float(self) -> Self:
        """Let floating parameters and buffers be of dtype float32."""
        return self._floating(float32)

    def double(self) -> Self:
        """Let floating parameters and buffers be of dtype float64."""
        return self._floating(float64)

    def half(self) -> Self:
        """Let floating parameters and buffers be of dtype float16."""
        return self._floating(float16)

    def _floating(self, dtype: Any) -> Self:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def type(self, dst_type: Any) -> Self:
        """Let all parameters and buffers be of a dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def cpu(self) -> Self:
        """Have all tensors in main memory."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """There is no such device; see `Tensor.to`.

        Raises
        ------
        RuntimeError
            Always.
        """
        return self.to("cuda" if device is None else device)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give all tensors memory on a device, with any values: for modules made on the device "meta"."""
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse=recurse)

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory that other processes can have, see `multiprocessing`.

        Raises
        ------
        RuntimeError
            A parameter or buffer has no shape yet, and so no memory.
        """
        if any(map(is_lazy, (*self.parameters(), *self.buffers()))):
            raise RuntimeError(
                "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
                "parameters before calling `module.share_memory()`."
            )
        for tensor in (*self.parameters(), *self.buffers()):
            tensor.share_memory_()
        return self


def place_and_dtype(
    *args: Any,
    device: Any = None,
    dtype: Any = None,
    tensor: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> tuple[Any, np.dtype[Any] | None]:
    """What to convert to, from the arguments of `to`: (device, dtype, ...), (dtype, ...) or (tensor, ...)."""
    first = args[0] if args else tensor
    if isinstance(first, Tensor):
        return first.device, first.dtype
    if _is_dtype(first):
        dtype = first
    elif args:
        device, dtype = first, args[1] if len(args) > 1 else dtype
    return None if device is None else as_device(device, "to"), None if dtype is None else as_dtype(dtype, "to")


def _is_dtype(value: Any) -> bool:
    return isinstance(value, (np.dtype, type, MissingDtype))


def _moved(tensor: Tensor, device: Any, dtype: Any) -> Tensor:
    if tensor.is_meta and device is not None and device.type != "meta":
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! Please use gradsmith.nn.Module.to_empty() instead of "
            "gradsmith.nn.Module.to() when moving module from meta to a different device."
        )
    wanted = {"device": device, "dtype": dtype}
    given = {name: value for name, value in wanted.items() if value is not None}
    return tensor.to(**given) if given else tensor


def _converted(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """The parameter with the data that `fn` gives: itself, unless the device differs."""
    gradient = parameter.grad
    with no_grad():
        data = fn(parameter)
        new_gradient = None if gradient is None else fn(gradient)
    if data is parameter:
        return parameter
    if data.device != parameter.device:
        parameter = Parameter(data.detach(), parameter.requires_grad)
    else:
        parameter.grad = None  # of the old dtype
        parameter.data = data
    if new_gradient is not None:
        parameter.grad = new_gradient.requires_grad_(gradient.requires_grad)  # type: ignore[union-attr]
    return parameter

"""Context managers and decorators that switch recording on and off in the calling thread."""

from gradsmith.runtime.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

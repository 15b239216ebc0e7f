"""The class of tensors, where PyTorch defines it."""

from gradsmith.generated.tensor import Tensor

__all__ = ["Tensor"]

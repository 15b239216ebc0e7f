"""PyTorch's wrappers for several devices, of which there is one."""

from gradsmith.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]

"""What PyTorch has for several devices."""

from gradsmith.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]

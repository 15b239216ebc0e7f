"""The marks of ``torch.distributed.elastic.multiprocessing``."""

from gradsmith.compat.torch.distributed.elastic.multiprocessing import errors as errors

"""The name of PyTorch's code generator, whose options programs set before they compile."""

from gradsmith.compat.torch._inductor import config as config

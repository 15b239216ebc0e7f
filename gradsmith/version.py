"""The version, read by the package and by its build."""

__version__ = "0.1.0"

# What PyTorch's programs ask of ``torch.version``: there is no GPU.
cuda = None
hip = None
xpu = None
debug = False

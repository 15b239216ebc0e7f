"""The version, read by the package and by its build."""

__version__ = "0.1.0"

# The same for code of the package: `gradsmith.compat.as_torch` gives the other name to programs for PyTorch.
OWN_VERSION = __version__

# The release of PyTorch whose names and behaviour are followed.
TORCH_VERSION = "2.13.0"

# What PyTorch's programs ask of ``torch.version``: there is no GPU, and no commit that a build would know.
cuda = None
hip = None
rocm = None
xpu = None
git_version = None
debug = False

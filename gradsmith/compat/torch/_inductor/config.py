"""Options of PyTorch's code generator: any may be set, and none means anything here."""

from types import SimpleNamespace

from gradsmith.compat.torch._dynamo.config import patch as patch

coordinate_descent_tuning = False
coordinate_descent_check_all_directions = False
epilogue_fusion = True
fx_graph_cache = True
max_autotune = False
cpp, triton = SimpleNamespace(threads=-1, simdlen=None), SimpleNamespace(cudagraphs=False, unique_kernel_names=True)

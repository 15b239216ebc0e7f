"""Modules of PyTorch that libraries need and programs do not: ``gradsmith.types`` is `gradsmith.compat.torch.types`.

They are found under PyTorch's names as attributes of gradsmith, and by ``import torch.types`` within
`gradsmith.compat.as_torch`. Each holds what means something here, over gradsmith's own functions.
"""

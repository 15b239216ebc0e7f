"""Names that are here and do something else than PyTorch's."""

_ON_THE_CPU = "Computed on the CPU only: what asks finds no such device, what needs one raises."
_UNCHANGED = "The function or module comes back as it is: nothing is compiled."

# Name, or a module with all that is in it -> what is different.
OTHERWISE = {
    "torch.accelerator": _ON_THE_CPU,
    "torch.amp": "Nothing is cast to a lower precision, and losses are not scaled.",
    "torch.autocast": "Nothing is cast to a lower precision.",
    "torch.GradScaler": "Losses are not scaled.",
    "torch.backends": "May be set, without effect.",
    "torch.compile": "There are no graph breaks: a function that looks at values raises, a module runs as it is.",
    "torch.compiler": "Marks for the compiler have no effect.",
    "torch.cuda": _ON_THE_CPU,
    "torch.cuda.amp": "Nothing is cast to a lower precision, and losses are not scaled.",
    "torch.fx": "Marks for graphs of modules have no effect, and there are no such graphs.",
    "torch.hub": "Nothing is downloaded: weights that are there already are read, the rest raises.",
    "torch.jit": _UNCHANGED,
    "torch.jit.load": "Raises: there are no compiled programs.",
    "torch.jit.save": "Raises: there are no compiled programs.",
    "torch.manual_seed": "The same seed gives other random numbers than PyTorch's.",
    "torch.mps": _ON_THE_CPU,
    "torch.multiprocessing": "Tensors travel between processes as values, not through shared memory.",
    "torch.nn.attention.sdpa_kernel": "Kept without effect: attention is computed one way.",
    "torch.set_default_device": "The device may be cpu or meta.",
    "torch.set_flush_denormal": "Has no effect, and says so: it returns False.",
    "torch.set_float32_matmul_precision": "Kept without effect: products have the precision of float32.",
    "torch.Tensor.cuda": "Raises: tensors are in main memory.",
    "torch.Tensor.xpu": "Raises: tensors are in main memory.",
    "torch.Tensor.pin_memory": "The tensor itself.",
    "torch.utils.model_zoo": "Nothing is downloaded: weights that are there already are read, the rest raises.",
    "torch.xpu": _ON_THE_CPU,
}


def otherwise(name: str) -> str:
    """What is different about ``torch.cuda.synchronize``, by its own entry or that of its module; or nothing."""
    while name:
        if name in OTHERWISE:
            return OTHERWISE[name]
        name = name.rpartition(".")[0]
    return ""

"""The one door upward: what the runtime needs of the rooms above.

`Tensor.backward` is a method of a lower room than the engine. The engine adds gradients and undoes broadcasting
*differentiably* when the graph of the gradient is wanted, and indexing, copying and cloning are ops of the table. The
runtime cannot import the generated modules, which are built on it; they, and the rooms that come later, fill these names
when they are imported. Functions called per node or per leaf are C functions, in `c_upcalls`.
"""


def missing(*args):
    raise RuntimeError("gradsmith.generated has not been imported; import gradsmith instead of a part of it")


NAMES = (
    "add", "backward", "basic_index", "basic_index_backward", "bucketize", "call_node", "cat", "clone", "clone_by_rows", "copy_",
    "expand", "fill_", "function_type", "generator_behind", "generator_type", "geometry_scatter", "geometry_slice", "grad",
    "index", "index_put_", "one_slice", "permute", "real", "reshape", "select", "squeeze", "stack", "sum_to", "to", "unbind", "unsqueeze",
    "view_of_all", "where",
)
globals().update(dict.fromkeys(NAMES, missing))


def fill(**functions):
    """Set the functions; an unknown name is an error."""
    for name, function in functions.items():
        if name not in NAMES:
            raise TypeError(f"the runtime does not ask for {name!r}")
        globals()[name] = function

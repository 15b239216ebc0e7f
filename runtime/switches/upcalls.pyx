"""The one door upward: what the runtime needs of the rooms above.

`Tensor.backward` is a method of a lower room than the engine. The engine adds gradients and undoes broadcasting
*differentiably* when the graph of the gradient is wanted, and indexing, copying and cloning are ops of the table. The
runtime cannot import the generated modules, which are built on it; they, and the rooms that come later, fill these names
when they are imported. Functions called per node or per leaf are C functions, in `c_upcalls`.

Some of those modules are rarely needed. They are imported when one of their names is first used.
"""
import importlib


def missing(*args):
    raise RuntimeError("gradsmith.generated has not been imported; import gradsmith instead of a part of it")


NAMES = (
    "add", "basic_index", "basic_index_backward", "bucketize", "cat", "clone", "clone_by_rows", "copy_",
    "embedded_diagonals", "expand", "fill_", "geometry_scatter", "geometry_slice", "index", "index_put_", "innermost_tangent",
    "one_slice", "parted_view", "permute", "real", "reshape", "rows_of_groups", "scaled_distance", "select", "squeeze",
    "stack", "sum_to", "to", "unbind", "unsqueeze", "view_of_all", "where",
)
ON_FIRST_USE = {
    "make_class_overridable": "gradsmith.compat.torch.overrides",
    "make_everything_overridable": "gradsmith.compat.torch.overrides",
    "make_all_members_overridable": "gradsmith.compat.torch.overrides",
    "make_operators_overridable": "gradsmith.compat.torch.overrides",
    "backward": "gradsmith.autograd.gradients",
    "grad": "gradsmith.autograd.gradients",
    "call_numpy": "gradsmith.numpy_protocols",
    "call_numpy_by_solver": "gradsmith.numpy_protocols",
    "call_ufunc": "gradsmith.numpy_protocols",
    "numpys_error": "gradsmith.numpy_protocols",
    "put_numpy_methods": "gradsmith.numpy_protocols.methods",
    "call_node": "gradsmith.autograd.graph",
    "function_type": "gradsmith.autograd.function",
    "generator_behind": "gradsmith.runtime.tensors.factories.random",
    "generator_type": "gradsmith.runtime.tensors.factories.random",
}
globals().update(dict.fromkeys(NAMES, missing))
c_upcalls.basic_index = <PyObject *>missing


def __getattr__(name):
    """Import the module that fills a name."""
    if name not in ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(ON_FIRST_USE[name])
    return globals()[name]


def fill(**functions):
    """Set the functions; an unknown name is an error."""
    for name, function in functions.items():
        if name not in NAMES and name not in ON_FIRST_USE:
            raise TypeError(f"the runtime does not ask for {name!r}")
        globals()[name] = function
        if name == "basic_index":
            c_upcalls.basic_index = <PyObject *>function

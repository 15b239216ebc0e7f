"""Where the inputs of a program come from.

A source is the number of an argument, or a tensor that the function uses besides. Of a tensor in a list, each run gets a
copy that lies as it does; of what is in a tuple, an argument's number or a tensor, the `.grad` is meant.
"""
from gradsmith.runtime.graph.tensor cimport TensorBase, TensorMeta, wrap

from gradsmith.runtime.programs.layouts import copied_as_it_lies


cdef TensorBase leaf_in(object leaves, object leaf):
    return <TensorBase?>(leaves[leaf] if type(leaf) is int else leaf)


cdef object grad_of(TensorBase leaf):
    return None if leaf.meta is None else (<TensorMeta>leaf.meta).grad


cpdef tuple values_of(object sources, object leaves):
    """The tensors for the inputs of a program, in one call."""
    cdef list values = []
    for source in sources:
        if type(source) is int:
            values.append(leaves[source])
        elif type(source) is list:
            values.append(wrap(copied_as_it_lies(<object>(<TensorBase>source[0]).array)))
        elif type(source) is tuple:
            values.append(grad_of(leaf_in(leaves, source[0])))
        else:
            values.append(source)
    return tuple(values)

cdef object write_result(str op, object out, object result)
cdef object dtype_of_out(str op, object out, object input, object dtype)

cdef inline object give_out(str op, object out, object result):
    """The result, or `out` with the result written into it; of several results the named tuple of the tensors in `out`."""
    return result if out is None else write_result(op, out, result)

# Preparation of arguments before the op sees them, under the key `prepare`: each function gets the name of the
# form that was called, and gives the argument back, converted or as it was.

# No bool tensor.
cdef object prepare_numeric(str op, object value)

# The same; in place the magnitude of a complex tensor has no place either.
cdef object prepare_magnitude(str op, object value)

# An operand of a loss that is compared with `other`: integers and bools are floating when the other one is.
cdef object prepare_compared(str op, object value, object other)

# The dtype in which an op computes: in place that of the tensor, and no other may be asked for.
cdef object prepare_own_dtype(str op, object dtype, object target)

# Of a real or complex floating dtype.
cdef object prepare_floating(str op, object value)

# Not a bool tensor that is clamped to bools, unless a tensor is the only bound.
cdef object prepare_clampable(str op, object value, object bound, object other=*)

# A bound of integers is an integer, and no negative one of unsigned integers.
cdef object prepare_bound(str op, object bound, object value)

# In place: a source that shares no element with the tensor that is written, other than all with copy_.
cdef object prepare_apart(str op, object source, object target)

# Indices of several dimensions as a tuple: PyTorch takes a list of tensors as well. One of numbers is a single index.
cdef object prepare_parts_of_index(str op, object index)

# A second operand that is multiplied by `alpha` first, and that number.
cdef object prepare_addend(str op, object value, object other, object alpha)
cdef object prepare_subtrahend(str op, object value, object other, object alpha)
cdef object prepare_factor(str op, object value, object other, object alpha)

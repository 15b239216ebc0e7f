# For the body of a node class: descriptors of what its nodes have in a slot.

cdef tuple saved_tensor(int slot)       # ``_saved_self``, ``_raw_saved_self``
cdef tuple saved_list(int slot)         # the same for a Tensor[]
cdef object saved_value(int slot)
cdef object saved_number(int slot)      # freed with the graph
cdef object saved_object(int slot)      # any value, with tensors in it

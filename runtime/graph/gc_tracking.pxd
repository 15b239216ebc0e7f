# The cyclic collector sees what is tracked; see Note [Collected late].
cdef void track(object thing) noexcept              # a node or a tensor that is new, or about to be known to the user
cdef void track_cycle(object thing) noexcept        # a node or a tensor of a cycle all of which is tracked so
cdef void track_for_gc(object thing) noexcept       # before the user attaches something to a node or to a leaf

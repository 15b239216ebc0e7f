cdef bint grad_enabled() noexcept               # is recording on in this thread
cdef bint swap_grad_mode(bint enabled) noexcept  # set it, give back what it was

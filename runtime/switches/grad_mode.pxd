cdef bint grad_enabled() noexcept               # is recording on in this thread
cdef bint swap_grad_mode(bint enabled) noexcept  # set it, give back what it was
cdef bint inference_mode_enabled() noexcept     # are tensors of this thread made for inference only
cdef int threads_in_inference_mode              # in some thread: what is tested where every tensor is made

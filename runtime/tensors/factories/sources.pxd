cdef object source_of(object generator)
cdef bint is_source(object generator) noexcept      # None, or a generator of numbers

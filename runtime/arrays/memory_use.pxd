cdef long long bytes_in_use() noexcept      # of arrays that this thread has allocated while it counted

# See debug.h.
cdef extern from "runtime/debug.h":
    void GS_CHECK(bint condition, const char *message) noexcept

# See debug.h.
cdef extern from "runtime/switches/debug.h":
    bint GS_HAS_CHECKS
    void GS_CHECK(bint condition, const char *message) noexcept

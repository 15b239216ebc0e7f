from gradsmith.runtime.function_outputs cimport Call


cdef int carry_tangents(Call call, list outputs) except -1

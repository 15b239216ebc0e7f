from gradsmith.runtime.custom_function.outputs cimport Call


cdef int carry_tangents(Call call, list outputs) except -1

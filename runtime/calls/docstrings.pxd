# The functions of a module, called once at its end; see docstrings.pyx, Note [Short sections].
cdef int write_out_docstrings(dict module) except -1

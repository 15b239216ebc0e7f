from gradsmith.runtime.engine.graph_task cimport GraphTask

cdef int note_modes(GraphTask task, bint create_graph) except -1       # those of this thread, where the run begins
cdef int settle_modes(GraphTask task) except -1                        # after code of the user's

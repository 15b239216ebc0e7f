from gradsmith.runtime.engine.graph_task cimport GraphTask

# Send `grads` into the graph at the roots of the run, and work the queue off.
cdef int run(GraphTask task, list grads, bint create_graph) except -1

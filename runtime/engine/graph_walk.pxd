from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

from gradsmith.runtime.engine.graph_task cimport GraphTask
from gradsmith.runtime.graph.node cimport Edge, Node
from gradsmith.runtime.graph.tensor cimport TensorBase, TensorMeta


# Targets of edges
cdef PyObject *entry_of(GraphTask task, object root, uint32_t *input_nr) except NULL    # borrowed, alive during the run
cdef inline PyObject *accumulator_of(TensorBase leaf) noexcept:     # borrowed, NULL when nobody holds one
    return NULL if leaf.meta is None else (<TensorMeta>leaf.meta).accumulator
cdef bint leads_to_request(GraphTask task, Edge *edge) except -1
cdef inline bint is_requested(GraphTask task, Edge *edge) except -1:    # does the edge of a pruned run lead to what was asked for
    return task.all_requested or leads_to_request(task, edge)
cdef bint is_observed(PyObject *accumulator) noexcept           # does somebody see a leaf's gradients before they are stored
cdef PyObject *lasting_accumulator(GraphTask task, TensorBase leaf) except NULL     # borrowed, alive during the run

# Walks over the graph of a run
cdef int prune(GraphTask task, list inputs, bint accumulate) except -1      # before the run: only what is asked for will run
cdef int count_waiting(GraphTask task, Node sender, int first_edge) except -1
cdef bint is_last_edge(GraphTask task, PyObject *accumulator) except -1     # take one edge off the count: was it the last
cdef bint waits_for_edges(GraphTask task, PyObject *accumulator) except -1
cdef bint will_execute(GraphTask task, PyObject *node) except -1
cdef list execution_order(GraphTask task)

"""In-place forms of view ops: ``x.t_()``.

Note [In place without a write]
The elements stay as they are; what changes is where the tensor finds them. The op makes its view as always, and then
the tensor takes over the array, the node and the tangents of that view. This counts as a change: what a graph saved
had the old shape, and a backward that needs it raises. The base of a view keeps its history, since none of its
elements was written, and so do other views of one memory: their places in it are still the same.
"""
from cpython.ref cimport PyObject

from gradsmith.runtime.calls.forward_ad cimport LevelWalk, walk_levels
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.saved_variable cimport replace_array
from gradsmith.runtime.graph.tangent cimport attach, has_tangent_1
from gradsmith.runtime.graph.tensor cimport IS_VIEW, TensorBase, bump_version, version_of
from gradsmith.runtime.history.history cimport prepare_grad_fn, put_grad_fn, requires_grad
from gradsmith.runtime.switches.grad_mode cimport grad_enabled
from gradsmith.runtime.tensors.variable cimport renew_accumulator


cdef int become_view(TensorBase self, TensorBase view) except -1:
    """See Note [In place without a write]. All that can fail comes before the first change."""
    cdef Node node = new_node_of(self, view)
    cdef list tangents = tangents_of(self, view)
    if node is not None:
        prepare_grad_fn(self, node, 0)
    bump_version(self)
    if view is not self:
        replace_array(self, <object>view.array)
    if node is not None:
        put_grad_fn(self, node, 0)
    elif self.grad_fn == NULL:
        renew_accumulator(self)
    if self.flags & IS_VIEW and node is not None:
        self.own_version = version_of(self)
    for level, tangent in tangents:
        attach(self, level, <TensorBase>tangent)
    return 0


cdef Node new_node_of(TensorBase self, TensorBase view):
    """The node that was recorded for the view, or None when nothing is."""
    if view is self or not grad_enabled() or not requires_grad(self):
        return None
    if view.grad_fn == NULL:
        raise RuntimeError("the op has no derivative, so it cannot change a tensor that requires grad in place")
    return <Node>view.grad_fn


cdef list tangents_of(TensorBase self, TensorBase view):
    """(level, what the view shows of the tangent). A tensor that is a view itself has those of its base."""
    cdef list found = []
    cdef LevelWalk walk
    if view is self or self.flags & IS_VIEW or not has_tangent_1(self):
        return found
    walk = walk_levels((self,))
    while walk.next():
        found.append((walk.level, walk.tangent(view)))
    return found

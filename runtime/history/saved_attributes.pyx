"""Saved values as attributes of a node: ``node._saved_self``, the value; ``node._raw_saved_self``, the saved tensor."""
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.node_io cimport value_of
from gradsmith.runtime.graph.saved_variable cimport (
    saved_attribute,
    saved_list_attribute,
    unpack_number,
    unpack_object,
)
from gradsmith.runtime.history.saved_hooks cimport raw_saved, raw_saved_list

ctypedef object (*slot_reader)(Node, int)


cdef class SavedAttribute:
    """Reads a slot of the node that it is an attribute of."""

    cdef slot_reader read
    cdef int slot

    def __get__(self, node, owner):
        if node is None:
            return self
        if not isinstance(node, Node) or not is_attribute_of(self, type(node)):
            raise TypeError(f"this is an attribute of other nodes, not of a {type(node).__name__}")
        return self.read(<Node>node, self.slot)

    def __set__(self, node, value):
        raise AttributeError(f"what a {type(node).__name__} has saved cannot be replaced")


cdef bint is_attribute_of(SavedAttribute attribute, type cls) except -1:
    """Python code can call `__get__` with any node; only those of one class have the slot."""
    for part in cls.__mro__:
        for value in part.__dict__.values():
            if value is attribute:
                return True
    return False


cdef SavedAttribute attribute(slot_reader read, int slot):
    cdef SavedAttribute made = SavedAttribute.__new__(SavedAttribute)
    made.read = read
    made.slot = slot
    return made


cdef tuple saved_tensor(int slot):
    return attribute(saved_attribute, slot), attribute(raw_saved, slot)


cdef tuple saved_list(int slot):
    return attribute(saved_list_attribute, slot), attribute(raw_saved_list, slot)


cdef object saved_value(int slot):
    return attribute(value_of, slot)


cdef object saved_number(int slot):
    return attribute(unpack_number, slot)


cdef object saved_object(int slot):
    return attribute(unpack_object, slot)

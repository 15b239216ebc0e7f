"""What stands for functions of Python's, methods, operators and properties of tensors where they ask classes first.

A class still shows what its members stand for, ``Tensor.add``: that is what those who take a call over are given.
"""
from gradsmith.runtime.overrides.taken_over cimport call, handed, is_taken_over

from types import MethodType


cdef class AskingFunction:
    """What a function of Python's does.

    Parameters
    ----------
    function : function
        What users call.
    own : function
        What computes the result.
    of_data : bool
        Whether it takes its arguments for data, and asks modes only.
    """
    cdef object function, own
    cdef bint of_data

    def __init__(self, function, own, of_data):
        self.function, self.own, self.of_data = function, own, of_data

    def __call__(self, *args, **kwargs):
        if not self.of_data:
            return call(self.function, self.own, args, kwargs)
        return handed(self.function, (), args, kwargs) if is_taken_over(NULL, 0) else self.own(*args, **kwargs)


cdef class AskingMethod:
    """A method.

    Parameters
    ----------
    own : callable
        The method that it stands for.
    """
    cdef object own

    def __init__(self, own):
        self.own = own

    def __get__(self, instance, owner):
        return self.own if instance is None else MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        return call(self.own, self.own, args, kwargs)

    def __getattr__(self, name):
        return getattr(self.own, name)


cdef class AskingOperator(AskingMethod):
    """An operator. An operand that the tensor's method refuses may know the operator itself.

    Parameters
    ----------
    name : str
    method : callable
        The method that computes the same; what classes are asked about.
    tensor : type
        The class of tensors, whose operator may have been replaced by another since.
    """
    cdef object name, method
    cdef type tensor

    def __init__(self, name, method, tensor):
        self.own = getattr(tensor, name)
        self.name, self.method, self.tensor = name, method, tensor

    def __call__(self, *operands):
        return or_not_implemented(self.method, getattr(self.tensor, self.name), operands)


cdef class AskingReflected(AskingOperator):
    """An operator whose tensor stands on the right: of two tensors, the call is that of the one on the left.

    Parameters
    ----------
    name : str
    method : callable
        What classes are asked about when there is no tensor on the left.
    tensor : type
        The class of tensors.
    of_left : callable
        The method of the tensor on the left.
    """
    cdef object of_left

    def __init__(self, name, method, tensor, of_left):
        super().__init__(name, method, tensor)
        self.of_left = of_left

    def __call__(self, right, left):
        if isinstance(left, self.tensor):
            return or_not_implemented(self.of_left, self.of_left, (left, right))
        return or_not_implemented(self.method, getattr(self.tensor, self.name), (right, left))


cdef object or_not_implemented(object method, object own, tuple operands):
    try:
        return call(method, own, operands, {})
    except TypeError:
        return NotImplemented


cdef class AskingProperty:
    """A property.

    Parameters
    ----------
    own : property or getset_descriptor
    """
    cdef object own, read, write, delete

    def __init__(self, own):
        self.own, self.read = own, own.__get__
        self.write, self.delete = getattr(own, "__set__", None), getattr(own, "__delete__", None)

    def __get__(self, instance, owner):
        return self.own if instance is None else call(self.read, self.read, (instance,), {})

    def __set__(self, instance, value):
        call(self.write, self.write, (instance, value), {})

    def __delete__(self, instance):
        call(self.delete, self.delete, (instance,), {})

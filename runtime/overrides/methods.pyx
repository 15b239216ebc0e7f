"""Overridable versions of Python functions and of the methods, operators and properties of tensors.

Accessed on the class, ``Tensor.add``, they give the original member, which is also what overrides are given.
"""
cimport numpy as cnp

from gradsmith.runtime.overrides.dispatch cimport call, dispatch_call, is_overridden

from types import MethodType


cdef class OverridableFunction:
    """The body of an overridable Python function.

    Parameters
    ----------
    function : function
        What users call.
    own : function
        What computes the result.
    of_data : bool
        Whether its arguments are data: then modes can override it, and classes cannot.
    """
    cdef object function, own
    cdef bint of_data

    def __init__(self, function, own, of_data):
        self.function, self.own, self.of_data = function, own, of_data

    def __call__(self, *args, **kwargs):
        if not self.of_data:
            return call(self.function, self.own, args, kwargs)
        return dispatch_call(self.function, (), args, kwargs) if is_overridden(NULL, 0) else self.own(*args, **kwargs)


cdef class OverridableMethod:
    """An overridable method.

    Parameters
    ----------
    own : callable
        The original method.
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


cdef class OverridableOperator(OverridableMethod):
    """An overridable operator. It returns NotImplemented for an operand that the method refuses with a TypeError.

    Parameters
    ----------
    name : str
    method : callable
        The equivalent method, which overrides are given.
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


cdef class OverridableReflected(OverridableOperator):
    """An overridable reflected operator. If the left operand is a tensor too, its own method is called.

    Parameters
    ----------
    name : str
    method : callable
        The function passed to overrides when the left operand is not a tensor.
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
        for operand in operands:
            if isinstance(operand, cnp.ndarray):    # NumPy would compute with what a tensor refuses, such as a mask
                raise
        return NotImplemented


cdef class OverridableProperty:
    """An overridable property.

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

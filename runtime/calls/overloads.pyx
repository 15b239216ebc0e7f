"""Overloads that only the arguments tell apart, such as ``max(x)``, ``max(x, dim)`` and ``max(x, other)``.

The signatures are tried in order; the first that takes the arguments wins. When none does, the error lists them all.
"""
from gradsmith.runtime.calls.arguments cimport is_operand, is_plain_number, is_tensor

import numpy as np

from gradsmith.runtime.arrays.device import is_device_name
from gradsmith.runtime.arrays.dtypes import MissingDtype
from gradsmith.runtime.switches import upcalls

REQUIRED = object()     # default of a parameter that has none

# In tuples made beforehand, see arguments.pyx.
cdef tuple BOOLS = (bool, np.bool_)
cdef tuple NUMBERS = (int, float, complex, np.number, np.bool_)
cdef tuple DTYPES = (np.dtype, str, type, MissingDtype)
cdef tuple LISTS = (list, tuple)

# Ops to which a tensor is an example of dtype and device: of a list, nobody chose them.
cdef tuple BY_EXAMPLE = ("to",)

# The same second names that plain functions take, and those of `torch.split`.
SECOND_NAMES = {
    "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other",
    "tensor": "input", "split_size_or_sections": "split_size",
}  # fmt: skip


# Types of parameters, in the words of the table.
cdef enum Kind:
    TENSOR
    INT
    OPERAND         # Tensor|Scalar
    NUMBER
    BOOL
    LIST            # int[], Tensor[2]
    STR
    DTYPE
    DEVICE
    GENERATOR
    OBJECT

cdef dict KINDS = {
    "Tensor": TENSOR, "int": INT, "Tensor|Scalar": OPERAND, "Scalar": NUMBER, "float": NUMBER, "bool": BOOL, "str": STR,
    "dtype": DTYPE, "device": DEVICE, "Generator": GENERATOR, "object": OBJECT,
}  # fmt: skip


cdef class Parameter:
    cdef readonly str name
    cdef Kind kind
    cdef bint optional
    cdef object default
    # Of a list.
    cdef Parameter item
    cdef bint any_length

    def __init__(self, str name, str type_, default):
        self.name = name
        self.optional = type_.endswith("?")
        self.default = default
        text = type_.rstrip("?")
        if text.endswith("]"):
            self.kind, self.any_length = LIST, text.endswith("[]")
            self.item = Parameter(name, text[:text.index("[")], REQUIRED)
        else:
            self.kind = KINDS[text]

    cdef bint begins(self, object value, int converted) except -1:
        """Is it the first item of a list whose items are given one by one?"""
        return self.item.fits(value, converted)

    cdef bint takes(self, object value, int converted) except -1:
        return (value is None and self.optional) or self.fits(value, converted)

    cdef bint fits(self, object value, int converted) except -1:
        if self.kind == TENSOR:
            return is_tensor(value) or (converted and becomes_tensor(value, converted))
        if self.kind == INT:
            return is_int(value)
        if self.kind == OPERAND:
            return is_operand(value) and (converted or not isinstance(value, LISTS))
        if self.kind == NUMBER:
            return is_number(value)
        if self.kind == BOOL:
            return isinstance(value, BOOLS)
        if self.kind == LIST:
            return self.fits_list(value, converted)
        if self.kind == STR:
            return isinstance(value, str)
        if self.kind == DTYPE:
            return isinstance(value, DTYPES) and not is_device_name(value)
        if self.kind == DEVICE:
            return is_device_name(value)
        if self.kind == GENERATOR:
            return isinstance(value, upcalls.generator_type)
        return True

    cdef bint fits_list(self, object value, int converted) except -1:
        """The length of a list is checked when it is converted, with an error of its own.

        So is what is no tensor of an `out` for several results, which alone is a ``Tensor[2]``.
        """
        if self.item.kind == TENSOR and not self.any_length:
            return isinstance(value, LISTS)
        if not isinstance(value, LISTS):
            return (self.item.kind == INT or not self.any_length) and self.item.fits(value, converted)
        for part in value:
            if not self.item.takes(part, converted):
                return False
        return True


cdef class Overload:
    def __init__(self, str text, *defaults):
        """`text` is what errors show: ``(Tensor input, *, Tensor? out=None)``. `defaults` are those in it, in order.

        The items of a list, ``(Tensor input, *int[] size)``, which has to be the last by position, may also be given
        one by one.
        """
        cdef list parameters = []
        remaining = iter(defaults)
        self.text = text
        self.positional = self.spread = -1
        for part in text[1:len(text) - 1].split(", "):
            spreads = len(part) > 1 and part.startswith("*")
            declared, has_default, _ = part.removeprefix("*").partition("=")
            type_, is_parameter, name = declared.partition(" ")
            if part == "*":
                self.positional = len(parameters)
            elif is_parameter:      # and not the rest of a default with a comma in it
                self.spread = len(parameters) if spreads else self.spread
                parameters.append(Parameter(name, type_, next(remaining) if has_default else REQUIRED))
        self.parameters = tuple(parameters)
        if self.positional < 0:
            self.positional = len(parameters)

    cdef tuple expect_bound(self, tuple args, dict kwargs, int converted):
        """A value for each parameter, or None when the arguments do not fit.

        How far they are `converted`: with 1, arrays and lists fit where a tensor is wanted, with 2 numbers too.
        """
        cdef Parameter parameter
        cdef int i, unused = len(kwargs), given = len(args)
        cdef list bound
        if 0 <= self.spread < given and (<Parameter>self.parameters[self.spread]).begins(args[self.spread], converted):
            args, given = (*args[:self.spread], args[self.spread:]), self.spread + 1
        if given > self.positional:
            return None
        bound = []
        for i, parameter in enumerate(self.parameters):
            value = REQUIRED
            if unused and parameter.name in kwargs:
                if i < given:
                    return None     # given twice
                value = kwargs[parameter.name]
                unused -= 1
            elif i < given:
                value = args[i]
            if value is REQUIRED:
                if parameter.default is REQUIRED:
                    return None
                value = parameter.default
            elif not parameter.takes(value, converted):
                return None
            bound.append(value)
        return tuple(bound) if unused == 0 else None


cdef class Overloads:
    def __init__(self, str name, tuple overloads):
        self.name = name
        self.overloads = overloads

    cdef tuple bind(self, tuple args, dict kwargs, int *choice):
        """Values for the parameters of the first signature that takes the arguments; its number in `choice`.

        Signatures that take them as they are come before those that would make tensors of them. Raises TypeError when
        none does.
        """
        cdef Overload overload
        cdef dict named = first_names(kwargs, self.overloads)
        cdef int i, converted = 0, end = 1
        while converted < end:
            for i, overload in enumerate(self.overloads):
                bound = overload.expect_bound(args, named, converted)
                if bound is not None:
                    choice[0] = i
                    return bound
            converted += 1
            if converted == 1 and self.name not in BY_EXAMPLE:
                end = 2 if may_be_place(self.overloads, args) else 3
        raise TypeError(self.mismatch(args, kwargs))

    def mismatch(self, tuple args, dict kwargs):
        """The error for a call that fits no signature: the given arguments, and all signatures."""
        got = [type(value).__name__ for value in args]
        got += [f"{name}={type(value).__name__}" for name, value in kwargs.items()]
        candidates = "\n".join([f" * {overload.text}" for overload in self.overloads])
        return (
            f"{self.name}() received an invalid combination of arguments - got ({', '.join(got)}), "
            f"but expected one of:\n{candidates}{self.likely_names(kwargs)}"
        )

    def likely_names(self, dict kwargs):
        """What keywords may mean that no signature has."""
        from gradsmith.runtime.calls.call_errors import did_you_mean

        cdef Overload overload
        cdef Parameter parameter
        known = sorted({parameter.name for overload in self.overloads for parameter in overload.parameters})
        strange = [name for name in kwargs if name not in known and name not in SECOND_NAMES]
        hints = [f"'{name}':{did_you_mean(name, known)}" for name in strange if did_you_mean(name, known)]
        return "".join([f"\n{hint}" for hint in hints])

    def match(self, *args, **kwargs):
        """(number of the signature, values): for callers that want to know what a call would do."""
        cdef int choice = -1
        bound = self.bind(args, kwargs, &choice)
        return choice, bound


cdef dict first_names(dict kwargs, tuple overloads):
    """`axis` is `dim`, unless both were given: then the second name stays and fits nowhere. Nor is it a second name
    where a parameter has it for its own."""
    cdef Overload overload
    cdef Parameter parameter
    if not kwargs or not (SECOND_NAMES.keys() & kwargs.keys()):
        return kwargs
    own = {parameter.name for overload in overloads for parameter in overload.parameters}
    return {
        (name if name in own or SECOND_NAMES.get(name) in kwargs else SECOND_NAMES.get(name, name)): value
        for name, value in kwargs.items()
    }


cdef bint may_be_place(tuple overloads, tuple args) except -1:
    """Is an int given where some signature takes one, a dimension for example? Then it is no element."""
    cdef Overload overload
    cdef int i
    for overload in overloads:
        for i in range(min(len(args), overload.positional)):
            if (<Parameter>overload.parameters[i]).kind == INT and is_int(args[i]):
                return True
    return False


# ---- what fits a type

cdef bint becomes_tensor(object value, int converted) except -1:
    if isinstance(value, NUMBERS):
        return converted == 2 and not isinstance(value, BOOLS)
    return is_operand(value)


cdef bint is_int(object value) except -1:
    if type(value) is int:
        return True
    if isinstance(value, BOOLS):
        return False
    if is_tensor(value):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return hasattr(type(value), "__index__")


cdef bint is_number(object value) except -1:
    if is_plain_number(value):
        return True
    if is_tensor(value):
        return value.ndim == 0 and not value.requires_grad
    return isinstance(value, NUMBERS)
